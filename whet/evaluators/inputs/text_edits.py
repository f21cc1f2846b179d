"""Edits of a text towards edges: of its lines, its numbers, its blanks and its characters."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence

from whet.evaluators.inputs.shapes import UnsuitedError

NUMBER = re.compile(r"-?\d+")
WORD = re.compile(r"[^\W\d_]+")
NUMBERS = ("0", "1", "-1", "2", "00", "007", "10", "99", "100", "2147483648", "99999999999999999999")
CHARACTERS = ("é", "e\u0301", "ß", "İ", "\U0001f600", "中", "\u00a0", "\u2028", "\t", "\x00", "٣", "'", '"', "\\")

TextEdit = Callable[[str, random.Random], str]


def _lines(change: Callable[[list[str], random.Random], Sequence[str]]) -> TextEdit:
    def edit(text: str, rng: random.Random) -> str:
        ended = text.endswith("\n")
        lines = text[:-1].split("\n") if ended else text.split("\n")
        if len(lines) < 2:
            raise UnsuitedError
        return "\n".join(change(lines, rng)) + ("\n" if ended else "")

    return edit


def _dropped(lines: list[str], rng: random.Random) -> list[str]:
    i = rng.randrange(len(lines))
    return lines[:i] + lines[i + 1 :]


def _doubled(lines: list[str], rng: random.Random) -> list[str]:
    i, j = rng.randrange(len(lines)), rng.randrange(len(lines) + 1)
    return [*lines[:j], lines[i], *lines[j:]]


def _swapped(lines: list[str], rng: random.Random) -> list[str]:
    i, j = rng.sample(range(len(lines)), 2)
    lines[i], lines[j] = lines[j], lines[i]
    return lines


def _blank_line(lines: list[str], rng: random.Random) -> list[str]:
    i = rng.randrange(len(lines) + 1)
    return [*lines[:i], rng.choice(("", " ")), *lines[i:]]


def replaced(pattern: re.Pattern[str], change: Callable[[str, list[str], random.Random], str]) -> TextEdit:
    """Returns an edit of one match of a pattern; the change gets the match, and all matches to choose from."""

    def edit(text: str, rng: random.Random) -> str:
        matches = list(pattern.finditer(text))
        if not matches:
            raise UnsuitedError
        match = rng.choice(matches)
        return text[: match.start()] + change(match[0], [m[0] for m in matches], rng) + text[match.end() :]

    return edit


def _nearby(number: str, others: list[str], rng: random.Random) -> str:
    return str(int(number) + rng.choice((-1, 1))).zfill(len(number))


def _filled(number: str, others: list[str], rng: random.Random) -> str:
    return rng.choice("019") * len(number)


def _character(text: str, rng: random.Random) -> str:
    i = rng.randrange(len(text) + 1)
    return text[:i] + rng.choice(CHARACTERS) + text[i + rng.randrange(2) :]


def _cut(text: str, rng: random.Random) -> str:
    i = rng.randrange(max(1, len(text)))
    return text[:i] + text[i + 1 :]


def _stutter(text: str, rng: random.Random) -> str:
    i = rng.randrange(max(1, len(text)))
    return text[:i] + text[i : i + 1] * 2 + text[i + 1 :]


LINE_EDITS: dict[str, TextEdit] = {
    "line dropped": _lines(_dropped),
    "line repeated": _lines(_doubled),
    "lines swapped": _lines(_swapped),
    "lines reversed": _lines(lambda lines, rng: lines[::-1]),
    "blank line": _lines(_blank_line),
    "blank end": lambda text, rng: text + rng.choice(("\n", "\n\n", " ")),
    "no line end": lambda text, rng: text.removesuffix("\n"),
}
NUMBER_EDITS: dict[str, TextEdit] = {
    "number at an edge": replaced(NUMBER, lambda number, others, rng: rng.choice(NUMBERS)),
    "number negated": replaced(NUMBER, lambda number, others, rng: str(-int(number))),
    "number nearby": replaced(NUMBER, _nearby),
    "number of equal digits": replaced(NUMBER, _filled),
    "numbers tied": replaced(NUMBER, lambda number, others, rng: rng.choice(others)),
}
WORD_EDITS: dict[str, TextEdit] = {
    "words tied": replaced(WORD, lambda word, others, rng: rng.choice(others)),
    "case swapped": replaced(WORD, lambda word, others, rng: word.swapcase()),
}
CHARACTER_EDITS: dict[str, TextEdit] = {
    "empty": lambda text, rng: "",
    "blank": lambda text, rng: rng.choice((" ", "\n", "\t ")),
    "long": lambda text, rng: text * 40 or "a" * 400,
    "unicode": _character,
    "character dropped": _cut,
    "character doubled": _stutter,
    "reversed": lambda text, rng: text[::-1],
    "blanks around": lambda text, rng: rng.choice((" ", "\t", "\n")) + text + rng.choice((" ", "", "\n")),
    "blanks doubled": replaced(re.compile(r"\s"), lambda blank, others, rng: blank * 2),
}
TEXT_EDITS = LINE_EDITS | NUMBER_EDITS | WORD_EDITS | CHARACTER_EDITS
STDIN_EDITS = LINE_EDITS | NUMBER_EDITS | WORD_EDITS
"""Edits of what a program reads."""
