"""A run on a whole repository as Markdown, for a pull request or a wiki."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from html import escape

from whet.cli.report.repository import ANSWER, HEADLINE, saved, untried
from whet.core.measurement import Speedup
from whet.core.repository import Attempt, RepositoryResult
from whet.core.text import count, one_line, percent, printable, times

SPECIAL = re.compile(r"([\\`*_{}\[\]()#+!|~@$-])")
MOST = 50
"""Functions of a table."""
LONGEST_DIFF = 20_000
"""Characters of the diff of each function that was kept; the rest is cut off. The text grows by up to as much with each
function; a smaller value hides more of long changes."""


def repository_markdown(result: RepositoryResult) -> str:
    """Returns a run on a repository as Markdown in which nothing that a stranger wrote is more than text."""
    return "\n".join(_lines(result)) + "\n"


def _lines(result: RepositoryResult) -> Iterator[str]:
    yield f"# {HEADLINE[result.status.value]}: {plain(result.root)}"
    yield ""
    yield f"Commit `{result.head[:10]}`, run `{result.run}`. {plain(result.message, 1000)}."
    yield ""
    yield f"Command: {code(result.command)}"
    yield ""
    if result.end_to_end is not None:
        whole, low_high = result.end_to_end, result.end_to_end.speedup.aa_ratio
        yield f"End to end: **{ANSWER[whole.outcome.value]}**, {figures(whole.speedup)} at "
        yield f"{percent(whole.speedup.confidence)}, {count(whole.speedup.processes, 'fresh process')} a side; the head"
        yield f"against itself {times(low_high[0])} to {times(low_high[1])}."
        yield ""
    yield saved(result)
    yield from (f"- {plain(note, 500)}" for note in result.notes)
    yield ""
    yield "## Tried"
    yield ""
    yield from _table(
        ("Function", "Own time", "By itself", "Whole command", "Outcome"), [_row(one) for one in result.attempts]
    )
    yield "## Left alone"
    yield ""
    rest = [(code(one.target), f"{one.own:.1%}", f"{one.total:.1%}", plain(why)) for one, why in untried(result)[:MOST]]
    yield from _table(("Function", "Own time", "Total", "Why"), rest)
    for attempt in result.attempts:
        if attempt.kept:
            yield f"## {plain(attempt.function.target)}"
            yield ""
            yield f"{plain(', '.join(attempt.labels)) or 'no label'}; commit `{(attempt.commit or '')[:10]}`"
            yield ""
            for one in attempt.conditions:
                shown = f", else for instance {code(one.counterexample)}: {plain(one.difference)}"
                yield f"- only if {plain(one.sentence)}{shown if one.counterexample else ''}"
            if attempt.conditions:
                yield ""
            yield fenced(attempt.diff[:LONGEST_DIFF])
            yield ""
    cost = result.cost
    least = "" if cost.usd_complete else "at least "
    yield f"Cost: {least}{cost.usd:.4f} USD in {count(cost.calls, 'call')}; {result.seconds:.0f} s."


def plain(text: str, width: int = 300) -> str:
    """Returns a text as one line in which Markdown finds nothing."""
    return SPECIAL.sub(r"\\\1", escape(one_line(text, width), quote=False))


def code(text: str, width: int = 300) -> str:
    """Returns a text as code in a line or a cell of a table."""
    line = one_line(text, width).replace("|", "¦")
    ticks = "`" * (max(map(len, re.findall(r"`+", line)), default=0) + 1)
    return f"{ticks} {line} {ticks}" if "`" in line else f"`{line}`"


def fenced(diff: str) -> str:
    """Returns a diff as a block that it cannot end."""
    text = printable(diff).rstrip("\n")
    ticks = "`" * max(3, max(map(len, re.findall(r"`+", text)), default=0) + 1)
    return f"{ticks}diff\n{text}\n{ticks}"


def figures(speedup: Speedup) -> str:
    """Returns a ratio with its interval."""
    return f"{times(speedup.ratio)} ({times(speedup.low)} to {times(speedup.high)})"


def _row(attempt: Attempt) -> tuple[str, ...]:
    whole = attempt.end_to_end
    kept = "kept" if attempt.kept else "not kept"
    return (
        code(attempt.function.target),
        f"{attempt.function.own:.1%}",
        "" if attempt.speedup is None else figures(attempt.speedup),
        "" if whole is None else f"{ANSWER[whole.outcome.value]}, {figures(whole.speedup)}",
        f"{kept}: {plain(attempt.why)}",
    )


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    if not rows:
        yield "None."
    else:
        yield f"| {' | '.join(head)} |"
        yield f"|{' --- |' * len(head)}"
        yield from (f"| {' | '.join(row)} |" for row in rows)
    yield ""
