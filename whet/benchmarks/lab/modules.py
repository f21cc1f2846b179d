"""Torch modules as the kernel suites time them: the same input many times over, the mean of the trials."""

from __future__ import annotations

import statistics
import time
from collections.abc import Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass

from whet.benchmarks.suites.base import Unusable
from whet.core.task import Task
from whet.evaluators.artifacts import Artifact
from whet.evaluators.finding import Fault
from whet.evaluators.kernels.answers import kind_of
from whet.evaluators.kernels.device import CPU
from whet.evaluators.processes import Pass, TargetProcess
from whet.sandbox.cores import measuring_cores

WARM_UPS = 3
"""Turns that do not count, as in KernelBench. Fewer let one-time work into the mean; more only take time."""
TRIALS = 100  # turns that count at most, as in KernelBench; more steady the mean and take longer
LEAST = 5
"""Turns that count at least, also after `SECONDS`: fewer make the mean of slow problems noisier, and more take longer
there."""
SECONDS = 10.0
"""After so long there are no further trials: on a CPU some problems take seconds a call."""
DIGITS = 3  # significant digits of the statistics, as KernelBench records them; fewer round away small differences


@dataclass(frozen=True, slots=True)
class Times:
    """Seconds of the trials of one module.

    Attributes:
        seconds: of each trial.
    """

    seconds: tuple[float, ...]

    @property
    def mean(self) -> float:
        """Seconds of a trial."""
        return statistics.fmean(self.seconds)

    def stats(self) -> dict[str, float]:
        """Returns what KernelBench records, in milliseconds with three significant digits."""
        told = {
            "mean": self.mean,
            "std": statistics.pstdev(self.seconds),
            "min": min(self.seconds),
            "max": max(self.seconds),
        }
        rounded = {name: float(f"{value * 1e3:.{DIGITS}g}") for name, value in told.items()}
        return {**rounded, "num_trials": len(self.seconds)}


def expect_device(task: Task, answer: str) -> None:
    """Returns where an answer can run on the device of its task.

    Raises:
        Unusable: it is made for a GPU, and there is none, which says nothing against it.
    """
    kind = kind_of(answer)
    if kind.needs_device and task.module is not None and task.module.device == CPU:
        raise Unusable(f"an answer in the form {kind} needs a GPU, and its problem runs on the CPU here")


def timed_side_by_side(
    reference: Artifact, answer: Artifact, payload: bytes, limit: float, cores: int
) -> tuple[Times, Times] | Fault:
    """Times the reference and an answer in turns, each in a process of its own, so that a drift meets both.

    The clock is out here; what the reference needs to take its input and hand its outcome over is subtracted from both.
    A time inside counts only where it is the larger one. On a GPU it is the larger of that and of the driver's events.

    Args:
        reference: the problem's own module.
        answer: found right before.
        payload: the input.
        limit: seconds that a call may take.
        cores: that both may use.

    Returns:
        the times of both; a fault where the answer fails while it is timed.

    Raises:
        Unusable: the reference fails.
    """
    with measuring_cores(cores) as pinned, ExitStack() as stack:
        ours, theirs = reference.start(cores=pinned), answer.start(cores=pinned)
        for process in (ours, theirs):
            if not isinstance(process, Fault):
                stack.enter_context(closing(process))
        if isinstance(ours, Fault):
            raise Unusable(f"the reference fails while it is timed: {ours.detail}")
        if isinstance(theirs, Fault):
            return theirs
        return _in_turns(ours, theirs, payload, limit)


def _in_turns(ours: TargetProcess, theirs: TargetProcess, payload: bytes, limit: float) -> tuple[Times, Times] | Fault:
    start = time.monotonic()
    passes: tuple[list[Pass], list[Pass]] = ([], [])
    for turn in range(WARM_UPS + TRIALS):
        if turn >= WARM_UPS + LEAST and time.monotonic() - start > SECONDS:
            break
        for side, process in enumerate((ours, theirs)):
            found = process.timed([payload], limit)
            if isinstance(found, Fault):
                if process is theirs:
                    return found
                raise Unusable(f"the reference fails while it is timed: {found.detail}")
            if turn >= WARM_UPS:
                passes[side].append(found)
    handover = max(0.0, statistics.median(one.outside - one.inside for one in passes[0]))
    return _counted(passes[0], handover), _counted(passes[1], handover)


def _counted(passes: Sequence[Pass], handover: float) -> Times:
    return Times(tuple(max(one.inside, one.events or 0.0, one.outside - handover, 1e-9) for one in passes))
