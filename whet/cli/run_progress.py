"""How far a run is, from its events: the phase, the turns of a measurement, the best so far, and what is spent."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from whet.core.events import Event, EventKind
from whet.core.measurement import gain_in
from whet.core.options import Budget
from whet.core.text import duration, first_line, one_line, plural, times

SHORT = 10
"""Characters of a candidate's id that a line shows."""
LONGEST_WHY = 200
"""Characters of a reason in a line."""
MOST_FILES = 4
"""Answers of a person that a line names: those of a round, unless it has more candidates than usual."""

TIMED = ("measuring", "confirming")

Clock = Callable[[], float]


@dataclass(slots=True)
class Turns:
    """The turns of one measurement.

    Attributes:
        began: when the first of these began.
        first: its number.
        now: the number of the one that is under way.
        most: by the next look at them.
    """

    began: float
    first: int
    now: int
    most: int

    def told(self, seconds: float) -> str:
        """Returns how many are done, and how long the others take if they go on so."""
        done = max(0, self.now - 1)
        line = f"{done} of {self.most} turns done"
        if self.now <= self.first:
            return line
        each = (seconds - self.began) / (self.now - self.first)
        return f"{line}, about {duration(each * (self.most - done))} left"


class Progress:
    """How far a run is.

    Args:
        budget: the caps on it; those that the run tells of itself replace them.
        clock: seconds.
    """

    def __init__(self, budget: Budget, clock: Clock) -> None:
        self.stage = "starting"
        self.best = ""
        self.waiting = ""
        self._budget = budget
        self._clock = clock
        self._began = clock()
        self._worked = 0.0
        self._cost: Mapping[str, Any] = {}
        self._done = 0
        self._awaited: list[str] = []
        self._slots: dict[str, str] = {}
        self._names: dict[str, str] = {}
        self._turns: dict[str, Turns] = {}
        self._faster: dict[str, float] = {}

    def hear(self, event: Event) -> None:
        """Takes in an event."""
        data = event.data
        if event.kind is EventKind.COST:
            self._cost = data
        elif event.kind is EventKind.WAITING:
            self.waiting = "" if data["over"] else event.text
        elif event.kind is EventKind.TURN:
            self._turn(data["candidate"], data["turn"], data["turns"])
        elif event.kind is EventKind.CANDIDATE:
            self._moved(data)
        elif "awaited" in data:
            self._await(data["file"], data["awaited"])
        elif event.kind in (EventKind.STAGE, EventKind.ROUND, EventKind.JUDGE):
            self.stage = one_line(event.text)
            if "budget" in data:
                self._budget = Budget(**data["budget"])
            self._worked = data.get("worked", self._worked)

    def _await(self, file: str, waiting: bool) -> None:
        if waiting:
            self._awaited.append(file)
        elif file in self._awaited:
            self._awaited.remove(file)

    def awaited(self) -> str:
        """Returns which answers of a person are awaited; empty where none is."""
        more = len(self._awaited) - MOST_FILES
        others = f" and {more} more" if more > 0 else ""
        return f"waiting for {', '.join(self._awaited[:MOST_FILES])}{others}" if self._awaited else ""

    def _turn(self, id: str, number: int, most: int) -> None:
        known = self._turns.get(id)
        if known is None or number <= known.now:
            self._turns[id] = Turns(self._clock(), number, number, most)
        else:
            known.now, known.most = number, most

    def _moved(self, data: Mapping[str, Any]) -> None:
        id, state = data["candidate"], data["state"]
        self._names[id] = _name(data)
        if state in ("done", "confirmed", "unconfirmed"):
            self._slots.pop(id, None)
            self._turns.pop(id, None)
        else:
            self._slots[id] = state
        if state == "done":
            self._done += 1
            if data.get("ratio") is not None and not data.get("reason"):
                self._faster[id] = data["ratio"]
                self._tell_best()
        elif state in ("confirmed", "unconfirmed"):
            self._settled(id, state == "confirmed", data)

    def _settled(self, id: str, confirmed: bool, data: Mapping[str, Any]) -> None:
        """Takes in what the confirmation left of a figure; what was shown before is not just replaced."""
        before = self._faster.pop(id, None)
        if confirmed and data.get("ratio") is not None:
            self._faster = {id: data["ratio"]}
        self._tell_best(settled_text(data) if before is not None else "")

    def _tell_best(self, why: str = "") -> None:
        best = f"best so far {times(max(self._faster.values()))}" if self._faster else "none faster so far"
        self.best = f"{best} ({why})" if why else best

    def slots(self) -> list[str]:
        """Returns a line for each candidate that is worked on."""
        now = self._clock()
        lines = [
            f"{self._names[id]}  {state}{self._turn_text(id, now) if state in TIMED else ''}"
            for id, state in self._slots.items()
        ]
        beside = [id for id in self._turns if self._slots.get(id) not in TIMED]
        return [*lines, *(f"{id[:SHORT]}{self._turn_text(id, now)}" for id in beside)]

    def _turn_text(self, id: str, now: float) -> str:
        return f"  {self._turns[id].told(now)}" if id in self._turns else ""

    def line(self) -> str:
        """Returns all of it in one line."""
        return "; ".join(
            filter(None, [self.stage, self.waiting, self.awaited(), *self.slots(), self.best, self.budget_line()])
        )

    def budget_line(self) -> str:
        """Returns what is spent of what."""
        caps, spent = self._budget, self._worked + self._clock() - self._began
        left = "" if caps.seconds is None else f", {duration(caps.seconds - spent)} left"
        parts = (
            _spent("USD", self._cost.get("usd", 0.0), caps.usd, ".4f"),
            _counted("call", self._cost.get("calls", 0), caps.calls),
            _counted("token", self._cost.get("tokens", 0), caps.tokens),
            _counted("candidate", self._done, caps.candidates),
            _spent("s", spent, caps.seconds, ".0f") + left,
        )
        return ", ".join(parts)


def lasting_line(event: Event) -> str | None:
    """Returns the line of an event that is worth keeping; None for one that only says how far a run is."""
    if event.data.get("told"):
        return None
    if event.kind is EventKind.CANDIDATE:
        return candidate_line(event.data)
    if event.kind is EventKind.WAITING:
        return None if event.data["over"] else event.text
    if event.kind in (EventKind.RECORDED, EventKind.STAGE, EventKind.ROUND, EventKind.JUDGE, EventKind.ANSWER):
        return one_line(event.text)
    return None


def candidate_line(data: Mapping[str, Any]) -> str | None:
    """Returns the line of a candidate that is done with, was confirmed or was not; None for any other."""
    if data["state"] in ("confirmed", "unconfirmed"):
        return f"{_name(data)}  {settled_text(data)}"
    if data["state"] != "done":
        return None
    if answer := data.get("answer"):
        return f"{answer}: {_judged(data)}"
    return f"{_name(data)}  {_outcome(data)}"


def settled_text(data: Mapping[str, Any]) -> str:
    """Returns what a confirmation left of the figure before it, and why."""
    first, now = data.get("first"), data.get("ratio")
    before = f"{times(first)} when it was first measured" if first is not None else ""
    if data["state"] == "unconfirmed":
        why = one_line(first_line(data.get("why") or ""), LONGEST_WHY)
        return "; ".join(filter(None, (f"not confirmed: {why}", before and f"{before} no longer counts")))
    after = f" at {times(now)} on fresh inputs, which counts" if now is not None else ""
    return "; ".join(filter(None, (f"confirmed{after}", before)))


def _judged(data: Mapping[str, Any]) -> str:
    if data.get("ratio") is None and data.get("reason"):
        detail = one_line(first_line(data.get("detail") or ""), LONGEST_WHY)
        return f"rejected: {data.get('rung') or ''} {data['reason']}: {detail}".removesuffix(": ")
    return _outcome(data)


def _spent(unit: str, used: float, cap: float | None, form: str = "d") -> str:
    return f"{used:{form}} {unit}" if cap is None else f"{used:{form}} of {cap:g} {unit}"


def _counted(noun: str, used: int, cap: int | None) -> str:
    return _spent(plural(used if cap is None else cap, noun), used, cap)


def _name(data: Mapping[str, Any]) -> str:
    return f"{data['candidate'][:SHORT]}  {one_line(str(data.get('origin', '')), 40)}"


def _outcome(data: Mapping[str, Any]) -> str:
    reason, ratio = data.get("reason"), data.get("ratio")
    if ratio is None:
        return str(reason or "right, not timed")
    outcome = reason or gain_in(data.get("metric", "time"))
    return f"{outcome}  {times(ratio)} ({times(data['low'])} to {times(data['high'])})"
