"""What a win on a GPU is held against: physics, warm caches, and whose kernels the time goes to."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from typing import Any

from whet.core.measurement import Measurement
from whet.core.task import Task
from whet.evaluators.artifacts import Artifact, task_on_gpu
from whet.evaluators.finding import RungEndedError, sound
from whet.evaluators.inputs.source import derive
from whet.evaluators.kernels.kernel_kinds import shares
from whet.evaluators.kernels.physics import Needs, impossible
from whet.evaluators.processes import FunctionProcess
from whet.evaluators.timing.turns import series, used
from whet.evaluators.timing.workloads import TimedWorkload
from whet.sandbox.gpu_gauge import GpuGauge, GpuReading
from whet.sandbox.inside.kernel_times import LONGEST_NAME
from whet.sandbox.protocol import Incident

TRIES = 64
"""Elements of the inputs that are changed to see whether they matter."""
HOT_PROCESSES, HOT_CALLS = 3, 11
"""Fresh processes of each side, and calls with warm caches in each; the median counts, and both are odd so that it is a
measured value. Larger numbers make steadier a figure that is only shown, and take longer."""
PROFILED = 3
"""Inputs whose kernels are looked at."""
EXTRA_SECONDS = 60.0
"""That the profiler, say, may take beside the calls."""


def gauge_for(task: Task) -> Callable[[], GpuReading] | None:
    """Returns what reads the GPU beside each sample of a task; None without one, or where its driver says nothing."""
    if not task_on_gpu(task):
        return None
    try:
        return GpuGauge().read
    except OSError:
        return None


def bandwidth() -> float | None:
    """Returns the most bytes a second that the GPU's memory moves; None where its driver does not tell."""
    try:
        return GpuGauge().bandwidth()
    except OSError:
        return None


@dataclass(frozen=True, slots=True)
class Sides:
    """What is compared, and how.

    Attributes:
        baseline: the original.
        candidate: what is compared with it.
        seconds: that one call may take.
        seed: of the inputs.
    """

    baseline: Artifact
    candidate: Artifact
    seconds: float
    seed: int


def held_up(found: Measurement, sides: Sides, workloads: Sequence[TimedWorkload]) -> Measurement:
    """Returns a measurement with what the GPU adds to it.

    What is not faster, ran on the CPU, or is no torch module, whose work could be counted, is returned as it came.

    Args:
        found: the measurement.
        sides: both sides of it.
        workloads: its inputs.

    Raises:
        RungEndedError: the candidate is faster than physics allows.
    """
    task = sides.baseline.builder.task
    if not found.faster or task.module is None or not task_on_gpu(task):
        return found
    counted = [work for work in workloads if work.counts]
    payloads = {
        work.name: [item.payload for item in work.draw(derive(sides.seed, "gpu", work.name), PROFILED)]
        for work in counted
    }
    times = _times(found, counted)
    rates = _rates(times, payloads, sides, bandwidth())
    kernels = _kernels(payloads[counted[-1].name], sides)
    facts = {"rates": rates, "hot_seconds": _hot(payloads, sides), "kernels": kernels}
    return replace(found, raw={**found.raw, "gpu": facts})


def told(found: Measurement) -> str:
    """Returns what calls on a GPU gain whose caches are warm; empty where that was not taken."""
    hot: Mapping[str, Mapping[str, float]] = found.raw.get("gpu", {}).get("hot_seconds", {})
    ratios = [f"{name} {both['baseline'] / both['candidate']:.3f}x" for name, both in hot.items()]
    return f"caches were cold; with warm ones, as their processes say: {', '.join(ratios)}" if ratios else ""


def _times(found: Measurement, counted: Sequence[TimedWorkload]) -> dict[str, dict[str, float]]:
    """Returns the seconds of one call of each side, by workload."""
    turns = used(found.raw)
    times = {}
    for work in counted:
        measured = sound(series(turns, work.name))
        both = {"baseline": measured.baseline, "candidate": measured.candidate}
        calls = work.count * max(1, work.repeats)
        times[work.name] = {side: statistics.median(each) / calls for side, each in both.items()}
    return times


def _rates(
    times: Mapping[str, Mapping[str, float]],
    payloads: Mapping[str, Sequence[bytes]],
    sides: Sides,
    peak: float | None,
) -> dict[str, Any]:
    """Returns what each side computes and moves a second.

    Raises:
        RungEndedError: calls of the candidate are too fast for the device.
    """
    process = sides.baseline.start()
    if not isinstance(process, FunctionProcess):
        return {}
    rates: dict[str, Any] = {}
    with closing(process):
        for name, both in times.items():
            payload = payloads[name][0]
            try:
                cost = process.cost(payload, sides.seconds + EXTRA_SECONDS)
                needs = needed(process, payload, derive(sides.seed, "needs"), sides.seconds * 2 * TRIES + EXTRA_SECONDS)
            except (Incident, ValueError, TypeError) as error:
                rates[name] = {"physics": f"skipped: the original could not be counted ({error})"[:300]}
                continue
            if peak is None:
                physics = "skipped: the driver tells no bandwidth"
            elif fault := impossible(name, both["candidate"], needs.moved, peak):
                facts = {"needs": asdict(needs), "bandwidth": peak, "seconds": both}
                raise RungEndedError(replace(fault, evidence=facts))
            else:
                physics = "passed"
            rates[name] = {
                "physics": physics,
                "bandwidth": peak,
                "must_move": needs.moved,
                "needs": asdict(needs),
                "seconds": dict(both),
                "bytes_per_second": {side: cost.moved / seconds for side, seconds in both.items()},
                "flops_per_second": {side: cost.flops / seconds for side, seconds in both.items()},
            }
    return rates


def needed(process: FunctionProcess, payload: bytes, seed: int, seconds: float) -> Needs:
    """Returns what a call of the original on an input has to move.

    Raises:
        Incident: the process is gone.
        ValueError: it said what is no count.
    """
    counts, _ = process.beside("needs", payload, seed, TRIES, seconds=seconds)
    if not all(type(count) is int and count >= 0 for count in counts):
        raise ValueError("a number that counts nothing")
    return Needs(*counts)


def _hot(payloads: Mapping[str, Sequence[bytes]], sides: Sides) -> dict[str, dict[str, float]]:
    """Returns the seconds of a call whose caches are warm, as its process says: the median over fresh processes."""
    taken: dict[str, dict[str, list[float]]] = {name: {"baseline": [], "candidate": []} for name in payloads}
    for _ in range(HOT_PROCESSES):
        for side, artifact in (("baseline", sides.baseline), ("candidate", sides.candidate)):
            process = artifact.start()
            if not isinstance(process, FunctionProcess):
                return {}
            with closing(process):
                for name, drawn in payloads.items():
                    try:
                        taken[name][side].append(hot_seconds(process, drawn[0], sides.seconds))
                    except (Incident, ValueError, TypeError):  # it is shown, and decides nothing
                        return {}
    return {name: {side: statistics.median(each) for side, each in both.items()} for name, both in taken.items()}


def hot_seconds(process: FunctionProcess, payload: bytes, seconds: float) -> float:
    """Returns the seconds of a call whose caches are warm.

    Raises:
        Incident: the process is gone.
        ValueError: it said what are no times, or more time than it took.
    """
    (spent,), outside = process.beside("hot", payload, HOT_CALLS, seconds=seconds * (HOT_CALLS + 1) + EXTRA_SECONDS)
    if len(spent) != HOT_CALLS or not all(type(one) is int and one > 0 for one in spent) or sum(spent) > outside * 1e9:
        raise ValueError("no times of calls")
    return float(statistics.median(spent)) / 1e9


def _kernels(payloads: Sequence[bytes], sides: Sides) -> Mapping[str, Any] | None:
    """Returns whose kernels the candidate's time goes to, from a process that is timed for nothing else."""
    process = sides.candidate.start()
    if not isinstance(process, FunctionProcess):
        return None
    with closing(process):
        try:
            seconds = sides.seconds * (len(payloads) + 1) + EXTRA_SECONDS
            (rows,), _ = process.beside("kernels", list(payloads), seconds=seconds)
            return shares([_row(*row) for row in rows], sides.candidate.source)
        except (Incident, ValueError, TypeError):  # its labels are read from its text then
            return None


def _row(name: Any, spent: Any, launches: Any) -> tuple[str, int, int]:
    if type(name) is not str or not all(type(one) is int and one >= 0 for one in (spent, launches)):
        raise ValueError("no kernel's times")
    return name[:LONGEST_NAME], spent, launches
