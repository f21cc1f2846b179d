"""Which problems are worked on, how often, and what of it is done already."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from whet.benchmarks.results import Row
from whet.benchmarks.runner.answers import AnswerSources
from whet.benchmarks.runner.request import BenchRequest, ProblemSample
from whet.benchmarks.suites.base import Problem, Reading, Suite
from whet.core.errors import UsageError, nearest

NO_BEST = "the suite knows no best answer"


@dataclass(frozen=True, slots=True)
class WorkList:
    """What is to be done.

    Attributes:
        jobs: still to be done, in their order.
        finished: rows that were there before.
        unable: problems that cannot be worked on here, with the reason.
        elsewhere: their jobs, as far as there is no row of them: drivers on other hosts may do them.
        usd: what those rows cost.
    """

    jobs: tuple[ProblemSample, ...]
    finished: int
    unable: tuple[tuple[Problem, str], ...]
    elsewhere: tuple[ProblemSample, ...] = ()
    usd: float = 0.0


def read_suite(suite: Suite, root: Path | None) -> Reading:
    """Reads a suite's problems.

    Raises:
        UsageError: its data is not there, or it names two problems alike.
    """
    if suite.origin.files and root is None:
        raise UsageError(f"{suite.name} needs --root DIR, where its data lies; see: whet bench fetch-help {suite.name}")
    place = Path() if root is None else root.expanduser().absolute()
    if not place.is_dir():
        raise UsageError(f"--root {root}: no such folder")
    reading = suite.read(place)
    twice = [id for id, number in Counter(problem.id for problem in reading.problems).items() if number > 1]
    if twice:
        raise UsageError(f"{suite.name} has two problems {twice[0]!r} under {place}")
    return reading


def chosen(
    problems: Sequence[Problem], ids: Collection[str] = (), groups: Collection[str] = (), limit: int | None = None
) -> list[Problem]:
    """Returns the problems that were asked for, in the suite's order.

    Args:
        problems: all of the suite.
        ids: of those asked for; none for all.
        groups: of those asked for; none for all.
        limit: the first so many of them.

    Raises:
        UsageError: there is no problem, or no group, of a name.
    """
    _expect_known("problem", ids, [problem.id for problem in problems])
    _expect_known("group", groups, sorted({problem.group for problem in problems}))
    found = [one for one in problems if (not ids or one.id in ids) and (not groups or one.group in groups)]
    if limit is not None and limit < 1:
        raise UsageError(f"--limit {limit} is below 1")
    if not found:
        raise UsageError("no problem is both in --ids and in --groups")
    return found[:limit]


def _expect_known(noun: str, asked: Collection[str], known: Sequence[str]) -> None:
    for name in asked:
        if name not in known:
            raise UsageError(f"the suite has no {noun} {name!r}{nearest(name, known)}")


def planned(
    asked: BenchRequest, problems: Sequence[Problem], samples: int, rows: Sequence[Row], missing: Callable[[str], str]
) -> WorkList:
    """Returns what is to be done.

    Args:
        asked: of the run.
        problems: to be worked on.
        samples: answers to each.
        rows: that the file holds already.
        missing: tells why a need of a problem cannot be met here; empty where it can.

    Raises:
        UsageError: a row holds another answer than the one that is given now.
    """
    if samples < 1:
        raise UsageError(f"--samples {samples} is below 1")
    known = {row.key: row for row in rows}
    reasons = {need: missing(need) for need in {problem.needs for problem in problems}}
    jobs: list[ProblemSample] = []
    elsewhere: list[ProblemSample] = []
    unable: list[tuple[Problem, str]] = []
    mine: list[Row] = []
    for problem in problems:
        given = asked.answers if isinstance(asked.answers, AnswerSources) else None
        if why := reasons[problem.needs] or ("" if given is None or given.has(problem) else NO_BEST):
            unable.append((problem, why))
            elsewhere += [job for job in jobs_of(problem, samples) if job.key(asked) not in known]
            continue
        for job in jobs_of(problem, samples):
            row = known.get(job.key(asked))
            if row is None:
                jobs.append(job)
                continue
            mine.append(row)
            if given is not None and given.texts.get((problem.id, job.sample), row.answer) != row.answer:
                raise UsageError(
                    f"the rows hold another answer to {problem.id!r}, sample {job.sample}; give another -o FILE"
                )
    return WorkList(tuple(jobs), len(mine), tuple(unable), tuple(elsewhere), sum(row.cost.usd for row in mine))


def jobs_of(problem: Problem, samples: int) -> Iterator[ProblemSample]:
    """Returns all answers that are asked for to a problem."""
    return (ProblemSample(problem, sample) for sample in range(samples))
