"""The environment of a target's project: the interpreter that candidates run on where nobody names one."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from whet.core.config import read_toml
from whet.core.errors import UsageError
from whet.core.options import Options
from whet.evaluators.given_files import read_text
from whet.evaluators.kernels.problem import resembles_problem
from whet.evaluators.task_file import FILENAME

FOLDERS = (".venv", "venv", "env")
"""Names that virtual environments go by, uv's among them."""
OWN = Path(__file__).parents[1]
"""Where whet's own tasks lie."""
ACTIVE = ("UV_PROJECT_ENVIRONMENT", "VIRTUAL_ENV", "CONDA_PREFIX")
"""Variables that name an environment that the user chose, uv's first."""


def in_environment(target: str, options: Options, environment: Mapping[str, str] = os.environ) -> Options:
    """Returns options whose interpreter is that of the target's project, where the user named none.

    Args:
        target: as the user wrote it.
        options: as the user gave them.
        environment: variables.

    Raises:
        UsageError: the file cannot be read.
    """
    if options.python is not None or (folder := _python_folder(target)) is None:
        return options
    return replace(options, python=environment_python(folder, environment))


def _python_folder(target: str) -> Path | None:
    """Returns the folder of a target that has such an environment: a Python file, or a folder with a task in Python.

    Problems of kernels run on torch wherever whet has it, and whet's own tasks on what whet has installed.
    """
    file, divider, _ = target.partition("::")
    path = Path(file).expanduser()
    if path.suffix == ".py" and path.is_file():
        return path.resolve().parent if divider or not resembles_problem(read_text(path)) else None
    if not (path / FILENAME).is_file() or path.resolve().is_relative_to(OWN):
        return None
    try:
        task = read_toml(path / FILENAME).get("task")
    except UsageError:  # it is told where the task is read
        return None
    return path.resolve() if isinstance(task, dict) and task.get("language") == "python" else None


def environment_python(folder: Path, environment: Mapping[str, str] = os.environ) -> Path | None:
    """Returns the interpreter of the environment that lies in a folder or above it, else of the active one.

    Args:
        folder: of the project, or one in it; nothing above a repository's top folder is looked at.
        environment: variables.

    Returns:
        None where there is none, or where it is the one that whet itself runs in.
    """
    named = [Path(value) for name in ACTIVE if (value := environment.get(name))]
    # uv takes a relative one from the project's folder.
    ours = [value] if (value := environment.get(ACTIVE[0])) and not Path(value).is_absolute() else []
    places = (place for place in (*_beside(folder, (*ours, *FOLDERS)), *named) if place.is_absolute())
    found = next((place for place in places if (place / "bin" / "python").is_file()), None)
    if found is None or found.resolve() == Path(sys.prefix).resolve():
        return None
    return found / "bin" / "python"


def _beside(folder: Path, names: Sequence[str]) -> Iterator[Path]:
    """Yields the environments in a folder and above it whose interpreter is none of the project's own files.

    The interpreter is run outside the sandbox to be asked for its version.
    """
    top = next((parent for parent in (folder, *folder.parents) if (parent / ".git").exists()), None)
    for parent in (folder, *folder.parents):
        # A target that is installed lies in the environment itself.
        for place in (parent, *(parent / name for name in names)):
            # A folder that only has the name is none.
            if (place / "pyvenv.cfg").is_file() or (place / "conda-meta").is_dir():
                interpreter = (place / "bin" / "python").resolve()
                if not any(interpreter.is_relative_to(own) for own in (top or parent, parent)):
                    yield place
        if parent in (top, Path.home()):
            return
