"""What a user asks of a whole repository, beside what its configuration says and what is found in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from whet.core.config import ProjectConfig
from whet.core.errors import UsageError
from whet.core.options import Options
from whet.core.repository import Survey
from whet.evaluators.repository.survey import survey

OURS = ("max_memory", "min_speedup", "confidence", "cores", "python", "sandbox", "unsafe", "workers", "seed")
"""Options that mean something for a whole repository; what is recorded and tested is chosen a function."""
NO_COMMAND = (
    "{root} has no command whose time could count: give --run CMD, or --tests CMD, or write them under [tool.whet] in "
    "its pyproject.toml (whet init does)"
)


def looked_around(root: Path, config: ProjectConfig, run: str | None, tests: str | None) -> Survey:
    """Returns what is known of a repository, a user's commands before all others.

    Raises:
        UsageError: nothing says which command's time counts.
    """
    given = {name: text for name, text in (("run", run), ("tests", tests)) if text is not None}
    if empty := next((name for name, text in given.items() if not text.strip()), None):
        raise UsageError(f"--{empty} is empty; give a command such as 'python -m pytest -q'")
    found = survey(root, config.model_copy(update=given))
    if found.run is None and found.tests is None:
        raise UsageError(NO_COMMAND.format(root=root))
    return replace(found, run=found.run or found.tests)


def settings_of(config: ProjectConfig, given: Mapping[str, Any], around: Survey) -> Options:
    """Returns the options of the search for each function.

    Raises:
        UsageError: one of them means nothing for a whole repository.
    """
    known = {field.name: field.default for field in fields(Options)}
    if other := next((name for name, value in given.items() if name not in OURS and value != known.get(name)), None):
        raise UsageError(f"--{other.replace('_', '-')} is for one target; leave it out for a repository")
    said = {name: value for name in OURS if (value := given.get(name, getattr(config, name, None))) is not None}
    python = given.get("python") or around.python
    return Options(**{**said, "python": None if python is None else Path(python).expanduser().absolute()})
