"""What results should be, from the reference with wider floats, on a whole deck at once.

Judging one input by `whet.evaluators.floats.judge` takes some 10 ms. Most inputs need no such look: the candidate's
error there is within what the task allows by the reference's errors at the input and at one near by, and these follow
from three more runs of references, once for all candidates of a round.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from whet.core.signature import Argument, Role, Signature
from whet.evaluators.abi.cases import Case
from whet.evaluators.abi.conventions import Convention
from whet.evaluators.abi.deck import Deck, deal
from whet.evaluators.abi.floats import Differing, joined
from whet.evaluators.abi.records import DriverOutput
from whet.evaluators.abi.wire import read_record
from whet.evaluators.floats.error_scale import cap, kin
from whet.evaluators.floats.leaves import Reals, ulp
from whet.evaluators.floats.rules import FLOOR_ULPS, error_of

NARROW, WIDE = "float32", "float64"

DeckRunner = Callable[[Deck], DriverOutput]
Results = Mapping[str, Reals]
"""Floats of a case by the names of the results."""


def widenable(signature: Signature) -> bool:
    """Whether a contract has floats, and none that would need more bits than a double has."""
    types = [one.type for one in signature.arguments] + [signature.returns]
    return NARROW in types and WIDE not in types


@dataclass(frozen=True, slots=True)
class Series:
    """A reference's results on a deck."""

    deck: Deck
    told: DriverOutput

    def results(self, number: int) -> Results | None:
        """Returns the floats that a case ended in; None where it did not come to its end."""
        if number >= len(self.told.records):
            return None
        signature, laid = self.deck.signature, self.deck.laid[number]
        record = read_record(self.told.records[number], laid.lengths)
        assert record is not None, "the reference is no forger"
        writable = [one for one in signature.arguments if one.buffer and one.role is not Role.IN]
        found = {
            one.name: np.frombuffer(content, one.type)
            for one, (_, content) in zip(writable, record.written, strict=True)
            if _floats(one)
        }
        if signature.returns in (NARROW, WIDE):
            word = record.returned_float.to_bytes(8, "little")
            found["result"] = np.frombuffer(word, signature.returns)[:1]
        return found


class Known(Protocol):
    """Knows which errors of a candidate are surely allowed."""

    def surely_right(self, items: Sequence[Differing], ratio: float) -> Sequence[bool]:
        """Returns of each case whether those are."""


class WideReference:
    """Knows which errors are surely allowed.

    Args:
        signature: the contract; must be `widenable`.
        cases: that candidates are called on.
        convention: of the instruction set.
        seed: of what is near by, and of the decks.
        narrow: calls the reference.
        wide: calls the reference with wider floats.
    """

    def __init__(
        self,
        signature: Signature,
        cases: Sequence[Case],
        convention: Convention,
        seed: int,
        narrow: DeckRunner,
        wide: DeckRunner,
    ) -> None:
        apart = replace(
            signature, arguments=tuple(replace(one, may_alias=()) for one in signature.arguments)
        )  # what buffers hold that overlap is no case of its own
        wider = _widened(apart)
        near = _near(signature, cases, seed)

        def series(run: DeckRunner, contract: Signature, given: Sequence[Case]) -> Series:
            deck = deal(contract, given, convention, seed)
            return Series(deck, run(deck))

        self._truth = series(wide, wider, _widened_cases(signature, cases))
        self._near = series(narrow, apart, near)
        self._near_truth = series(wide, wider, _widened_cases(signature, near))
        self._magnitude = series(wide, wider, _widened_cases(signature, _absolute(signature, near)))
        self._sizes = np.array([sum(case.lengths.values()) for case in cases])
        self._bounds: dict[int, dict[str, tuple[Reals, Reals]] | None] = {}
        self._errors: dict[tuple[str, str], Reals] = {}

    def surely_right(self, items: Sequence[Differing], ratio: float) -> Sequence[bool]:
        """Returns of each case whether the candidate's errors are allowed.

        They are as `whet.evaluators.floats.error_scale.Samples` has it, which looks at more samples and so allows no
        less. And they are up to so many times the largest that the reference makes on any case of about that length,
        by the size of what it computes with: on one case of thousands a sum is right by luck, and in another order not.

        Args:
            items: the results of both sides.
            ratio: how many times the reference's errors they may be.
        """
        found = [False] * len(items)
        bounded = []
        for at, item in enumerate(items):
            if item.payload is None:
                continue
            if item.number not in self._bounds:
                self._bounds[item.number] = self._bound(item, ratio)
            if (bounds := self._bounds[item.number]) is not None:
                found[at] = True
                bounded.append((at, item, bounds))
        for name, kind in {named for _, item, _ in bounded for named in item.types.items()}:
            holders = [one for one in bounded if name in one[1].types]
            theirs = joined([item.theirs[name] for _, item, _ in holders], kind)
            should, allowed = (np.concatenate([bounds[name][n] for _, _, bounds in holders]) for n in range(2))
            owners = np.repeat([at for at, _, _ in holders], [len(bounds[name][0]) for _, _, bounds in holders])
            for at in owners[~(np.isfinite(theirs) & (error_of(theirs, should) <= allowed))].tolist():
                found[at] = False
        return found

    def _bound(self, item: Differing, ratio: float) -> dict[str, tuple[Reals, Reals]] | None:
        """Returns what results should be, and how far off they may be; None where the references do not tell."""
        truth, near, near_truth = (one.results(item.number) for one in (self._truth, self._near, self._near_truth))
        if truth is None or near is None or near_truth is None:
            return None
        found = {}
        for name, kind in item.types.items():
            ours = np.frombuffer(item.ours[name], kind)
            if not all(np.isfinite(values).all() for values in (ours, truth[name], near[name], near_truth[name])):
                return None
            should, should_near = (one[name].astype(np.longdouble) for one in (truth, near_truth))
            most, own = cap(should, kind, 0.0), error_of(ours, should)
            if (own > most).any():
                return None
            error = kin(should, np.maximum(own, error_of(near[name], should_near)))
            change = kin(should, np.abs(should_near - should))
            allowed = ratio * error + change + FLOOR_ULPS * ulp(should, kind)
            if (scale := self._scale(item.number, name, kind)) is not None:
                allowed = np.maximum(allowed, ratio * self._usual(item.number, name, kind) * scale)
            found[name] = should, np.minimum(allowed, most)
        return found

    def _usual(self, number: int, name: str, kind: str) -> float:
        """Returns the largest error of the reference on cases of about a length, in units of `_scale`."""
        if (name, kind) not in self._errors:
            errors = np.zeros(len(self._sizes))
            for case in range(len(self._sizes)):
                near, truth = self._near.results(case), self._near_truth.results(case)
                scale = self._scale(case, name, kind)
                if near is not None and truth is not None and scale is not None and len(scale):
                    off = error_of(near[name], truth[name].astype(np.longdouble)) / np.where(scale > 0, scale, np.inf)
                    errors[case] = np.max(np.where(np.isfinite(off), off, 0.0))
            self._errors[name, kind] = errors
        size = self._sizes[number]
        alike = (self._sizes >= size / 2) & (self._sizes <= size * 2)
        return float(self._errors[name, kind][alike].max())

    def _scale(self, number: int, name: str, kind: str) -> Reals | None:
        """Returns a unit of the last place of what the function gives for its inputs without their signs.

        That bounds what sums and products on the way come to; None where it is not finite.
        """
        found = self._magnitude.results(number)
        if found is None or not np.isfinite(found[name]).all():
            return None
        return ulp(found[name].astype(np.longdouble), kind)


def _floats(one: Argument) -> bool:
    return one.type in (NARROW, WIDE)


def _widened(signature: Signature) -> Signature:
    """Returns a contract in which floats are doubles."""
    kinds = {NARROW: WIDE}
    arguments = tuple(replace(one, type=kinds.get(one.type, one.type)) for one in signature.arguments)
    returns = signature.returns and kinds.get(signature.returns, signature.returns)
    return replace(signature, arguments=arguments, returns=returns)


def _near(signature: Signature, cases: Sequence[Case], seed: int) -> list[Case]:
    """Returns cases whose floats are off by a last place, up or down."""
    rng = np.random.default_rng(seed)

    def moved(values: Reals) -> Reals:
        towards = np.where(rng.random(values.shape) < 0.5, -np.inf, np.inf).astype(NARROW)
        return np.asarray(np.nextafter(values, towards))

    return [_mapped(signature, case, lambda data: moved(np.frombuffer(data, NARROW)).tobytes()) for case in cases]


class Magnitudes:
    """Knows errors of doubles that are surely allowed: nothing wider than they can be called by the driver.

    Rounding errors of sums and products come to about the root of how many there are, in units of the last place of
    what the function gives for its inputs without their signs (Higham, "Accuracy and Stability of Numerical
    Algorithms", second edition, section 2.8).

    Args:
        signature: the contract.
        cases: that candidates are called on.
        convention: of the instruction set.
        seed: of the deck.
        narrow: calls the reference.
    """

    def __init__(
        self, signature: Signature, cases: Sequence[Case], convention: Convention, seed: int, narrow: DeckRunner
    ) -> None:
        apart = replace(signature, arguments=tuple(replace(one, may_alias=()) for one in signature.arguments))
        deck = deal(apart, _absolute(signature, cases), convention, seed)
        self._magnitude = Series(deck, narrow(deck))
        floats = {one.name: np.dtype(one.type).itemsize for one in signature.arguments if one.buffer and _floats(one)}
        self._counts = [sum(case.lengths[name] // size for name, size in floats.items()) for case in cases]

    def surely_right(self, items: Sequence[Differing], ratio: float) -> Sequence[bool]:
        """Returns of each case whether its results differ from the reference's by no more than roundings."""
        return [self._rounded(item, ratio) for item in items]

    def _rounded(self, item: Differing, ratio: float) -> bool:
        found = self._magnitude.results(item.number)
        if item.payload is None or found is None:
            return False
        roundings = ratio * np.sqrt(max(1, self._counts[item.number])) / 2
        for name, kind in item.types.items():
            ours, theirs = (np.frombuffer(side[name], kind) for side in (item.ours, item.theirs))
            if not all(np.isfinite(values).all() for values in (found[name], ours, theirs)):
                return False
            allowed = roundings * ulp(found[name].astype(np.longdouble), kind)
            if not (error_of(theirs, ours.astype(np.longdouble)) <= allowed).all():
                return False
        return True


def _absolute(signature: Signature, cases: Sequence[Case]) -> list[Case]:
    """Returns cases whose floats have no signs."""
    buffers = {one.name: one.type for one in signature.arguments if one.buffer and _floats(one)}
    numbers = {one.name for one in signature.arguments if not one.buffer and _floats(one)}
    return [
        replace(
            case,
            numbers={name: abs(value) if name in numbers else value for name, value in case.numbers.items()},
            contents={
                name: np.abs(np.frombuffer(data, buffers[name])).tobytes() if name in buffers else data
                for name, data in case.contents.items()
            },
            overlap=None,
        )
        for case in cases
    ]


def _widened_cases(signature: Signature, cases: Sequence[Case]) -> list[Case]:
    """Returns cases with the same values in wider floats."""
    floats = {one.name for one in signature.arguments if one.buffer and _floats(one)}
    return [
        replace(
            _mapped(signature, case, lambda data: np.frombuffer(data, NARROW).astype(WIDE).tobytes()),
            lengths={name: length * 2 if name in floats else length for name, length in case.lengths.items()},
        )
        for case in cases
    ]


def _mapped(signature: Signature, case: Case, change: Callable[[bytes], bytes]) -> Case:
    """Returns a case with other floats, narrow or wide; those that are no buffers are narrow to begin with."""
    numbers, contents = dict(case.numbers), dict(case.contents)
    for one in signature.arguments:
        if not _floats(one):
            continue
        if one.name in contents:
            contents[one.name] = change(contents[one.name])
        elif not one.buffer:
            data = change(np.float32(numbers[one.name]).tobytes())
            numbers[one.name] = float(np.frombuffer(data, WIDE if len(data) > 4 else NARROW)[0])
    return replace(case, numbers=numbers, contents=contents, overlap=None)
