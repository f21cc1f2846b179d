"""What a rule on floats allows, and where two outcomes differ by more."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from whet.core.task import Tolerance
from whet.evaluators.floats.leaves import LEAST, FloatGroup, Groups, Reals, finite_alike, number, ulp, wide

FLOOR_ULPS = 4.0
"""Units of the last place of the result that any rule by the baseline's error allows."""
LAST_RESORT_ULPS = 64.0
"""The same where nothing is known of the baseline's error."""


@dataclass(frozen=True, slots=True)
class Allowance:
    """What one group of floats may be.

    Attributes:
        truth: what they should be.
        allowed: how far off each may be.
        error: how far off the baseline's are held to be.
    """

    truth: Reals
    allowed: Reals
    error: Reals


Rule = Callable[[str, FloatGroup], Allowance]


def beyond(ours: Groups, theirs: Groups, rule: Rule) -> str:
    """Returns where floats differ by more than a rule allows, or an empty string.

    Args:
        ours: the baseline's.
        theirs: the candidate's, of the same structure.
        rule: says for a group of the baseline's what is allowed.
    """
    if fault := not_finite_alike(ours, theirs):
        return fault
    for name, group in ours.items():
        a, b = group.values(), theirs[name].values()
        if _same_bits(a, b):
            continue
        allowance = rule(name, group)
        error = error_of(b, allowance.truth)
        wrong = ~(error <= allowance.allowed)
        if wrong.any():
            with np.errstate(over="ignore"):  # so far beyond that no number says how far
                worst = int(np.argmax(np.where(wrong, error / np.maximum(allowance.allowed, LEAST), 0)))
            off = f" (off by {float(error[worst]):.3g}, allowed {float(allowance.allowed[worst]):.3g})"
            return _said(group, worst, a, b, off)
    return ""


def _said(group: FloatGroup, index: int, a: Reals, b: Reals, off: str) -> str:
    return f"{group.place(index)}: expected {number(a[index])}, got {number(b[index])}{off}"


def _same_bits(a: Reals, b: Reals) -> bool:
    return a.dtype == b.dtype and a.tobytes() == b.tobytes()


def error_of(values: Reals, truth: Reals) -> Reals:
    """Returns how far finite floats are off; 0 where both are the same infinity or NaN."""
    with np.errstate(invalid="ignore", over="ignore"):
        error = np.abs(wide(values) - truth)
    return np.where(np.isfinite(values), error, 0)


def by_tolerance(tolerance: Tolerance) -> Callable[[Groups, Groups], str]:
    """Returns the judge of a tolerance that needs no reference; of an error ratio, that of its floor alone."""
    if tolerance.exact:
        return _exactly

    def rule(name: str, group: FloatGroup) -> Allowance:
        values = finite(wide(group.values()))
        if tolerance.rtol or tolerance.atol:
            allowed = tolerance.atol + tolerance.rtol * np.abs(values)
        else:
            allowed = (tolerance.ulp or LAST_RESORT_ULPS) * ulp(values, group.format)
        return Allowance(values, allowed, np.zeros_like(values))

    return lambda ours, theirs: beyond(ours, theirs, rule)


def _exactly(ours: Groups, theirs: Groups) -> str:
    for name, group in ours.items():
        a, b = group.values(), theirs[name].values()
        same = ((a == b) & (np.signbit(a) == np.signbit(b))) | (np.isnan(a) & np.isnan(b))
        if not same.all():
            return _said(group, int(np.argmin(same)), a, b, "")
    return ""


def finite(values: Reals) -> Reals:
    """Returns floats with zeros in the place of those that are not finite."""
    return np.where(np.isfinite(values), values, 0)


def alike(ours: Groups, theirs: Groups | None) -> bool:
    """Whether others have all of these groups, each as large."""
    return theirs is not None and all(
        name in theirs and len(group.values()) == len(theirs[name].values()) for name, group in ours.items()
    )


def differing(ours: Groups, theirs: Groups) -> Groups:
    """Returns those of our groups that differ in a bit."""
    return {name: group for name, group in ours.items() if not _same_bits(group.values(), theirs[name].values())}


def not_finite_alike(ours: Groups, theirs: Groups) -> str:
    """Returns where one float is finite and the other not, or not in the same way; or an empty string."""
    for name, group in ours.items():
        a, b = group.values(), theirs[name].values()
        same = finite_alike(a, b)
        if not same.all():
            return _said(group, int(np.argmin(same)), a, b, "")
    return ""
