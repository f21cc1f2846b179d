"""Loads a file of the staged tree as the module that it is outside."""

from __future__ import annotations

import importlib
import os
import sys
import types
from importlib.machinery import ModuleSpec, SourceFileLoader  # `importlib.util` would cost each start 2 ms

from .codec import SPECIAL, CodecError, standard

TYPE_CHECKING = False
if TYPE_CHECKING:  # `typing` itself would cost each start 8 ms
    from collections.abc import Callable
    from typing import Any

TREE = "/src"


def load_module(tree: str, filename: str) -> Any:
    """Imports ``filename`` (a path under ``tree``), with the tree's own modules importable beside it.

    Raises:
        BaseException: whatever the module raises.
    """
    if tree not in sys.path:
        sys.path.insert(0, tree)
    parts = filename[: -len(".py")].split("/")
    package = len(parts) > 1 and all(
        os.path.exists(os.path.join(tree, *parts[: i + 1], "__init__.py")) for i in range(len(parts) - 1)
    )
    if package:
        if parts[-1] == "__init__":
            parts.pop()
        return from_tree(tree, ".".join(parts))
    sys.path.insert(0, os.path.dirname(os.path.join(tree, filename)))
    # By path, not by name: a target called `string.py` must not become the standard module.
    module = types.ModuleType(parts[-1])
    module.__file__ = os.path.join(tree, filename)
    module.__loader__ = loader = SourceFileLoader(parts[-1], module.__file__)
    module.__spec__ = ModuleSpec(parts[-1], loader, origin=module.__file__)
    module.__package__ = ""
    sys.modules[parts[-1]] = module
    loader.exec_module(module)
    return module


def from_tree(tree: str, name: str) -> Any:
    """Imports a module of a package in the tree, whatever of that package was imported from elsewhere before.

    Raises:
        ImportError: another module has its name.
        BaseException: whatever the module raises.
    """
    top = name.partition(".")[0]
    for other in [other for other in sys.modules if other == top or other.startswith(f"{top}.")]:
        if not getattr(sys.modules[other], "__file__", None) or not _within(sys.modules[other].__file__, tree):
            del sys.modules[other]
    module = importlib.import_module(name)
    if not _within(module.__file__, tree):
        raise ImportError(f"{name} was loaded from {module.__file__}, not from the target's file")
    return module


def _within(file: Any, tree: str) -> bool:
    return isinstance(file, str) and file.startswith(f"{tree}/")


def find(module: Any, symbol: str) -> Any:
    """Returns ``function`` or ``Class.method`` of a module.

    Raises:
        AttributeError: there is none.
    """
    value = module
    for part in symbol.split("."):
        value = getattr(value, part)
    return value


def resolver(module: Any) -> Callable[[str], Any]:
    """Returns what finds the classes that an input may hold: the target's own and those loaded."""

    def resolve(name: str) -> Any:
        owner, _, qualname = name.partition(":")
        if name in SPECIAL:
            return standard(name)
        home = module if owner == getattr(module, "__name__", None) else sys.modules.get(owner)
        try:
            return find(home, qualname)
        except AttributeError:
            raise CodecError(f"no class {name}") from None

    return resolve
