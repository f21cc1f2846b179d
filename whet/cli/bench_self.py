"""``whet bench self``: what whet's own figures are worth on this machine."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated

import typer

from whet.cli.options import Debug
from whet.core.errors import Exit, UsageError, nearest


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


def _loop() -> Iterator[str]:
    from whet.benchmarks.self import loop

    return loop.report()


def _packages(ids: tuple[str, ...] = (), results: Path | None = None, python: Path | None = None) -> Iterator[str]:
    from whet.benchmarks.self.packages import report

    return report.report(python, ids, results)


def _scale(parts: tuple[str, ...] = (), *, quick: bool = False) -> Iterator[str]:
    from whet.benchmarks.self.scale import report

    return report.report(parts, quick=quick)


def _search() -> Iterator[str]:
    from whet.benchmarks.self import search

    return search.report()


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
    "packages": _packages,
    "sandbox": _sandbox,
    "scale": _scale,
    "search": _search,
}
"""One line adds a report."""
CAMPAIGNS = ("attacks", "exploits", "mutants", "oracle", "steady", "timing")
NAMES = tuple(sorted((*REPORTS, *CAMPAIGNS)))


def measure_self(
    ctx: typer.Context,
    name: Annotated[str, typer.Argument(metavar="NAME", help=f"What to measure: {', '.join(NAMES)}.")],
    ids: Annotated[
        str | None,
        typer.Option(
            help="With commas. For catalogue: these tasks alone. For asm: tasks whose best is measured too. "
            "For kernels: these of verdicts, cheats and tasks alone. For scale: these of overhead, slots, flood, "
            "simulation, kills and raylets alone. For packages: these of them or of their functions. For attacks, "
            "exploits, mutants, oracle, steady and timing: these items; of steady also targets and conditions; of "
            "exploits also rows, both sides of one, or all, where its default is what a clock decides."
        ),
    ] = None,
    results: Annotated[
        Path | None,
        typer.Option(
            help="For catalogue, kernels, packages and campaigns: a JSON file of what was found; what stands in it is "
            "not run again. A campaign has one under the state directory unless another is named."
        ),
    ] = None,
    seed: Annotated[int | None, typer.Option(help="For campaigns: of the inputs.", show_default=False)] = None,
    quick: Annotated[bool, typer.Option("--quick", help="For scale: little of each, to see that it works.")] = False,
    python: Annotated[
        Path | None, typer.Option(metavar="PATH", help="For packages: python3 of an environment that has them.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="For catalogue: print one JSON document.")] = False,
    debug: Debug = False,
) -> int:
    """Measure whet itself on this machine.

    A campaign is resumed by the same command. It ends with 1 where something is not as it must be.
    """
    if name not in NAMES:
        raise UsageError(f"no report '{name}'{nearest(name, NAMES)}; there is {', '.join(NAMES)}")
    if seed is not None and name not in CAMPAIGNS:
        raise UsageError(f"--seed goes with the campaigns {', '.join(CAMPAIGNS)}")
    tasks = tuple(ids.split(",")) if ids else ()
    if quick and name != "scale":
        raise UsageError("--quick goes with the report scale")
    if python is not None and name != "packages":
        raise UsageError("--python goes with the report packages")
    if name == "catalogue":
        lines = _catalogue(tasks, results, as_json=as_json)
    elif as_json:
        raise UsageError("--json goes with the report catalogue")
    elif name in CAMPAIGNS:
        return _campaign(ctx, name, tasks, results, seed)
    elif name == "kernels":
        lines = _kernels(tasks, results)
    elif name == "packages":
        lines = _packages(tasks, results, python)
    elif results:
        raise UsageError("--results goes with the reports catalogue, kernels and packages, and with campaigns")
    elif name == "scale":
        lines = _scale(tasks, quick=quick)
    elif name == "asm":
        lines = _asm(tasks)
    elif ids:
        raise UsageError("--ids goes with the reports asm, catalogue, kernels, packages and scale, and with campaigns")
    else:
        lines = REPORTS[name]()
    for line in lines:
        print(line, flush=True)
    return 0


def _campaign(ctx: typer.Context, name: str, ids: tuple[str, ...], results: Path | None, seed: int | None) -> int:
    from whet.benchmarks.self.campaigns import campaign, place, registry

    asked = registry.make(name, ids, seed)
    file = results or campaign.default_file(name)
    ctx.obj.resume = shlex.join(["whet", *sys.argv[1:]])
    for line in campaign.run(asked, file, place.this_place()):
        print(line, flush=True)
    ctx.obj.resume = None
    return int(Exit.INTERNAL) if campaign.failed(asked, file) else 0
