"""Runs the tools that count, with our own harmless programs."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence

PATIENCE = 10.0
"""Seconds that a probe may take."""
PROBE = "/bin/true"


class Silent(Exception):
    """A tool gave no figures; the text says why."""


def run(argv: Sequence[str]) -> None:
    """Runs a command that writes its figures to a file.

    Raises:
        Silent: it cannot be started, fails, or takes too long.
    """
    try:
        done = subprocess.run(
            argv, check=False, capture_output=True, stdin=subprocess.DEVNULL, timeout=PATIENCE, env={"LC_ALL": "C"}
        )
    except OSError as error:
        raise Silent(f"{argv[0]} cannot be started: {error.strerror}") from None
    except subprocess.TimeoutExpired:
        raise Silent(f"{argv[0]} did not end within {PATIENCE:g} s") from None
    if done.returncode != 0:
        said = done.stderr.decode("utf-8", "replace").split("\n")
        line = next((text.strip() for text in said if text.strip()), "")
        raise Silent(f"{argv[0]} ended with {done.returncode}{': ' + line[:200] if line else ''}")
