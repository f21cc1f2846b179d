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
from whet.evaluators.timing.workloads import TimedWorkload

PROCESSES = 5
"""Of each side: the least over them counts, which one that was disturbed cannot move."""
LATER = 8
"""Rounds that come again, each in a window of its own as the first is, so that what a window costs is in both. More
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
            last the mean of `LATER` that come again after as many as in a pass. So what answers again only after some
            rounds, or in some of them, shows in it.
        inputs: in a round; None, in older evidence, for all distinct ones of a pass.
        seconds_in_a_pass: likewise of a round on new inputs, and the mean of those in one window as long as a pass,
            which are as close to each other as there; None in older evidence.
    """

    rounds: int
    seconds_of_rounds: RoundSeconds
    inputs: int | None = None
    seconds_in_a_pass: RoundSeconds | None = None


def observe_rounds(
    baseline: Artifact, candidate: Artifact, workloads: Sequence[TimedWorkload], seed: int, seconds: float
) -> dict[str, RoundObservation]:
    """Runs rounds of all workloads in fresh processes of both sides in turns, in the order of a turn's processes.

    Args:
        baseline: the original.
        candidate: what is compared with it.
        workloads: that repeat their inputs within a pass.
        seed: of the order of the calls.
        seconds: that one call may take.

    Returns:
        what was observed, by workload.

    Raises:
        RungEndedError: a process failed.
    """
    drawn = {
        work.name: [item.payload for item in work.draw(derive(seed, "repeats"), work.count // work.rounds)]
        for work in workloads
    }
    # What the first call of a process has met would be known in each round.
    first, *rest = drawn[workloads[0].name]
    before = [first] if rest else []
    drawn[workloads[0].name] = rest or [first]

    def run(process: FunctionProcess) -> dict[str, _Rounds]:
        for payload in before:
            _seconds_of(process, [payload], seconds, baseline.on_gpu)
        return {
            work.name: _rounds_of(process, drawn[work.name], work.rounds, seconds, baseline.on_gpu)
            for work in workloads
        }

    ours, theirs = _in_turns(baseline, candidate, run)
    found = {}
    for work in workloads:
        sides = [[one[work.name] for one in processes] for processes in (ours, theirs)]
        later = RoundSeconds(*(tuple((one.new, one.later) for one in side) for side in sides))
        in_a_pass = RoundSeconds(*(tuple((one.new, one.in_a_pass) for one in side) for side in sides))
        found[work.name] = RoundObservation(work.rounds, later, len(drawn[work.name]), in_a_pass)
    return found


@dataclass(frozen=True, slots=True)
class _Rounds:
    """Seconds of a round on new inputs in one process, and means of those that come again: in a pass, and later."""

    new: float
    in_a_pass: float
    later: float


Processes = list[dict[str, _Rounds]]
"""Of one side; in each, what was seen on each workload."""


def _in_turns(
    baseline: Artifact, candidate: Artifact, run: Callable[[FunctionProcess], dict[str, _Rounds]]
) -> tuple[Processes, Processes]:
    ours: Processes = []
    theirs: Processes = []
    for _ in range(PROCESSES):
        with lost_with("the baseline, while its calls came again"):
            ours.append(_in_a_process(baseline, run))
        theirs.append(_in_a_process(candidate, run))
    return ours, theirs


def _in_a_process(artifact: Artifact, run: Callable[[FunctionProcess], dict[str, _Rounds]]) -> dict[str, _Rounds]:
    process = sound(artifact.start())
    assert isinstance(process, FunctionProcess)
    with closing(process):
        return run(process)


def _rounds_of(
    process: FunctionProcess, payloads: Sequence[bytes], rounds: int, seconds: float, on_gpu: bool
) -> _Rounds:
    new = _seconds_of(process, payloads, seconds, on_gpu)
    in_a_pass = _seconds_of(process, [*payloads] * rounds, seconds, on_gpu) / rounds
    later = statistics.mean(_seconds_of(process, payloads, seconds, on_gpu) for _ in range(LATER))
    return _Rounds(new, in_a_pass, later)


def _seconds_of(process: FunctionProcess, payloads: Sequence[bytes], seconds: float, on_gpu: bool) -> float:
    watch = Stopwatch(process.session, wall=on_gpu)
    sound(process.timed(payloads, seconds * len(payloads)))
    return watch.seconds()
