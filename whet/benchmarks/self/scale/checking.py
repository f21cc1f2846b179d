"""What became of synthetic work: whether all of it is there, each piece once, and right."""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from dataclasses import astuple, dataclass
from typing import Any

from whet.benchmarks.self.scale.work import chained, key_of
from whet.core.store import Store


@dataclass(frozen=True, slots=True)
class Faults:
    """What is wrong with the results of a run.

    Attributes:
        lost: pieces of work whose result is not in the store, or that no driver was told of.
        doubled: that were told twice to one driver, or whose result was told otherwise than it is stored.
        wrong: whose stored result is not what the work comes to.
    """

    lost: int = 0
    doubled: int = 0
    wrong: int = 0

    def __add__(self, other: Faults) -> Faults:
        return Faults(*(ours + theirs for ours, theirs in zip(astuple(self), astuple(other), strict=True)))

    @property
    def total(self) -> int:
        """All faults."""
        return sum(astuple(self))

    def __str__(self) -> str:
        return f"lost {self.lost}, doubled {self.doubled}, wrong {self.wrong}"


class ReceivedResults:
    """What drivers were told of so many candidates; takes ten bytes for each, so that it is no part of their growth."""

    def __init__(self, candidates: int) -> None:
        self.doubled: set[int] = set()
        self._seen = bytearray(candidates)
        self._executions = array("Q", bytes(8 * candidates))

    def take(self, result: Mapping[str, Any]) -> None:
        """Notes what one driver was told; a second time is a fault."""
        if self._seen[result["number"]]:
            self.doubled.add(result["number"])
        self.take_again(result)

    def take_again(self, result: Mapping[str, Any]) -> None:
        """Notes what a driver was told that goes on where another one was killed; it must be the same."""
        number, execution = result["number"], int(result["execution"], 16)
        if self._seen[number] and self._executions[number] != execution:
            self.doubled.add(number)
        self._seen[number], self._executions[number] = 1, execution

    def execution(self, number: int) -> str | None:
        """Returns which execution's result was told, None where none was."""
        return f"{self._executions[number]:016x}" if self._seen[number] else None


def faults(store: Store, run: str, candidates: int, links: int, told: ReceivedResults) -> Faults:
    """Returns what is wrong with the results of a run in a store; under its key each can be there but once."""
    lost = wrong = 0
    doubled = set(told.doubled)
    for number in range(candidates):
        result = store.result(key_of(run, number))
        execution = told.execution(number)
        if result is None or execution is None:
            lost += 1
        elif result["execution"] != execution:
            doubled.add(number)
        if result is not None and (result["number"], result["digest"]) != (number, chained(number, links)):
            wrong += 1
    return Faults(lost, len(doubled), wrong)
