"""Which run of whet works on which row, so that a killed benchmark goes on with the run that it had begun."""

from __future__ import annotations

import json
import os
from collections.abc import Collection
from pathlib import Path
from typing import Protocol

from whet.benchmarks.runner.rows import Key


class Runs(Protocol):
    """What tells the run of a row."""

    def run_of(self, key: Key) -> str | None:
        """Returns the run that was begun for a row."""

    def note(self, key: Key, run: str) -> None:
        """Remembers a run; it is on the disk when this returns."""


class Journal:
    """A file of (key of a row, id of a run), a line each. Safe for several threads."""

    def __init__(self, path: Path, written: Collection[Key] = ()) -> None:
        """Reads what is there; a line that is not whole, as a kill leaves it, is passed over.

        Args:
            path: of the file.
            written: keys of rows that are done. Their runs are forgotten: whoever takes a row away wants it anew.
        """
        self._runs = {key: run for key, run in _read(path).items() if key not in written}
        fresh = path.with_suffix(".new")
        with fresh.open("wb") as file:
            file.writelines(_line(key, run) for key, run in self._runs.items())
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(path)
        self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC)

    def run_of(self, key: Key) -> str | None:
        """Returns the run that was begun for a row."""
        return self._runs.get(key)

    def note(self, key: Key, run: str) -> None:
        """Remembers a run; it is on the disk when this returns."""
        os.write(self._file, _line(key, run))
        os.fsync(self._file)
        self._runs[key] = run

    def waits(self, written: Collection[Key]) -> bool:
        """Whether a run was begun whose row is not written."""
        return any(key not in written for key in self._runs)

    def close(self) -> None:
        """Lets go of the file."""
        os.close(self._file)


def _line(key: Key, run: str) -> bytes:
    return f"{json.dumps([key, run])}\n".encode()


def _read(path: Path) -> dict[Key, str]:
    runs: dict[Key, str] = {}
    for line in path.read_bytes().splitlines() if path.exists() else ():
        try:
            key, run = json.loads(line)
            runs[tuple(key)] = str(run)
        except (ValueError, TypeError):
            continue
    return runs
