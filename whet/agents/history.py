"""What else a run must remember: its rounds, its diagnoses, where a cap ended something, its working time."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from whet.agents.budget import BudgetMeter
from whet.agents.judge import Diagnosis
from whet.core.errors import BudgetError
from whet.core.plain import from_plain, to_plain
from whet.core.store import Store

T = TypeVar("T")

CAP = "cap:"
WORKED = "worked"


@dataclass(frozen=True, slots=True)
class Round:
    """What the Coder brought in one round.

    Attributes:
        parent: id of the text that was built upon.
        batch: ids of the candidates that the run had not seen before.
        proposed: all candidates, known ones included.
        complaints: why the other answers could not be used.
    """

    parent: str
    batch: tuple[str, ...]
    proposed: int
    complaints: tuple[str, ...]


class History:
    """The rounds of a run and the Judge's diagnoses, by number from 1."""

    def __init__(self, store: Store, run: str) -> None:
        self._store = store
        self._run = run
        self._rounds: dict[int, Round] = {}

    def add(self, number: int, round: Round) -> None:
        """Records a round; one that a killed process had begun is replaced."""
        self._store.set_fact(self._run, f"round:{number}", to_plain(round))
        self._rounds[number] = round

    def round(self, number: int) -> Round:
        """Returns a recorded round."""
        if number not in self._rounds:
            self._rounds[number] = from_plain(Round, self._store.fact(self._run, f"round:{number}"))
        return self._rounds[number]

    def seen(self, until: int) -> list[str]:
        """Returns the ids of all candidates of the rounds up to a number, in order."""
        return [id for number in range(1, until + 1) for id in self.round(number).batch]

    def judged(self, number: int, diagnosis: Diagnosis) -> None:
        """Records what the Judge said after a round."""
        self._store.set_fact(self._run, f"diagnosis:{number}", diagnosis.model_dump(mode="json"))

    def directive(self, until: int) -> str:
        """Returns the Judge's last directive of the rounds up to a number, or an empty string."""
        for number in range(until, 0, -1):
            if (fact := self._store.fact(self._run, f"diagnosis:{number}")) is not None:
                return Diagnosis.model_validate(fact).directive
        return ""


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

    def guard(self, where: str, call: Callable[[], T]) -> T:
        """Makes a call that a cap may not allow.

        Raises:
            BudgetError: a cap did not allow it, now or when the run came here before.
        """
        if (line := self._store.fact(self._run, CAP + where)) is not None:
            raise BudgetError(line)
        try:
            return call()
        except BudgetError as error:
            self._store.set_fact(self._run, CAP + where, str(error))
            raise

    def check_time(self, where: str) -> None:
        """Looks at the clock.

        Raises:
            BudgetError: the time is up.
        """

        def look() -> None:
            if self._meter is not None and self._meter.out_of_time():
                raise BudgetError("--budget-seconds is spent")

        self.guard(where, look)

    def copy(self, other: str) -> None:
        """Takes over the recorded answers of another run."""
        for key, line in self._store.facts(other, CAP).items():
            self._store.set_fact(self._run, key, line)


class Stopwatch:
    """The seconds that a run was worked on, by all its processes."""

    def __init__(self, store: Store, run: str) -> None:
        self._store = store
        self._run = run
        self._before = float(store.fact(run, WORKED) or 0.0)
        self._began = time.monotonic()

    @property
    def seconds(self) -> float:
        """The seconds so far."""
        return self._before + time.monotonic() - self._began

    def save(self) -> None:
        """Records them, for the process that may take over."""
        self._store.set_fact(self._run, WORKED, self.seconds)
