"""``whet bench self``: what whet's own figures are worth on this machine."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Annotated

import typer

from whet.cli.options import Debug
from whet.core.errors import UsageError, nearest


def _timing() -> Iterator[str]:
    from whet.benchmarks.self import timing

    return timing.report()


def _oracle() -> Iterator[str]:
    from whet.benchmarks.self import oracle

    return oracle.report()


def _sandbox() -> Iterator[str]:
    from whet.benchmarks.self import sandbox

    return sandbox.report()


REPORTS: dict[str, Callable[[], Iterator[str]]] = {"oracle": _oracle, "sandbox": _sandbox, "timing": _timing}
"""One line adds a report."""


def measure_self(
    name: Annotated[str, typer.Argument(metavar="NAME", help=f"What to measure: {', '.join(REPORTS)}.")],
    debug: Debug = False,
) -> int:
    """Measure whet itself on this machine."""
    if name not in REPORTS:
        raise UsageError(f"no report '{name}'{nearest(name, REPORTS)}; there is {', '.join(REPORTS)}")
    for line in REPORTS[name]():
        print(line, flush=True)
    return 0
