"""A docker engine for tests and self-measurement: the one that answers, else one started by hand as root."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from whet.core.errors import UsageError
from whet.sandbox.docker_engine import connect

START_SECONDS = 60.0
"""For an engine to answer, which takes 2 on an idle machine; only one that hangs reaches it."""
STOP_SECONDS = 20.0
"""Seconds that the engine may take to end after SIGTERM; then it is killed. A smaller value kills it while it still
cleans up, a larger one only delays the end of the tests where it hangs."""


class NoEngine(Exception):
    """No docker engine answers, and none can be started; says why."""


@contextmanager
def docker_engine() -> Iterator[str | None]:
    """Yields what DOCKER_HOST must be to reach an engine; None where that of the environment answers.

    One that had to be started touches nothing of the machine: it has its own folder and no network, and goes at
    the end.

    Raises:
        NoEngine: there is none, and none can be started.
    """
    try:
        connect().close()
    except UsageError as error:
        refusal = str(error)
    else:
        yield None
        return
    if os.geteuid() != 0:
        raise NoEngine(f"{refusal} (only root can start one)")
    if shutil.which("dockerd") is None:
        raise NoEngine(refusal)
    folder = Path(tempfile.mkdtemp(prefix="whet-engine-"))
    log = folder / "log"
    try:
        with log.open("wb") as said:
            process = subprocess.Popen(_command(folder), stdout=said, stderr=said, stdin=subprocess.DEVNULL)
        try:
            yield _answering(process, folder / "socket", log)
        finally:
            process.terminate()
            try:
                process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _command(folder: Path) -> list[str]:
    places = {"host": f"unix://{folder}/socket", "data-root": folder / "data", "exec-root": folder / "exec"}
    options = [f"--{name}={place}" for name, place in (*places.items(), ("pidfile", folder / "pid"))]
    # The parent's death is the engine's too: a test run that is killed leaves none behind.
    words = ["setpriv", "--pdeathsig=TERM"] if shutil.which("setpriv") else []
    return [*words, "dockerd", *options, "--bridge=none", "--iptables=false", "--ip6tables=false"]


def _answering(process: subprocess.Popen[bytes], socket: Path, log: Path) -> str:
    """Waits for the engine to answer; returns its DOCKER_HOST."""
    import docker

    host = f"unix://{socket}"
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        try:
            client = docker.DockerClient(base_url=host)
            client.ping()
            client.close()
            return host
        except (docker.errors.DockerException, OSError):
            time.sleep(0.1)
    last = log.read_text(errors="replace").strip().splitlines()[-1:]
    raise NoEngine(f"dockerd does not start: {''.join(last)}")
