"""``whet board build``: files of rows become a folder of pages and JSON."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from whet.benchmarks.board.answers import read_answers
from whet.benchmarks.board.documents import BOARD, board_document, page_name, problem_document, suite_document
from whet.benchmarks.board.entries import Leaderboard, standings
from whet.benchmarks.board.pages import compare_page, index_page, problem_page, suite_page
from whet.benchmarks.board.pairs import pairs
from whet.benchmarks.suites.base import Suite
from whet.benchmarks.suites.registry import suite_named
from whet.core.errors import UsageError

DOCUMENT = "board.json"
"""What tells a leaderboard from other folders."""


@dataclass(frozen=True, slots=True)
class Built:
    """What was built.

    Attributes:
        index: the page to open.
        entries: lines of all its tables.
        problems: pages of problems.
        faults: a line for each row that was left out.
    """

    index: Path
    entries: int
    problems: int
    faults: tuple[str, ...]


def build(files: Sequence[Path], folder: Path, suite_of: Callable[[str], Suite] = suite_named) -> Built:
    """Builds a leaderboard; one that stands in the folder is replaced as a whole.

    Args:
        files: of rows, as ``whet bench run`` writes them.
        folder: that becomes the site.
        suite_of: suite by its name.

    Raises:
        UsageError: there are no rows, a suite is unknown or cannot score them, or the folder cannot be written or holds
            something else.
    """
    _expect_ours(folder)
    read = read_answers(files)
    found = standings(read, suite_of)
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=f".{folder.name}-", dir=folder.parent) as made:
            site = Path(made) / "site"
            for name, text in _files(found, read.faults):
                path = site / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8", errors="replace")
            if folder.exists():
                folder.rename(Path(made) / "before")
            site.rename(folder)
    except OSError as error:
        raise UsageError(f"{folder} cannot be written: {error.strerror}") from None
    return Built(
        index=folder / "index.html",
        entries=sum(len(one.entries) for one in found),
        problems=sum(len(one.problems) for one in found),
        faults=read.faults,
    )


def is_board(folder: Path) -> bool:
    """Whether a folder holds a leaderboard."""
    try:
        document = json.loads((folder / DOCUMENT).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(document, dict) and document.get("schema") == BOARD


def _expect_ours(folder: Path) -> None:
    if folder.exists() and not is_board(folder) and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(f"{folder} holds something else than a leaderboard; name an empty or a new folder")


def _files(found: tuple[Leaderboard, ...], faults: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    yield DOCUMENT, _json(board_document(found, faults))
    yield "index.html", index_page(found, faults)
    for standing in found:
        compared = list(pairs(standing))
        document = suite_document(standing, compared)
        yield f"{standing.slug}/data.json", _json(document)
        yield f"{standing.slug}/index.html", suite_page(standing)
        yield f"{standing.slug}/compare.html", compare_page(standing, compared, document)
        for problem in standing.problems:
            yield f"{standing.slug}/{page_name(problem)}.json", _json(problem_document(standing, problem))
            yield f"{standing.slug}/{page_name(problem)}.html", problem_page(standing, problem)


def _json(document: dict[str, Any]) -> str:
    return json.dumps(document, indent=1, allow_nan=False, ensure_ascii=False) + "\n"
