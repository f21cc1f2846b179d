"""Which suites there are. One line adds one."""

from __future__ import annotations

from importlib import import_module

from whet.benchmarks.suites.base import Suite
from whet.core.errors import UsageError, nearest

MODULES: dict[str, str] = {
    "coffe": "coffe",
    "effibench": "effibench",
    "effibench-x": "effibench_x",
    "enamel": "enamel",
    "evalperf": "evalperf",
    "gso": "gso",
    "guaranteed-guess": "guaranteed_guess",
    "kernelbench": "kernelbench",
    "mercury": "mercury",
    "pareval": "pareval",
    "pie": "pie",
    "robust-kbench": "robust_kbench",
    "supercoder": "supercoder",
    "swe-fficiency": "swe_fficiency",
    "swe-perf": "swe_perf",
    "sysllmatic": "sysllmatic",
    "whetbench": "whetbench",
}
"""Name of a suite -> module under `whet.benchmarks.suites`, which names its object ``SUITE``."""


def suite_named(name: str) -> Suite:
    """Returns a suite; its module is imported only now.

    Raises:
        UsageError: there is none of that name.
    """
    if name not in MODULES:
        raise UsageError(f"no suite '{name}'{nearest(name, MODULES)}; there is {', '.join(sorted(MODULES))}")
    suite: Suite = import_module(f"whet.benchmarks.suites.{MODULES[name]}").SUITE
    return suite
