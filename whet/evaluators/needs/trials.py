"""Makes the inputs of an attack: edits of those that were met, each of which breaks one need."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from whet.core.task import Task
from whet.evaluators.costs import spread
from whet.evaluators.examiner import Step
from whet.evaluators.inputs.plain_data import read, write
from whet.evaluators.inputs.source import EDITED, Input
from whet.evaluators.needs.callers import passed
from whet.evaluators.needs.hints import Hints
from whet.evaluators.needs.spots import Spot, parameters_of, spots_of, values_of
from whet.evaluators.needs.vocabulary import Need, broken
from whet.evaluators.screen import parse
from whet.sandbox.inside.codec import CodecError

SHAPED = 40
"""Inputs that show which places there are."""
BASES, SMALLEST = 6, 3
"""Inputs that are edited, and how many of them are the smallest that there are: they make counterexamples short."""
LARGEST = 1 << 11
"""Bytes of an input that is edited, where there are such."""


@dataclass(frozen=True, slots=True)
class NeedTrial:
    """An input that breaks a need.

    Attributes:
        need: that it breaks.
        spot: where.
        value: the input as plain data.
        base: what it was made from.
        item: the input as it is handed over.
    """

    need: Need
    spot: Spot
    value: Any
    base: Step
    item: Input

    @property
    def key(self) -> tuple[str, str]:
        """The need and its place."""
        return self.need.name, str(self.spot)


@dataclass(frozen=True, slots=True)
class Places:
    """What there is to edit.

    Attributes:
        spots: the places of the inputs.
        bases: inputs that are edited, as they were met and as plain data, the smallest first.
    """

    spots: Sequence[Spot]
    bases: Sequence[tuple[Step, Any]]

    @property
    def fewer(self) -> Places:
        """The same with every second input, for what needs no more."""
        return Places(self.spots, self.bases[::2])


@dataclass(frozen=True, slots=True)
class RuledOut:
    """A need that callers of the target keep, as far as its surroundings say.

    Attributes:
        need: its name.
        parameter: of the target.
        by: what says so: ``type hints``, ``callers`` or ``valid``.
    """

    need: str
    parameter: str
    by: str


class Trials:
    """Makes the inputs for one task's candidates."""

    def __init__(self, task: Task) -> None:
        self._names, self._hinted = parameters_of(task)
        module = parse(task.source)
        self._hints = Hints(module if isinstance(module, ast.Module) else ast.Module([], []))
        self._passed = passed(task, self._names)
        self._ruled_out: dict[RuledOut, None] = {}

    @property
    def ruled_out(self) -> list[RuledOut]:
        """What was ruled out so far."""
        return list(self._ruled_out)

    def rule_out(self, need: Need, spot: Spot, by: str) -> None:
        """Notes that an input which breaks a need is ruled out."""
        self._ruled_out[RuledOut(need.name, spot.parameter, by)] = None

    def places(self, steps: Sequence[Step]) -> Places:
        """Returns what there is to edit in inputs that were met."""
        values = {step.hash: value for step in steps if (value := _plain(step)) is not None}
        shown = [step for step in steps if step.hash in values]
        spots = spots_of([values[step.hash] for step in spread(shown, SHAPED)], self._names)
        return Places(spots, [(base, values[base.hash]) for base in _bases(shown)])

    def of(self, places: Places, needs: Sequence[Need]) -> Iterator[NeedTrial]:
        """Yields edits of inputs that were met, the smallest first, which no hint and no caller rules out."""
        seen: set[bytes] = set()
        for base, value in places.bases:
            given = values_of(value, self._names)
            for need, spot, new in broken(value, places.spots, needs):
                try:
                    payload = write(new)
                except (CodecError, TypeError, OverflowError):
                    continue
                if payload == base.item.payload or (key := need.name.encode() + payload) in seen:
                    continue
                seen.add(key)
                if by := self._excluded(new, given):
                    self.rule_out(need, spot, by)
                    continue
                item = Input(f"an input that breaks a need ({need.name})", payload, source=EDITED)
                yield NeedTrial(need, spot, new, base, item)

    def _excluded(self, value: Any, given: Mapping[str, Any]) -> str:
        """Returns what rules an input out, but for what rules out already what it was made from."""
        for name, argument in values_of(value, self._names).items():
            ways = (("type hints", [self._hinted.get(name)]), ("callers", self._passed.get(name, [])))
            for by, hints in ways:
                if self._all_exclude(hints, argument) and not self._all_exclude(hints, given[name]):
                    return by
        return ""

    def _all_exclude(self, hints: Sequence[ast.expr | None], argument: Any) -> bool:
        try:
            return bool(hints) and all(self._hints.exclude(hint, argument) for hint in hints)
        except RecursionError:  # nested deeper than hints go
            return False


def _plain(step: Step) -> Any:
    try:
        return read(step.item.payload)
    except (CodecError, RecursionError):
        return None


def _bases(steps: Sequence[Step]) -> list[Step]:
    """Returns inputs to edit, promised ones first: the smallest that are not empty, and some others."""
    promised = [step for step in steps if step.promised] or list(steps)
    ordered = sorted(promised, key=lambda step: len(step.item.payload))
    filled = [step for step in ordered if len(step.item.payload) > 2 * len(ordered[0].item.payload)] or ordered
    small = [step for step in filled if len(step.item.payload) <= LARGEST] or filled[:SMALLEST]
    return [*small[:SMALLEST], *spread(small[SMALLEST:], BASES - SMALLEST)]
