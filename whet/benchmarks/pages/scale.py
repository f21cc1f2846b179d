"""Axes of drawings."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

MOST_TICKS = 7  # labels of an axis at most; more mark it more finely, and stand closer together
STEPS = (1, 2, 5, 10, 20, 50)
"""Distances of ticks that are tried, in tenths of the largest power of ten within the axis's width. The last one leaves
at most two ticks, so that one of them always fits."""
PAD = 1.08
"""Room beyond the outermost value, as a factor of an axis that spans little; wider ones get as much of their width."""


@dataclass(frozen=True, slots=True)
class Scale:
    """A logarithmic axis of ratios, on which twice as fast lies as far from 1 as half as fast."""

    low: float
    high: float

    @classmethod
    def over(cls, values: Iterable[float]) -> Scale:
        """Returns the axis that holds all the values that are numbers, and 1."""
        found = [1.0, *(value for value in values if math.isfinite(value) and value > 0)]
        low, high = min(found), max(found)
        pad = max(PAD, (high / low) ** 0.05)
        return cls(low / pad, high * pad)

    def share(self, value: float) -> float:
        """Returns how far along the axis a value lies, 0 to 1; what lies beyond an end, or is no number, at an end."""
        inside = min(value, self.high) if value > self.low else self.low
        return math.log(inside / self.low) / math.log(self.high / self.low)

    def percent(self, value: float) -> float:
        """Returns the same in percent."""
        return round(100 * self.share(value), 2)

    @property
    def ticks(self) -> list[float]:
        """The round values that are marked; 1 is among them."""
        exponents = range(math.floor(math.log10(self.low)), math.ceil(math.log10(self.high)) + 1)
        found = self._inside(digit * 10.0**exponent for exponent in exponents for digit in (1, 2, 5))
        if len(found) < 3:
            unit = 10.0 ** math.floor(math.log10(self.high - self.low)) / 10
            steps = (
                self._inside(step * unit * n for n in range(1, int(self.high / step / unit) + 1)) for step in STEPS
            )
            return next(marks for marks in steps if len(marks) <= MOST_TICKS)
        if len(found) > MOST_TICKS:
            found = self._inside(digit * 10.0**exponent for exponent in exponents for digit in (1, 3))
        if len(found) <= MOST_TICKS:
            return found
        decades = [exponent for exponent in exponents if self.low <= 10.0**exponent <= self.high]
        stride = math.ceil(len(decades) / MOST_TICKS)
        return self._inside(10.0**exponent for exponent in decades if exponent % stride == 0)

    def _inside(self, values: Iterable[float]) -> list[float]:
        return [float(f"{value:.6g}") for value in values if self.low <= value <= self.high]
