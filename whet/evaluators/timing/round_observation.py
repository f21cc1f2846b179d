"""Observes how long rounds of the same calls take, one after another in one process; judges nothing."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass

from whet.evaluators.artifacts import Artifact
from whet.evaluators.finding import lost_with, sound
from whet.evaluators.inputs.source import derive
from whet.evaluators.processes import FunctionProcess
from whet.evaluators.stopwatch import Stopwatch
from whet.evaluators.timing.workloads import MOST_BYTES, TimedWorkload

PROCESSES = 5
"""Of each side."""
SETS = 4
"""Of distinct inputs of a native function, as many as of a pass: one before any that counts, one that comes again as
often as in a pass, and two more that come once."""
LATER = 8
"""Rounds of other calls that come again, each in a window of its own as the first is, after as many as in a pass. More
take longer; what answers again only now and then shows in their mean."""


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
        seconds_of_rounds: CPU seconds where the kernel tells them and no GPU is used: of rounds on new inputs, and
            last the mean of those that come again: of a native function as many as in a pass, of others `LATER` after
            as many. So what answers again only after some rounds, or in some of them, shows in it.
        inputs: in a round; None, in older evidence, for all distinct ones of a pass.
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
    first, *rest = [item.payload for item in work.draw(derive(seed, "repeats"), work.count // work.rounds)]
    # What the first call of a process has met would be known in each round.
    payloads, before = (rest, [[first]]) if rest else ([first], [])
    parts = [*before, payloads, payloads * (work.rounds - 1), *[payloads] * LATER]

    def run(process: FunctionProcess) -> tuple[float, float]:
        found = _seconds_of(process, parts, seconds, baseline.on_gpu)[len(before) :]
        return found[0], statistics.mean(found[2:])

    return RoundObservation(work.rounds, _in_turns(baseline, candidate, run), len(payloads))


def _of_native(
    baseline: Artifact, candidate: Artifact, work: TimedWorkload, seed: int, seconds: float
) -> RoundObservation:
    """Observes a native function, whose process repeats inputs where they lie.

    Rounds on new contents of the same memory stand beside rounds on contents that were there before: what the caches
    of the processor do is the same in both. Those that come again come first, as in a pass: what a function decides
    by what it met before is the same there. A round has no more inputs than one of a pass, where fewer that are kept
    would do.
    """
    (one,) = work.draw(derive(seed, "renewed"), 1)
    calls = max(1, min(work.count, MOST_BYTES // (SETS * max(1, len(one.payload)))))
    again = work.repeats - 1
    drawn = [item.payload for item in work.draw(derive(seed, "repeats"), SETS * calls)]
    sets = [drawn[number * calls : (number + 1) * calls] for number in range(SETS)]
    found = _in_turns(baseline, candidate, lambda process: _renewed(process, sets, again, seconds))
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


def _renewed(process: FunctionProcess, sets: Sequence[Sequence[bytes]], again: int, seconds: float) -> Sequence[float]:
    calls = (len(sets) + again) * len(sets[0])
    _, *new, repeated = sound(process.renewed(sets, again, seconds * calls))  # the first set finds everything cold
    return [*new, repeated / again]


def _seconds_of(
    process: FunctionProcess, parts: Sequence[Sequence[bytes]], seconds: float, on_gpu: bool
) -> list[float]:
    """Returns the seconds of one part of the calls after the other, in one process."""
    found: list[float] = []
    for part in parts:
        watch = Stopwatch(process.session, wall=on_gpu)
        sound(process.timed(part, seconds * len(part)))
        found.append(watch.seconds())
    return found
