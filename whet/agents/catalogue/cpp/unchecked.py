"""Elements whose index is checked at each look."""

from __future__ import annotations

from collections.abc import Iterator

from whet.agents.catalogue.base import Label
from whet.agents.catalogue.cpp.edit import CppEdit, Replacement, Splice
from whet.agents.catalogue.cpp.source import CppSource
from whet.agents.catalogue.cpp.variables import variable

_INDEXED = ("vector <", "array <", "deque <", "string")


class UncheckedElements(CppEdit):
    """Writes ``v[i]`` for ``v.at(i)``."""

    name = "unchecked-index"
    label = Label.ALGORITHM
    summary = "looks at elements without checking the index"
    needs = "`v.at(i)` on a vector, array, deque or string, in a file that catches nothing"
    unsafe = "an index beyond the end, which threw and now reads or writes what lies there"

    def changes(self, source: CppSource) -> Iterator[Replacement]:
        """Yields one change for the whole file."""
        if source.has_name("catch", "out_of_range"):
            return
        splices: list[Splice] = []
        lines = []
        for index, token in enumerate(source.tokens):
            if token.text == "at" and source.word(index - 1) == "." and source.word(index + 1) == "(":
                depth, name = _owner(source, index)
                found = variable(source, source.word(name), name)
                if found is not None and _is_sequence(found.type, depth) and found.marks in ("", "&"):
                    close = source.tokens[source.partner[index + 1]]
                    splices.append(Splice(source.tokens[index - 1].start, source.tokens[index + 1].end, "["))
                    splices.append(Splice(close.start, close.end, "]"))
                    lines.append(token.line)
        if splices:
            yield Replacement(lines[0], splices, "each look at an element checks its index")


def _owner(source: CppSource, index: int) -> tuple[int, int]:
    """Returns how many looks stand before ``.at``, and the index of the name that they begin with."""
    depth, here = 0, index - 2
    while source.word(here) in (")", "]"):
        opening = source.partner[here]
        is_at = source.word(opening) == "(" and source.words(range(opening - 2, opening)) == [".", "at"]
        here = opening - 3 if is_at else opening - 1
        depth += 1
    return depth, here


def _is_sequence(kind: str, depth: int) -> bool:
    """Whether what lies so many looks deep is a sequence."""
    for _ in range(depth):
        if not kind.startswith(("vector <", "deque <")):
            return False
        kind = kind.split("<", 1)[1].rsplit(">", 1)[0].strip()
    return kind.startswith(_INDEXED)
