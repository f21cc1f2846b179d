"""``whet bench self scale``, the simulation: up to 1,000 workers at one driver, with costs that were measured here."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import astuple
from pathlib import Path
from statistics import mean, median, quantiles

from whet.benchmarks.self.scale.places import RAY, done, finished, slots_on
from whet.benchmarks.self.scale.simulation import Costs, Simulated, simulate
from whet.benchmarks.self.scale.work import chained, key_of, piece
from whet.benchmarks.self.verdicts import TARGETS, open_target
from whet.core.candidate import Candidate
from whet.core.errors import UsageError
from whet.core.store import Store

WORKERS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)
"""Numbers of workers that are simulated, a row of each table. Larger ones show what saturates with longer
candidates."""
DURATIONS = (0.1, 1.0, 10.0, 60.0)
"""Mean seconds of a candidate."""
REAL = (1, 2, 4, 8)
"""Workers that sleep instead of working, so that a small machine can have more of them than cores."""
SLEEP = 0.05
"""Seconds that a candidate of theirs sleeps. Longer ones hide the costs that the simulation is checked for; much
shorter ones saturate the driver with few workers."""
SEED = 20_261_123
CAUSES = {
    "driver": "the driver's process, which submits and collects one candidate at a time",
    "store": "the store, to which one at a time writes",
}


def report(candidates: int = 400, verdicts: int = 4, workers: Sequence[int] = WORKERS) -> Iterator[str]:
    """Yields the lines of the report while it measures.

    Args:
        candidates: that each step is measured on.
        verdicts: of each kind, whose times are what durations are drawn from.
        workers: sizes that are simulated.
    """
    costs = measured_costs(candidates)
    steps = ", ".join(
        f"{name} {seconds * 1e3:.2f}" for name, seconds in zip(Costs.__slots__, astuple(costs), strict=True)
    )
    yield f"measured on Ray, ms a candidate: {steps}"
    yield from _validated(costs, candidates)
    try:
        shape = ladder_seconds(verdicts)
    except UsageError as error:
        yield f"durations: all alike, for the ladder cannot be timed here: {error}"
        shape = [1.0]
    low, middle, high = quantiles(shape, n=4) if len(shape) > 1 else shape * 3
    yield (
        f"durations: of {len(shape)} candidates on the ladder, right, wrong and crashing ones alike: mean "
        f"{mean(shape):.2f} s, quartiles {low:.2f}, {middle:.2f} and {high:.2f} s; scaled to the mean of each table"
    )
    for duration in DURATIONS:
        yield from _table(duration, [seconds * duration / mean(shape) for seconds in shape], costs, workers)


def measured_costs(candidates: int) -> Costs:
    """Measures the steps of one candidate on Ray, with one worker and work that takes no time."""
    with tempfile.TemporaryDirectory(prefix="whet-self-") as folder:
        store = _storing(Path(folder) / "alone", candidates)
        with slots_on(RAY, 1, Path(folder) / "ray") as executor:
            list(done(executor, [piece("first", 0)]))
            latency = []
            for number in range(candidates):
                began = time.perf_counter()
                (outcome,) = done(executor, [piece("single", number)])
                latency.append(time.perf_counter() - began - outcome.seconds)
            # The processor's time of all threads of the driver: the most that one candidate keeps others waiting.
            before = time.process_time()
            tickets = [executor.submit(piece("many", number)) for number in range(candidates)]
            submitted = time.process_time()
            for _ in finished(executor, tickets):
                pass
            submit, collect = (submitted - before) / candidates, (time.process_time() - submitted) / candidates
    # On its way is what is left of a round; there and back alike.
    way = max(0.0, median(latency) - submit - collect) / 2
    return Costs(submit, way, store, way, collect)


def _storing(home: Path, candidates: int) -> float:
    """Returns the seconds that it takes to store a result."""
    with closing(Store(home)) as store:
        began = time.perf_counter()
        for number in range(candidates):
            store.keep_result(key_of("alone", number), {"number": number, "digest": chained(number, 0)})
        return (time.perf_counter() - began) / candidates


def _validated(costs: Costs, candidates: int) -> Iterator[str]:
    """Yields what the simulation says of workers that this machine can have, and what they really do."""
    yield f"| workers that sleep {SLEEP:g} s | candidates a second, simulated | measured on Ray | off by |"
    yield "|---|---|---|---|"
    for workers in REAL:
        said = simulate(workers, [SLEEP], costs, SEED).rate
        seen = slept(workers, candidates)
        yield f"| {workers} | {said:.1f} | {seen:.1f} | {said / seen - 1:+.0%} |"


def slept(workers: int, candidates: int) -> float:
    """Returns candidates a second of so many workers on Ray that sleep."""
    with (
        tempfile.TemporaryDirectory(prefix="whet-self-") as folder,
        slots_on(RAY, workers, Path(folder)) as executor,
    ):
        list(done(executor, [piece("first", number, seconds=SLEEP) for number in range(2 * workers)]))
        began = time.perf_counter()
        for _ in done(executor, [piece("many", number, seconds=SLEEP) for number in range(candidates)]):
            pass
        return candidates / (time.perf_counter() - began)


def ladder_seconds(verdicts: int) -> list[float]:
    """Returns what candidates take on the ladder, without a model: right ones, which are timed too, and others.

    Raises:
        UsageError: this machine has no sandbox for them.
    """
    trivial = next(iter(TARGETS.values()))
    seconds = []
    with closing(open_target(trivial)) as ladder:
        for number in range(verdicts):
            for kind, text in trivial.candidates.items():
                candidate = Candidate(text.replace("{number}", str(number)))
                began = time.perf_counter()
                verdict = ladder.check(candidate)
                if kind == "right":
                    ladder.measure(candidate, verdict)
                seconds.append(time.perf_counter() - began)
    return seconds


def _table(duration: float, durations: Sequence[float], costs: Costs, workers: Sequence[int]) -> Iterator[str]:
    found = [simulate(count, durations, costs, SEED) for count in workers]
    yield f"candidates of {duration:g} s:"
    yield "| workers | candidates a second | driver busy | store busy | workers busy |"
    yield "|---|---|---|---|---|"
    for one in found:
        busy = " | ".join(f"{one.busy[part]:.0%}" for part in ("driver", "store", "workers"))
        yield f"| {one.workers} | {one.rate:,.1f} | {busy} |"
    yield f"  {_verdict(found)}"


def _verdict(found: Sequence[Simulated]) -> str:
    """Says where the driver saturates, and why."""
    last, saturated = found[-1], [one for one in found if one.limit]
    if not saturated:
        return f"not saturated by {last.workers:,} workers, who work {last.busy['workers']:.0%} of the time"
    first = saturated[0]
    return (
        f"saturated from {first.workers:,} workers on; the limit is {last.rate:,.0f} candidates a second, and its "
        f"cause {CAUSES[first.limit]}"
    )
