"""Packages that bring something to whet by an entry point, installed for a test alone."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from pages import ROOT, blocks

from whet.core import plugins
from whet.evaluators.languages import registry

ENDING = "_for_whet"


def install(folder: Path, group: str, attribute: str, **modules: str) -> None:
    """Installs packages of one module each, which bring an attribute of it under the module's name."""
    for name, text in modules.items():
        (folder / f"{name}{ENDING}.py").write_text(text)
        info = folder / f"{name}{ENDING}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}-for-whet\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(f"[{group}]\n{name} = {name}{ENDING}:{attribute}\n")


def manual(page: str, title: str) -> str:
    """Returns the file that a page of the manual shows."""
    return next(block.text for block in blocks(ROOT / "docs" / page) if block.title == title)


@contextmanager
def packages(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Gives a folder of packages that this process, and the commands that it starts, see."""
    folder.mkdir()
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.setenv("PYTHONPATH", str(folder))
    forget()
    yield folder
    forget()
    for name in [name for name in sys.modules if name.endswith(ENDING)]:
        del sys.modules[name]


def forget() -> None:
    """Has what was found of plug-ins looked for anew."""
    for cached in (registry.language, plugins.plugged):
        cached.cache_clear()
