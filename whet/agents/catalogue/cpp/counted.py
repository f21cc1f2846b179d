"""Loops that count: ``for (T i = first; i < bound; i++)``, and what runs ahead of them in larger steps."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from whet.agents.catalogue.cpp.edit import Splice, before_statement, indentation, newline, whole
from whet.agents.catalogue.cpp.source import CppSource, LoopStatement, Region
from whet.agents.catalogue.cpp.uses import may_change
from whet.agents.catalogue.cpp.variables import variable
from whet.evaluators.signature import TYPES

_PLAIN = frozenset({"+", "-", "*", "/", "(", ")"})
_SEQUENCES = ("vector <", "array <")


class Counted(NamedTuple):
    """A loop over ``i`` from a number to a bound that stays, in steps of one.

    Attributes:
        loop: the loop.
        name: its counter.
        type: of the counter, as written.
        first: the number with which it begins.
        bound: what the counter stays below.
        body: the tokens of its statements, without braces around them.
    """

    loop: LoopStatement
    name: str
    type: str
    first: Region
    bound: Region
    body: Region


def head(source: CppSource, loop: LoopStatement) -> list[Region]:
    """Returns the parts of a loop's head that semicolons separate."""
    parts, first = [], loop.header.first
    for index in [*(index for index in loop.header if source.word(index) == ";"), loop.header.end]:
        parts.append(Region(first, index))
        first = index + 1
    return parts


def counted(source: CppSource) -> Iterator[Counted]:
    """Yields the counting loops of the functions of a file.

    Those that begin where a variable says are left out: they are the rest of what an edit has done already.
    """
    for loop in source.loops:
        parts = head(source, loop)
        if source.word(loop.at) == "for" and len(parts) == 3:
            found = _counted(source, loop, *parts)
            if found is not None:
                yield found


def _counted(source: CppSource, loop: LoopStatement, start: Region, test: Region, step: Region) -> Counted | None:
    name = source.word(test.first)
    equals = start.end - 2
    is_counting = (
        source.word(test.first + 1) == "<"
        and source.words(step) in ([name, "++"], ["++", name], [name, "+=", "1"])
        and source.words(range(equals - 1, equals + 1)) == [name, "="]
        and source.tokens[start.end - 1].kind == "number"
        and "," not in source.words(start)
    )
    bound = Region(test.first + 2, test.end)
    if not is_counting or not _is_plain(source, bound):
        return None
    inner = loop.body
    if source.word(inner.first) == "{":
        inner = Region(inner.first + 1, inner.end - 1)
    names = [name, *(source.word(index) for index in bound if source.tokens[index].kind == "name")]
    declared = source.slice(Region(start.first, equals - 1))
    if not declared and (seen := variable(source, name, loop.at)) is not None and not seen.marks:
        declared = seen.type
    if not declared or any(may_change(source, each, inner) for each in names):
        return None
    return Counted(loop, name, declared, Region(start.end - 1, start.end), bound, inner)


def _is_plain(source: CppSource, region: Region) -> bool:
    """Whether an expression is made of names, numbers and arithmetic, and calls nothing."""
    kinds = ("name", "number")
    return source.word(region.first) != "*" and all(
        (source.tokens[index].kind in kinds and source.word(index + 1) != "(") or source.word(index) in _PLAIN
        for index in region
    )


def element(source: CppSource, index: int) -> str | None:
    """Returns the type of what a variable at a place points to or holds, as numpy names it; None where not known."""
    found = variable(source, source.word(index), index)
    if found is None or found.is_member:
        return None
    if found.marks in ("*", "["):
        return TYPES.get(found.type) if found.type != "bool" else None
    inner = found.type.partition("<")[2].partition(">")[0].partition(",")[0].strip()
    is_sequence = found.type.startswith(_SEQUENCES) and found.marks in ("", "&") and inner != "bool"
    return TYPES.get(inner) if is_sequence else None


def scalar(source: CppSource, index: int) -> str | None:
    """Returns the type of a number at a place, as numpy names it; None where it is unknown, or no local variable."""
    found = variable(source, source.word(index), index)
    return TYPES.get(found.type) if found is not None and not (found.marks or found.is_member) else None


def is_integer(source: CppSource, index: int) -> bool:
    """Whether a local variable at a place is a whole number."""
    return "int" in (scalar(source, index) or "")


def element_at(source: CppSource, found: Counted, index: int) -> bool:
    """Whether ``name[i]`` stands at a place, with the loop's counter and a name that stays what it is."""
    return (
        source.words(range(index + 1, index + 4)) == ["[", found.name, "]"]
        and source.tokens[index].kind == "name"
        and source.word(index - 1) not in (".", "->")
        and not may_change(source, source.word(index), found.body, elements=False)
    )


def uncast(source: CppSource, region: Region, kinds: Collection[str]) -> list[int]:
    """Returns the indices of a region without casts to some types, named as numpy does."""
    found = []
    here = region.first
    while here < region.end:
        close = source.partner.get(here, here)
        if source.word(here) == "(" and TYPES.get(" ".join(source.words(range(here + 1, close)))) in kinds:
            here = close + 1
        else:
            found.append(here)
            here += 1
    return found


def alike(kind: str) -> tuple[str, ...]:
    """Returns the types with which sums and products are the same but for the sign that is read into them."""
    return (kind.removeprefix("u"), f"u{kind.removeprefix('u')}") if "int" in kind else (kind,)


def stays(source: CppSource, found: Counted, region: Region) -> bool:
    """Whether an expression has the same value in each turn of a loop, and no effect."""
    return all(
        (token.kind in ("number", "string") and not token.text.endswith('"'))
        or token.text in _PLAIN
        or (
            token.kind == "name"
            and token.text != found.name
            and source.word(index + 1) != "("
            and scalar(source, index) is not None
            and not may_change(source, token.text, found.body)
        )
        for index, token in ((index, source.tokens[index]) for index in region)
    )


def ahead(source: CppSource, found: Counted, at: str, lines: Sequence[str]) -> list[Splice]:
    """Returns what puts lines before a loop, which then begins where they left off.

    Args:
        source: the file.
        found: the loop.
        at: a new variable, which stands in the lines for the loop's counter.
        lines: statements and directives that move it on.
    """
    end, indent = newline(source), indentation(source, found.loop.at)
    start = f"{found.type} {at} = {source.slice(found.first)};"
    text = end.join(line if line.startswith("#") else indent + line for line in [start, *lines]).strip()
    if source.word(found.loop.at - 1) not in ("{", "}", ";"):
        text += end  # a directive's line ends before the loop
    return [
        *before_statement(source, found.loop.at, found.loop.body.end, text),
        whole(source, found.first, at),
    ]
