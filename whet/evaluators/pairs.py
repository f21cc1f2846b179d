"""A process of the baseline and one of the candidate, side by side; one that is gone is replaced."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import TypeVar

from whet.evaluators.artifacts import Artifact
from whet.evaluators.finding import Fault, sound
from whet.evaluators.inputs.source import Input
from whet.evaluators.processes import CallResult, Pass, TargetProcess
from whet.sandbox.protocol import CpuLimit

MOST_AT_ONCE = 64
"""Inputs of one exchange."""
BYTES_AT_ONCE = 1 << 20
"""Of one exchange, to and fro."""
SECONDS_AT_ONCE = 0.02
"""What the baseline takes for those of one exchange; a dearer input is met by itself."""


@dataclass(frozen=True, slots=True)
class ComparedInput:
    """An input and what the baseline makes of it.

    Attributes:
        item: the input.
        expected: the baseline's outcome.
        seconds: that the baseline says it took.
    """

    item: Input
    expected: bytes
    seconds: float


OneInput = TypeVar("OneInput", bound=ComparedInput)


class Side:
    """Calls one artifact, in one process for as long as that lives."""

    def __init__(self, artifact: Artifact, hash_seed: int, worker: int | None = 0) -> None:
        """Starts nothing yet.

        Args:
            artifact: what is called.
            hash_seed: PYTHONHASHSEED of its processes.
            worker: of which warm worker they are forks; None for fresh processes.
        """
        self.artifact = artifact
        self._hash_seed = hash_seed
        self._worker = worker
        self._process: TargetProcess | None = None

    def another(self) -> Side:
        """Returns a side of the same artifact with a process of its own."""
        return Side(self.artifact, self._hash_seed, self._worker)

    def open(self) -> None:
        """Starts its process, where there is none.

        Raises:
            RungEndedError: it does not start.
        """
        sound(self._started())

    def _started(self) -> TargetProcess | Fault:
        if self._process is None:
            process = self.artifact.start(hash_seed=self._hash_seed, worker=self._worker)
            if isinstance(process, Fault):
                return process
            self._process = process
        return self._process

    def call(self, payload: bytes, seconds: float | CpuLimit) -> CallResult:
        """Runs one input; see `whet.evaluators.processes.TargetProcess.call`."""
        process = self._started()
        answer = process if isinstance(process, Fault) else process.call(payload, seconds)
        if isinstance(answer, Fault):
            self.close()
        return answer

    def timed(self, payload: bytes, seconds: float) -> Pass | Fault:
        """Runs one input in a window of its own; see `whet.evaluators.processes.TargetProcess.timed`."""
        process = self._started()
        found = process if isinstance(process, Fault) else process.timed([payload], seconds)
        if isinstance(found, Fault):
            self.close()
        return found

    def calls(self, payloads: Sequence[bytes], seconds: float | CpuLimit, way: str = "call") -> Generator[CallResult]:
        """Yields an answer for each input; see `whet.evaluators.processes.TargetProcess.calls`.

        Those behind a fault meet a new process. So do later ones where not all answers are taken.
        """
        given = 0
        while given < len(payloads):
            process = self._started()
            if isinstance(process, Fault):
                yield process
                given += 1
                continue
            whole = False
            try:
                with closing(process.calls(payloads[given:], seconds, way)) as answers:
                    for answer in answers:
                        given += 1
                        whole = given == len(payloads) and not isinstance(answer, Fault)
                        yield answer
            finally:
                if not whole:
                    self.close()

    def outcomes(
        self, met: Iterable[OneInput], seconds: float, way: str = "call"
    ) -> Generator[tuple[OneInput, CallResult]]:
        """Yields inputs that the baseline has met with this side's answers, asked at once where they are cheap."""
        for group in at_once(met):
            with closing(self.calls([one.item.payload for one in group], seconds, way)) as answers:
                yield from zip(group, answers, strict=True)

    def close(self) -> None:
        """Ends its process."""
        if self._process is not None:
            self._process.close()
            self._process = None


def at_once(met: Iterable[OneInput], first: int = MOST_AT_ONCE) -> Iterator[list[OneInput]]:
    """Groups inputs, in their order, so that those of a group can be asked in one exchange.

    Args:
        met: the inputs.
        first: how many the first group has at most; each later one has twice as many as the one before.
    """
    group: list[OneInput] = []
    most, size, seconds = first, 0, 0.0
    for one in met:
        size += (own := len(one.item.payload) + len(one.expected))
        seconds += one.seconds
        if group and (size > BYTES_AT_ONCE or seconds > SECONDS_AT_ONCE):
            yield group
            group, size, seconds = [], own, one.seconds
        group.append(one)
        if len(group) == most:
            yield group
            group, size, seconds = [], 0, 0.0
            most = min(2 * most, MOST_AT_ONCE)
    if group:
        yield group
