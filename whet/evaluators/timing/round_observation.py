"""Observes how long rounds of the same calls take, one after another in one process; judges nothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass

from whet.evaluators.artifacts import Artifact
from whet.evaluators.finding import lost_with, sound
from whet.evaluators.inputs.source import derive
from whet.evaluators.processes import FunctionProcess
from whet.evaluators.stopwatch import Stopwatch
from whet.evaluators.timing.turns import MOST_BYTES, TimedWorkload

PROCESSES = 5
"""Of each side."""
ROUNDS = 3
"""Of the same calls in a process: one on new inputs, two that may be cheaper."""
NATIVE_INPUTS, SETS = 500, 4
"""Distinct inputs of a native function in a round at most, and such sets of inputs."""
OF_A_PASS = 2
"""A round has so many times the distinct inputs of a pass: what is large takes long to draw, and to run."""


@dataclass(frozen=True, slots=True)
class RoundSeconds:
    """Seconds of each round, in each process of a side."""

    baseline: tuple[tuple[float, ...], ...]
    candidate: tuple[tuple[float, ...], ...]


@dataclass(frozen=True, slots=True)
class RoundObservation:
    """What the processes of both sides showed on one workload; plain JSON data with `to_plain`.

    Attributes:
        rounds: how often a pass repeats its inputs.
        seconds_of_rounds: CPU seconds where the kernel tells them and no GPU is used. Of a native function, rounds on
            new contents of the same memory and rounds on contents that were there before take turns; else the first
            round is the new one.
        inputs: of a native function in a round; None of any other, whose round has all distinct inputs of a pass.
    """

    rounds: int
    seconds_of_rounds: RoundSeconds
    inputs: int | None = None


def observe_rounds(
    baseline: Artifact, candidate: Artifact, work: TimedWorkload, seed: int, seconds: float
) -> RoundObservation:
    """Runs rounds of one workload in fresh processes of both sides in turns.

    Args:
        baseline: the original.
        candidate: what is compared with it.
        work: that repeats its inputs within a pass.
        seed: of the inputs.
        seconds: that one call may take.

    Raises:
        RungEndedError: a process failed.
    """
    if work.repeats:
        return _of_native(baseline, candidate, work, seed, seconds)
    payloads = [item.payload for item in work.draw(derive(seed, "repeats"), work.count // work.rounds)]
    found = _in_turns(baseline, candidate, lambda process: _rounds(process, payloads, seconds, baseline.on_gpu))
    return RoundObservation(work.rounds, found)


def _of_native(
    baseline: Artifact, candidate: Artifact, work: TimedWorkload, seed: int, seconds: float
) -> RoundObservation:
    """Observes a native function, whose process repeats inputs where they lie.

    Rounds on new contents of the same memory stand beside rounds on contents that were there before: what the caches
    of the processor do is the same in both.
    """
    (one,) = work.draw(derive(seed, "renewed"), 1)
    calls = max(1, min(NATIVE_INPUTS, OF_A_PASS * work.count, MOST_BYTES // (SETS * max(1, len(one.payload)))))
    drawn = [item.payload for item in work.draw(derive(seed, "repeats"), SETS * calls)]
    sets = [drawn[number * calls : (number + 1) * calls] for number in range(SETS)]
    found = _in_turns(baseline, candidate, lambda process: _renewed(process, sets, seconds * SETS * calls))
    return RoundObservation(work.repeats, found, calls)


def _in_turns(
    baseline: Artifact, candidate: Artifact, run: Callable[[FunctionProcess], Sequence[float]]
) -> RoundSeconds:
    ours: list[tuple[float, ...]] = []
    theirs: list[tuple[float, ...]] = []
    for _ in range(PROCESSES):
        with lost_with("the baseline, while its calls came again"):
            ours.append(tuple(_in_a_process(baseline, run)))
        theirs.append(tuple(_in_a_process(candidate, run)))
    return RoundSeconds(tuple(ours), tuple(theirs))


def _in_a_process(artifact: Artifact, run: Callable[[FunctionProcess], Sequence[float]]) -> Sequence[float]:
    process = sound(artifact.start())
    assert isinstance(process, FunctionProcess)
    with closing(process):
        return run(process)


def _renewed(process: FunctionProcess, sets: Sequence[Sequence[bytes]], seconds: float) -> Sequence[float]:
    return sound(process.renewed(sets, seconds))[2:]  # the first set finds everything cold


def _rounds(process: FunctionProcess, payloads: Sequence[bytes], seconds: float, on_gpu: bool) -> list[float]:
    """Returns the seconds of some rounds of the same calls in one process."""
    found: list[float] = []
    for part in (payloads[:1], *[payloads] * ROUNDS):
        watch = Stopwatch(process.session, wall=on_gpu)
        sound(process.timed(part, seconds * len(part)))
        found.append(watch.seconds())
    return found[1:]
