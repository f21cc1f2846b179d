"""Observes what processes of a baseline and of a candidate do outside timed calls; judges nothing.

Each process loads the function, makes a first and a second call, makes several passes over distinct inputs, and is
watched while nothing is asked of it. The last of the candidate also makes calls for a while, and its memory is read in
between; where it grows, so does the last of the baseline. Seconds are CPU time of all its processes, by the kernel's
account out here: a busy machine hardly moves them, and work that is left to threads, or to a time when nothing is
asked, is in them.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from whet.evaluators.artifacts import Artifact
from whet.evaluators.finding import Fault, lost_with, sound
from whet.evaluators.preloads import imported, looked_up
from whet.evaluators.processes import FunctionProcess, TargetProcess
from whet.evaluators.screen import parse
from whet.evaluators.stopwatch import Stopwatch
from whet.sandbox.process_tree import GONE

IDLE_SECONDS = 0.03
"""How long CPU time is counted while nothing is asked; the kernel counts to the nanosecond."""
STEADY_SECONDS = 0.4
STEADY_CALLS = 400
"""Calls, and their seconds, whichever ends first, between whose thirds memory is read: 4 kB a call become 1 MiB."""
LEAST_GROWTH = 1 << 20
"""Bytes: allocators round up, and caches of the interpreter fill, by less than this."""
DIGITS = 9
"""Decimal places of seconds: no clock tells less than a nanosecond."""


@dataclass(frozen=True, slots=True)
class ObservedProcess:
    """What one process showed, in CPU seconds; by the clock out here where the kernel tells none, or a GPU is used.

    Attributes:
        loading: seconds of loading the source.
        first: seconds of the first call.
        second: seconds of the second, on the input that the first call has in the processes of the other order.
        passes: seconds of each pass after those two.
        idle: CPU seconds a second while nothing is asked; None where the kernel does not tell.
        kept: bytes by which memory grew in the second and in the last third of some calls; None where nobody asked.
    """

    loading: float
    first: float
    second: float
    passes: tuple[float, ...]
    idle: float | None
    kept: tuple[int, int] | None


@dataclass(frozen=True, slots=True)
class Observation:
    """What the processes of both sides showed, in the order in which they ran; plain JSON data with `to_plain`.

    Attributes:
        baseline: of the baseline.
        candidate: of the candidate.
        longer: how many times as many calls as the baseline's a pass of the candidate has.
    """

    baseline: tuple[ObservedProcess, ...]
    candidate: tuple[ObservedProcess, ...]
    longer: int = 1


@dataclass(frozen=True, slots=True)
class Calls:
    """What processes of both sides are called with.

    Attributes:
        payloads: distinct inputs of one size: two for the first calls, then those of the candidate's passes.
        part: how many of them make a pass of the baseline.
        seconds: that one call may take.
        longer: how many times as many make one of the candidate, which is timed on further inputs.
    """

    payloads: Sequence[bytes]
    part: int
    seconds: float
    longer: int = 1

    def of_baseline(self) -> Calls:
        """Returns those of the baseline: as many passes."""
        passes = (len(self.payloads) - 2) // (self.part * self.longer)
        return replace(self, payloads=self.payloads[: 2 + passes * self.part], longer=1)

    def spans(self, order: int) -> list[Sequence[bytes]]:
        """Returns the inputs of each of the first two calls, then those of each pass; backwards where the order is -1.

        Backwards, the two calls change places and still come first.
        """
        first, others = self.payloads[:2][::order], self.payloads[2:][::order]
        count = self.part * self.longer
        passes = [others[start : start + count] for start in range(0, len(others) - count + 1, count)]
        return [*([one] for one in first), *passes]


def observe(baseline: Artifact, candidate: Artifact, calls: Calls, processes: int) -> Observation:
    """Runs fresh processes of both sides in turns.

    What either side imports, or looks up in what it imports, is there in all of them before loading is timed.

    Args:
        baseline: the original, a Python function.
        candidate: what is compared with it.
        calls: that they make.
        processes: of each side. Even ones make their calls in the given order, odd ones in the opposite order.

    Raises:
        RungEndedError: a process failed.
    """
    parsed = [parse(artifact.source) for artifact in (baseline, candidate)]
    trees = [tree for tree in parsed if not isinstance(tree, Fault)]
    names = list(dict.fromkeys((*imported(*trees), *looked_up(*trees))))
    last = processes - 1
    ours: list[ObservedProcess] = []
    theirs: list[ObservedProcess] = []

    def look_at_baseline(steady: bool = False) -> None:
        with lost_with("the baseline, looked at outside its timed calls"):
            ours.append(_observe_process(fresh, baseline.on_gpu, calls.of_baseline(), len(ours), steady))

    def look_at_candidate(steady: bool = False) -> None:
        theirs.append(_observe_process(fresh, candidate.on_gpu, calls, len(theirs), steady))

    with closing(_Processes([*(baseline, candidate) * last, candidate, baseline], names)) as fresh:
        for _ in range(last):
            look_at_baseline()
            look_at_candidate()
        look_at_candidate(steady=True)
        # Held against the candidate is what it keeps beyond the baseline: of one that keeps little, nobody asks that.
        look_at_baseline(steady=sum(theirs[last].kept or ()) > LEAST_GROWTH)
    return Observation(tuple(ours), tuple(theirs), calls.longer)


class _Processes:
    """Fresh processes, of which each is started while nothing is asked of the one before."""

    def __init__(self, artifacts: Sequence[Artifact], names: Sequence[str]) -> None:
        """Starts the first.

        Args:
            artifacts: of one process after the other.
            names: what all of them have imported, and looked up, before they load.
        """
        self._artifacts = iter(artifacts)
        self._names = names
        self._beside = ThreadPoolExecutor(1)
        self._coming: Future[TargetProcess | Fault] | None = None
        self.begin()

    def begin(self) -> None:
        """Starts the next one, if any is left, beside whatever follows."""
        artifact = next(self._artifacts, None)
        self._coming = None if artifact is None else self._beside.submit(artifact.start, primed=self._names)

    def taken(self) -> FunctionProcess:
        """Returns the one that was started last.

        Raises:
            RungEndedError: it could not be.
        """
        assert self._coming is not None, "it was not begun"
        coming, self._coming = self._coming, None
        process = sound(coming.result())
        assert isinstance(process, FunctionProcess)
        return process

    def close(self) -> None:
        """Ends one that nobody took."""
        self._beside.shutdown()
        if self._coming is not None and not isinstance(process := self._coming.result(), Fault):
            process.close()


def _observe_process(fresh: _Processes, on_gpu: bool, calls: Calls, number: int, steady: bool) -> ObservedProcess:
    """Returns what the next process showed.

    Args:
        fresh: where it comes from.
        on_gpu: whether it uses a GPU.
        calls: that it makes.
        number: of its side's processes; odd ones make them backwards.
        steady: whether it also makes calls for a while.
    """
    with closing(fresh.taken()) as process:
        order = 1 if number % 2 == 0 else -1
        spent = [_spent(process, span, calls.seconds, on_gpu) for span in calls.spans(order)]
        first, second, *rest = spent
        fresh.begin()
        idle = _idle(process)
        kept = _kept(process, calls.payloads, calls.seconds) if steady else None
        return ObservedProcess(round(process.loading, DIGITS), first, second, tuple(rest), idle, kept)


def _spent(process: FunctionProcess, payloads: Sequence[bytes], seconds: float, on_gpu: bool) -> float:
    """Returns the seconds of some calls, one by one."""
    watch = Stopwatch(process.session, wall=on_gpu)
    for payload in payloads:
        sound(process.call(payload, seconds))
    return round(watch.seconds(), DIGITS)


def _idle(process: FunctionProcess) -> float | None:
    """Returns the CPU seconds a second that its processes use while nothing is asked of them."""
    before, start = process.session.cpu(), time.perf_counter()
    if before is None:
        return None
    time.sleep(IDLE_SECONDS)
    after = process.session.cpu()
    return None if after is None else round(max(0.0, after - before) / (time.perf_counter() - start), DIGITS)


def _kept(process: FunctionProcess, payloads: Sequence[bytes], seconds: float) -> tuple[int, int] | None:
    """Returns by how many bytes the process grows in each of two halves of some calls, after as many before."""
    levels: list[int] = []
    for _ in range(3):
        end = time.perf_counter() + STEADY_SECONDS / 3
        for number in range(STEADY_CALLS // 3):
            sound(process.call(payloads[number % len(payloads)], seconds))
            if time.perf_counter() > end:
                break
        size = _resident(process)
        if size is None:
            return None
        levels.append(size)
    return levels[1] - levels[0], levels[2] - levels[1]


def _resident(process: FunctionProcess) -> int | None:
    pids = process.session.pids()
    return sum(_anonymous(pid) for pid in pids) if pids else None


def _anonymous(pid: int) -> int:
    with suppress(*GONE):
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("RssAnon:"):
                return int(line.split()[1]) << 10
    return 0
