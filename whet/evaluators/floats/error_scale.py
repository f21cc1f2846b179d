"""How far off the baseline's own floats are: what a candidate's error is measured by."""

from __future__ import annotations

import numpy as np

from whet.evaluators.floats.leaves import Groups, Reals, epsilon, ulp
from whet.evaluators.floats.rules import FLOOR_ULPS, LAST_RESORT_ULPS, Allowance, alike, error_of, finite

KIN = 4.0
"""Elements up to this many times as large tell of an element's error too."""


def cap(values: Reals, kind: str, magnitude: float) -> Reals:
    """Returns the most that is ever allowed: half of the digits."""
    scale = np.max(np.abs(finite(values)), initial=0)
    return np.asarray(np.longdouble(np.sqrt(epsilon(kind))) * max(np.longdouble(magnitude), scale))


def believable(ours: Groups, truth: Groups, magnitude: float) -> bool:
    """Whether the baseline is right to half of its digits by the reference; else that computes something else."""
    for name, group in ours.items():
        a, t = group.values(), truth[name].values().astype(np.longdouble)
        if not (error_of(a, finite(t)) <= cap(a.astype(np.longdouble), group.format, magnitude)).all():
            return False
    return True


class Samples:
    """The largest errors and changes that were seen near one input."""

    def __init__(self, ours: Groups, truth: Groups | None) -> None:
        self.ours = ours
        self.known = truth is not None
        source = truth if truth is not None else ours
        self.truth = {name: finite(group.values().astype(np.longdouble)) for name, group in source.items()}
        self.error = {name: error_of(group.values(), self.truth[name]) for name, group in ours.items()}
        self.change = {name: np.zeros_like(self.truth[name]) for name in ours}
        self.count = 0

    @property
    def only_raise(self) -> bool:
        """Whether further samples can only raise what is allowed: see `allowance`."""
        if not self.known:
            return self.count > 0
        return all(error.any() for error in self.error.values())

    def near(self, plain: Groups | None, truth: Groups | None) -> None:
        """Adds the baseline's outcome on an input near by, and what it should be."""
        if plain is None or not alike(self.ours, plain) or (self.known and not alike(self.ours, truth)):
            return
        self.count += 1
        for name in self.ours:
            values = plain[name].values()
            better = (truth if self.known and truth is not None else plain)[name].values().astype(np.longdouble)
            moved = np.where(np.isfinite(better), np.abs(better - self.truth[name]), 0)
            self.change[name] = np.maximum(self.change[name], moved)
            if self.known:
                self.error[name] = np.maximum(self.error[name], error_of(values, finite(better)))

    def coarser(self, found: Groups | None, share: float) -> None:
        """Adds the reference with fewer bits, whose error is so much larger than the baseline's."""
        if found is None or not alike(self.ours, found):
            return
        self.count += 1
        for name in self.ours:
            error = error_of(found[name].values(), self.truth[name]) * share
            self.error[name] = np.maximum(self.error[name], error)

    def allowance(self, name: str, ratio: float, magnitude: float) -> Allowance:
        """Returns what is allowed in a group."""
        truth, kind = self.truth[name], self.ours[name].format
        error, change = kin(truth, self.error[name]), kin(truth, self.change[name])
        # A reference that never differs from the baseline has more bits of nothing: its errors tell nothing.
        blind = not self.known or not error.any()
        floor = FLOOR_ULPS if self.known or self.count else LAST_RESORT_ULPS
        allowed = ratio * error + (ratio if blind else 1.0) * change + floor * ulp(truth, kind)
        return Allowance(truth, np.minimum(allowed, self.most(name, magnitude).allowed), error)

    def most(self, name: str, magnitude: float) -> Allowance:
        """Returns the most that is ever allowed in a group."""
        truth, kind = self.truth[name], self.ours[name].format
        allowed = np.maximum(cap(truth, kind, magnitude), FLOOR_ULPS * ulp(truth, kind))
        return Allowance(truth, allowed, self.error[name])


def kin(truth: Reals, errors: Reals) -> Reals:
    """Returns for each element the largest error of those that are not much larger than it: luck evens out."""
    sizes = np.abs(truth)
    order = np.argsort(sizes)
    largest = np.maximum.accumulate(errors[order])
    last = np.searchsorted(sizes[order], KIN * sizes, side="right") - 1
    return np.asarray(largest[np.maximum(last, 0)]) if len(errors) else errors
