"""Faults in regular expressions."""

from __future__ import annotations

import re
from collections.abc import Iterator

LIKELY = re.compile(r"\\[dwsDWSbB]|\[[^\]]+\]|[)\].][*+?]|\{\d")
"""What a text that is a pattern is likely to hold, and any other is not."""
FAULTS = (
    (r"(?<!\\)\^", ""),
    (r"(?<!\\)\$", ""),
    (r"(?<=[\w\])])\+", "*"),
    (r"(?<=[\w\])])\*", "+"),
    (r"(?<=[\w\])])\?", ""),
    (r"\\d", r"\\w"),
    (r"\\w", r"\\d"),
    (r"\\s", "."),
    (r"\\S", "."),
    (r"\[([^\]^]+)\]", r"[^\1]"),
    (r"\{\d+\}", "+"),
)
"""What to find, and what to put there instead: an anchor lost, one more or one less, another class."""


def faults_of_pattern(text: str) -> Iterator[str]:
    """Yields a text that is likely to be a regular expression with one fault each; nothing for any other."""
    if not LIKELY.search(text):
        return
    for found, instead in FAULTS:
        for place in re.finditer(found, text):
            faulty = text[: place.start()] + place.expand(instead) + text[place.end() :]
            try:
                re.compile(faulty)
            except re.error:
                continue
            yield faulty
