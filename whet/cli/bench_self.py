"""``whet bench self``: what whet's own figures are worth on this machine."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated

import typer

from whet.cli.options import Debug
from whet.core.errors import UsageError, nearest


def _catalogue(ids: tuple[str, ...] = (), results: Path | None = None, *, as_json: bool = False) -> Iterator[str]:
    from whet.benchmarks.self import catalogue

    if as_json:
        return iter([json.dumps(catalogue.document(ids, results), indent=2)])
    return catalogue.report(ids, results)


def _bench() -> Iterator[str]:
    from whet.benchmarks.self import bench

    return bench.report()


def _bot() -> Iterator[str]:
    from whet.benchmarks.self import bot

    return bot.report()


def _kernels(parts: tuple[str, ...] = (), results: Path | None = None) -> Iterator[str]:
    from whet.benchmarks.self import kernels

    return kernels.report(parts, results)


def _filters() -> Iterator[str]:
    from whet.benchmarks.self import filters

    return filters.report()


def _halving() -> Iterator[str]:
    from whet.benchmarks.self import halving

    return halving.report()


def _timing() -> Iterator[str]:
    from whet.benchmarks.self import timing

    return timing.report()


def _loop() -> Iterator[str]:
    from whet.benchmarks.self import loop

    return loop.report()


def _scale(parts: tuple[str, ...] = (), *, quick: bool = False) -> Iterator[str]:
    from whet.benchmarks.self.scale import report

    return report.report(parts, quick=quick)


def _search() -> Iterator[str]:
    from whet.benchmarks.self import search

    return search.report()


def _oracle() -> Iterator[str]:
    from whet.benchmarks.self import oracle

    return oracle.report()


def _floats() -> Iterator[str]:
    from whet.benchmarks.self import floats

    return floats.report()


def _sandbox() -> Iterator[str]:
    from whet.benchmarks.self import sandbox

    return sandbox.report()


def _asm(ids: tuple[str, ...] = ()) -> Iterator[str]:
    from whet.benchmarks.self import asm

    return asm.report(ids)


REPORTS: dict[str, Callable[[], Iterator[str]]] = {
    "asm": _asm,
    "bench": _bench,
    "bot": _bot,
    "catalogue": _catalogue,
    "filters": _filters,
    "floats": _floats,
    "halving": _halving,
    "kernels": _kernels,
    "loop": _loop,
    "oracle": _oracle,
    "sandbox": _sandbox,
    "scale": _scale,
    "search": _search,
    "timing": _timing,
}
"""One line adds a report."""


def measure_self(
    name: Annotated[str, typer.Argument(metavar="NAME", help=f"What to measure: {', '.join(REPORTS)}.")],
    ids: Annotated[
        str | None,
        typer.Option(
            help="With commas. For catalogue: these tasks alone. For asm: tasks whose best is measured too. "
            "For kernels: these of verdicts, cheats and tasks alone. For scale: these of overhead, slots, flood, "
            "simulation, kills and raylets alone."
        ),
    ] = None,
    results: Annotated[
        Path | None,
        typer.Option(
            help="For catalogue and kernels: a JSON file of what was found; what stands in it is not run again."
        ),
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="For scale: little of each, to see that it works.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="For catalogue: print one JSON document.")] = False,
    debug: Debug = False,
) -> int:
    """Measure whet itself on this machine."""
    if name not in REPORTS:
        raise UsageError(f"no report '{name}'{nearest(name, REPORTS)}; there is {', '.join(REPORTS)}")
    tasks = tuple(ids.split(",")) if ids else ()
    if quick and name != "scale":
        raise UsageError("--quick goes with the report scale")
    if name == "catalogue":
        lines = _catalogue(tasks, results, as_json=as_json)
    elif as_json:
        raise UsageError("--json goes with the report catalogue")
    elif name == "kernels":
        lines = _kernels(tasks, results)
    elif results:
        raise UsageError("--results goes with the reports catalogue and kernels")
    elif name == "scale":
        lines = _scale(tasks, quick=quick)
    elif name == "asm":
        lines = _asm(tasks)
    elif ids:
        raise UsageError("--ids goes with the reports asm, catalogue, kernels and scale")
    else:
        lines = REPORTS[name]()
    for line in lines:
        print(line, flush=True)
    return 0
