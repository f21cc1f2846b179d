"""What one version gains over another, and whether that can be told from noise."""

from __future__ import annotations

from dataclasses import dataclass

from whet.core.measurement import Measurement


@dataclass(frozen=True, slots=True)
class Gain:
    """The speedup of one version over another, from what each was measured to be against the original.

    Attributes:
        ratio: of the two speedups.
        low: lower end, from the ends of both intervals.
        high: upper end.
        resolution: the smallest ratio that the measurements of both could tell from 1.
    """

    ratio: float
    low: float
    high: float
    resolution: float

    @property
    def shown(self) -> bool:
        """Whether it lies beyond the resolution: the intervals are apart, and so far that the machine can tell."""
        return self.low > 1.0 and self.ratio >= self.resolution


def gain_over(parent: Measurement | None, child: Measurement) -> Gain:
    """Returns what a version gains over another.

    Args:
        parent: the other one's measurement; None for the original, which all are measured against.
        child: the version's own.
    """
    new = child.speedup
    if parent is None:
        return Gain(new.ratio, new.low, new.high, child.resolution)
    old = parent.speedup
    resolution = max(child.resolution, parent.resolution)
    return Gain(new.ratio / old.ratio, new.low / old.high, new.high / old.low, resolution)
