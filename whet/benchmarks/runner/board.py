"""Who works on which job, and whether the caps leave room for it: the seam between one driver and several."""

from __future__ import annotations

import threading
import time
from enum import Enum, auto
from typing import Protocol

from whet.benchmarks.results import Row
from whet.benchmarks.runner.request import BenchRequest, LoopSettings, ProblemSample
from whet.core.errors import BudgetError


class Claim(Enum):
    """Whose turn a job is: this driver's from now on, another one's for now, or nobody's."""

    OURS = auto()
    THEIRS = auto()
    NOBODYS = auto()


class Board(Protocol):
    """Where drivers see what is to be done. Safe for several threads."""

    @property
    def usd(self) -> float:
        """What all rows cost so far."""

    def claim(self, job: ProblemSample, begin: bool = True) -> Row | Claim:
        """Returns the row of a job that is done, else whose turn it is.

        Args:
            job: the one in question.
            begin: whether this driver would do it; else one that nobody works on is nobody's.

        Raises:
            BudgetError: the caps leave no room for it.
        """

    def settle(self, job: ProblemSample, row: Row) -> Row:
        """Records what came of a job of ours; returns the row that counts."""

    def drop(self, job: ProblemSample) -> None:
        """Lets go of a job of ours that could not be done."""


class OwnBoard:
    """The board of a driver by itself.

    Args:
        asked: of the run.
        usd: what the rows of before cost.
    """

    def __init__(self, asked: BenchRequest, usd: float) -> None:
        self.usd = usd
        self._asked = asked
        self._running = 0
        self._began = time.monotonic()
        self._lock = threading.Lock()

    def claim(self, job: ProblemSample, begin: bool = True) -> Row | Claim:
        """Returns whose turn a job is; see `Board.claim`."""
        if not begin:
            return Claim.NOBODYS
        expect_time(self._asked, time.monotonic() - self._began)
        with self._lock:
            if (most := most_usd(self._asked)) is not None:
                expect_money(self._asked, self.usd, most * (self._running + 1))
            self._running += 1
        return Claim.OURS

    def settle(self, job: ProblemSample, row: Row) -> Row:
        """Counts what it cost."""
        with self._lock:
            self._running -= 1
            self.usd += row.cost.usd
        return row

    def drop(self, job: ProblemSample) -> None:
        """Counts it as over."""
        with self._lock:
            self._running -= 1


def most_usd(asked: BenchRequest) -> float | None:
    """Returns the most that one answer may cost, where what all of them cost is capped."""
    if asked.total.usd is None or not isinstance(asked.answers, LoopSettings):
        return None
    return asked.answers.budget.usd or 0.0


def expect_time(asked: BenchRequest, seconds: float) -> None:
    """Raises BudgetError where so many seconds are the cap or more."""
    if asked.total.seconds is not None and seconds >= asked.total.seconds:
        raise BudgetError(f"--total-seconds {asked.total.seconds:g} are over")


def expect_money(asked: BenchRequest, spent: float, more: float) -> None:
    """Raises BudgetError where the cap does not leave room for so much more."""
    if asked.total.usd is not None and spent + more > asked.total.usd:
        raise BudgetError(
            f"--total-usd {asked.total.usd:g} leaves too little for another answer: {spent:.4f} USD are spent"
        )
