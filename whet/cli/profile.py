"""``whet profile``: hot spots and counters, as the Judge sees them."""

from __future__ import annotations

import json
import shutil
import textwrap
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import typer

from whet.cli import options as opt
from whet.cli.text import printable

if TYPE_CHECKING:
    from whet.core.counter import Counter
    from whet.core.profile import Profile, ProfileReport

NARROWEST = 20
BAR = 8


def profile(
    ctx: typer.Context,
    target: opt.Target,
    workload: opt.Workload = None,
    python: opt.Python = None,
    sandbox: opt.Sandbox = "auto",
    unsafe: opt.Unsafe = False,
    seed: opt.Seed = None,
    privileged_counters: opt.PrivilegedCounters = False,
    as_json: opt.Json = False,
    debug: opt.Debug = False,
) -> int:
    """Show where a target's time goes: hot functions, hot lines and counters."""
    from whet.evaluators.profilers.target_profile import profile_target

    report = profile_target(**opt.given(ctx))
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
        yield from _wrapped(f"{heading}: {text}", width, "") if text else ()
    yield from _functions(found)
    yield from _hot_lines(found)
    yield from _counters(report.counters, width)


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


def _counters(counters: Sequence[Counter], width: int) -> Iterator[str]:
    yield ""
    yield "counters"
    lacking: dict[str, list[str]] = {}
    for counter in counters:
        if counter.value is not None:
            unit = f" {counter.unit}" if counter.unit else ""
            yield f"  {counter.name}  {counter.value:.6g}{unit} ({counter.source})"
        else:
            lacking.setdefault(counter.reason, []).append(counter.name)
    for reason, names in lacking.items():
        yield from _wrapped(f"not available: {', '.join(names)}: {reason}", width, "  ")


def _wrapped(text: str, width: int, indent: str) -> list[str]:
    return textwrap.wrap(text, width, initial_indent=indent, subsequent_indent=f"{indent}  ", break_on_hyphens=False)
