"""A process of the baseline and one of the candidate, side by side; one that is gone is replaced."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import TypeVar

from whet.evaluators.finding import Fault, sound
from whet.evaluators.inputs.source import Input
from whet.evaluators.live import Answer, Live, Pass
from whet.evaluators.subjects import Subject
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
    """Calls one subject, in one process for as long as that lives."""

    def __init__(self, subject: Subject, hash_seed: int, worker: int | None = 0) -> None:
        """Starts nothing yet.

        Args:
            subject: what is called.
            hash_seed: PYTHONHASHSEED of its processes.
            worker: of which warm worker they are forks; None for fresh processes.
        """
        self.subject = subject
        self._hash_seed = hash_seed
        self._worker = worker
        self._live: Live | None = None

    def another(self) -> Side:
        """Returns a side of the same subject with a process of its own."""
        return Side(self.subject, self._hash_seed, self._worker)

    def open(self) -> None:
        """Starts its process, where there is none.

        Raises:
            RungEndedError: it does not start.
        """
        sound(self._process())

    def _process(self) -> Live | Fault:
        if self._live is None:
            live = self.subject.start(hash_seed=self._hash_seed, worker=self._worker)
            if isinstance(live, Fault):
                return live
            self._live = live
        return self._live

    def call(self, payload: bytes, seconds: float | CpuLimit) -> Answer:
        """Runs one input; see `whet.evaluators.live.Live.call`."""
        live = self._process()
        answer = live if isinstance(live, Fault) else live.call(payload, seconds)
        if isinstance(answer, Fault):
            self.close()
        return answer

    def timed(self, payload: bytes, seconds: float) -> Pass | Fault:
        """Runs one input in a window of its own; see `whet.evaluators.live.Live.timed`."""
        live = self._process()
        found = live if isinstance(live, Fault) else live.timed([payload], seconds)
        if isinstance(found, Fault):
            self.close()
        return found

    def calls(self, payloads: Sequence[bytes], seconds: float | CpuLimit, way: str = "call") -> Generator[Answer]:
        """Yields an answer for each input; see `whet.evaluators.live.Live.calls`.

        Those behind a fault meet a new process. So do later ones where not all answers are taken.
        """
        given = 0
        while given < len(payloads):
            live = self._process()
            if isinstance(live, Fault):
                yield live
                given += 1
                continue
            whole = False
            try:
                with closing(live.calls(payloads[given:], seconds, way)) as answers:
                    for answer in answers:
                        given += 1
                        whole = given == len(payloads) and not isinstance(answer, Fault)
                        yield answer
            finally:
                if not whole:
                    self.close()

    def outcomes(
        self, met: Iterable[OneInput], seconds: float, way: str = "call"
    ) -> Generator[tuple[OneInput, Answer]]:
        """Yields inputs that the baseline has met with this side's answers, asked at once where they are cheap."""
        for group in at_once(met):
            with closing(self.calls([one.item.payload for one in group], seconds, way)) as answers:
                yield from zip(group, answers, strict=True)

    def close(self) -> None:
        """Ends its process."""
        if self._live is not None:
            self._live.close()
            self._live = None


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
