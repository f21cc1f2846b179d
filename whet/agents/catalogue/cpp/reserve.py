"""Vectors that grow step by step to a size that is known."""

from __future__ import annotations

from collections.abc import Iterator

from whet.agents.catalogue.base import Label
from whet.agents.catalogue.cpp.edit import CppEdit, Replacement, before_statement
from whet.agents.catalogue.cpp.source import CppSource, LoopStatement
from whet.agents.catalogue.cpp.uses import may_change


class ReservedVectors(CppEdit):
    """Reserves the place for all elements before a counting loop that adds one in each turn."""

    name = "reserve"
    label = Label.DATA_STRUCTURE
    summary = "reserves a vector's final size before the loop that fills it"
    needs = "`vector<T> v;` and, in the same block, `for (i = 0; i < n; ...)` with an unconditional v.push_back"
    unsafe = "a loop that mostly ends early reserves more than it needs"

    def changes(self, source: CppSource) -> Iterator[Replacement]:
        """Yields one change a vector and loop."""
        for loop in source.loops:
            bound = _bound(source, loop)
            for name, index in _pushed(source, loop):
                block = source.block_around(loop.at)
                if bound is None or not _is_declared_empty(source, name, block.first, loop.at):
                    continue
                text = f"if ({bound} > 0) {name}.reserve({bound});"
                splices = before_statement(source, loop.at, loop.body.end, text)
                why = f"'{name}' is moved again and again while it grows to a size that is known before"
                yield Replacement(source.tokens[index].line, splices, why)


def _bound(source: CppSource, loop: LoopStatement) -> str | None:
    """Returns ``n`` of ``for (...; i < n; ...)`` where the loop does not change it."""
    words = source.words(loop.header)
    if source.word(loop.at) != "for" or words.count(";") != 2:
        return None
    condition = words[words.index(";") + 1 : len(words) - 1 - words[::-1].index(";")]
    if len(condition) < 3 or condition[1] not in ("<", "<="):
        return None
    text = "".join(condition[2:])
    is_size = condition[3:] in ([".", "size", "(", ")"], [".", "length", "(", ")"])
    is_declared_here = condition[2] in words[: words.index(";")]
    if is_declared_here or not (len(condition) == 3 or is_size):
        return None
    if may_change(source, condition[2], loop.body, elements=False):
        return None
    return text


def _pushed(source: CppSource, loop: LoopStatement) -> Iterator[tuple[str, int]]:
    """Yields the vectors to which each turn adds an element, and where."""
    depth = 1 if source.word(loop.body.first) == "{" else 0
    here = loop.body.first + depth
    while here < loop.body.end - depth:
        end = source.statement_end(here)
        is_push = source.word(here + 2) in ("push_back", "emplace_back") and source.word(here + 1) == "."
        if is_push and source.word(here + 3) == "(":
            yield source.word(here), here
        here = max(end, here + 1)


def _is_declared_empty(source: CppSource, name: str, first: int, end: int) -> bool:
    """Whether ``vector<T> name;`` stands among the tokens of a block, and nothing touches it before the loop."""
    found = source.occurrences(name, range(first, end))
    if len(found) != 1:
        return False
    is_vector = source.word(found[0] - 1) == ">" and source.word(found[0] + 1) in (";", ",")
    here = found[0] - 1
    while here > first and source.word(here) not in (";", "{", "}"):
        here -= 1
    return is_vector and "vector" in source.words(range(here, found[0]))
