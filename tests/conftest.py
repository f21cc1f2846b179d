"""What several test files share."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import ExitStack
from dataclasses import dataclass

import pytest

from whet.testing.engine import NoEngine, docker_engine

# A shell that puts a command into the background has it ignore interrupts, which tests are about.
signal.signal(signal.SIGINT, signal.default_int_handler)


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


@pytest.fixture(scope="session")
def engine():
    """DOCKER_HOST of a docker engine, started by hand where none answers; None where the environment's answers."""
    with ExitStack() as stack:
        try:
            host = stack.enter_context(docker_engine())
        except NoEngine as error:
            pytest.skip(str(error))
        yield host


@pytest.fixture(scope="module")
def docker_host(engine):
    """Makes that engine this module's; other modules take what the machine offers."""
    before = os.environ.get("DOCKER_HOST")
    if engine is not None:
        os.environ["DOCKER_HOST"] = engine
    yield
    if engine is not None:
        del os.environ["DOCKER_HOST"]
        if before is not None:
            os.environ["DOCKER_HOST"] = before
