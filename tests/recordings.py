"""Recordings: what was observed once on a real machine, kept as JSON, so that tests of judging it need no clock.

A recording belongs to the texts that it was made of (target, candidate, the rule that judges it): an edit of any of
them voids it. ``python -m pytest TESTFILE --record`` makes those of a file anew.
"""

from __future__ import annotations

import ast
import hashlib
import io
import json
import os
import platform
import subprocess
import tokenize
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import ModuleType
from typing import Any

from whet.sandbox.workers.labels import processor

FOLDER = Path(__file__).with_name("recordings")


class VoidRecordingError(Exception):
    """A recording that is missing, or was made of other texts than the test has now."""


@dataclass(frozen=True, slots=True)
class Recording:
    """One file of recorded data.

    Attributes:
        name: of the file, relative to the folder of recordings and without its suffix: ``hidden_costs/honest``.
        hashes: SHA-256 of each text that the data depend on, by what it is: target, candidate, rule.
        folder: where recordings are kept.
    """

    name: str
    hashes: Mapping[str, str]
    folder: Path = FOLDER

    @property
    def path(self) -> Path:
        return self.folder / f"{self.name}.json"

    def load(self) -> Any:
        """Returns the recorded data.

        Raises:
            VoidRecordingError: there is no recording, or its texts have changed; the message names the command.
        """
        if not self.path.exists():
            raise VoidRecordingError(f"there is no recording {self.name}; make it with: {_command()}")
        kept = json.loads(self.path.read_text())
        names = dict.fromkeys([*self.hashes, *kept["hashes"]])
        if other := [name for name in names if self.hashes.get(name) != kept["hashes"].get(name)]:
            raise VoidRecordingError(
                f"{self.name} was recorded for another {', '.join(other)}; record anew with: {_command()}"
            )
        return kept["data"]

    def save(self, data: Any) -> None:
        """Writes the data, with when, where and of which commit they were made; a line for each, for people."""
        kept = {"hashes": dict(self.hashes), "made": _made(), "data": data}
        lines = (f"{json.dumps(name)}: {json.dumps(value, allow_nan=False)}" for name, value in kept.items())
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.path.write_text("{\n" + ",\n".join(lines) + "\n}\n")


def hashes_of(**texts: str) -> dict[str, str]:
    """Returns the SHA-256 of each text, for `Recording`."""
    return {name: hashlib.sha256(text.encode()).hexdigest() for name, text in texts.items()}


def code_of(*modules: ModuleType) -> str:
    """Returns the code of modules without comments, docstrings and empty lines, whose edits void no recording."""
    return "\n".join(_bare(Path(str(module.__file__)).read_text()) for module in modules)


def _bare(text: str) -> str:
    lines = text.splitlines()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            row, column = token.start
            lines[row - 1] = lines[row - 1][:column]
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            first, last = node.lineno - 1, node.end_lineno or node.lineno
            lines[first:last] = [""] * (last - first)
    return "\n".join(line.rstrip() for line in lines if line.strip())


def _command() -> str:
    test = os.environ.get("PYTEST_CURRENT_TEST", "TESTFILE")
    return f"python -m pytest {test.partition('::')[0]} --record"


def _made() -> dict[str, Any]:
    head = ["git", "rev-parse", "HEAD"]
    commit = subprocess.run(head, cwd=FOLDER.parent, capture_output=True, text=True, check=True).stdout.strip()
    return {
        "date": datetime.now(UTC).date().isoformat(),
        "processor": processor(),
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "commit": commit,
    }
