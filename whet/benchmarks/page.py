"""Puts what was generated between two marks of a page in ``docs/``."""

from __future__ import annotations

from pathlib import Path

DOCS = Path(__file__).resolve().parents[2] / "docs"


def write_between(page: Path, begin: str, end: str, text: str) -> None:
    """Replaces what stands between two marks.

    Raises:
        ValueError: the page lacks a mark.
    """
    before, rest = page.read_text(encoding="utf-8").split(begin)
    _, after = rest.split(end)
    page.write_text(f"{before}{begin}\n{text}\n{end}{after}", encoding="utf-8")
