"""All sources of counters."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor

from whet.core.counter import Counter
from whet.sandbox.counters import nvml, perf, rapl, rusage, valgrind

PROBES: Mapping[str, Callable[[], tuple[Counter, ...]]] = {
    rusage.SOURCE: rusage.probe,
    perf.SOURCE: perf.probe,
    valgrind.SOURCE: valgrind.probe,
    rapl.SOURCE: rapl.probe,
    nvml.SOURCE: nvml.probe,
}
"""Source -> takes one reading of all that it knows."""


def survey() -> dict[str, tuple[Counter, ...]]:
    """Returns, for each source, what it counts on this machine now and why the rest is lacking."""
    with ThreadPoolExecutor() as pool:
        readings = pool.map(lambda probe: probe(), PROBES.values())
        return dict(zip(PROBES, readings, strict=True))
