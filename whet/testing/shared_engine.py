"""One docker engine for several processes: the first that needs it starts it, and it ends with its owner.

Its supervisor is a process of its own, in a session of its own. It waits for the owner to end, however that ends, so
that neither an interrupt nor the death of one of those that share the engine leaves any behind or takes it from the
others.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import select
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from types import FrameType

from whet.testing.engine import STOP_SECONDS, NoEngine, docker_engine

ANSWER = "engine.json"
"""What the supervisor said, and its process id."""


def shared_engine(folder: Path, owner: int) -> str | None:
    """Returns what DOCKER_HOST must be to reach the engine; None where that of the environment answers.

    Args:
        folder: the same for all that share it.
        owner: id of the process that the engine must not outlive.

    Raises:
        NoEngine: there is none, and none can be started.
    """
    with (folder / "engine.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        answer = folder / ANSWER
        if not answer.exists():
            answer.write_text(_start_supervisor(owner))
    said = json.loads(answer.read_text())
    if "refusal" in said:
        raise NoEngine(said["refusal"])
    host: str | None = said["host"]
    return host


def stop_shared_engine(folder: Path) -> None:
    """Ends the engine of a folder, if one was started; removes what a supervisor that was killed has left of it."""
    answer = folder / ANSWER
    if not answer.exists():
        return
    said = json.loads(answer.read_text())
    with contextlib.suppress(ProcessLookupError):
        supervisor = os.pidfd_open(said["supervisor"])
        try:
            signal.pidfd_send_signal(supervisor, signal.SIGTERM)
            select.select([supervisor], [], [], 2 * STOP_SECONDS)
        finally:
            os.close(supervisor)
    if host := said.get("host"):
        shutil.rmtree(Path(host.removeprefix("unix://")).parent, ignore_errors=True)


def _start_supervisor(owner: int) -> str:
    """Starts a supervisor; returns the line that it says when its engine answers."""
    supervisor = subprocess.Popen(
        [sys.executable, "-m", "whet.testing.shared_engine", str(owner)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert supervisor.stdout is not None
    with supervisor.stdout as said:
        line = said.readline()
    if not line:
        raise NoEngine("the supervisor of the engine ended at once")
    return line


def _keep(owner: int) -> None:
    """Starts an engine, says how to reach it, and keeps it until the owner ends or a signal comes."""
    signal.signal(signal.SIGTERM, _end)
    try:
        with docker_engine() as host:
            _say({"host": host})
            if host is not None:
                select.select([os.pidfd_open(owner)], [], [])
    except NoEngine as error:
        _say({"refusal": str(error)})
    except ProcessLookupError:  # the owner has ended meanwhile
        return


def _say(what: dict[str, str | None]) -> None:
    print(json.dumps({**what, "supervisor": os.getpid()}), flush=True)


def _end(signum: int, frame: FrameType | None) -> None:
    sys.exit(0)


if __name__ == "__main__":
    _keep(int(sys.argv[1]))
