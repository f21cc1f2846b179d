"""Plain text for terminals. What models and candidates wrote is hostile until it has passed through here."""

from __future__ import annotations

import re
import unicodedata

UNITS = {"B": 1, "KIB": 1 << 10, "MIB": 1 << 20, "GIB": 1 << 30, "KB": 10**3, "MB": 10**6, "GB": 10**9}

SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 7 * 86_400}

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


def first_line(text: str) -> str:
    """Returns the first line that says something."""
    return next((line.strip() for line in text.splitlines() if line.strip()), "")[:400]


def times(ratio: float) -> str:
    """Returns a ratio as people write it: ``3.20x``."""
    digits = 3 if ratio < 2 else 2 if ratio < 100 else 0
    return f"{ratio:.{digits}f}x"


def count(number: int, noun: str) -> str:
    """Returns a number of things: ``1 call``, ``2 calls``."""
    return f"{number} {plural(number, noun)}"


def plural(number: float, noun: str) -> str:
    """Returns the form of a noun that goes with a number."""
    return noun if number == 1 else f"{noun}s"


def percent(share: float) -> str:
    """Returns a share of one in percent: ``99 %``."""
    return f"{share * 100:g} %"


def duration(seconds: float) -> str:
    """Returns a time in its two largest units: ``45 s``, ``3 min 20 s``, ``2 h 05 min``, ``3 d 4 h``."""
    minutes, rest = divmod(round(max(0.0, seconds)), 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    if days:
        return f"{days} d {hours} h"
    return f"{hours} h {minutes:02} min" if hours else f"{minutes} min {rest:02} s" if minutes else f"{rest} s"


def parse_duration(text: str) -> float:
    """Returns a time such as ``30d`` or ``12h`` in seconds.

    Raises:
        ValueError: it is none.
    """
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([smhdw])\s*", text)
    if match is None:
        raise ValueError(f"'{text}' is no time; write for instance 30d, 12h, 45m or 90s")
    return float(match[1]) * SECONDS[match[2]]


def parse_bytes(text: str) -> int:
    """Returns a size such as ``2GiB`` in bytes.

    Raises:
        ValueError: it is none.
    """
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([A-Za-z]+)\s*", text)
    if match is None or match[2].upper() not in UNITS:
        raise ValueError(f"'{text}' is no size; write for instance 2GiB")
    return int(float(match[1]) * UNITS[match[2].upper()])
