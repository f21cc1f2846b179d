"""How the report says its figures."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median


def spread(values: Sequence[float]) -> str:
    """Returns the median of some figures, the least and the most of them."""
    return f"{median(values):.2f} ({min(values):.2f} to {max(values):.2f})"


def missed(goal: bool) -> str:
    """Returns what stands behind a figure that is not as good as its goal."""
    return ", MISSED" if goal else ""
