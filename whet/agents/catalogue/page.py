"""Writes the page of the catalogue's edits: ``python -m whet.agents.catalogue.page > docs/edits.md``."""

from __future__ import annotations

from collections.abc import Iterator

from whet.agents.catalogue.base import Edit
from whet.agents.catalogue.registry import EDITS
from whet.agents.knowledge import card_of

LANGUAGES = {"python": "Python", "c": "C", "cpp": "C++", "asm": "Assembly"}
OPENING = """\
# Edits of the catalogue

This page is generated from the edits: `python -m whet.agents.catalogue.page > docs/edits.md`.

What an edit needs is looked for in the file; when it is unsafe, nobody can always tell from the file: the ladder does.
What it assumes of arguments are [needs](oracle.md#conditions), which are attacked. See [the catalogue](catalogue.md).
"""


def page() -> str:
    """Returns the page as Markdown."""
    return "\n".join([OPENING, *_sections()])


def _sections() -> Iterator[str]:
    for languages in dict.fromkeys(edit.languages for edit in EDITS):
        yield f"## {' and '.join(LANGUAGES[language] for language in languages)}\n"
        yield "| edit | what it does | needs | unsafe | assumes | kind of win | card |\n|---|---|---|---|---|---|---|"
        yield from (_row(edit) for edit in EDITS if edit.languages == languages)
        yield ""


def _row(edit: Edit) -> str:
    card = card_of(edit.name)
    assumes = ", ".join(f"`{need}`" for need in edit.assumes)
    cells = (f"`{edit.name}`", edit.summary, edit.needs, edit.unsafe, assumes, edit.label, card.name if card else "")
    return f"| {' | '.join(cell.replace('|', '&#124;') for cell in cells)} |"


if __name__ == "__main__":
    print(page(), end="")
