"""A text that holds several files: the target's first, then each other one behind a line that names it.

So a rewrite of a function may change a helper that lives elsewhere, and stays one text: it is shown, answered, compared
and kept like any other.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

LINE = re.compile(r"[^\n]*\n|[^\n]+")
"""As Python and patches have them: other characters divide no lines."""
MARK = "# whet: the file {} begins here\n"


def joined(source: str, others: Mapping[str, str]) -> str:
    """Returns the text of several Python files.

    Args:
        source: of the target's file.
        others: path -> text; both it and they end with a line's end.
    """
    return source + "".join(MARK.format(path) + text for path, text in others.items())


def parts(source: str, names: Sequence[str]) -> dict[str, str]:
    """Returns the files that a text holds.

    Args:
        source: it.
        names: paths of the files that it may hold, the target's first.

    Returns:
        path -> text; a file whose mark is missing is not among them, and what stands behind a mark that comes again
        counts.
    """
    marks = {MARK.format(name): name for name in names[1:]}
    found: dict[str, list[str]] = {names[0]: []}
    lines = found[names[0]]
    for line in LINE.findall(source) if marks else (source,):
        if line in marks:
            lines = found[marks[line]] = []
        else:
            lines.append(line)
    return {name: "".join(text) for name, text in found.items()}
