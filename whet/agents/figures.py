"""The names of the figures that the Judge is shown, and what of its evidence names none of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from whet.agents.advice import named_patterns
from whet.agents.kernels import STATIC, bottleneck_of, speeds, trace_of
from whet.agents.situation import Situation
from whet.agents.telling import LEAST_SHARE, MOST_FUNCTIONS
from whet.prompts import one_line
from whet.sandbox.toolchains import native

LONGEST_NAME = 60  # characters of a name in the list of figures; more cost tokens, fewer cut names that are cited whole
AROUND = " \t\"'`*-"
"""Characters before a name that are none of it."""


def figures(facts: Situation, peaks: Sequence[int], candidates: int, earlier: int) -> dict[str, list[str]]:
    """Returns the names of all figures of a question to the Judge, by what they tell.

    Args:
        facts: what it is told of the best version.
        peaks: numbers of the lines whose memory it is told.
        candidates: how many of the round it is told.
        earlier: how many of the rounds before.
    """
    inputs = [] if facts.best is None else [each.name for each in facts.best.workloads]
    hot = [one for one in facts.profile.functions if one.own >= LEAST_SHARE][:MOST_FUNCTIONS]
    groups = {
        "the best version against the original": ["best", *_on("best", inputs)] if facts.best is not None else [],
        "its hot lines": [f"line {line.line}" for line in facts.profile.lines],
        "its hot functions": [f"function {one_line(one.name, LONGEST_NAME)}" for one in hot] if len(hot) > 1 else [],
        "known patterns": _patterns(facts),
        "its innermost loops": ["llvm-mca"] if facts.profile.model else [],
        "its memory at the peak": [f"peak of line {line}" for line in peaks],
        "the kernel": list(_of_kernel(facts)),
        "this round's rewrites": [f"candidate {place}" for place in range(1, candidates + 1)],
        "those of earlier rounds": [f"earlier {place}" for place in range(1, earlier + 1)],
    }
    return {told: names for told, names in groups.items() if names}


def unknown(evidence: Sequence[str], known: Mapping[str, Sequence[str]]) -> tuple[int, ...]:
    """Returns the places of entries that do not begin with the name of a figure.

    Args:
        evidence: the Judge's.
        known: the names, as `figures` gives them.
    """
    names = [_plain(name) for group in known.values() for name in group]
    return tuple(place for place, entry in enumerate(evidence) if not _cites(_plain(entry), names))


def _of_kernel(facts: Situation) -> Iterator[str]:
    if facts.task.module is None:
        return
    rows = speeds(facts.place, facts.best)
    yield from _on("speed", [row.name for row in rows])
    yield from _on("cost", [row.name for row in rows])
    if (found := bottleneck_of(rows, trace_of(facts.built))) is not None:
        yield from (name for name, _ in found.metrics)
    if facts.built.get(STATIC):
        yield "compiler"


def _patterns(facts: Situation) -> list[str]:
    if facts.task.translated:
        return []
    source = facts.parent.source
    return named_patterns(native.language_of(facts.task, source), source, facts.profile)


def _on(name: str, inputs: Sequence[str]) -> list[str]:
    return [f"{name} on {one_line(each, LONGEST_NAME)}" for each in inputs]


def _cites(entry: str, names: Sequence[str]) -> bool:
    return any(entry.startswith(name) and not entry[len(name) : len(name) + 1].isalnum() for name in names)


def _plain(text: str) -> str:
    return one_line(text.replace("`", "")).lstrip(AROUND).casefold()
