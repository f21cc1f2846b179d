"""Work done by a Ray cluster that is started here: results, errors, cancelling, and nothing left of any of it."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time

import pytest
from paths import TESTS
from pieces import gone, lines, outcomes, piece, running, workers

from whet.core.errors import UsageError
from whet.sandbox.process_tree import tree
from whet.sandbox.workers.base import End, Needs
from whet.sandbox.workers.errors import error_of
from whet.sandbox.workers.registry import open_executor

pytest.importorskip("ray", reason="Ray is not installed")


@pytest.mark.corpus
def test_a_cluster_of_this_host(tmp_path, monkeypatch):
    monkeypatch.setenv("WHET_HOME", str(tmp_path / "home"))
    before = set(tree(os.getpid()))
    executor = open_executor("ray")
    try:
        found = outcomes(executor, *(piece("add", numbers=[n, 1]) for n in range(50)))
        assert [outcome.result["sum"] for outcome in found] == [n + 1 for n in range(50)]
        (failed,) = outcomes(executor, piece("fail", kind="usage"))
        assert (type(error_of(failed)), failed.error) == (UsageError, "no such file")
        (unplaced,) = outcomes(executor, piece("add", Needs({"gpu": "H100"}), numbers=[1]))
        assert unplaced.error.startswith("no host has gpu=H100; the hosts have: arch=")
        ticket = executor.submit(piece("linger", log=str(tmp_path / "log"), seconds=600))
        left = lines(tmp_path / "log", 2)
        executor.cancel([ticket])
        assert [outcome.end for outcome in executor.as_completed([ticket], 10)] == [End.CANCELLED]
        assert not any(map(running, left))
        started = {*tree(os.getpid()), *workers(tmp_path / "home")[1]} - before
    finally:
        executor.close()
    assert gone(started)


@pytest.mark.corpus
@pytest.mark.parametrize("port", [1, 65000])
def test_nobody_answers(port, tmp_path, monkeypatch):
    monkeypatch.setenv("WHET_HOME", str(tmp_path / "home"))
    begun = time.monotonic()
    with pytest.raises(UsageError, match=rf"no cluster of Ray answers at ray://127\.0\.0\.1:{port} \(.*refused\)"):
        open_executor(f"ray://127.0.0.1:{port}")
    assert time.monotonic() - begun < 15


@pytest.mark.corpus
def test_something_else_answers(tmp_path, monkeypatch):
    monkeypatch.setenv("WHET_HOME", str(tmp_path / "home"))
    begun = time.monotonic()
    with socket.create_server(("127.0.0.1", 0)) as mute, pytest.raises(UsageError, match=r"no cluster of Ray answers"):
        open_executor(f"ray://127.0.0.1:{mute.getsockname()[1]}")
    assert time.monotonic() - begun < 15


LOST = """
from whet.sandbox.workers.ray_link import Link
link = Link("ray")
agent = link.agent(next(iter(link.nodes())), "name", 1)
link.close()
link.kill(agent)
try:
    print("found", link.nodes())
except Exception as error:
    print(type(error).__name__)
"""


@pytest.mark.corpus
def test_to_end_an_agent_of_a_cluster_that_is_lost_starts_none():
    """In a process of its own: Ray reads its settings where it is imported."""
    done = subprocess.run([sys.executable, "-c", LOST], capture_output=True, text=True, timeout=120, check=False)
    assert done.stdout.splitlines()[-1:] == ["RaySystemError"], done.stdout + done.stderr


DRIVER = """
import sys
from pieces import piece
from whet.sandbox.workers.registry import open_executor
executor = open_executor("ray")
list(executor.as_completed([executor.submit(piece("linger", log=sys.argv[1], seconds=600))]))
"""


@pytest.mark.corpus
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_a_driver_that_is_ended_leaves_nobody(number, tmp_path):
    environment = {**os.environ, "WHET_HOME": str(tmp_path / "home")}
    command = [sys.executable, "-c", DRIVER, str(tmp_path / "log")]
    with subprocess.Popen(command, stderr=subprocess.PIPE, cwd=TESTS, env=environment) as driver:
        left = [*lines(tmp_path / "log", 2, 60), *tree(driver.pid), *workers(tmp_path / "home")[1]]
        driver.send_signal(number)
        driver.communicate(timeout=20)
    assert gone(left, 20)
