"""``whet bench self filters``: what static filters see of wrong rewrites, how often they are mistaken, what they save.

What is right and wrong is known: the corpora are those whose verdicts whet's tests and audits hold.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice

from whet.agents.catalogue.search import candidates
from whet.agents.models.base import Brief
from whet.benchmarks.self.campaigns.mutants import MUTANTS, SEED, TASKS
from whet.benchmarks.self.rewrites import HONEST, WRONG, FloatRewrite
from whet.benchmarks.tasks import excuses, task_folder, task_names
from whet.core.audit import Rate
from whet.core.candidate import Candidate
from whet.core.errors import UsageError
from whet.core.options import Options
from whet.core.task import Kind
from whet.core.verdict import Verdict
from whet.evaluators.filters import FILTERS, flagging
from whet.evaluators.hints.registry import hints
from whet.evaluators.ladder import open_ladder
from whet.evaluators.mutants.registry import mutants
from whet.evaluators.targets import read_task
from whet.testing.exploits.corpus import ExpectedResult, exploits, playable

EDITS = 12
"""Of the catalogue, a task."""
TWINS = 3
"""Right candidates that climb the ladder: a rung's seconds are their median. More steady it, and each takes a whole
verdict with its measuring."""


@dataclass(frozen=True, slots=True)
class Specimen:
    """A rewrite of known verdict.

    Attributes:
        corpus: that it belongs to.
        kind: of the task.
        language: of its text.
        source: its text.
        baseline: the text that it would replace.
        right: whether it is.
    """

    corpus: str
    kind: Kind
    language: str
    source: str
    baseline: str
    right: bool


@dataclass(frozen=True, slots=True)
class Looked:
    """A specimen, the hints in it, the filters that flag it, and the seconds that it took to know."""

    specimen: Specimen
    hints: frozenset[str]
    filters: frozenset[str]
    seconds: float


def report(corpora: Iterable[Callable[[], Iterator[Specimen]]] | None = None, twins: int = TWINS) -> Iterator[str]:
    """Yields the lines of the report while it works.

    Args:
        corpora: what is looked at; None for all.
        twins: of the first target that take the ladder, for the seconds of its rungs; 0 runs nothing.
    """
    looked = [_look(specimen) for corpus in corpora or CORPORA for specimen in corpus()]
    wrong = [one for one in looked if not one.specimen.right]
    names = list(dict.fromkeys(one.specimen.corpus for one in wrong))
    yield (
        f"{len(looked)} rewrites, {len(wrong)} of them wrong; exact 95 % bounds. "
        "Precision: of what is flagged, what is wrong. Recall: of what is wrong, what is flagged."
    )
    yield ""
    yield f"| filter | flagged | right | precision | recall | {' | '.join(f'of {name}' for name in names)} |"
    yield "|---|---|---|---|---|" + "---|" * len(names)
    for name in FILTERS:
        yield _row(f"**{name}**", partial(_flagged, {name}), looked, names)
    yield _row("**any of them**", partial(_flagged, set(FILTERS)), looked, names)
    for hint in sorted({hint for one in looked for hint in one.hints}):
        yield _row(f"`{hint}`", partial(_hinted, hint), looked, names)
    yield ""
    yield f"filters: {_median([one.seconds for one in looked])} a candidate"
    if twins:
        yield from _rungs(twins)


def _look(specimen: Specimen) -> Looked:
    start = time.perf_counter()
    found = frozenset(hint.name for hint in hints(specimen.language, specimen.source, specimen.baseline))
    flags = frozenset(flagging(found, specimen.kind))
    return Looked(specimen, found, flags, time.perf_counter() - start)


Flags = Callable[[Looked], bool]
"""Whether a rewrite is flagged."""


def _flagged(filters: set[str], one: Looked) -> bool:
    return not filters.isdisjoint(one.filters)


def _hinted(hint: str, one: Looked) -> bool:
    return hint in one.hints


def _row(name: str, flags: Flags, looked: Sequence[Looked], corpora: Sequence[str]) -> str:
    flagged = [one for one in looked if flags(one)]
    hits = sum(not one.specimen.right for one in flagged)
    recalls = [_recall(flags, [one for one in looked if one.specimen.corpus == corpus]) for corpus in corpora]
    cells = [str(len(flagged)), str(len(flagged) - hits), str(Rate(hits, len(flagged))) if flagged else ""]
    return f"| {name} | {' | '.join([*cells, str(_recall(flags, looked)), *(f'{one.share:.1%}' for one in recalls)])} |"


def _recall(flags: Flags, looked: Iterable[Looked]) -> Rate:
    wrong = [one for one in looked if not one.specimen.right]
    return Rate(sum(map(flags, wrong)), len(wrong))


def _rungs(twins: int) -> Iterator[str]:
    """Yields the seconds of the rungs that a right candidate climbs, on the first target."""
    task = read_task(str(task_folder(TASKS[0])), Options())
    ladder = open_ladder(task, Options(), SEED)
    try:
        ladder.validate()
        climbed = []
        for number in range(twins):
            twin = Candidate(f"{task.source}# {number}\n")
            climbed.append(ladder.measure(twin, ladder.check(twin)))
    finally:
        ladder.close()
    for name in ("screen", "build", "differential", "measure"):
        yield f"rung {name}: {_median([_seconds(verdict, name) for verdict in climbed])} a candidate ({task.name})"


def _seconds(verdict: Verdict, name: str) -> float:
    rung = verdict.rung(name)
    assert rung is not None, "a twin of the target is right"
    return rung.seconds


def _median(seconds: list[float]) -> str:
    return f"{statistics.median(seconds) * 1e3:.2f} ms"


def _exploits() -> Iterator[Specimen]:
    """Yields exploits that must be rejected, and their twins and others, which must not."""
    for one in playable(exploits()):
        task = read_task(str(one.task_folder), Options(cores=one.cores))
        for side in ("cheat", "twin"):
            right = side == "twin" or one.outcome is not ExpectedResult.REJECTED
            yield Specimen("exploits", task.kind, task.written, one.source(side), task.source, right)


def _floats() -> Iterator[Specimen]:
    """Yields rewrites whose floats differ from their baseline's."""

    def pairs(of: Iterable[FloatRewrite], right: bool) -> Iterator[Specimen]:
        yield from (Specimen("wrong floats", Kind.FUNCTION, "python", one.rewrite, one.baseline, right) for one in of)

    yield from pairs(HONEST.values(), right=True)
    yield from pairs(WRONG.values(), right=False)


def _mutants() -> Iterator[Specimen]:
    """Yields mutants of whet's tasks, but for those that nothing can tell from the target."""
    for name in TASKS:
        task, excused = read_task(str(task_folder(name)), Options()), excuses(name)
        for mutant in islice(mutants(task, SEED), MUTANTS):
            if mutant.id not in excused:
                yield Specimen("mutants", task.kind, task.written, mutant.candidate.source, task.source, right=False)


def _edits() -> Iterator[Specimen]:
    """Yields edits of the catalogue, which keep what a text does."""
    for name in task_names():
        try:
            task = read_task(str(task_folder(name)), Options())
        except UsageError:
            continue  # it needs what this machine lacks
        if task.kind in (Kind.FUNCTION, Kind.PROGRAM) and task.signature is None:
            brief = Brief(task.written, task.kind.value, task.symbol, task.source)
            for edit in islice(candidates(brief), EDITS):
                yield Specimen("edits", task.kind, task.written, edit.source, task.source, right=True)


CORPORA = (_exploits, _floats, _mutants, _edits)
