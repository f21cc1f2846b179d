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


@dataclass(frozen=True, slots=True)
class Row:
    """A routine with a fault, or a right one.

    Attributes:
        name: what is wrong with it, in a few words.
        routine: name of the function.
        isa: of its text.
        text: the whole file.
        reason: of the verdict; None where it is right.
        said: part of the verdict's detail.
    """

    name: str
    routine: str
    isa: str
    text: str
    reason: Reason | None
    said: str


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
    return Row(entry["name"], routine, isa, text, reason, entry.get("said", ""))


def _lines(text: str) -> str:
    return "".join(f"    {line}\n" for line in text.strip().splitlines())


def _before_last_return(text: str, lines: str) -> str:
    """Puts lines in front of the last return, and behind its label."""
    head, _, tail = text.rpartition("ret\n")
    return f"{head.rstrip(' ')}\n{lines}    ret\n{tail}"
