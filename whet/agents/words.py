"""Hot code as words that a full-text search can compare: what is called, how it is written, what it stands in.

The names that an author chose for data are left out: they say nothing of another author's code.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from whet.agents.surroundings import surroundings
from whet.core.profile import HotLine

MOST_LINES = 60
"""Lines of a text that are looked at where none is known to be hot."""
LONGEST_LINE = 300
"""Characters of a line that are searched for words. The text comes from anywhere, and the expressions may backtrack, so
a larger value costs time on long lines; a smaller one misses words."""
DEEPEST = 3
"""Loops around a line that are told apart."""
LEAST_SHARE = 0.01
"""Share of the time from which a line counts as hot. The profilers leave out lines below 1 % already, so a smaller
value changes nothing; a larger one takes words from fewer lines."""
LONGEST_SHAPE = 80
"""Characters of the word that stands for a line's shape. Shapes match only as a whole: a smaller value makes long lines
look alike that end differently, a larger one only lengthens the words of long lines."""
PLAIN = ("loops_1", "loops_2", "loops_3", "recursion")
"""Words that alone make no two texts alike."""

LITERALS = re.compile(r"""(?:[rbfuRBFU]{1,2})?(?:"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')""")
COMMENTS = {"python": re.compile(r"#.*"), "triton": re.compile(r"#.*"), "asm": re.compile(r"(?:#|//|;).*")}
OTHER_COMMENTS = re.compile(r"//.*|/\*.*?\*/")
MNEMONIC = re.compile(r"^\s*(?:[\w.$]+:)?\s*([a-z][a-z0-9.]*)\b")
KEYWORDS = "and|delete|do|elif|else|except|for|if|in|is|lambda|new|not|or|return|switch|try|while|yield"
CALLED = re.compile(rf"\b(?!(?:{KEYWORDS})\b)([A-Za-z_]\w*)(?:\s*\(|<[A-Za-z_])|(?:\.|->|::)\s*([A-Za-z_]\w*)")
SHAPING = re.compile(
    rf"\b(?:{KEYWORDS})\b"
    r"|(?:\.|->|::)\s*[A-Za-z_]\w*|[A-Za-z_]\w*(?=\s*[(<])|[\w)\]]\[|\*\*|[-+*/%|&^]=?|[<>=!]=|<<|>>"
)
"""What the shape of a line is made of: its keywords, calls and operators."""
OPERATORS = {"[": "at", "*": "times", "+": "plus", "-": "minus", "/": "by", "%": "mod", "<": "below", ">": "above"}
SIGNS = re.compile(r"\W+")


def words_of(language: str, source: str, hot: Sequence[HotLine] = ()) -> tuple[str, ...]:
    """Returns the words of a text's hot lines, in their order; of its first lines where none is known to be hot.

    Args:
        language: python, c, cpp, asm, cuda or triton.
        source: the text, whatever stands in it.
        hot: its hot lines, where they are known.
    """
    numbers = sorted(line.line for line in hot if line.share >= LEAST_SHARE)
    lines = source.split("\n")
    around = surroundings(language, source)
    found: list[str] = []
    for number in numbers or range(1, min(len(lines), MOST_LINES) + 1):
        text = lines[number - 1][:LONGEST_LINE] if number <= len(lines) else ""
        if said := _words(language, text):
            found += said
            if depth := min(around.depth(number), DEEPEST):
                found.append(f"loops_{depth}")
            if around.in_recursion(number):
                found.append("recursion")
    return tuple(found)


@lru_cache(maxsize=4096)
def _words(language: str, line: str) -> tuple[str, ...]:
    """Returns the words of a line; versions of a target share most of theirs."""
    line = COMMENTS.get(language, OTHER_COMMENTS).sub("", LITERALS.sub('""', line))
    if line.lstrip().startswith("#"):  # of the preprocessor
        return ()
    if language == "asm":
        return tuple(match.lower() for match in MNEMONIC.findall(line))
    called = [one or other for one, other in CALLED.findall(line)]
    shape = "_".join(_part(found) for found in SHAPING.findall(line))[:LONGEST_SHAPE]
    return (*(name.lower() for name in called), *([shape] if shape and shape not in called else []))


def _part(found: str) -> str:
    name = SIGNS.sub("", found).lower()
    if name and found[-1] != "[":
        return name
    return "".join(OPERATORS.get(sign, "is") for sign in found if not sign.isalnum() and sign not in "_)]")
