"""What else a run must remember: its rounds, its diagnoses, where a cap ended something, its working time."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from whet.agents.budget import BudgetMeter
from whet.agents.diagnosis import Diagnosis
from whet.core.errors import BudgetError
from whet.core.plain import from_plain, to_plain
from whet.core.store import Store

T = TypeVar("T")

CAP = "cap:"
TIME_IS_UP = "--budget-seconds is spent"
WORKED = "worked"
SAVED_SECONDS = 0.1
"""What a kill may make a run forget of the time that it took."""


@dataclass(frozen=True, slots=True)
class Round:
    """What the Coder brought in one round.

    Attributes:
        parent: id of the text that its first answer was to build upon.
        batch: ids of the candidates that the run had not seen before, those of repairs last.
        proposed: all candidates, known ones included.
        complaints: why the other answers could not be used.
        same: ids of the answers that only looked unlike what the run had seen; no more is known of them.
        again: of each answer that the run had seen, in form or in effect, the id of what it repeats.
        ended: why no round follows, where that is known before this one is judged; see `whet.agents.loop.LoopState`.
        message: the same for people.
        repairs: ids of those in the batch that each turn of repairs brought.
    """

    parent: str
    batch: tuple[str, ...]
    proposed: int
    complaints: tuple[str, ...]
    same: tuple[str, ...] = ()
    ended: str = ""
    message: str = ""
    repairs: tuple[tuple[str, ...], ...] = ()
    again: tuple[str, ...] = ()

    @property
    def groups(self) -> tuple[tuple[str, ...], ...]:
        """The batch in its parts: what was asked for first, then each turn of repairs. Each is checked by itself."""
        first = len(self.batch) - sum(map(len, self.repairs))
        return (self.batch[:first], *self.repairs)


class History:
    """The rounds of a run and the Judge's diagnoses, by number from 1."""

    def __init__(self, store: Store, run: str) -> None:
        self._store = store
        self._run = run
        self._rounds: dict[int, Round] = {}
        self._seen: list[str] = []
        self._ends = [0]  # of the rounds in it
        self._diagnoses: dict[int, Diagnosis | None] = {}

    def add(self, number: int, round: Round) -> None:
        """Records a round; one that a killed process had begun is replaced."""
        self._store.set_fact(self._run, f"round:{number}", to_plain(round))
        self._rounds[number] = round
        del self._ends[number:]
        del self._seen[self._ends[-1] :]

    def round(self, number: int) -> Round:
        """Returns a recorded round."""
        round = self.recorded(number)
        assert round is not None, f"round {number} was not recorded"
        return round

    def recorded(self, number: int) -> Round | None:
        """Returns a round; None where it was not recorded."""
        if number not in self._rounds:
            if (fact := self._store.fact(self._run, f"round:{number}")) is None:
                return None
            self._rounds[number] = from_plain(Round, fact)
        return self._rounds[number]

    def seen(self, until: int) -> list[str]:
        """Returns the ids of all candidates of the rounds up to a number, in order."""
        while len(self._ends) <= until:
            self._seen += self.round(len(self._ends)).batch
            self._ends.append(len(self._seen))
        return self._seen[: self._ends[until]]

    def same(self, until: int) -> list[str]:
        """Returns the ids of the answers up to a round that were not evaluated, for they said nothing new."""
        return [id for number in range(1, until + 1) for id in self.round(number).same]

    def judged(self, number: int, diagnosis: Diagnosis) -> None:
        """Records what the Judge said after a round."""
        self._store.set_fact(self._run, f"diagnosis:{number}", diagnosis.model_dump(mode="json"))
        self._diagnoses[number] = diagnosis

    def directive(self, until: int, since: int = 0) -> str:
        """Returns the Judge's last directive of the rounds up to a number, from the one on that brought the best.

        It stands until the Judge has seen another candidate. An empty string where the Judge was not asked yet, or
        saw nothing left to try: then nothing older fits either.
        """
        number = self.last_judged(until)
        last = self.diagnosis(number) if number >= since else None
        return "" if last is None or last.stop else last.directive

    def last_judged(self, until: int) -> int:
        """Returns the number of the last round, of those up to a number, that the Judge was asked about; 0 for none."""
        return next((number for number in range(until, 0, -1) if self.diagnosis(number) is not None), 0)

    def diagnosis(self, number: int) -> Diagnosis | None:
        """Returns what the Judge said after a round; None where it was not asked."""
        if number not in self._diagnoses:
            fact = self._store.fact(self._run, f"diagnosis:{number}")
            self._diagnoses[number] = None if fact is None else Diagnosis.model_validate(fact)
        return self._diagnoses[number]


class Caps:
    """Where a cap ended something. A clock or a price may say otherwise next time, so the answer is recorded.

    Args:
        store: where the answers live.
        run: the run's id.
        meter: None for a replay, which meets the recorded answers only.
    """

    def __init__(self, store: Store, run: str, meter: BudgetMeter | None) -> None:
        self._store = store
        self._run = run
        self._meter = meter
        self._lines: dict[str, str] = store.facts(run, CAP)

    def guard(self, where: str, call: Callable[[], T]) -> T:
        """Makes a call that a cap may not allow.

        Raises:
            BudgetError: a cap did not allow it, now or when the run came here before.
        """
        if (line := self.known(where)) is not None:
            raise BudgetError(line)
        try:
            return call()
        except BudgetError as error:
            self.record(where, str(error))
            raise

    def noted(self, where: str, line: str) -> str:
        """Returns what was found when the run came here before, else a line, which is recorded; one may be empty."""
        if (known := self.known(where)) is not None:
            return known
        if line:
            self.record(where, line)
        return line

    def known(self, where: str) -> str | None:
        """Returns why a cap ended something when the run came here before; None where none did."""
        return self._lines.get(CAP + where)

    def record(self, where: str, line: str) -> None:
        """Records that a cap ended something, and why."""
        self._store.set_fact(self._run, CAP + where, line)
        self._lines[CAP + where] = line

    @property
    def share(self) -> float:
        """See `BudgetMeter.share`; 0 for a replay."""
        return 0.0 if self._meter is None else self._meter.share

    @property
    def seconds_left(self) -> float:
        """Seconds until the time is up; infinite without a cap, and for a replay."""
        return math.inf if self._meter is None else self._meter.seconds_left

    def check_time(self, where: str) -> None:
        """Looks at the clock.

        Raises:
            BudgetError: the time is up.
        """

        def look() -> None:
            if self._meter is not None and self._meter.out_of_time():
                raise BudgetError(TIME_IS_UP)

        self.guard(where, look)

    def copy(self, other: str) -> None:
        """Takes over the recorded answers of another run."""
        for key, line in self._store.facts(other, CAP).items():
            self.record(key.removeprefix(CAP), line)


class Stopwatch:
    """The seconds that a run was worked on, by all its processes."""

    def __init__(self, store: Store, run: str, began: float | None = None) -> None:
        self._store = store
        self._run = run
        self._before = float(store.fact(run, WORKED) or 0.0)
        self._began = time.monotonic() if began is None else began
        self._saved = self._before

    @property
    def seconds(self) -> float:
        """The seconds so far."""
        return self._before + time.monotonic() - self._began

    def save(self) -> None:
        """Records them, for the process that may take over; not more often than is worth it."""
        if self.seconds - self._saved >= SAVED_SECONDS:
            self._saved = self.seconds
            self._store.set_fact(self._run, WORKED, self._saved)
