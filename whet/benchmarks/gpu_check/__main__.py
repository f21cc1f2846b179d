"""Prints a line a step, then the table; exits with 1 where anything could not run, or is not as it must be.

Nothing but the standard library is imported before it is known that the rest is there.
"""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from whet.benchmarks.gpu_check.findings import (
    CORRECTNESS,
    DEVICE_FREE,
    ENVIRONMENT,
    NOT_RUN,
    ON_DEVICE,
    PROFILE,
    TIMING,
    AnswerResult,
    unrun,
)
from whet.benchmarks.gpu_check.report import complete, step_lines, table, verdict_lines, write
from whet.benchmarks.gpu_check.rows import Row, rows
from whet.core.errors import UsageError

if TYPE_CHECKING:
    from whet.benchmarks.gpu_check.environment import Environment

STEPS = {
    "all": (*DEVICE_FREE, *ON_DEVICE),
    "device-free": DEVICE_FREE,
    "device": ON_DEVICE,
    "correctness": (CORRECTNESS,),
}
Check = Callable[[Sequence[Row], Any], Iterator[AnswerResult]]


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the steps and returns the exit code."""
    given = _parsed(arguments)
    chosen = [row for row in rows() if not given.only or row.kernel in given.only]
    kernels = [list(group) for _, group in groupby(chosen, key=lambda row: row.kernel)]
    steps = STEPS[given.steps]
    machine: Environment | None = None
    try:
        machine = importlib.import_module("whet.benchmarks.gpu_check.environment").look(given.python)
        print(f"{ENVIRONMENT}: {machine.told}")
        for lack in machine.lacks:
            print(f"{ENVIRONMENT}: {lack}")
        found = merged(chosen, _free(kernels, machine, steps), _on_device(kernels, machine, steps))
    except ModuleNotFoundError as error:
        why = f"{error.name} is not installed for {sys.executable}; make gpu-wheels brings it"
        print(f"{ENVIRONMENT}: {NOT_RUN}: {why}")
        found = [unrun(row, steps, why) for row in chosen]
    except UsageError as error:
        print(f"gpu-check: {error}", file=sys.stderr)
        return 2
    for step in steps:
        print(*step_lines(step, found), sep="\n")
    print(*verdict_lines(found), "", sep="\n")
    print(*table(found), sep="\n")
    if given.write and machine is not None and any(one.verdict is not None for one in found):
        write(machine.told, found)
    return 0 if complete(found) else 1


def _parsed(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="gpu-check", description=__doc__.splitlines()[0] if __doc__ else None)
    kernels = sorted({row.kernel for row in rows()})
    parser.add_argument(
        "--only", action="append", metavar="KERNEL", choices=kernels, help="one kernel; may be repeated"
    )
    parser.add_argument("--steps", choices=sorted(STEPS), default="all", help="a part of the steps")
    parser.add_argument("--python", type=Path, metavar="PATH", help="the python3 that runs the answers, with torch")
    parser.add_argument("--write", action="store_true", help="put the table of a GPU into docs/gpu-check.md")
    return parser.parse_args(arguments)


def _free(kernels: Sequence[list[Row]], machine: Environment, steps: tuple[str, ...]) -> Iterator[AnswerResult]:
    """Yields what comes of the steps that need no GPU."""
    if not set(DEVICE_FREE) & set(steps):
        return
    from whet.benchmarks.gpu_check.without_gpu import check

    yield from _side_by_side(partial(_told, check, machine.options("cpu"), "without a GPU"), kernels)


def _on_device(kernels: Sequence[list[Row]], machine: Environment, steps: tuple[str, ...]) -> Iterator[AnswerResult]:
    """Yields what comes of the steps on a GPU; kernels side by side where nothing is timed."""
    if not set(ON_DEVICE) & set(steps):
        return
    if machine.why_no_device:
        on_device = tuple(step for step in steps if step in ON_DEVICE)
        yield from (unrun(row, on_device, machine.why_no_device) for group in kernels for row in group)
        return
    from whet.benchmarks.gpu_check.on_gpu import check, compare

    if not {TIMING, PROFILE} & set(steps):
        yield from _side_by_side(partial(_told, compare, machine.options("cuda"), "on the GPU"), kernels)
        return
    for group in kernels:
        yield from _told(check, machine.options("cuda"), "on the GPU", group)


def _side_by_side(
    check: Callable[[list[Row]], list[AnswerResult]], kernels: Sequence[list[Row]]
) -> Iterator[AnswerResult]:
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        for found in pool.map(check, kernels):
            yield from found


def _told(check: Check, options: Any, where: str, group: list[Row]) -> list[AnswerResult]:
    """Checks the answers to one kernel, and says so: it may take minutes."""
    found = list(check(group, options))
    print(f"{group[0].kernel}: {len(group)} answers {where}", file=sys.stderr, flush=True)
    return found


def merged(chosen: Sequence[Row], *parts: Iterable[AnswerResult]) -> list[AnswerResult]:
    """Returns what came of each answer in all parts, in the order of the answers."""
    every = [one for part in parts for one in part]
    found = []
    for row in chosen:
        mine = [one for one in every if one.row == row]
        steps = {step: outcome for one in mine for step, outcome in one.steps.items()}
        last = mine[-1]
        found.append(AnswerResult(row, steps, last.verdict, last.figures))
    return found


if __name__ == "__main__":
    sys.exit(main())
