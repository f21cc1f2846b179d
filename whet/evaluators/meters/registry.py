"""All metrics."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from whet.core.task import Kind
from whet.evaluators.meters.base import Meter
from whet.evaluators.meters.cpu import Cpu, open_cpu
from whet.evaluators.meters.energy import Energy, open_energy
from whet.evaluators.meters.instructions import Instructions, open_instructions
from whet.evaluators.meters.memory import Memory, open_memory
from whet.evaluators.meters.time import THROUGHPUT, TIME
from whet.evaluators.subjects import Workshop

METERS: Mapping[str, Callable[[Workshop], Meter]] = {
    "time": lambda workshop: TIME,
    "throughput": lambda workshop: THROUGHPUT,
    "cpu": open_cpu,
    "memory": open_memory,
    "instructions": open_instructions,
    "energy": open_energy,
}
"""As the user writes it -> makes it ready, or raises UsageError with what lacks and the mend."""


def open_meter(name: str, workshop: Workshop) -> Meter:
    """Returns the meter of a metric.

    Raises:
        UsageError: this machine, or this sandbox, cannot give it.
    """
    return METERS[name](workshop)


def reading_meter(name: str, kind: Kind) -> Meter:
    """Returns the meter of a metric for recorded turns alone: it need not be able to measure here."""
    readers: Mapping[str, Callable[[], Meter]] = {
        "time": lambda: TIME,
        "throughput": lambda: THROUGHPUT,
        "cpu": Cpu,
        "memory": Memory,
        "instructions": lambda: Instructions(kind),
        "energy": Energy,
    }
    return readers[name]()
