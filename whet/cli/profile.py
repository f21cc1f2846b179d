"""``whet profile``: hot spots and counters, as the Judge sees them."""

from __future__ import annotations

import json
import shutil
import textwrap
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import typer

from whet.cli import options as opt
from whet.core.errors import UsageError
from whet.core.text import printable

if TYPE_CHECKING:
    from whet.core.counter import Counter
    from whet.core.profile import Memory, Profile, ProfileReport

NARROWEST = 20  # columns of a report at least; on narrower terminals lines are too long, with less they say nothing
BAR = 8  # columns of the bar of a line's share, 12.5 % each; more show it finer, and leave less room for the code


@opt.takes("workload", "record", "python", "sandbox", "unsafe", "seed", "root", "tests")
def profile(
    ctx: typer.Context,
    target: opt.Target,
    privileged_counters: opt.PrivilegedCounters = False,
    run: opt.Whole = None,
    as_json: opt.Json = False,
    debug: opt.Debug = False,
    **given: Any,
) -> int:
    """Show where a target's time and memory go: hot functions, hot lines, memory by line and counters.

    Of a repository's folder: its hot functions, in the order in which optimize would try them.
    """
    from whet.evaluators.repository.folder import is_repository

    if is_repository(target):
        from whet.cli.repository import profile_repository

        return profile_repository(ctx, target, as_json=as_json)

    if given["tests"] is not None:
        raise UsageError("--tests goes with a repository's folder")

    from whet.cli.progress import watching
    from whet.core.options import Budget
    from whet.evaluators.profilers.target_profile import profile_target

    with watching(ctx.obj, Budget(), silent=as_json) as listener:
        report = profile_target(**opt.given(ctx), listener=listener)
    if as_json:
        print(json.dumps(report.to_json(), indent=2))
    else:
        print("\n".join(report_lines(report, shutil.get_terminal_size((80, 24)).columns)))
    return 0


def report_lines(report: ProfileReport, columns: int) -> Iterator[str]:
    """Yields the report for people; a terminal of 40 columns shows all that matters of it."""
    width = max(NARROWEST, columns)
    for line in _sections(report, width):
        shown = printable(line.replace("\n", " "))
        yield shown if len(shown) <= width else f"{shown[: width - 1]}…"


def _sections(report: ProfileReport, width: int) -> Iterator[str]:
    found = report.profile
    yield report.task.target
    if found.lines:
        yield f"measured by {found.source}, in {found.unit}"
    for heading, text in (("note", found.note), ("loosened", report.loosened)):
        for number, line in enumerate(text.splitlines()):
            yield from _wrapped(line if number else f"{heading}: {line}", width, "  " if number else "")
    yield from _functions(found)
    yield from _hot_lines(found)
    yield from _memory(found.memory, width) if found.memory else ()
    yield from _counters(report.counters, width) if report.counters else ()


def _functions(found: Profile) -> Iterator[str]:
    if found.functions:
        yield ""
        yield "hot functions"
        yield "  own  with calls"
    for function in found.functions:
        total = "   -" if function.total is None else f"{function.total:4.0%}"
        place = function.file.rpartition("/")[2] + (f":{function.line}" if function.line else "")
        yield f" {function.own:4.0%}  {total}  {function.name} ({place})"


def _hot_lines(found: Profile) -> Iterator[str]:
    if found.lines:
        yield ""
        yield "hot lines"
    for line in found.lines:
        yield f" {line.share:4.0%}  {'#' * round(line.share * BAR):.<{BAR}} {line.line:4}  {line.text}"


def _memory(found: Memory, width: int) -> Iterator[str]:
    from whet.core.profile import in_bytes

    yield ""
    yield "memory by line"
    if found.peak_bytes is None:
        yield from _wrapped(f"not available: {found.note}", width, "  ")
        return
    yield f"  {in_bytes(found.peak_bytes)} at the peak ({found.source})"
    if found.lines:
        yield "     peak   blocks   allocs"
    for line in found.lines:
        allocations = "-" if line.allocations is None else str(line.allocations)
        yield f"{in_bytes(line.peak_bytes):>9} {line.blocks:8} {allocations:>8} {line.line:4}  {line.text}"


def _counters(counters: Sequence[Counter], width: int) -> Iterator[str]:
    yield ""
    yield "counters"
    lacking: dict[str, list[str]] = {}
    counted = {counter.name for counter in counters if counter.value is not None}
    for counter in counters:
        if counter.value is not None:
            unit = f" {counter.unit}" if counter.unit else ""
            yield f"  {counter.name}  {counter.value:.6g}{unit} ({counter.source})"
        elif counter.name not in counted:  # by another means
            lacking.setdefault(counter.reason, []).append(counter.name)
    for reason, names in lacking.items():
        yield from _wrapped(f"not available: {', '.join(names)}: {reason}", width, "  ")


def _wrapped(text: str, width: int, indent: str) -> list[str]:
    return textwrap.wrap(text, width, initial_indent=indent, subsequent_indent=f"{indent}  ", break_on_hyphens=False)
