"""Truth values that are packed into bits."""

from __future__ import annotations

from collections.abc import Iterator

from whet.agents.catalogue.base import Label
from whet.agents.catalogue.cpp.edit import CppEdit, Replacement, whole
from whet.agents.catalogue.cpp.source import CppSource, Region
from whet.agents.catalogue.cpp.variables import Variable, uses, variables


class BytesNotBits(CppEdit):
    """Keeps each truth value in a byte: a vector<bool> shifts and masks for each look."""

    name = "bytes-not-bits"
    label = Label.DATA_STRUCTURE
    summary = "keeps truth values in bytes instead of the bits of a vector<bool>"
    needs = "`vector<bool>`, of which no element is written to a stream, flipped or bound to a bool reference"
    unsafe = "more values than the cache holds as bytes; an element whose type is deduced and printed"

    def changes(self, source: CppSource) -> Iterator[Replacement]:
        """Yields one change for the whole file."""
        places = [
            index for index, token in enumerate(source.tokens) if token.text == "bool" and _is_packed(source, index)
        ]
        found = [each for each in variables(source) if "vector < bool >" in each.type]
        printed = any(_is_seen(source, each, index) for each in found for index in uses(source, each))
        if places and not printed and source.symbol is None and not source.has_name("flip"):
            splices = [whole(source, Region(index, index + 1), "char") for index in places]
            yield Replacement(source.tokens[places[0]].line, splices, "each look at a bit shifts and masks")


def _is_packed(source: CppSource, index: int) -> bool:
    return source.words(range(index - 2, index + 2)) == ["vector", "<", "bool", ">"]


def _is_seen(source: CppSource, found: Variable, index: int) -> bool:
    """Whether an element goes where the type of a character makes a difference."""
    behind = index + 1
    while source.word(behind) == "[":
        behind = source.partner[behind] + 1
    streamed = source.word(index - 1) == "<<" or (source.word(behind) == "<<" and source.word(index - 1) != "[")
    return streamed or source.word(index - 1) in ("~", "&")
