"""What a tool's document comes to, in a few words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from whet.core.text import one_line, percent, times

HOT_LINES = 5  # hot lines of the short text, the hottest first; more cost tokens, and the document holds all


def short(tool: str, document: Mapping[str, Any]) -> str:
    """Returns a few lines for an agent that reads no further."""
    lines = {"audit": _audit, "profile": _profile, "show_run": _run}.get(tool, _result)(document)
    return "\n".join(one_line(line) for line in lines)


def _result(document: Mapping[str, Any]) -> Iterator[str]:
    yield f"{document['status'].replace('_', ' ')}: {document['message']}"
    if speedup := document.get("speedup"):
        yield (
            f"{times(speedup['ratio'])} in {speedup['metric']}, {times(speedup['low'])} to {times(speedup['high'])} at "
            f"{percent(speedup['confidence'])}"
        )
    yield f"run {document['run']}, {document['seconds']:.1f} s"


def _audit(document: Mapping[str, Any]) -> Iterator[str]:
    killed = document["mutants"]["killed"]
    yield f"mutants noticed: {killed['count']} of {killed['of']}"
    accepted = [null["name"] for null in document["nulls"] if null["status"] == "accepted"]
    yield f"accepted although they do no work: {', '.join(accepted)}" if accepted else "no null candidate is accepted"


def _profile(document: Mapping[str, Any]) -> Iterator[str]:
    yield document["task"]["target"]
    for line in document["profile"]["lines"][:HOT_LINES]:
        yield f"{line['share']:.0%}  line {line['line']}: {line['text'].strip()}"


def _run(document: Mapping[str, Any]) -> Iterator[str]:
    for row in document.get("runs", [document]):
        yield f"run {row['run']}: {Path(row['target']).name}, {row['result'] or row['status']}"
    if document.get("status") == "interrupted":
        yield f"where it is one of optimize, it goes on with: whet runs resume {document['run']}"
