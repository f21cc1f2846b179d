"""A process of the baseline and one of the candidate, side by side; one that is gone is replaced."""

from __future__ import annotations

from dataclasses import dataclass

from whet.evaluators.finding import Fault
from whet.evaluators.inputs.source import Input
from whet.evaluators.subjects import Live, LiveFunction, Subject


@dataclass(frozen=True, slots=True)
class Met:
    """An input that both sides have met.

    Attributes:
        item: the input.
        expected: the baseline's outcome.
        seconds: that the baseline says it took.
    """

    item: Input
    expected: bytes
    seconds: float


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

    def open(self) -> Fault | None:
        """Starts its process, where there is none."""
        if self._live is None:
            live = self.subject.start(hash_seed=self._hash_seed, worker=self._worker)
            if isinstance(live, Fault):
                return live
            self._live = live
        return None

    def call(self, payload: bytes, seconds: float) -> tuple[bytes, float] | Fault:
        """Runs one input; see `whet.evaluators.subjects.Live.call`."""
        if fault := self.open():
            return fault
        assert self._live is not None
        return self._ended(self._live.call(payload, seconds))

    def call_after_spoiling(self, payload: bytes, seconds: float) -> tuple[bytes, float] | Fault:
        """See `whet.evaluators.subjects.LiveFunction.call_after_spoiling`."""
        if fault := self.open():
            return fault
        assert isinstance(self._live, LiveFunction)
        return self._ended(self._live.call_after_spoiling(payload, seconds))

    def _ended(self, answer: tuple[bytes, float] | Fault) -> tuple[bytes, float] | Fault:
        if isinstance(answer, Fault):
            self.close()
        return answer

    def close(self) -> None:
        """Ends its process."""
        if self._live is not None:
            self._live.close()
            self._live = None
