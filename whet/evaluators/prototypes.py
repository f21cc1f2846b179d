"""The contract of a C or C++ function that nobody stated: its prototype, and what the names of its arguments tell."""

from __future__ import annotations

import re
from dataclasses import replace

from whet.core.errors import UsageError, nearest
from whet.core.signature import Role, Signature
from whet.evaluators.native_tree import COMMENTS
from whet.evaluators.signature import ARGUMENT, QUALIFIERS, TYPES
from whet.evaluators.task_file import TaskFile

DEFINITION = (
    r"(?:^|[;}}\n])\s*(?P<head>(?:(?:[A-Za-z_]\w*+|\"C\")[\s*]++)+)(?P<name>{})\s*\((?P<arguments>[^()]*)\)\s*\{{"
)
"""Words are taken whole, so that a text of many words is searched in no more than the square of their number."""
KEYWORDS = frozenset({"if", "for", "while", "switch", "return", "else", "sizeof"})
COUNTS = re.compile(r"n|len|length|size|count|num|n_?\w*|\w*_(?:len|length|size|count|n)", re.IGNORECASE)
"""Names of arguments that count elements."""
SIZES = (16, 1024, 65536)
"""Elements of the buffers, where nobody stated a workload; time counts on the last two. A buffer of doubles has 512 KiB
at the last: larger ones take longer to hand over; smaller ones leave more functions too short to be timed."""
USUAL = 1000
"""Bound of integers whose range nobody states: sums and products of a few stay within their type."""


class NoContractError(Exception):
    """A function that cannot be called by itself with what its text tells; the text says why."""


def definitions(source: str) -> list[str]:
    """Returns the names of the functions that a text defines."""
    found = re.finditer(DEFINITION.format(r"[A-Za-z_]\w*"), COMMENTS.sub(" ", source))
    return [match["name"] for match in found if match["name"] not in KEYWORDS]


def contract_of(source: str, symbol: str, language: str, filename: str) -> TaskFile:
    """Returns the task of a function as a ``whet.toml`` would state it.

    Buffers have the length that the one argument counts whose name says so.

    Args:
        source: of the file.
        symbol: of the function.
        language: c or cpp.
        filename: of the file.

    Raises:
        UsageError: the file defines no such function.
        NoContractError: it cannot be called by itself, or its prototype does not tell how long its buffers are.
    """
    text = COMMENTS.sub(" ", source)
    match = re.search(DEFINITION.format(re.escape(symbol)), text)
    if match is None:
        known = definitions(source)
        listed = f"; it defines {', '.join(known[:8])}" if known else "; it defines no function"
        raise UsageError(f"{filename} defines no {symbol}{nearest(symbol, known) or listed}")
    head = " ".join(match["head"].replace('"C"', " ").split())
    words = set(head.split())
    if words & {"static", "inline"}:
        raise NoContractError(f"{symbol} is {'static' if 'static' in words else 'inline'}, so nothing outside calls it")
    if language == "cpp" and not has_c_name(text, match.start("name")):
        raise NoContractError(f'{symbol} is not extern "C", so nothing finds it by its name')
    head = re.sub(r"\bextern\b", " ", head).strip()
    prototype = " ".join(f"{head} {symbol}({match['arguments'].strip()})".split())
    tables = _arguments(match["arguments"], symbol)
    return TaskFile.model_validate(
        {
            "task": {"name": symbol, "language": language, "target": filename, "symbol": symbol},
            "signature": {"prototype": prototype, **tables},
            "workload": {"sizes": list(SIZES)},
        }
    )


def with_assumed_bounds(signature: Signature) -> Signature:
    """Returns a contract that `contract_of` made, whose bounds no input has to keep: they say what is drawn."""
    arguments = (replace(one, assumed=one.role is not Role.SIZE) for one in signature.arguments)
    return replace(signature, arguments=tuple(arguments))


def told(signature: Signature) -> str:
    """Returns a contract that was read from a prototype, as a line for people."""
    parts = []
    for one in signature.arguments:
        bounds = "" if one.low is None or one.high is None else f" from {one.low:g} to {one.high:g}"
        parts.append(f"{one.name} has {one.length} elements{bounds}" if one.buffer else f"{one.name}{bounds}")
    return f"contract read from the prototype: {', '.join(parts)}"


def has_c_name(text: str, at: int) -> bool:
    """Whether what stands at a place of a C++ text is found by its plain name: it is ``extern "C"``."""
    before = text[:at]
    line = before[max(before.rfind(";"), before.rfind("}")) + 1 :]
    block = before.rfind('extern "C" {')
    return 'extern "C"' in line or (block >= 0 and before.count("{", block) > before.count("}", block))


def _arguments(written: str, symbol: str) -> dict[str, dict[str, object]]:
    tables: dict[str, dict[str, object]] = {}
    counts: list[str] = []
    pointers = False
    for part in written.split(","):
        plain = QUALIFIERS.sub(" ", part).strip()
        if plain in ("", "void"):
            continue
        match = ARGUMENT.fullmatch(plain)
        kind = TYPES.get(" ".join(match["type"].split())) if match is not None else None
        if match is None or kind is None:
            raise NoContractError(f"{symbol} takes '{part.strip()}', which is no number and no buffer of numbers")
        pointer = "*" in match["pointer"] or match["array"] is not None
        pointers |= pointer
        whole = not kind.startswith("float")
        if not pointer and whole and COUNTS.fullmatch(match["name"]):
            counts.append(match["name"])
        if whole and kind.lstrip("uint") in ("32", "64"):
            tables[match["name"]] = {"min": 0 if kind.startswith("u") else -USUAL, "max": USUAL}
    if pointers and len(counts) != 1:
        raise NoContractError(f"the prototype of {symbol} does not tell how long its buffers are")
    return tables | ({counts[0]: {"role": "size", "min": 0}} if pointers else {})
