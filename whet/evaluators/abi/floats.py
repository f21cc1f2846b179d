"""Which of many cases' floats are wrong, the smallest case first: by a tolerance, or by the reference's own error."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from whet.core.task import Tolerance
from whet.evaluators.floats.leaves import FloatGroup, Groups, Reals, finite_alike, ulp
from whet.evaluators.floats.reference import floats_of
from whet.evaluators.floats.rules import FLOOR_ULPS, LAST_RESORT_ULPS, by_tolerance, error_of, finite


class FloatRule(Protocol):
    """Judges by the reference's own error, as `whet.evaluators.floats.judge.FloatJudge` does."""

    def where(self, payload: bytes, ours: Groups, theirs: Groups) -> str:
        """Returns where the candidate's floats are wrong on an input, or an empty string."""


@dataclass(frozen=True, slots=True)
class Differing:
    """A case whose floats have other bits than the reference's, and whose other outputs are the same.

    Attributes:
        number: of the case.
        types: of the results by their names.
        ours: the reference's bytes of each.
        theirs: the candidate's.
        payload: gives the input; None where it cannot be given apart, as buffers overlap that are written.
        outcomes: gives what both sides made of it, as `whet.sandbox.inside.native_target` writes it.
    """

    number: int
    types: Mapping[str, str]
    ours: Mapping[str, bytes]
    theirs: Mapping[str, bytes]
    payload: Callable[[], bytes] | None
    outcomes: Callable[[], tuple[bytes, bytes]]


def first_wrong(
    items: Sequence[Differing],
    tolerance: Tolerance,
    rule: FloatRule | None,
    right: Callable[[Sequence[Differing]], Sequence[bool]],
) -> tuple[int, str] | None:
    """Returns the first case whose floats are wrong, and how.

    Args:
        items: in the order in which they are looked at.
        tolerance: of the task.
        rule: judges an error ratio; None judges by a few units of the last place.
        right: says of some cases at once that the rule would find nothing.
    """
    if not tolerance.error_ratio or rule is None:
        return _first_beyond(items, tolerance)
    for item in _doubtful(_beyond_floor(items), right):
        if item.payload is None:
            found = _first_beyond([item], Tolerance(ulp=LAST_RESORT_ULPS))
        else:
            ours, theirs = (floats_of(outcome) for outcome in item.outcomes())
            where = rule.where(item.payload(), ours, theirs) if ours is not None and theirs is not None else ""
            found = (item.number, where) if where else None
        if found:
            return found
    return None


def _doubtful(
    items: Sequence[Differing], right: Callable[[Sequence[Differing]], Sequence[bool]]
) -> Iterator[Differing]:
    """Yields those that are not surely right; asks of ever more at once, as the first may be wrong already."""
    start, size = 0, 1
    while some := items[start : start + size]:
        yield from (item for item, sure in zip(some, right(some), strict=True) if not sure)
        start, size = start + size, 2 * size


def _first_beyond(items: Sequence[Differing], tolerance: Tolerance) -> tuple[int, str] | None:
    """Halves the cases until one is left: all of them together are judged as fast as one."""
    judge = by_tolerance(tolerance)
    if not items or not judge(_groups(items, "ours"), _groups(items, "theirs")):
        return None
    low, high = 0, len(items)  # the first wrong one is among items[low:high]
    while high - low > 1:
        middle = (low + high) // 2
        half = items[low:middle]
        low, high = (low, middle) if judge(_groups(half, "ours"), _groups(half, "theirs")) else (middle, high)
    one = items[low : low + 1]
    return items[low].number, judge(_groups(one, "ours"), _groups(one, "theirs"))


def _groups(items: Sequence[Differing], side: str) -> Groups:
    found: Groups = {}
    for item in items:
        for name, kind in item.types.items():
            values = np.frombuffer(getattr(item, side)[name], kind)
            group = found.setdefault(name, FloatGroup(kind))
            group.parts.append(values)
            group.places.append((name, () if name == "result" else values.shape))
    return found


def _beyond_floor(items: Sequence[Differing]) -> list[Differing]:
    """Returns the cases with a float that is off by more than any rule allows without a look at the reference."""
    wrong: set[int] = set()
    for name, kind in {named for item in items for named in item.types.items()}:
        holders = [number for number, item in enumerate(items) if name in item.types]
        a, b = (joined([getattr(items[number], side)[name] for number in holders], kind) for side in ("ours", "theirs"))
        owners = np.repeat(holders, [len(items[number].ours[name]) // a.itemsize for number in holders])
        other = ~(a == b)
        a, b, owners = a[other], b[other], owners[other]
        truth: Any = finite(a.astype(np.longdouble))
        right = finite_alike(a, b) & (error_of(b, truth) <= FLOOR_ULPS * ulp(truth, kind))
        wrong.update(owners[~right].tolist())
    return [items[number] for number in sorted(wrong)]


def joined(parts: Sequence[bytes], kind: str) -> Reals:
    """Returns the floats of several buffers, one behind the other."""
    return np.frombuffer(b"".join(parts), kind)
