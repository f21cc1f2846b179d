"""Which edits of the catalogue have something to change in a function, before any of it is measured."""

from __future__ import annotations

from whet.agents.catalogue.registry import proposals
from whet.agents.models.base import Brief


def applicable(text: str, symbol: str, line: int, end: int) -> tuple[str, ...]:
    """Returns the names of the edits that change some lines of a Python file, each once, in the catalogue's order.

    Args:
        text: the file's.
        symbol: the function that stands on those lines.
        line: the first of them.
        end: the last.
    """
    found = proposals(Brief("python", "function", symbol, text))
    return tuple(dict.fromkeys(each.edit for each in found if line <= each.line <= end))
