"""Where the time of a repository's command goes, without changing anything."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Any

from whet.core.config import load_project_config
from whet.core.events import Event, EventKind, Listener, null_listener
from whet.core.repository import HotSpots
from whet.evaluators.repository.asked import looked_around, settings_of
from whet.evaluators.repository.ranking import MIN_SHARE, Applicable, hot_functions
from whet.sandbox.backends import open_sandbox
from whet.sandbox.interpreter import find_interpreter


def hot_spots(
    folder: str | Path,
    *,
    run: str | None = None,
    tests: str | None = None,
    applicable: Applicable | None = None,
    listener: Listener = null_listener,
    **options: Any,
) -> HotSpots:
    """Profiles a command of a repository as its files stand, in the sandbox, and ranks the functions.

    Args:
        folder: its top, or a folder below; git is not needed.
        run: the command whose time counts; None takes the configuration's, or what is found.
        tests: the command that tests it, which stands for a missing one.
        applicable: what the catalogue has for a function, where that is to count.
        listener: hears what happens.
        **options: the fields of `whet.core.options.Options` that mean something for a whole repository.

    Raises:
        UsageError: no command is known, or an option cannot be used.
        BaselineError: the command fails, or is over too soon.
    """
    root = Path(folder).expanduser().resolve()
    config = load_project_config(root)
    around = looked_around(root, config, run, tests)
    settings = settings_of(config, options, around)
    assert around.run is not None, "what is looked around has a command"
    listener(Event(EventKind.STAGE, f"where the time goes: {around.run}"))
    share = MIN_SHARE if config.min_share is None else config.min_share
    with closing(open_sandbox(settings.sandbox, settings.unsafe)) as sandbox:
        interpreter = find_interpreter(settings.python)
        functions = hot_functions(around, around.run, sandbox, interpreter, share, applicable)
    return HotSpots(str(root), around.run, functions, around.notes)
