"""Plain text for terminals. What models and candidates wrote is hostile until it has passed through here."""

from __future__ import annotations

import unicodedata

# Control, format (bidirectional overrides among them), lone surrogates, private use.
_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Co"})


def printable(text: str) -> str:
    """Returns a text in which nothing moves the cursor, recolours, reorders or hides."""
    return "".join(
        character
        if character in "\n\t" or unicodedata.category(character) not in _HIDDEN
        else character.encode("unicode_escape").decode("ascii")
        for character in text
    )


def one_line(text: str, width: int = 2000) -> str:
    """Returns a text as one printable line, cut to ``width`` characters."""
    line = " ".join(printable(text).split())
    return line if len(line) <= width else f"{line[: width - 1]}…"


def times(ratio: float) -> str:
    """Returns a ratio as people write it: ``3.20x``."""
    digits = 3 if ratio < 2 else 2 if ratio < 100 else 0
    return f"{ratio:.{digits}f}x"


def percent(share: float) -> str:
    """Returns a share of one in percent: ``99 %``."""
    return f"{share * 100:g} %"
