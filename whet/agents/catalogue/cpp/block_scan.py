"""Numbers that scanf reads one by one."""

from __future__ import annotations

import re
from collections.abc import Iterator

from whet.agents.catalogue.base import Label
from whet.agents.catalogue.cpp.edit import CppEdit, Replacement, Splice, before_all, whole
from whet.agents.catalogue.cpp.source import CppSource, Region

_OTHERS = (
    "cin", "getchar", "gets", "fgets", "fread", "stdin", "getc", "fgetc", "istream", "getchar_unlocked", "fscanf",
    "getline", "read_block",
)  # fmt: skip
TYPES = {
    "d": "int", "ld": "long", "lld": "long long", "u": "unsigned", "lu": "unsigned long", "llu": "unsigned long long",
    "hd": "short", "zu": "size_t",
}  # fmt: skip
READER = r"""
static int read_block(int take) {
    static char block[1 << 16];
    static size_t at = 0, end = 0;
    if (at == end) {
        end = fread(block, 1, sizeof block, stdin);
        at = 0;
        if (end == 0) return EOF;
    }
    return take ? (unsigned char)block[at++] : (unsigned char)block[at];
}
static int read_number(int before, int wanted, unsigned long long *value) {
    int c, minus;
    if (before != wanted) return before;
    while ((c = read_block(0)) == ' ' || (c >= '\t' && c <= '\r')) read_block(1);
    if (c == EOF) return wanted ? wanted : EOF;
    minus = c == '-';
    if (minus || c == '+') {
        read_block(1);
        c = read_block(0);
    }
    if (c < '0' || c > '9') return wanted;
    for (*value = 0; c >= '0' && c <= '9'; c = read_block(0)) {
        *value = *value * 10 + (c - '0');
        read_block(1);
    }
    if (minus) *value = 0 - *value;
    return wanted + 1;
}
"""
ONE = """\
static int {name}(int before, int wanted, {type} *value) {{
    unsigned long long found;
    int count = read_number(before, wanted, &found);
    if (count > before) *value = ({type})found;
    return count;
}}
"""


class BlockScans(CppEdit):
    """Reads stdin in blocks and parses it in the program, in the place of ``scanf``."""

    name = "block-scan"
    languages: tuple[str, ...] = ("c", "cpp")
    label = Label.LIBRARY_CALL
    summary = "reads stdin in blocks, and parses whole numbers without scanf's format, locale and lock"
    needs = "scanf of whole numbers alone, and nothing else that reads stdin"
    unsafe = "a dialogue; numbers too large for their type"

    def changes(self, source: CppSource) -> Iterator[Replacement]:
        """Yields one change for the whole program."""
        splices: list[Splice] = []
        lines = []
        types: set[str] = set()
        for index, token in enumerate(source.tokens):
            if token.text == "scanf":
                call = _call(source, index)
                if call is None:
                    return
                types |= set(call[1])
                splices.append(call[0])
                lines.append(token.line)
        place = before_all(source)
        if not splices or place is None:
            return
        if source.has_name(*_OTHERS, "read_number", *(_reader(kind) for kind in types)):
            return
        readers = [ONE.format(name=_reader(kind), type=TYPES[kind]) for kind in TYPES if kind in types]
        text = READER.lstrip() + "".join(readers)
        why = "scanf reads its format anew, and locks the stream, for each number"
        yield Replacement(lines[0], [Splice(place, place, text), *splices], why)


def _call(source: CppSource, index: int) -> tuple[Splice, list[str]] | None:
    """Returns what reads the same numbers as a call of scanf, and their kinds; None where it reads other things."""
    if source.word(index + 1) != "(":
        return None
    close = source.partner[index + 1]
    arguments = list(source.split(Region(index + 2, close)))
    form = source.slice(arguments[0]) if arguments else ""
    if not re.fullmatch(rf'"(\s*%({"|".join(TYPES)}))+"', form):
        return None
    kinds = re.findall(r"%(\w+?)(?=[\s%\"])", form)
    if len(kinds) != len(arguments) - 1:
        return None
    text = "0"
    for number, (kind, argument) in enumerate(zip(kinds, arguments[1:], strict=True)):
        text = f"{_reader(kind)}({text}, {number}, {source.slice(argument)})"
    first = index - 2 if source.word(index - 1) == "::" else index
    return whole(source, Region(first, close + 1), text), kinds


def _reader(kind: str) -> str:
    return f"read_{TYPES[kind].replace(' ', '_')}"
