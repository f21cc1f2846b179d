"""A result as text that reads well at 60 columns."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence

from whet.core.condition import Condition
from whet.core.errors import BaselineError, Exit
from whet.core.front import BASELINE, Figure, FrontRow
from whet.core.measurement import CPU, BaselineRatio, Speedup, WorkloadRatio
from whet.core.result import Result, Status
from whet.core.text import count, one_line, percent, printable, times
from whet.core.verdict import Reason, Rung, RungStatus

HEADLINE = {
    Status.IMPROVED: "verified improvement",
    Status.NO_IMPROVEMENT: "no verified improvement",
    Status.REJECTED: "rejected",
    Status.BUDGET_EXHAUSTED: "budget spent without a verified improvement",
}
DETAIL_LINES = 12
"""Lines of a failed rung's detail that are shown; all of them stand in the JSON document."""


def show_result(result: Result, *, as_json: bool, headline: str | None = None) -> int:
    """Prints a result and returns the exit code that it ends the command with.

    Args:
        result: to print.
        as_json: whether as one JSON document.
        headline: what it comes to, where its status does not say that.
    """
    if as_json:
        print(json.dumps(result.to_json(), indent=2))
        return int(result.exit_code)
    if result.status is Status.BASELINE_INVALID:
        raise BaselineError(result.message, "unusable")
    print("\n".join(result_lines(result, headline)))
    if result.candidate is not None and result.candidate.diff:
        print_diff(result.candidate.diff)
    return int(result.exit_code)


def show_winner(result: Result, *, as_json: bool) -> int:
    """Prints what a search ends in and returns the exit code: a translation that was found is a success."""
    translated = result.candidate is not None and result.speedup is None
    code = show_result(result, as_json=as_json, headline="verified translation" if translated else None)
    return int(Exit.IMPROVED) if translated else code


def result_lines(result: Result, headline: str | None = None) -> Iterator[str]:
    """Yields all that a result says, but for its diff."""
    yield ""
    yield f"{headline or HEADLINE[result.status]}: {one_line(result.task.target)}"
    if result.message:
        yield one_line(result.message)
    if result.speedup is not None:
        yield from speedup_lines(result.speedup)
    if result.quick:
        yield "quick       one look at eight turns; leave out --quick for a narrower interval"
    if result.front:
        yield ""
        yield from front_lines(result.front)
    if result.status is Status.IMPROVED and result.candidate is not None and result.candidate.labels:
        yield f"kind        {one_line(', '.join(result.candidate.labels))}"
    if result.conditions:
        yield ""
        yield from condition_lines(result.conditions)
    if result.rungs:
        yield ""
        told: set[str] = set()
        for rung in result.rungs:
            yield from _rung_lines(rung, told)
    counts, cost = result.candidates, result.cost
    yield ""
    yield f"candidates  {counts.proposed} proposed, {counts.distinct} distinct, {counts.correct} correct"
    for reason, number in sorted(counts.rejected.items()):
        yield f"            {number} {reason}"
    price = f"{cost.usd:.4f} USD" if cost.usd_complete else f"at least {cost.usd:.4f} USD (a price is unknown)"
    yield f"cost        {price}, {count(cost.calls, 'call')}"
    tokens = cost.tokens
    cached = f"{tokens.cached} cached, {percent(round(tokens.cached_share, 2))}"
    yield f"            {count(tokens.input, 'token')} in ({cached}), {tokens.output} out"
    yield f"run         {result.run}, {result.seconds:.1f} s"


def condition_lines(conditions: Sequence[Condition]) -> Iterator[str]:
    """Yields what has to hold for a rewrite to behave as the original does, each with a call that shows it."""
    yield "conditions  it behaves as the original does only if"
    for one in conditions:
        yield f"  {one_line(one.sentence)}"
        if one.counterexample:
            yield f"      {printable(one.counterexample)}"
        yield f"      {one_line(one.difference)}"


def speedup_lines(speedup: Speedup) -> Iterator[str]:
    """Yields a speedup with its interval, unit, sample count and A/A pair."""
    yield ""
    yield f"speedup     {times(speedup.ratio)} in {clocked(speedup)}"
    yield f"interval    {times(speedup.low)} to {times(speedup.high)} at {percent(speedup.confidence)}"
    yield f"n           {_processes(speedup.processes)}, {count(speedup.samples, 'sample')} a side"
    if speedup.rates is not None:
        before, after = speedup.rates
        yield f"throughput  {before:.4g} to {after:.4g} calls/s, the reciprocal of their time"
    low, high = speedup.aa_ratio
    yield f"A/A         {times(low)} to {times(high)} (baseline against itself)"
    yield f"baseline    {one_line(speedup.baseline)}"
    for workload in speedup.workloads:
        yield f"  {one_line(workload.name, 24):<24}{_figures(workload)}"
    for other in speedup.baselines:
        yield f"  against {one_line(other.name, 48):<48}{_figures(other)}"


def clocked(speedup: Speedup) -> str:
    """Returns the metric of a speedup, with the clock where that is another than usual."""
    return f"{speedup.metric}, in CPU seconds: the machine was never quiet" if speedup.clock == CPU else speedup.metric


def front_lines(front: Sequence[FrontRow]) -> Iterator[str]:
    """Yields the texts that no other is shown to be better than."""
    yield "front       no other is shown better in one of these, and worse in none"
    for row in front:
        if row.origin == BASELINE:
            yield "  the original"
            continue
        yield f"  {row.candidate[:10]}  {one_line(row.origin, 40)}{'' if row.confirmed else ', not confirmed'}"
        for name, one in row.metrics.items():
            yield f"    {name:<13}{_figures(one)}"
            yield f"                 {_processes(one.processes)}, {count(one.samples, 'sample')} a side"


def _figures(one: WorkloadRatio | BaselineRatio | Figure) -> str:
    return f"{times(one.ratio):>9}  {times(one.low)} to {times(one.high)}"


def _processes(number: int) -> str:
    return f"{number} fresh process{'' if number == 1 else 'es'}"


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


def _rung_lines(rung: Rung, told: set[str]) -> Iterator[str]:
    """Yields a rung and its detail. What is lacking is told once; that nobody asked for a rung needs no words."""
    reason = f"  {rung.reason}" if rung.reason else ""
    yield f"  {rung.name:<13}{rung.status:<13}{rung.seconds:8.2f} s{reason}"
    if rung.status is RungStatus.SKIPPED and (rung.reason is Reason.NOT_ASKED or rung.detail in told):
        return
    told.add(rung.detail)
    if rung.detail:
        lines = printable(rung.detail).splitlines()
        for line in lines[:DETAIL_LINES]:
            yield f"    {line}"
        if len(lines) > DETAIL_LINES:
            yield f"    ... {count(len(lines) - DETAIL_LINES, 'more line')}; --json shows all"
