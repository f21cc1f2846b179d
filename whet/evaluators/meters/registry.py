"""All metrics: whet's own, and those that plug-ins bring as a `Metric` in the entry-point group ``whet.metrics``."""

from __future__ import annotations

from collections.abc import Mapping

from whet.core.errors import UsageError
from whet.core.options import METRIC_GROUP
from whet.core.plugins import brought
from whet.core.task import Kind
from whet.evaluators.artifacts import Builder
from whet.evaluators.meters.base import Meter, Metric
from whet.evaluators.meters.cpu import Cpu, open_cpu
from whet.evaluators.meters.energy import Energy, open_energy
from whet.evaluators.meters.instructions import Instructions, open_instructions
from whet.evaluators.meters.memory import Memory, open_memory
from whet.evaluators.meters.time import THROUGHPUT, TIME

OWN: Mapping[str, Metric] = {
    "time": Metric(lambda builder: TIME, lambda kind: TIME),
    "throughput": Metric(lambda builder: THROUGHPUT, lambda kind: THROUGHPUT),
    "cpu": Metric(open_cpu, lambda kind: Cpu()),
    "memory": Metric(open_memory, lambda kind: Memory()),
    "instructions": Metric(open_instructions, Instructions),
    "energy": Metric(open_energy, lambda kind: Energy()),
}
"""As the user writes it."""


def open_meter(name: str, builder: Builder) -> Meter:
    """Returns the meter of a metric.

    Raises:
        UsageError: nobody knows it, or this machine, or this sandbox, cannot give it.
    """
    return _metric(name).open(builder)


def reading_meter(name: str, kind: Kind) -> Meter:
    """Returns the meter of a metric for recorded turns alone: it need not be able to measure here."""
    return _metric(name).reading(kind)


def _metric(name: str) -> Metric:
    found = OWN.get(name) or brought(METRIC_GROUP, name, Metric)
    if found is None:
        raise UsageError(f"no metric is called {name} here; is the package installed that brings it?")
    return found
