"""Fails tests of tier 1 that let a real clock decide, in their own process or in one that they begin.

What reads a clock for a verdict is wrapped when its module is imported. Here that is when pytest starts; a command that
a test runs does it by ``sitecustomize`` in the folder ``children``, which stands on its PYTHONPATH. A wrapped call
leaves a line in a file that the environment names, and the test whose file has lines fails.
"""

from __future__ import annotations

import functools
import importlib
import json
import os
import sys
from importlib.abc import Loader, MetaPathFinder
from importlib.util import find_spec
from pathlib import Path

MARKS = "WHET_TESTS_CLOCK_READ"
"""Environment: the file for the lines; unset where a real clock may decide."""
SCRIPT = "WHET_TESTS_SCRIPT"
"""Environment: fields of a script, as JSON, that commands take their figures from."""
CHILDREN = Path(__file__).with_name("children")
INSTRUMENTS = "whet.evaluators.timing.instruments"
ENGINE = "whet.bot.engine"
READERS = {
    "whet.evaluators.meters.time": ("Time.take",),
    "whet.evaluators.meters.cpu": ("Cpu.take",),
    "whet.evaluators.meters.energy": ("Energy.take",),
    "whet.evaluators.meters.instructions": ("Instructions.take",),
    "whet.evaluators.meters.memory": ("Memory.take",),
    "whet.evaluators.timing.hidden_costs": ("hidden_costs",),
    "whet.evaluators.timing.repeats": ("repeat_costs",),
    INSTRUMENTS: (
        "Instruments.hidden_costs",
        "Instruments.repeat_costs",
        "Instruments.call_seconds",
        "Instruments.command_seconds",
    ),
    "whet.evaluators.timing.zygotes": ("_import_seconds", "_against_itself"),
}
"""By module, what reads a clock, or a peak of memory, for a verdict."""


class ClockReadError(AssertionError):
    """A test of tier 1 called what reads a clock."""


def _guarded(name, reader):
    @functools.wraps(reader)
    def call(*given, **named):
        if path := os.environ.get(MARKS):
            with Path(path).open("a") as file:
                file.write(f"{name}\n")
            raise ClockReadError(f"{name} reads a real clock, in a test of tier 1")
        return reader(*given, **named)

    return call


def wrap(module) -> None:
    """Wraps what reads a clock in a module that was just imported."""
    for path in READERS.get(module.__name__, ()):
        *owner, name = path.split(".")
        holder = functools.reduce(getattr, owner, module)
        setattr(holder, name, _guarded(f"{module.__name__}.{path}", getattr(holder, name)))


class _Watched(Loader):
    """Loads a module as it would be loaded, then changes it."""

    def __init__(self, loader, then):
        self._loader = loader
        self._then = then

    def create_module(self, spec):
        return self._loader.create_module(spec)

    def exec_module(self, module):
        self._loader.exec_module(module)
        self._then(module)

    def __getattr__(self, name):
        return getattr(self._loader, name)


class _Finder(MetaPathFinder):
    """Finds the modules that are to be changed by the other finders."""

    def __init__(self, changes):
        self._changes = changes

    def find_spec(self, name, path=None, target=None):
        then = self._changes.pop(name, None)
        spec = find_spec(name) if then is not None else None
        if spec is not None:
            spec.loader = _Watched(spec.loader, then)
        return spec


def _script(instruments) -> None:
    """Has figures come from the script, in the module that was just imported."""
    from whet.testing.scripted_meter import Script, ScriptedInstruments

    instruments.INSTRUMENTS = ScriptedInstruments(Script(**json.loads(os.environ[SCRIPT])))


def _pass_on(engine) -> None:
    """Has the commands of the bot watched and scripted too, whose environment the bot makes anew."""
    made = engine._environment

    def environment(*given):
        found = made(*given)
        found["PYTHONPATH"] = os.pathsep.join([str(CHILDREN), found["PYTHONPATH"]])
        return found | {name: os.environ[name] for name in (MARKS, SCRIPT) if name in os.environ}

    engine._environment = environment


def _change(module) -> None:
    if module.__name__ == ENGINE:
        _pass_on(module)
    if os.environ.get(MARKS):
        wrap(module)
    if os.environ.get(SCRIPT) and module.__name__ == INSTRUMENTS:
        _script(module)


def watch_imports() -> None:
    """Has modules wrapped, and the script put in place, once this process imports them: for commands of tests."""
    sys.meta_path.insert(0, _Finder(dict.fromkeys([*READERS, ENGINE], _change)))


def wrap_here() -> None:
    """Wraps everything in this process, and has commands that it runs do the same."""
    for name in READERS:
        wrap(importlib.import_module(name))
    _pass_on(importlib.import_module(ENGINE))
    found = [str(CHILDREN), *filter(None, [os.environ.get("PYTHONPATH")])]
    os.environ["PYTHONPATH"] = os.pathsep.join(found)
