"""``whet bench self oracle``: what the oracle lets through of mutants of whet's tasks and of exploits."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from whet.benchmarks.tasks import excuses, task_folder
from whet.core.audit import Audit, MutantOutcome, Rate
from whet.core.candidate import Candidate
from whet.core.config import Options
from whet.core.task import Task
from whet.evaluators.audit import audit_task
from whet.evaluators.ladder import open_ladder
from whet.evaluators.targets import read_task

TASKS = ("dedup-events", "job-queue", "largest-lake", "log-report", "tidy-text", "word-counts")
"""Those whose mutants have all been looked at, so that each survivor is a finding; all tasks would take some hours."""
MUTANTS = 120
"""A task: no task dominates, and all of them together give more than 500."""
TWINS = 3
SEED = 20260101


@dataclass(frozen=True, slots=True)
class Found:
    """What one task's differential rung makes of its mutants.

    Attributes:
        audit: of the task, without its own tests.
        excused: reasons of mutants that cannot be told from the target, by id.
        seconds: of the differential rung for twins of the target.
    """

    audit: Audit
    excused: Mapping[str, str]
    seconds: tuple[float, ...]

    @property
    def killable(self) -> tuple[MutantOutcome, ...]:
        """The mutants that ran and that nothing excuses; one that was killed needs no excuse."""
        return tuple(m for m in self.audit.ran if m.killed_by is not None or m.id not in self.excused)

    @property
    def killed(self) -> int:
        """How many of those the differential rung found."""
        return sum(mutant.killed_by is not None for mutant in self.killable)


def report() -> Iterator[str]:
    """Yields the lines of the report while it works."""
    yield from mutants_report()
    yield ""
    yield from exploits()


def mutants_report(mutants: int = MUTANTS, seed: int = SEED) -> Iterator[str]:
    """Yields what the differential rung makes of the mutants of `TASKS`.

    Args:
        mutants: of each task at most.
        seed: of mutants and inputs.
    """
    yield "| task | mutants | excused | killed by the differential rung | usual protocol | seconds of the rung |"
    yield "|---|---|---|---|---|---|"
    found = {}
    for name in TASKS:
        task = read_task(str(task_folder(name)), Options())
        options = Options(seed=seed)
        found[name] = Found(audit_task(task, options, mutants), excuses(name), _rung_seconds(task, options))
        yield _row(name, found[name])
    yield from _total(found)


def _rung_seconds(task: Task, options: Options) -> tuple[float, ...]:
    """Times the rung on what takes it longest: a candidate that is right."""
    ladder = open_ladder(task, replace(options, until="differential"), SEED)
    try:
        ladder.validate()
        spent = []
        for number in range(TWINS):
            twin = Candidate(f"{task.source}{'#' if task.language == 'python' else '//'} {number}\n")
            rung = ladder.check(twin).rung("differential")
            assert rung is not None, "a twin of the target builds"
            spent.append(rung.seconds)
        return tuple(spent)
    finally:
        ladder.close()


def _row(name: str, found: Found) -> str:
    ran = len(found.audit.ran)
    excused = ran - len(found.killable)
    killed = Rate(found.killed, len(found.killable))
    usual = _usual(found)
    seconds = f"{statistics.median(found.seconds):.2f}"
    return f"| {name} | {ran} | {excused} | {killed.hits} of {killed.trials}: {killed} | {usual} | {seconds} |"


def _usual(found: Found) -> Rate:
    return Rate(sum(bool(mutant.usual) for mutant in found.killable), len(found.killable))


def _total(found: Mapping[str, Found]) -> Iterator[str]:
    ran = sum(len(one.audit.ran) for one in found.values())
    killed = Rate(sum(one.killed for one in found.values()), sum(len(one.killable) for one in found.values()))
    usual = Rate(sum(_usual(one).hits for one in found.values()), killed.trials)
    excused = ran - killed.trials
    yield f"| all | {ran} | {excused} | {killed.hits} of {killed.trials}: {killed} | {usual} | |"
    yield ""
    yield f"excused {excused / max(1, ran):.1%} (at most 5 %), killed {killed.share:.2%} (goal 99 %); exact 95 % bounds"
    for name, one in found.items():
        for mutant in one.audit.survivors:
            if mutant.id not in one.excused:
                yield f"survivor: {name} {mutant.id}, line {mutant.line}, {mutant.operator}"


def exploits() -> Iterator[str]:
    """Yields what came of the corpus of exploits and their honest twins."""
    from whet.testing.exploits.corpus import exploits as corpus
    from whet.testing.exploits.corpus import playable
    from whet.testing.exploits.run import play

    answered: Counter[str] = Counter()
    played: Counter[str] = Counter()
    for one in play(playable(corpus())):
        played[one.side] += 1
        answered[one.side] += one.answered
        if not one.answered:
            yield f"not answered as it should be: {one.exploit.name}, {one.side}: {one.rung} {one.reason}"
    for side, what in (("cheat", "exploits answered as their row demands"), ("twin", "honest twins accepted")):
        yield f"{what}: {answered[side]} of {played[side]}"
