"""One figure of a counter, or why there is none."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Counter:
    """What one counter says.

    Attributes:
        name: what it counts, such as ``instructions`` or ``page-faults``.
        value: the figure; None where there is none, never 0 for that.
        unit: of the figure; empty for plain numbers of events.
        source: what counted: ``perf``, ``cachegrind``, ``rusage``, ``rapl`` or ``nvml``.
        deterministic: whether the same work gives the same figure, as far as the work itself is the same.
        available: whether there is a figure.
        reason: why there is none; empty where there is one.

    Raises:
        ValueError: value, available and reason contradict each other.
    """

    name: str
    value: float | None
    unit: str
    source: str
    deterministic: bool
    available: bool
    reason: str = ""

    def __post_init__(self) -> None:
        if self.available != (self.value is not None) or self.available == bool(self.reason):
            raise ValueError(f"{self.name} has either a value or a reason for having none")


def counted(name: str, value: float, unit: str, source: str, deterministic: bool = False) -> Counter:
    """Returns a counter with its figure."""
    return Counter(name, value, unit, source, deterministic, True)


def missing(name: str, unit: str, source: str, reason: str, deterministic: bool = False) -> Counter:
    """Returns a counter that this machine does not give, with the reason."""
    return Counter(name, None, unit, source, deterministic, False, reason)
