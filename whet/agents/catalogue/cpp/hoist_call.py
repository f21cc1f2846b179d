"""Calls that a loop makes with the same arguments in each turn."""

from __future__ import annotations

from collections.abc import Iterator

from whet.agents.catalogue.base import Label
from whet.agents.catalogue.cpp.edit import CppEdit, Replacement, before_statement, whole
from whet.agents.catalogue.cpp.source import CppSource, LoopStatement, Region
from whet.agents.catalogue.cpp.uses import MATH, may_change
from whet.agents.catalogue.cpp.variables import Variable, is_global, variable

_NUMBERS = frozenset({
    "int", "long", "long long", "unsigned", "unsigned int", "unsigned long", "unsigned long long", "size_t", "short",
    "double", "float", "int64_t", "uint64_t", "int32_t", "uint32_t", "long int", "long long int",
})  # fmt: skip
_ALLOWED = frozenset({"+", "-", "*", "/", "%", "(", ")", "[", "]", ".", ","})


class InvariantMath(CppEdit):
    """Computes ``sqrt(n)`` and the like once before a loop that does not change ``n``."""

    name = "hoist-call"
    languages: tuple[str, ...] = ("c", "cpp")
    label = Label.ALGORITHM
    summary = "computes a mathematical function of unchanged numbers once before the loop"
    needs = "`sqrt(n)`, `pow(a, b)` and the like in a loop that changes none of their arguments"
    unsafe = "a loop that changes the numbers through a pointer; errno, where the loop makes no turn"

    def changes(self, source: CppSource) -> Iterator[Replacement]:
        """Yields one change a loop and text of a call."""
        done: set[int] = set()
        for loop in source.loops:
            calls: dict[str, list[Region]] = {}
            for call in _calls(source, loop):
                if call.first not in done and _is_kept(source, call, loop):
                    calls.setdefault(" ".join(source.words(call)), []).append(call)
            for same in calls.values():
                done |= {call.first for call in same}
                yield _change(source, loop, same)


def _change(source: CppSource, loop: LoopStatement, calls: list[Region]) -> Replacement:
    text = source.slice(calls[0])
    word = next(each for each in source.words(calls[0]) if each in MATH)
    local = source.fresh(f"{word}_value")
    kind = "const auto" if source.is_cpp else "const double"
    splices = before_statement(source, loop.at, loop.body.end, f"{kind} {local} = {text};")
    splices += [whole(source, call, local) for call in calls]
    return Replacement(
        source.tokens[calls[0].first].line, splices, f"'{text}' is computed in each turn and stays the same"
    )


def _calls(source: CppSource, loop: LoopStatement) -> Iterator[Region]:
    """Yields the calls that each turn makes; what a loop's head does at its start is left out."""
    words = source.words(loop.header)
    start = loop.header.first + (words.index(";") if source.word(loop.at) == "for" and ";" in words else 0)
    end = start
    for index in range(start, loop.body.end):
        is_call = source.word(index) in MATH and source.word(index + 1) == "(" and index >= end
        if is_call and source.word(index - 1) not in (".", "->"):
            end = source.partner[index + 1] + 1
            yield Region(index - 2 if source.word(index - 1) == "::" else index, end)


def _is_kept(source: CppSource, call: Region, loop: LoopStatement) -> bool:
    """Whether all that a call reads stays the same while the loop runs."""
    opening = call.first + source.words(call).index("(")
    for index in range(opening + 1, call.end - 1):
        token = source.tokens[index]
        if token.kind == "name" and token.text in MATH and source.word(index + 1) == "(":
            continue
        if token.kind == "name" and source.word(index + 1) != "::" and token.text != "std":
            found = variable(source, token.text, index)
            if found is None or not _stays(source, found, loop):
                return False
        elif token.kind not in ("number", "name") and token.text not in (*_ALLOWED, "::"):
            return False
    return True


def _stays(source: CppSource, found: Variable, loop: LoopStatement) -> bool:
    if found.type not in _NUMBERS or found.marks or loop.at <= found.at < loop.body.end:
        return False
    if found.is_member or (is_global(source, found) and not found.is_const):
        return False
    return not may_change(source, found.name, Region(loop.header.first, loop.body.end))
