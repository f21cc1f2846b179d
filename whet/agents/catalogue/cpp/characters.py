"""Strings of one character where the character would do."""

from __future__ import annotations

import re
from collections.abc import Iterator

from whet.agents.catalogue.base import Label
from whet.agents.catalogue.cpp.edit import CppEdit, Replacement, Splice, whole
from whet.agents.catalogue.cpp.source import CppSource, Region
from whet.agents.catalogue.cpp.variables import variable

_LETTER = re.compile(r'"(\\?[^"\\]|\\[\\"])"')


class Characters(CppEdit):
    """Writes ``s[i] == 'x'`` for ``s.substr(i, 1) == "x"``, and appends ``s[i]`` where a part of one was appended."""

    name = "character-not-substr"
    label = Label.ALGORITHM
    summary = "looks at a character in its place instead of making a string of it"
    needs = "`s.substr(i, 1)` or `s.substr(s.size() - 1)`, compared with one character or appended"
    unsafe = "an index at or behind the end of the string, where substr gives an empty string or throws"

    def changes(self, source: CppSource) -> Iterator[Replacement]:
        """Yields one change for the whole file."""
        splices: list[Splice] = []
        lines = []
        for index, token in enumerate(source.tokens):
            if token.text == "substr" and source.word(index - 1) == "." and source.word(index + 1) == "(":
                new = _character(source, index)
                splices += new
                lines += [token.line] if new else []
        if splices:
            yield Replacement(lines[0], splices, "a string is made of one character to look at it or to hand it on")


def _character(source: CppSource, index: int) -> list[Splice]:
    """Returns what makes a character of a call of ``substr``; nothing where it is more or goes elsewhere."""
    close = source.partner[index + 1]
    text = source.word(index - 2)
    owner = variable(source, text, index)
    if owner is None or owner.type != "string" or source.word(index - 3) in (".", "->", "::"):
        return []
    arguments = list(source.split(Region(index + 2, close)))
    words = [" ".join(source.words(part)) for part in arguments]
    if len(words) == 2 and words[1] == "1":
        character = f"{text}[{source.slice(arguments[0])}]"
    elif len(words) == 1 and words[0] in (f"{text} . size ( ) - 1", f"{text} . length ( ) - 1"):
        character = f"{text}.back()"
    else:
        return []
    call = whole(source, Region(index - 2, close + 1), character)
    if source.word(close + 1) in ("==", "!=") and (letter := _LETTER.fullmatch(source.word(close + 2))):
        body = letter[1].replace("'", "\\'") if letter[1] == "'" else letter[1]
        return [call, whole(source, Region(close + 2, close + 3), f"'{body}'")]
    return [call] if _is_appended(source, index - 2) and source.word(close + 1) in ("+", ";") else []


def _is_appended(source: CppSource, index: int) -> bool:
    """Whether the operand at ``index`` is added to a string."""
    target = variable(source, source.word(index - 2), index)
    is_string = target is not None and target.type == "string" and target.marks in ("", "&")
    if source.word(index - 1) == "+=":
        return is_string and source.word(source.statement_end(index) - 1) == ";" and not _is_sum(source, index)
    return source.word(index - 1) == "+" and is_string and source.word(index - 3) in ("=", "(", "return")


def _is_sum(source: CppSource, index: int) -> bool:
    return "+" in source.words(range(index, source.statement_end(index)))
