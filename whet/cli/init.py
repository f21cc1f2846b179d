"""``whet init``: writes a repository's configuration after looking around."""

from __future__ import annotations

import json
import os
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from whet.cli.options import Debug
from whet.core.errors import UsageError

if TYPE_CHECKING:
    from whet.core.repository import Survey

Folder = Annotated[
    Path,
    typer.Argument(metavar="DIR", show_default=False, help="The repository; else the one around the current folder."),
]
Github = Annotated[
    bool, typer.Option("--github", help="Write the workflows of the pull-request bot alone: .github/workflows/.")
]


def init(folder: Folder = Path(), github: Github = False, debug: Debug = False) -> int:
    """Look around a repository and write [tool.whet] into its pyproject.toml, or into a new whet.toml.

    On a terminal it asks whether the commands that it found are right. What stands there is never changed.
    """
    from whet.core.config import ProjectConfig
    from whet.evaluators.repository.survey import survey

    root = repository_root(folder)
    if github:
        from whet.bot.workflows import write_workflows

        for path in write_workflows(root):
            print(f"wrote {root / path}")
        return 0
    place = config_place(root)
    found = survey(root, ProjectConfig())
    commands = {"run": found.run, "tests": found.tests}
    if sys.stdin.isatty() and sys.stdout.isatty():
        commands = {name: typer.prompt(f"{name} (its command)", default=text or "") for name, text in commands.items()}
    write(place, config_text(found, commands))
    print(f"wrote [tool.whet] into {place}")
    for note in found.notes:
        print(f"note: {note}")
    print(f"next: whet optimize {'.' if root == Path.cwd() else root}")
    return 0


def repository_root(folder: Path) -> Path:
    """Returns the top folder of the repository that a folder lies in; that folder itself where it lies in none.

    Raises:
        UsageError: there is no such folder.
    """
    here = folder.expanduser().resolve()
    if not here.is_dir():
        raise UsageError(f"no folder {folder}")
    return next((parent for parent in (here, *here.parents) if (parent / ".git").exists()), here)


def config_place(root: Path) -> Path:
    """Returns the file that takes the configuration.

    Raises:
        UsageError: there is one already, a file cannot be read, or the only place for it describes a task.
    """
    from whet.core.config import PYPROJECT, WHET_TOML, read_toml

    project, own = root / PYPROJECT, root / WHET_TOML
    for path in (project, own):
        tool = read_toml(path).get("tool") if path.is_file() else None
        if isinstance(tool, dict) and "whet" in tool:
            raise UsageError(f"{path} has [tool.whet] already; edit it there")
    if project.is_file():
        return project
    if own.is_file() and "task" in read_toml(own):
        raise UsageError(f"{own} describes a task; make a {PYPROJECT} with [tool.whet], or move the task to a folder")
    return own


def config_text(found: Survey, commands: dict[str, str | None]) -> str:
    """Returns the table as TOML.

    Args:
        found: by looking around.
        commands: key -> command, where one is known.
    """

    def lines() -> Iterator[str]:
        yield "[tool.whet]"
        for name, command in commands.items():
            yield f"{name} = {_quoted(command)}" if command else f'# {name} = "a command"'
        if found.build is not None:
            yield f"build = {_quoted(found.build)}"
        if found.python is not None:
            yield f"python = {_quoted(os.path.relpath(found.python, found.root))}"
        yield '# ignore = ["docs/*"]'
        yield "# top = 5"

    return "\n".join(lines()) + "\n"


def _quoted(text: str) -> str:
    """Returns a basic string of TOML: JSON writes them alike, but for escapes in pairs."""
    return json.dumps(text, ensure_ascii=False)


def write(place: Path, table: str) -> None:
    """Adds a table to a file, new or not, in one step.

    Raises:
        UsageError: the file is of a form that takes no more tables, or cannot be written.
    """
    before = place.read_text(encoding="utf-8") if place.is_file() else ""
    gap = "" if not before else "\n" if before.endswith("\n") else "\n\n"
    text = f"{before}{gap}{table}"
    try:
        tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{place} takes no [tool.whet] at its end ({error}); write it by hand") from None
    beside = place.with_name(f".{place.name}.whet")
    try:
        beside.write_text(text, encoding="utf-8")
        if place.is_file():
            beside.chmod(place.stat().st_mode & 0o777)
        beside.replace(place)
    except OSError as error:
        raise UsageError(f"{place} cannot be written: {error.strerror}") from None
