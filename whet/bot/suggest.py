"""A patch as a suggestion in a review, where all of it lies on lines that the pull request's diff shows."""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from dataclasses import dataclass

from whet.core.patch import Malformed, apply_patch
from whet.core.text import printable

LONGEST = 200
"""Lines of one suggestion."""


@dataclass(frozen=True, slots=True)
class Placed:
    """Lines of a file and what is to stand there.

    Attributes:
        start: the first line replaced, counted from 1.
        end: the last line replaced.
        lines: the new ones.
    """

    start: int
    end: int
    lines: tuple[str, ...]

    def block(self) -> str:
        """Returns the suggestion in GitHub's form."""
        text = "\n".join(self.lines)
        fence = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", text)), default=0))
        return f"{fence}suggestion\n{text}\n{fence}"


def place(patch: str, source: str, shown: Sequence[tuple[int, int]]) -> Placed | None:
    """Returns the whole patch as one suggestion, so that nobody can take half of it.

    Args:
        patch: a unified diff against the file.
        source: the file at the head.
        shown: ranges of lines that the pull request's diff shows.

    Returns:
        None where it does not apply, or a line that it replaces is not in one range of the diff.
    """
    changed = apply_patch(patch, source)
    # A suggestion can say nothing about line ends.
    if isinstance(changed, Malformed) or "\r" in source or changed.endswith("\n") != source.endswith("\n"):
        return None
    old, new = source.split("\n"), changed.split("\n")
    edits = [
        code for code in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes() if code[0] != "equal"
    ]
    if not edits:
        return None
    start, end = edits[0][1], edits[-1][2]
    first, last = edits[0][3], edits[-1][4]
    if start == end:  # nothing is replaced: take a line beside it along
        if start > 0:
            start, first = start - 1, first - 1
        else:
            end, last = end + 1, last + 1
    within = any(low <= start + 1 and end <= high for low, high in shown)
    hidden = printable(changed) != changed  # nobody can review what nobody sees
    if not within or hidden or last - first > LONGEST:
        return None
    return Placed(start + 1, end, tuple(new[first:last]))
