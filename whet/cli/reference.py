"""Writes the reference page of the command line, ``docs/cli.md``, from the code."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import typer

from whet.cli.main import app

OPENING = """\
# Command line

This page is generated from the code: `python -m whet.cli.reference > docs/cli.md`.

Exit codes: 0 verified improvement; 1 internal error; 2 usage or configuration; 3 no verified improvement;
4 budget spent without one; 5 the baseline or its oracle is unusable; 130 interrupted. `whet doctor` and the
commands under `whet runs` that start no work exit with 0 when they could answer; `whet doctor` exits with 1 where an
attack got through the sandbox that whet would take.
An error is one line on stderr that says what is wrong and how to mend it.
"""


def page() -> str:
    """Returns the page as Markdown."""
    root = typer.main.get_command(app)
    with root.make_context("whet", [], resilient_parsing=True) as context:
        return "\n".join([OPENING, *_sections(root, context)])


def _sections(command: Any, context: Any) -> Iterator[str]:
    yield f"## `{context.command_path}`\n\n{command.help}\n"
    usage = " ".join(command.collect_usage_pieces(context))
    yield f"```text\n{context.command_path} {usage}\n```\n"
    records = [record for parameter in command.params if (record := parameter.get_help_record(context))]
    if records:
        yield "| | |\n|---|---|"
        yield from (f"| `{_cell(name)}` | {_cell(help)} |" for name, help in records)
        yield ""
    for name, child in getattr(command, "commands", {}).items():
        with child.make_context(name, [], parent=context, resilient_parsing=True) as inner:
            yield from _sections(child, inner)


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


if __name__ == "__main__":
    print(page(), end="")
