"""Whether floats that differ in their bits are right: by a stated tolerance, or by the baseline's own error.

By default the candidate's error may be at most a multiple of the baseline's, both against the baseline run with more
bits. The baseline's error at one input may be nothing by luck, so it is taken as the largest of several: at the input
and at inputs whose floats are off by a last place. Besides, what moving the input by a last place does to the truth
is allowed, and a few units of the last place of the result.

    allowed = K * error of the baseline + change of the truth + 4 ulp,  at most sqrt(eps) of the result's scale
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from whet.core.task import Tolerance
from whet.evaluators.floats.error_scale import Samples, believable
from whet.evaluators.floats.leaves import ARGUMENTS, LEAST, FloatGroup, Groups, Reals, ulp, wide
from whet.evaluators.floats.reference import BITS, Reference
from whet.evaluators.floats.rules import (
    FLOOR_ULPS,
    LAST_RESORT_ULPS,
    Allowance,
    alike,
    beyond,
    by_tolerance,
    differing,
    error_of,
    finite,
    not_finite_alike,
)

SAMPLES, FEWEST_SAMPLES = 8, 3
"""Inputs off by a last place, or runs with fewer bits, for one input that is judged in full: the fewest where one of
them is slow. With fewer the baseline's error would rest on the luck of one or two inputs."""
FULL, FEWEST_FULL = 3, 1
"""Inputs of one size that are judged in full before `GLANCE` holds for the next ones; the fewest likewise."""
SLOW_SAMPLE = 0.1
"""CPU seconds of a sample above which it is slow: the reference takes some hundred times as long as the baseline."""
LARGE = 16
"""Bits of the length of a payload above which a sample is slow in any case: 64 KiB, some 7,000 floats of a list."""
GLANCE = 0.75
"""What share of the least that inputs of one size allowed is right without a closer look at the next ones."""
DROPPED_BITS = range(5, 13)
"""How many bits fewer the baseline is run with to see its error where its input has no floats."""
DOUBLE_BITS = 53
BINS = 64
"""Powers of two below a group's largest element for which what was allowed is kept apart; smaller elements share the
last. A double has 53 bits; with fewer bins more elements share the strictest allowance, and more inputs are judged in
full."""
HALF = "half of the digits"
"""What a verdict rests on where a float is off by more than any may be."""
WITHIN_FLOOR = by_tolerance(Tolerance(ulp=FLOOR_ULPS))


@dataclass(slots=True)
class _Seen:
    """What is known of the inputs of one size.

    Attributes:
        strictest: the least that they allowed, for each group, as a share of its scale, by the elements' magnitude.
        full: how many were judged in full.
        slow: whether a sample is slow, by the length of the inputs, and by the first that was drawn.
        refined: whether the reference can be had for them.
    """

    strictest: dict[str, Reals] = field(default_factory=dict)
    full: int = 0
    slow: bool = False
    refined: bool = True

    @property
    def samples(self) -> int:
        """How many samples are drawn for one input."""
        return FEWEST_SAMPLES if self.slow else SAMPLES

    @property
    def enough(self) -> bool:
        """Whether as many were judged in full as have to be."""
        return self.full >= (FEWEST_FULL if self.slow else FULL)

    def add(self, name: str, group: FloatGroup, allowance: Allowance) -> None:
        bins, scale = _magnitudes(group)
        with np.errstate(over="ignore"):  # what is allowed beyond all doubles is infinite
            share = (allowance.allowed / scale).astype(float)
        low = np.full(BINS, np.inf)
        np.minimum.at(low, bins, share)
        self.strictest[name] = np.minimum(self.strictest.get(name, np.inf), low)

    def suffices(self, ours: Groups, theirs: Groups) -> bool:
        """Whether the candidate's floats are so near the baseline's that there is nothing to find out."""
        return self.enough and self.near_enough(ours, theirs)

    def near_enough(self, ours: Groups, theirs: Groups) -> bool:
        """Whether no float is off from the baseline's by more than `GLANCE` of the least that was allowed so far."""

        def rule(name: str, group: FloatGroup) -> Allowance:
            bins, scale = _magnitudes(group)
            allowed = _filled(self.strictest.get(name, np.zeros(BINS)))[bins] * scale * GLANCE
            return Allowance(finite(wide(group.values())), allowed, allowed)

        return not beyond(ours, theirs, rule)


def _surely_right(seen: _Seen, samples: Samples, ours: Groups, theirs: Groups, found: Mapping[str, Allowance]) -> bool:
    """Whether the candidate's floats are right by the samples so far, whatever further ones would show.

    The first inputs of a size are judged by all samples all the same: what they allow holds for the next ones.
    """
    return seen.enough and samples.only_raise and not beyond(ours, theirs, lambda group, _: found[group])


def _filled(shares: Reals) -> Reals:
    """Returns shares with those of unseen magnitudes: as of the next smaller one, else falling with the magnitude."""
    filled = shares.copy()
    known = np.flatnonzero(np.isfinite(shares))
    for gap in np.flatnonzero(~np.isfinite(shares)):
        smaller = known[known > gap]
        if len(smaller):
            filled[gap] = shares[smaller[0]]
        else:
            filled[gap] = shares[known[-1]] * 2.0 ** (known[-1] - gap) if len(known) else 0.0
    return filled


def _magnitudes(group: FloatGroup) -> tuple[NDArray[Any], Reals]:
    values = np.abs(finite(wide(group.values())))
    scale = max(values.max(initial=0), values.dtype.type(LEAST))
    _, exponents = np.frexp(np.maximum(values / scale, values.dtype.type(2.0**-1000)))
    return np.clip(1 - exponents, 0, BINS - 1), scale


@dataclass(slots=True)
class _Tally:
    """What one thread judged since it was asked last."""

    judged: int = 0
    at_a_glance: int = 0
    by_few_samples: int = 0
    references: Counter[str] = field(default_factory=Counter)
    worst_ratio: float = 0.0
    worst_share: float = 0.0


class FloatJudge:
    """Judges the floats of one task's outcomes by the baseline's own error. Safe for several threads."""

    def __init__(self, ratio: float, reference: Reference) -> None:
        self._ratio = ratio
        self._reference = reference
        self._lock = threading.Lock()
        self._seen: dict[int, _Seen] = {}
        self._tallies = threading.local()

    def where(self, payload: bytes, ours: Groups, theirs: Groups) -> str:
        """Returns where the candidate's floats are wrong, or an empty string.

        Args:
            payload: the input; those of about one length share what is known of them.
            ours: the floats of the baseline's outcome.
            theirs: the floats of the candidate's, of the same structure.
        """
        tally = self._tally()
        tally.judged += 1
        ours = differing(ours, theirs)
        if fault := not_finite_alike(ours, theirs):
            return fault
        # What is this near to the baseline's is allowed whatever its own error is: that is allowed on top.
        if not WITHIN_FLOOR(ours, theirs):
            return ""
        with self._lock:
            size = len(payload).bit_length()
            seen = self._seen.setdefault(size, _Seen(slow=size > LARGE))
            if seen.suffices(ours, theirs) or self._smaller_suffice(size, ours, theirs):
                tally.at_a_glance += 1
                return ""
            found, source, early = self._allowances(seen, payload, ours, theirs)
            tally.by_few_samples += early
            # What is wrong by more, or right by fewer samples, was not looked at closely: it says nothing of what the
            # next candidate may be off by.
            if source != HALF and not early:
                seen.full += 1
                for group, allowance in found.items():
                    seen.add(group, ours[group], allowance)
        tally.references[source] += 1
        self._weigh(tally, ours, theirs, found)
        return beyond(ours, theirs, lambda group, _: found[group])

    def evidence(self) -> Mapping[str, Any]:
        """Returns what this thread judged since it asked last, as plain data; empty where that was nothing."""
        tally, self._tallies.tally = self._tally(), _Tally()
        if not tally.judged:
            return {}
        return {
            "rule": f"error_ratio {self._ratio:g}",
            "inputs_with_other_bits": tally.judged,
            "judged_by_earlier_inputs": tally.at_a_glance,
            "judged_by_few_samples": tally.by_few_samples,
            "references": dict(tally.references),
            "worst_ratio": tally.worst_ratio,
            "worst_share_of_allowed": tally.worst_share,
        }

    def close(self) -> None:
        """Ends the reference's processes."""
        with self._lock:
            self._reference.close()

    def _smaller_suffice(self, size: int, ours: Groups, theirs: Groups) -> bool:
        """Whether what smaller inputs allowed (less, as errors add up) is enough where a closer look is dear."""
        known = [other for other, seen in self._seen.items() if other < size and seen.full]
        if self._seen[size].full or not known:
            return False
        nearest = self._seen[max(known)]
        return (nearest.slow or self._seen[size].slow) and nearest.near_enough(ours, theirs)

    def _tally(self) -> _Tally:
        if not hasattr(self._tallies, "tally"):
            self._tallies.tally = _Tally()
        found: _Tally = self._tallies.tally
        return found

    def _weigh(self, tally: _Tally, ours: Groups, theirs: Groups, found: Mapping[str, Allowance]) -> None:
        for name, group in ours.items():
            one = found[name]
            error = error_of(theirs[name].values(), one.truth)
            own = np.maximum(one.error, ulp(one.truth, group.format) / 2)
            tally.worst_ratio = max(tally.worst_ratio, float(np.max(error / own, initial=0)))
            tally.worst_share = max(tally.worst_share, float(np.max(error / one.allowed, initial=0)))

    def _allowances(
        self, seen: _Seen, payload: bytes, ours: Groups, theirs: Groups
    ) -> tuple[dict[str, Allowance], str, bool]:
        """Returns what is allowed in each group, what that rests on, and whether fewer samples were enough for it."""
        changed = any(name.startswith(ARGUMENTS) for name in ours)
        near = self._reference.near(payload, 0)
        magnitude = near[1] if near else 0.0
        truth = self._reference.truth(payload, BITS, changed) if seen.refined else None
        seen.refined = truth is not None
        if truth is not None and not (alike(ours, truth) and believable(ours, truth, magnitude)):
            truth = None
        samples = Samples(ours, truth)
        most = {name: samples.most(name, magnitude) for name in ours}
        if beyond(ours, theirs, lambda group, _: most[group]):
            return most, HALF, False
        found = self._allowed(samples, magnitude)
        early = _surely_right(seen, samples, ours, theirs, found)
        if near is not None and not early:
            drawn = (self._nearby if magnitude else self._coarser)(payload, truth, changed)
            before = self._reference.spent()
            for number, add in enumerate(drawn, 1):
                add(samples)
                spent = self._reference.spent() - before
                if number == 2 and not seen.full:  # with the first one a process of the reference starts
                    seen.slow = seen.slow or spent > SLOW_SAMPLE
                before += spent
                found = self._allowed(samples, magnitude)
                early = number < seen.samples and _surely_right(seen, samples, ours, theirs, found)
                if early or number >= seen.samples:
                    break
        source = (
            f"{BITS} bits or the next wider type"
            if truth is not None
            else ("inputs off by a last place" if samples.count else f"{LAST_RESORT_ULPS:g} ulp")
        )
        return found, source, early

    def _allowed(self, samples: Samples, magnitude: float) -> dict[str, Allowance]:
        return {name: samples.allowance(name, self._ratio, magnitude) for name in samples.ours}

    def _nearby(self, payload: bytes, truth: Groups | None, changed: bool) -> Iterator[Callable[[Samples], None]]:
        """Yields what adds the baseline's outcomes on inputs that are off by a last place."""
        for seed in range(1, SAMPLES + 1):
            one = self._reference.near(payload, seed)
            if one is None:
                return
            better = self._reference.truth(one[0], BITS, changed) if truth is not None else None
            yield partial(Samples.near, plain=self._reference.plain(one[0]), truth=better)

    def _coarser(self, payload: bytes, truth: Groups | None, changed: bool) -> Iterator[Callable[[Samples], None]]:
        """Yields what adds the reference's outcomes with fewer bits."""
        for dropped in DROPPED_BITS if truth is not None else ():
            found = self._reference.truth(payload, DOUBLE_BITS - dropped, changed)
            yield partial(Samples.coarser, found=found, share=2.0**-dropped)
