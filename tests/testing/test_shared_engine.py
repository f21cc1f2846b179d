"""The docker engine that processes share: one for all of them, and none is left when its owner has ended."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from pieces import gone

from whet.sandbox.docker_engine import connect
from whet.testing.engine import NoEngine
from whet.testing.shared_engine import ANSWER, shared_engine, stop_shared_engine


@pytest.fixture
def nobody(tmp_path, monkeypatch):
    """No engine of the environment answers; skips where none can be started."""
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/nobody")
    if os.geteuid() != 0:
        pytest.skip("only root can start an engine")


@pytest.fixture
def owner():
    """A process that ends when it is told to."""
    with subprocess.Popen(["/bin/sleep", "1000"]) as process:
        yield process
        process.kill()


def engines(supervisor: int) -> list[int]:
    children = Path(f"/proc/{supervisor}/task/{supervisor}/children").read_text().split()
    return [int(child) for child in children if b"dockerd" in Path(f"/proc/{child}/cmdline").read_bytes()]


def started(folder: Path, owner: subprocess.Popen[bytes]) -> tuple[int, int]:
    """Starts an engine; returns the ids of its supervisor and of its process."""
    with ThreadPoolExecutor(3) as pool:
        hosts = set(pool.map(lambda _: shared_engine(folder, owner.pid), range(3)))
    (host,) = hosts
    assert host is not None
    assert Path(host.removeprefix("unix://")).is_socket()
    supervisor = json.loads((folder / ANSWER).read_text())["supervisor"]
    (engine,) = engines(supervisor)
    return supervisor, engine


def test_all_that_ask_get_the_same_engine_and_it_is_stopped(nobody, owner, tmp_path, monkeypatch):
    supervisor, engine = started(tmp_path, owner)
    monkeypatch.setenv("DOCKER_HOST", shared_engine(tmp_path, owner.pid))
    connect().close()
    stop_shared_engine(tmp_path)
    assert gone([supervisor])
    assert gone([engine])


@pytest.mark.corpus
def test_it_ends_when_its_owner_is_killed(nobody, owner, tmp_path):
    supervisor, engine = started(tmp_path, owner)
    owner.kill()
    owner.wait()
    assert gone([engine])
    assert gone([supervisor])
    stop_shared_engine(tmp_path)  # has nothing to do


@pytest.mark.corpus
def test_it_ends_when_its_supervisor_is_killed(nobody, owner, tmp_path):
    supervisor, engine = started(tmp_path, owner)
    os.kill(supervisor, signal.SIGKILL)
    assert gone([engine])
    folder = Path(json.loads((tmp_path / ANSWER).read_text())["host"].removeprefix("unix://")).parent
    assert folder.is_dir(), "the supervisor would have removed it"
    stop_shared_engine(tmp_path)
    assert not folder.exists()


def test_where_none_can_be_started_each_is_told_why(tmp_path, monkeypatch, owner):
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/nobody")
    monkeypatch.setenv("PATH", f"{tmp_path}:{Path(sys.executable).parent}")
    for _ in range(2):
        with pytest.raises(NoEngine, match="no docker engine answers"):
            shared_engine(tmp_path, owner.pid)
    stop_shared_engine(tmp_path)
