"""From answers to the entries of a leaderboard: one a suite, model, strategy, budget and kind of machine."""

from __future__ import annotations

import hashlib
import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median

from whet.benchmarks.board.answers import AnswerKind, Answers, JudgedRow, Mark
from whet.benchmarks.results import Row
from whet.benchmarks.suites.base import Figure, Score, Suite
from whet.core.errors import UsageError
from whet.core.result import Cost

ProblemKey = tuple[str, str]
"""A problem: its id and the digest of its data, so that revisions are told apart."""
OWN, WHET = "the suite's own figures", "whet's verdicts"
LONGEST_SLUG = 40
"""Characters that are kept of a name, as many as `PLAIN` allows. More lengthen paths; fewer say less of the name, which
a hash tells apart anyway."""
PLAIN = re.compile(r"[a-z0-9][a-z0-9_-]{0,39}")
"""Names of suites that folders may have as they are."""


@dataclass(frozen=True, slots=True)
class ProblemResult:
    """What an entry came to on one problem.

    Attributes:
        answers: its samples, in their order.
        excluded: whether the problem does not count on this machine.
        right: samples that are right.
        speedup: the median over those; None where none was timed.
    """

    answers: tuple[JudgedRow, ...]
    excluded: bool
    right: int
    speedup: float | None


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of a leaderboard.

    Attributes:
        number: by which drawings and pages name it, from 1 within its suite.
        rank: among the entries of its kind of machine, from 1; equal scores share a rank.
        model: that answered.
        strategy: that the model worked under.
        budget: caps in words.
        machine: the kind that all of it was measured on.
        systems: sandbox, system and version of whet, as the rows have them.
        outcomes: by problem.
        score: by the suite's definitions.
        cost: of all rows.
        seconds: of all rows.
        marks: how many of the right answers have their evidence beside the rows, miss it, or have none.
    """

    number: int
    rank: int
    model: str
    strategy: str
    budget: str
    machine: str
    systems: tuple[str, ...]
    outcomes: Mapping[ProblemKey, ProblemResult]
    score: Score
    cost: Cost
    seconds: float
    marks: Mapping[Mark, int]

    @property
    def headline(self) -> Figure:
        """The figure that it is ranked by."""
        return headline(self.score)

    @property
    def answers(self) -> Iterable[JudgedRow]:
        """All its answers, problem by problem."""
        return (answer for outcome in self.outcomes.values() for answer in outcome.answers)

    @property
    def cheats(self) -> int:
        """Answers that whet rejects as cheating."""
        return sum(answer.kind is AnswerKind.CHEAT for answer in self.answers)

    @property
    def disputed(self) -> int:
        """Answers that the suite's own rule counts as right, and whet rejects."""
        return sum(answer.disputed for answer in self.answers)


@dataclass(frozen=True, slots=True)
class Leaderboard:
    """The leaderboard of one suite.

    Attributes:
        suite: that scores.
        slug: of its folder.
        entries: by machine, and there by rank.
        problems: all that an entry answered.
        speedups: whose figures the speedups are; empty where there are none.
    """

    suite: Suite
    slug: str
    entries: tuple[Entry, ...]
    problems: tuple[ProblemKey, ...]
    speedups: str

    @property
    def machines(self) -> tuple[str, ...]:
        """The kinds of machines, in the order of the entries."""
        return tuple(dict.fromkeys(entry.machine for entry in self.entries))

    @property
    def better(self) -> str:
        """Whether a ``higher`` or a ``lower`` score is better."""
        return self.entries[0].headline.better

    @property
    def cautions(self) -> tuple[str, ...]:
        """What a reader must know before comparing entries."""
        said = []
        if len(self.machines) > 1:
            said.append(
                f"These rows were measured on {len(self.machines)} kinds of machines. Ranks are counted within each; "
                "across machines neither scores nor speedups are a ranking."
            )
        if len({frozenset(problem for problem in entry.outcomes) for entry in self.entries}) > 1:
            said.append(
                "The rows do not all answer the same problems, in the same revision of the suite's data. "
                "Scores can be compared on common problems only."
            )
        if any(entry.marks.get(Mark.NONE) or entry.marks.get(Mark.MISSING) for entry in self.entries):
            said.append("Some right answers have no evidence beside the rows: nobody can repeat them from here.")
        if any(entry.disputed for entry in self.entries):
            said.append("Some scores count answers that whet rejects: the suite's own rule ranks.")
        return tuple(said)


def standings(answers: Answers, suite_of: Callable[[str], Suite]) -> tuple[Leaderboard, ...]:
    """Returns the leaderboards of all suites that answers belong to.

    Raises:
        UsageError: a suite is unknown, or cannot score what stands in the rows.
    """
    by_suite: defaultdict[str, list[JudgedRow]] = defaultdict(list)
    for answer in answers.answers:
        by_suite[answer.row.suite].append(answer)
    return tuple(_standing(suite_of(name), found) for name, found in sorted(by_suite.items()))


def score(suite: Suite, answers: Iterable[JudgedRow]) -> Score:
    """Returns what a suite makes of answers.

    Raises:
        UsageError: the rows lack what the suite computes from, or hold something else there.
    """
    rows: list[Row] = [answer.row for answer in answers]
    try:
        found = suite.score(rows)
    except (LookupError, TypeError, ValueError, ArithmeticError, AttributeError) as error:
        raise UsageError(
            f"{suite.name} cannot score the rows of {rows[0].model!r}: {type(error).__name__}: {error}"
        ) from None
    headline(found)
    return found


def headline(found: Score) -> Figure:
    """Returns the figure that rows are ranked by."""
    (one,) = (figure for figure in found.figures if figure.headline)
    return one


def slug(name: str, *more: str) -> str:
    """Returns a name for a file or folder: what can be read of any text, and a hash that tells it from others.

    Args:
        name: that is read.
        more: that it is told apart by too.
    """
    readable = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:LONGEST_SLUG].rstrip("-")
    digest = hashlib.sha256("\0".join((name, *more)).encode("utf-8", "replace")).hexdigest()
    return f"{readable}-{digest[:16]}".lstrip("-")


def _standing(suite: Suite, answers: Sequence[JudgedRow]) -> Leaderboard:
    own = any(answer.own_speedup is not None for answer in answers)
    groups: defaultdict[tuple[str, str, str, str], list[JudgedRow]] = defaultdict(list)
    for answer in answers:
        row = answer.row
        groups[row.machine.kind, row.model, row.strategy, row.budget].append(answer)
    scored = [(group, score(suite, found), found) for group, found in groups.items()]
    crowd = Counter(group[0] for group in groups)
    scored.sort(key=lambda one: (-crowd[one[0][0]], one[0][0], _merit(one[1]), one[0]))
    entries: list[Entry] = []
    for number, (group, points, found) in enumerate(scored, 1):
        above = [one for one in entries if one.machine == group[0]]
        tied = bool(above) and _merit(above[-1].score) == _merit(points)
        entries.append(_entry(number, above[-1].rank if tied else len(above) + 1, group, points, found, own=own))
    problems = sorted({problem for entry in entries for problem in entry.outcomes}, key=_natural)
    timed = own or any(answer.whet_speedup is not None for answer in answers)
    return Leaderboard(
        suite, _folder(suite.name), tuple(entries), tuple(problems), (OWN if own else WHET) if timed else ""
    )


def _folder(name: str) -> str:
    return name if PLAIN.fullmatch(name) else slug(name)


def _merit(points: Score) -> float:
    """Returns what scores are sorted by, the best first; one without a value comes last."""
    figure = headline(points)
    if math.isnan(figure.value):
        return math.inf
    return -figure.value if figure.better == "higher" else figure.value


def _natural(problem: ProblemKey) -> tuple[list[tuple[int, str]], str]:
    """Returns what problems are sorted by: numbers in their ids by their size."""
    parts = re.split(r"(\d{1,15})", problem[0])
    return [(int(part), "") if number % 2 else (0, part) for number, part in enumerate(parts)], problem[1]


def _entry(
    number: int,
    rank: int,
    group: tuple[str, str, str, str],
    points: Score,
    answers: Sequence[JudgedRow],
    *,
    own: bool,
) -> Entry:
    by_problem: defaultdict[ProblemKey, list[JudgedRow]] = defaultdict(list)
    for answer in answers:
        by_problem[answer.row.problem, answer.row.data].append(answer)
    machine, model, strategy, budget = group
    costs = [answer.row.cost for answer in answers]
    return Entry(
        number=number,
        rank=rank,
        model=model,
        strategy=strategy,
        budget=budget,
        machine=machine,
        systems=tuple(dict.fromkeys(_system(answer.row) for answer in answers)),
        outcomes={problem: _outcome(found, own=own) for problem, found in by_problem.items()},
        score=points,
        cost=replace(sum(costs, Cost()), usd=math.fsum(cost.usd for cost in costs)),
        seconds=math.fsum(answer.row.seconds for answer in answers),
        marks=Counter(answer.mark for answer in answers if answer.kind is AnswerKind.RIGHT),
    )


def _system(row: Row) -> str:
    return f"{row.machine.system}, sandbox {row.machine.sandbox}, whet {row.machine.whet}"


def _outcome(found: Sequence[JudgedRow], *, own: bool) -> ProblemResult:
    ordered = tuple(sorted(found, key=lambda answer: answer.row.sample))
    speedups = [speed for answer in ordered if (speed := speedup(answer, own=own)) is not None]
    return ProblemResult(
        answers=ordered,
        excluded=any(answer.kind is AnswerKind.EXCLUDED for answer in ordered),
        right=sum(answer.kind is AnswerKind.RIGHT for answer in ordered),
        speedup=median(speedups) if speedups else None,
    )


def speedup(answer: JudgedRow, *, own: bool) -> float | None:
    """Returns an answer's speedup by the suite's own figures, or by whet's verdict."""
    return answer.own_speedup if own else answer.whet_speedup
