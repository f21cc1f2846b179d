"""``whet bench self timing``: how often the decision rule is wrong on this machine, beside the rules of others."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from whet.benchmarks.self.pool import Decide, Pool, Rate, hyperfine_rule, mean_rule, pyperf_rule, replay, whet_rule
from whet.benchmarks.self.targets import write_targets
from whet.core.candidate import Candidate
from whet.core.config import Options
from whet.core.task import Task
from whet.core.verdict import Verdict
from whet.evaluators.inputs import derive
from whet.evaluators.ladder import Ladder, open_ladder
from whet.evaluators.statistics import Stage
from whet.evaluators.timing import SIDES
from whet.evaluators.verify import STAGES

PROCESSES = 240
TRIALS = 2000
LIVE = 100
SEED = 20260101
SPEEDUPS = (1.0, 1.03, 1.05, 1.10)
PAIR_SECONDS = 5.0


def report(processes: int = PROCESSES, trials: int = TRIALS, live: int = LIVE) -> Iterator[str]:
    """Yields the lines of the report while it measures.

    Args:
        processes: fresh processes in each pool.
        trials: replays of each rule for each true speedup.
        live: verdicts on two identical programs, measured for real; split over both targets.
    """
    with tempfile.TemporaryDirectory(prefix="whet-self-") as folder:
        for name, task in write_targets(Path(folder)).items():
            ladder = open_ladder(task, Options(), SEED)
            try:
                ladder.validate()
                yield from _on_pool(measure_pool(name, ladder, processes), trials)
                yield from _live(name, task, ladder, live // 2)
            finally:
                ladder.close()


def measure_pool(name: str, ladder: Ladder, processes: int) -> Pool:
    """Times one program in fresh processes, as a measurement does; three a turn."""
    seconds: list[float] = []
    start = time.perf_counter()
    turns = 0
    while len(seconds) < processes:
        verdict = ladder.measure(Candidate(ladder.task.source), _blank(ladder.task), (Stage(20, 0.0),))
        assert verdict.measurement is not None, verdict.rungs[-1].detail
        for turn in verdict.measurement.raw["turns"]:
            turns += 1
            for side in turn["order"]:
                passes = [sides[side] for sides in turn["passes"].values()]
                seconds.append(sum(p["inside"] for p in passes))
    return Pool(name, tuple(seconds), (time.perf_counter() - start) / turns)


def _blank(task: Task) -> Verdict:
    return Verdict(Candidate(task.source).id, ())


def rules(pool: Pool) -> dict[str, tuple[str, Decide]]:
    """Returns the rules that are compared, each with the data that it takes."""
    pairs = max(10, min(40, int(PAIR_SECONDS / (pool.turn_seconds * 2 / len(SIDES)))))
    runs = min(20, len(pool.seconds) // 4)
    ours = (Stage(pairs // 2, 0.4), Stage(pairs, 0.6))
    return {
        "whet": (f"up to {pairs} turns", whet_rule(ours)),
        "whet, confirmed": (
            f"the same, then {pairs} fresh turns",
            _confirmed(whet_rule(ours), whet_rule((Stage(pairs, 1.0),))),
        ),
        "mean of N > 1.01": (f"{runs} + {runs} runs in sequence", mean_rule(runs, 1.01)),
        "mean of N > 1.02": (f"{runs} + {runs} runs in sequence", mean_rule(runs, 1.02)),
        "hyperfine's summary": (f"{runs} + {runs} runs in sequence", hyperfine_rule(runs)),
        "pyperf's t-test": (f"{runs} + {runs} runs in sequence", pyperf_rule(runs)),
    }


def _confirmed(first: Decide, second: Decide) -> Decide:
    return lambda pool, rng, speedup: first(pool, rng, speedup) and second(pool, rng, speedup)


def _on_pool(pool: Pool, trials: int) -> Iterator[str]:
    yield (
        f"{pool.name}: {len(pool.seconds)} fresh processes, sd {pool.spread * 100:.2f} %, "
        f"{pool.turn_seconds:.2f} s a turn; {trials} replays a cell, exact 95 % bounds"
    )
    yield "| rule | data | " + " | ".join(_heading(speedup) for speedup in SPEEDUPS) + " |"
    yield "|---|---|" + "---|" * len(SPEEDUPS)
    for number, (name, (data, decide)) in enumerate(rules(pool).items()):
        cells = [replay(decide, pool, speedup, trials, derive(SEED, number, speedup)) for speedup in SPEEDUPS]
        yield f"| {name} | {data} | " + " | ".join(map(cell, cells)) + " |"


def _heading(speedup: float) -> str:
    return "A/A false wins" if speedup == 1.0 else f"true {speedup:g}x found"


def cell(rate: Rate) -> str:
    """Returns a rate with its bounds, in per cent."""
    low, high = rate.bounds
    return f"{rate.share * 100:.1f} % ({low * 100:.1f} to {high * 100:.1f})"


def _live(name: str, task: Task, ladder: Ladder, verdicts: int) -> Iterator[str]:
    wins = disturbed = 0
    start = time.perf_counter()
    for number in range(verdicts):
        # A comment more: another text, so other inputs and layouts, and the same program.
        twin = Candidate(f"{task.source}{'#' if task.language == 'python' else '//'} {number}\n")
        verdict = ladder.measure(twin, _blank(task), STAGES)
        assert verdict.measurement is not None, verdict.rungs[-1].detail
        wins += verdict.measurement.faster
        disturbed += verdict.measurement.disturbed
    spent = time.perf_counter() - start
    yield (
        f"{name}: {verdicts} live verdicts on a twin of itself: false wins {cell(Rate(wins, verdicts))}, "
        f"{disturbed} ended as too noisy, {spent / max(verdicts, 1):.1f} s a verdict"
    )
