"""Reads the table of seeded faults; see `table.toml` for its form."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from whet.core.signature import Signature
from whet.core.verdict import Reason
from whet.evaluators.signature import SignatureTable, read_signature

FOLDER = Path(__file__).parent
SCREEN, BUILD, CALLS, STEPS = "screen", "build", "calls", "steps"
"""The rungs that look at a row; calls and single steps are parts of the rung `differential`."""


@dataclass(frozen=True, slots=True)
class Before:
    """What falls before anything of it is called.

    Attributes:
        rung: `screen` or `build`.
        reason: of its verdict.
        said: part of the verdict's detail.
    """

    rung: str
    reason: Reason
    said: str


@dataclass(frozen=True, slots=True)
class Row:
    """A routine with a fault, or a right one.

    Attributes:
        name: what is wrong with it, in a few words.
        routine: name of the function.
        isa: of its text.
        text: the whole file.
        reason: of the verdict that its calls come to; None where they find nothing wrong.
        said: part of the verdict's detail.
        stepped: whether single steps alone show it.
        before: what an earlier rung says of it; None where only its calls tell.
    """

    name: str
    routine: str
    isa: str
    text: str
    reason: Reason | None
    said: str
    stepped: bool
    before: Before | None

    @property
    def faulty(self) -> bool:
        """Whether there is a fault in it."""
        return self.rung != ""

    @property
    def rung(self) -> str:
        """What catches it first: `screen`, `build`, `calls` or `steps`; empty of a right one."""
        if self.before is not None:
            return self.before.rung
        return (STEPS if self.stepped else CALLS) if self.reason is not None else ""

    @property
    def verdict(self) -> Reason | None:
        """The reason that the ladder gives; None of a right one."""
        return self.before.reason if self.before is not None else self.reason


def rows() -> tuple[Row, ...]:
    """Returns all rows, right ones among them."""
    return tuple(map(_row, _table()["row"]))


def signature(routine: str) -> Signature:
    """Returns the contract of a routine."""
    return read_signature(SignatureTable.model_validate(_table()["signature"][routine]), routine, "table.toml")


def reference(routine: str) -> str:
    """Returns the text of a routine's reference, in C."""
    return (FOLDER / "references" / f"{routine}.c").read_text()


@cache
def _table() -> Any:
    return tomllib.loads((FOLDER / "table.toml").read_text())


def _row(entry: dict[str, Any]) -> Row:
    routine, isa = entry["routine"], entry.get("isa", "x86_64")
    text = (FOLDER / isa / f"{routine}.s").read_text()
    for old, new in entry.get("edit", ()):
        assert old in text, f"{entry['name']}: {old!r} is not in the text"
        text = text.replace(old, new)
    label, _, body = text.partition(f"\n{routine}:\n")
    text = f"{label}\n{routine}:\n{_lines(entry.get('first', ''))}{body}"
    if "last" in entry:
        text = _before_last_return(text, _lines(entry["last"]))
    reason = Reason(entry["reason"]) if "reason" in entry else None
    before = None
    if "before" in entry:
        earlier = entry["before"]
        before = Before(earlier["rung"], Reason(earlier["reason"]), earlier["said"])
    said, stepped = entry.get("said", ""), entry.get("stepped", False)
    return Row(entry["name"], routine, isa, text, reason, said, stepped, before)


def _lines(text: str) -> str:
    return "".join(f"    {line}\n" for line in text.strip().splitlines())


def _before_last_return(text: str, lines: str) -> str:
    """Puts lines in front of the last return, and behind its label."""
    head, _, tail = text.rpartition("ret\n")
    return f"{head.rstrip(' ')}\n{lines}    ret\n{tail}"
