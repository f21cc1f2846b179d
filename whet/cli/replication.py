"""What came of repeating somebody's evidence, as a table."""

from __future__ import annotations

import json
from collections.abc import Iterator

from whet.core.evidence import Comparison, Replication
from whet.core.text import one_line

WORDS = {True: "agrees", False: "differs", None: "not compared"}


def show_replication(found: Replication, *, as_json: bool) -> int:
    """Prints a repetition and returns the exit code that it ends the command with."""
    if as_json:
        print(json.dumps(found.to_json(), indent=2))
    else:
        print("\n".join(replication_lines(found)))
    return int(found.exit_code)


def replication_lines(found: Replication) -> Iterator[str]:
    """Yields all that a repetition says."""
    differing = [row.name for row in found.compared if row.agrees is False]
    left = [row.name for row in found.compared if row.agrees is None]
    yield ""
    yield f"differs: {', '.join(differing)}" if differing else "all that was compared agrees"
    if left:
        yield f"not compared: {', '.join(left)}"
    yield f"the bundle agrees with itself; {one_line(found.authorship)}"
    yield ""
    yield from _table(found.compared)
    yield ""
    yield "told, not judged"
    yield from _table(tuple(row for row in found.surroundings if row.recorded != row.here))
    alike = [row.name for row in found.surroundings if row.recorded == row.here]
    if alike:
        yield f"  the same: {', '.join(alike)}"
    yield ""
    yield f"recorded    run {one_line(found.run, 60)}"
    yield f"here        run {found.result.run}, {found.result.seconds:.1f} s"


def _table(rows: tuple[Comparison, ...]) -> Iterator[str]:
    cells = [(one_line(row.name, 24), one_line(row.recorded, 40), one_line(row.here, 40)) for row in rows]
    widths = [max((len(cell[i]) for cell in cells), default=0) for i in range(3)]
    for row, cell in zip(rows, cells, strict=True):
        judged = "" if row.agrees is None and not row.note and row.recorded != row.here else WORDS[row.agrees]
        line = "  ".join(text.ljust(width) for text, width in zip(cell, widths, strict=True))
        note = f": {one_line(row.note, 120)}" if row.note else ""
        yield f"  {line}  {judged}{note}".rstrip()
