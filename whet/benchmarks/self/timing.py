"""``whet bench self timing``: how often the decision rule is wrong on this machine, beside the rules of others."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from whet.benchmarks.self.peers import peers
from whet.benchmarks.self.pool import Pool, measure_pool, replay
from whet.benchmarks.self.rules import rules
from whet.benchmarks.self.targets import write_targets
from whet.core.audit import Rate
from whet.core.candidate import Candidate
from whet.core.config import Options
from whet.core.task import Task
from whet.core.verdict import Verdict
from whet.evaluators.inputs.source import derive
from whet.evaluators.ladder import Ladder, open_ladder
from whet.evaluators.timing.statistics import NOISY

PROCESSES = 300
TRIALS = 1000
LIVE = 100
SEED = 20260101
SPEEDUPS = (1.0, 1.03, 1.05)
OPTIONS = Options(min_speedup=1.01)


def report(processes: int = PROCESSES, trials: int = TRIALS, live: int = LIVE) -> Iterator[str]:
    """Yields the lines of the report while it measures.

    Args:
        processes: fresh processes in each pool.
        trials: replays of each rule over two identical programs; half as many for each true speedup.
        live: verdicts on two identical programs, measured for real; split over both targets.
    """
    yield f"--min-speedup {OPTIONS.min_speedup:g}, --confidence {OPTIONS.confidence:g}; {os.cpu_count()} processors"
    with tempfile.TemporaryDirectory(prefix="whet-self-") as folder:
        for name, task in write_targets(Path(folder)).items():
            ladder = open_ladder(task, OPTIONS, SEED)
            try:
                ladder.validate()
                yield from _on_pool(measure_pool(name, ladder, processes), trials)
                yield from _live(name, task, ladder, live // 2)
            finally:
                ladder.close()
            yield from _peers(name, task)


def _on_pool(pool: Pool, trials: int) -> Iterator[str]:
    yield ""
    yield (
        f"{pool.name}: {len(pool.seconds)} fresh processes, sd {pool.spread * 100:.2f} %, "
        f"{pool.turn_seconds:.2f} s a turn; {trials} replays of A/A, {trials // 2} of each gain; exact 95 % bounds"
    )
    yield ""
    yield "| rule | data | " + " | ".join(_heading(speedup) for speedup in SPEEDUPS) + " |"
    yield "|---|---|" + "---|" * len(SPEEDUPS)
    for number, (name, (data, decide)) in enumerate(rules(pool).items()):
        cells = [
            replay(decide, pool, speedup, trials if speedup == 1.0 else trials // 2, derive(SEED, number, speedup))
            for speedup in SPEEDUPS
        ]
        yield f"| {name} | {data} | " + " | ".join(map(str, cells)) + " |"
    yield ""


def _heading(speedup: float) -> str:
    return "A/A false wins" if speedup == 1.0 else f"true {speedup:g}x found"


def _live(name: str, task: Task, ladder: Ladder, verdicts: int) -> Iterator[str]:
    wins = disturbed = 0
    start = time.perf_counter()
    for number in range(verdicts):
        # A comment more: another text, so other inputs and layouts, and the same program.
        twin = Candidate(f"{task.source}{'#' if task.language == 'python' else '//'} {number}\n")
        verdict = ladder.measure(twin, Verdict(twin.id, ()), NOISY.verdict)
        assert verdict.measurement is not None, verdict.rungs[-1].detail
        wins += verdict.measurement.faster
        disturbed += verdict.measurement.disturbed
    spent = time.perf_counter() - start
    yield (
        f"{name}, live: {verdicts} verdicts on a twin of itself: false wins {Rate(wins, verdicts)}, "
        f"{disturbed} ended as too noisy, {spent / max(verdicts, 1):.1f} s a verdict"
    )


def _peers(name: str, task: Task) -> Iterator[str]:
    for peer in peers(task):
        said = f"not asked ({peer.lacking})" if peer.lacking else f"false wins {peer.false_wins(task)}"
        yield f"{name}, live: {peer.name}: {said}"
