"""What several test files share."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass

import pytest


@dataclass(frozen=True)
class CommandLine:
    """Runs ``whet`` as a user does, with a state directory of its own."""

    environment: dict[str, str]

    def __call__(self, *words, cwd=None, timeout=120, **environment):
        return subprocess.run(
            [sys.executable, "-m", "whet", *map(str, words)],
            capture_output=True,
            text=True,
            check=False,
            cwd=cwd,
            timeout=timeout,
            stdin=subprocess.DEVNULL,
            env={**self.environment, **environment},
        )


@pytest.fixture
def whet(tmp_path):
    """The command line; every call of one test shares a state directory."""
    kept = {name: value for name, value in os.environ.items() if not name.endswith("_API_KEY")}
    kept.pop("WHET_MODEL", None)
    return CommandLine({**kept, "WHET_HOME": str(tmp_path / "home")})
