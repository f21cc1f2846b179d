"""How long a candidate may take for all inputs together: a limit that leads to ``timeout``, never to fewer inputs."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import TypeVar

from whet.core.verdict import Reason
from whet.evaluators.finding import Fault, RungEndedError

CALLS = 25.0
"""Times the limit of one call. That limit is ten times the baseline's slowest call, and all inputs together take the
baseline some 60 of its calls at most: an equally fast candidate takes a quarter of this, or less."""

T = TypeVar("T")


class Patience:
    """Adds up, by the clock, what one candidate takes."""

    def __init__(self, limit: float) -> None:
        """Begins with nothing spent.

        Args:
            limit: seconds that one call may take.
        """
        self._limit = limit * CALLS
        self._spent = 0.0

    def over(self, answers: Iterator[T]) -> Iterator[T]:
        """Yields answers for as long as their making takes no more than the limit.

        Raises:
            RungEndedError: it took more, which is a timeout.
        """
        while True:
            start = time.perf_counter()
            try:
                answer = next(answers)
            except StopIteration:
                return
            self._spent += time.perf_counter() - start
            if self._spent > self._limit:
                raise RungEndedError(Fault(Reason.TIMEOUT, f"all inputs together took more than {self._limit:g} s"))
            yield answer
