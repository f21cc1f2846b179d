"""A result as text that reads well at 60 columns."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator

from whet.cli.text import one_line, percent, printable, times
from whet.core.errors import BaselineError
from whet.core.measurement import Speedup
from whet.core.result import Result, Status
from whet.core.verdict import Rung, RungStatus

HEADLINE = {
    Status.IMPROVED: "verified improvement",
    Status.NO_IMPROVEMENT: "no verified improvement",
    Status.REJECTED: "rejected",
    Status.BUDGET_EXHAUSTED: "budget spent without a verified improvement",
}
DETAIL_LINES = 12
"""Lines of a failed rung's detail that are shown; all of them stand in the JSON document."""


def show_result(result: Result, *, as_json: bool) -> int:
    """Prints a result and returns the exit code that it ends the command with."""
    if as_json:
        print(json.dumps(result.to_json(), indent=2))
        return int(result.exit_code)
    if result.status is Status.BASELINE_INVALID:
        raise BaselineError(result.message, "unusable")
    print("\n".join(result_lines(result)))
    if result.candidate is not None and result.candidate.diff:
        print_diff(result.candidate.diff)
    return int(result.exit_code)


def result_lines(result: Result) -> Iterator[str]:
    """Yields all that a result says, but for its diff."""
    yield ""
    yield f"{HEADLINE[result.status]}: {one_line(result.task.target)}"
    if result.message:
        yield one_line(result.message)
    if result.speedup is not None:
        yield from speedup_lines(result.speedup)
    if result.status is Status.IMPROVED and result.candidate is not None and result.candidate.labels:
        yield f"kind        {one_line(', '.join(result.candidate.labels))}"
    if result.rungs:
        yield ""
        for rung in result.rungs:
            yield from _rung_lines(rung)
    counts, cost = result.candidates, result.cost
    yield ""
    yield f"candidates  {counts.proposed} proposed, {counts.distinct} distinct, {counts.correct} correct"
    for reason, number in sorted(counts.rejected.items()):
        yield f"            {number} {reason}"
    price = f"{cost.usd:.4f} USD" if cost.usd_complete else f"at least {cost.usd:.4f} USD (a price is unknown)"
    yield f"cost        {price}, {cost.calls} calls"
    yield f"            {cost.tokens.input} tokens in ({cost.tokens.cached} cached), {cost.tokens.output} out"
    yield f"run         {result.run}, {result.seconds:.1f} s"


def speedup_lines(speedup: Speedup) -> Iterator[str]:
    """Yields a speedup with its interval, unit, sample count and A/A pair."""
    yield ""
    yield f"speedup     {times(speedup.ratio)} in {speedup.metric}"
    yield f"interval    {times(speedup.low)} to {times(speedup.high)} at {percent(speedup.confidence)}"
    yield f"n           {speedup.processes} fresh processes, {speedup.samples} samples a side"
    low, high = speedup.aa_ratio
    yield f"A/A         {times(low)} to {times(high)} (baseline against itself)"
    yield f"baseline    {one_line(speedup.baseline)}"
    for workload in speedup.workloads:
        interval = f"{times(workload.low)} to {times(workload.high)}"
        yield f"  {one_line(workload.name, 24):<24}{times(workload.ratio):>9}  {interval}"


def print_diff(diff: str) -> None:
    """Prints a diff, in colours where stdout is a terminal."""
    print()
    text = printable(diff).rstrip("\n")
    if not sys.stdout.isatty():
        print(text)
        return
    from rich.console import Console
    from rich.text import Text

    console = Console(highlight=False, soft_wrap=True)
    styles = {"+": "green", "-": "red", "@": "cyan"}
    for line in text.split("\n"):
        style = "bold" if line.startswith(("+++", "---")) else styles.get(line[:1], "")
        console.print(Text(line, style))


def _rung_lines(rung: Rung) -> Iterator[str]:
    reason = f"  {rung.reason}" if rung.reason else ""
    yield f"  {rung.name:<13}{rung.status:<13}{rung.seconds:8.2f} s{reason}"
    if rung.detail and rung.status is not RungStatus.SKIPPED:
        lines = printable(rung.detail).splitlines()
        for line in lines[:DETAIL_LINES]:
            yield f"    {line}"
        if len(lines) > DETAIL_LINES:
            yield f"    ... {len(lines) - DETAIL_LINES} more lines; --json shows them all"
