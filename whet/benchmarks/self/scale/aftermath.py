"""What stands in the store, the ledger and the journals of a driver that was killed again and again.

The counting owes nothing to what it judges: the model and the work keep journals of what reaches them, which are held
against what ledger and store recorded of it.
"""

from __future__ import annotations

from collections import Counter
from contextlib import closing
from dataclasses import dataclass, field
from functools import reduce
from operator import add
from typing import Any

from whet.agents.calls import Calls
from whet.benchmarks.self.rehearsal import asked
from whet.benchmarks.self.scale.checking import Faults, ReceivedResults, faults
from whet.benchmarks.self.scale.driving import Script
from whet.benchmarks.self.scale.work import key_of, lines_of
from whet.core.store import Store

MARGIN = 0.1
"""Seconds within which two workers may begin the same work although one has just ended: neither could know."""


@dataclass(frozen=True, slots=True)
class Aftermath:
    """What was found, over some scripts.

    Attributes:
        results: that were to be there.
        faults: of them.
        replies: that are recorded.
        asked_again: questions that reached the model although their reply was recorded.
        unaccounted: questions that reached the model and stand in no ledger.
        strayed: questions beyond one for each candidate, whose prompts quoted a result that is another by now.
        repeated: executions that began although the result was stored.
        executions: of all work; those above the results began again because nothing had come of an earlier one.
    """

    results: int = 0
    faults: Faults = field(default_factory=Faults)
    replies: int = 0
    asked_again: int = 0
    unaccounted: int = 0
    strayed: int = 0
    repeated: int = 0
    executions: int = 0

    def __add__(self, other: Aftermath) -> Aftermath:
        pairs = ((getattr(self, name), getattr(other, name)) for name in self.__slots__)
        return Aftermath(*(ours + theirs for ours, theirs in pairs))

    @property
    def total(self) -> int:
        """All that must not be."""
        return self.faults.total + self.asked_again + self.unaccounted + self.strayed + self.repeated


def aftermath(script: Script) -> Aftermath:
    """Looks at what a script has left that came to its end."""
    results = script.rounds * script.candidates
    with closing(Store(script.home)) as store:
        found = faults(store, script.name, results, 0, told(script, results))
        with store.connection() as db:
            stored = {bytes(key).hex(): at for key, at in db.execute("SELECT key, at FROM results")}
        record = script.record(store)
        calls = Calls(store, record.id).transcript(live=False) if record else []
    questions = Counter(name for (name,) in lines_of(script.questions))
    ledger = [(_name(call), call["state"] == "done") for call in calls]
    asked_again, unaccounted = _asked_beyond(questions, ledger)
    executions = [(key_of(script.name, int(number)), float(at)) for number, _, at in lines_of(script.executions)]
    never = float("inf")
    return Aftermath(
        results,
        found,
        sum(done for _, done in ledger),
        asked_again,
        unaccounted,
        len({name for name, _ in ledger}) - results,
        sum(at > stored.get(key, never) + MARGIN for key, at in executions),
        len(executions),
    )


def _asked_beyond(questions: Counter[str], calls: list[tuple[str, bool]]) -> tuple[int, int]:
    """Returns how many questions were asked again after their reply was recorded, and how many no ledger knows.

    Args:
        questions: that reached the model, by name.
        calls: of the ledger, in order, and whether their reply is recorded.
    """
    needed: Counter[str] = Counter()
    recorded: set[str] = set()
    again: Counter[str] = Counter()
    for name, done in calls:
        (again if name in recorded else needed)[name] += 1
        if done:
            recorded.add(name)
    # A call that the ledger knows need not have reached the model, so each of both can show what the other hides.
    beyond = (questions - needed) | again
    asked_again = sum(count for name, count in beyond.items() if name in recorded)
    return asked_again, beyond.total() - asked_again


def _name(call: dict[str, Any]) -> str:
    return asked(call["role"], call["sample"], [(part["role"], part["text"]) for part in call["prompt"]])


def told(script: Script, results: int) -> ReceivedResults:
    """Returns what the drivers of a script were told: each of them once, and all of them the same."""
    found = ReceivedResults(results)
    seen = set()
    for driver, number, execution in lines_of(script.told):
        result = {"number": int(number), "execution": execution}
        take = found.take if (driver, number) in seen else found.take_again
        take(result)
        seen.add((driver, number))
    return found


def over_all(found: list[Aftermath]) -> Aftermath:
    """Returns what was found over all scripts."""
    return reduce(add, found, Aftermath())
