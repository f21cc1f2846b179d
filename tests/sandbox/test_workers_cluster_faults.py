"""What happens to work when processes of a Ray cluster are killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from paths import TESTS
from pieces import gone, lines, outcomes, piece, running, while_workers_die, workers
from raylets import agents, raylets

import whet
from whet.core.errors import SandboxError
from whet.sandbox.workers.base import End, HostStatus
from whet.sandbox.workers.cluster import GONE_SECONDS, Cluster

pytest.importorskip("ray", reason="Ray is not installed")
pytestmark = pytest.mark.exhaustive


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        folder = tmp_path_factory.mktemp("home")
        patch.setenv("WHET_HOME", str(folder))
        patch.setenv("PYTHONPATH", str(Path(whet.__file__).parent.parent))
        yield folder


@pytest.fixture(scope="module")
def hosts(home):
    with raylets(2) as made:
        yield made


@pytest.fixture
def cluster(hosts):
    made = Cluster(hosts.address)
    yield made
    made.close()


def expect_all_once(tickets, found):
    assert sorted(outcome.ticket for outcome in found) == tickets
    done = {outcome.ticket: outcome.result["sum"] for outcome in found if outcome.end is End.DONE}
    assert done == {ticket: number for number, ticket in enumerate(tickets)}


def test_workers_killed_at_random(cluster, home, tmp_path):
    for tickets, found in while_workers_die(cluster, home, tmp_path, seed=11, parts=8, size=20):
        expect_all_once(tickets, found)


def test_an_agent_is_killed_and_another_comes(cluster):
    tickets = [cluster.submit(piece("add", numbers=[n], seconds=0.3)) for n in range(30)]
    next(cluster.as_completed(tickets[:1], 120))
    os.kill(agents()[0], signal.SIGKILL)
    found = list(cluster.as_completed(tickets[1:], 120))
    assert [outcome.end for outcome in found] == [End.DONE] * 29
    assert sum(host.failures.get("agent died", 0) for host in cluster.hosts()) >= 1
    deadline = time.monotonic() + 120
    while not all(host.standing is HostStatus.READY for host in cluster.hosts()):
        assert time.monotonic() < deadline
        time.sleep(0.1)


def test_cancelled_work_leaves_nothing(cluster, tmp_path):
    ticket = cluster.submit(piece("linger", log=str(tmp_path / "log"), seconds=600))
    left = lines(tmp_path / "log", 2)
    cluster.cancel([ticket])
    assert [outcome.end for outcome in cluster.as_completed([ticket], 60)] == [End.CANCELLED]
    assert not any(map(running, left))
    assert outcomes(cluster, piece("add", numbers=[1]))[0].end is End.DONE


def test_a_raylet_is_killed(hosts, cluster, home):
    node = hosts.add()
    deadline = time.monotonic() + 120
    while cluster.slots < 3:
        assert time.monotonic() < deadline
        time.sleep(0.1)
    tickets = [cluster.submit(piece("add", numbers=[n], seconds=0.5)) for n in range(30)]
    time.sleep(1.5)
    node.kill_raylet()
    expect_all_once(tickets, list(cluster.as_completed(tickets, 120)))
    deadline = time.monotonic() + 120
    while not (lost := [host for host in cluster.hosts() if host.standing is HostStatus.LOST]):
        assert time.monotonic() < deadline
        time.sleep(0.1)
    assert [host.why for host in lost] == ["its node of the cluster is gone"]


DRIVER = """
import sys
from pieces import piece
from whet.sandbox.workers.cluster import Cluster
cluster = Cluster(sys.argv[1])
list(cluster.as_completed([cluster.submit(piece("linger", log=sys.argv[2], seconds=600))]))
"""


def test_a_driver_is_killed(hosts, home, tmp_path):
    command = [sys.executable, "-c", DRIVER, hosts.address, str(tmp_path / "log")]
    with subprocess.Popen(command, cwd=TESTS) as driver:
        left = [*lines(tmp_path / "log", 2, 60), *workers(home)[1], *agents()]
        driver.kill()
    assert gone(left, 20)


def test_the_head_is_killed(home):
    with raylets(2) as made:
        cluster = Cluster(made.address)
        ticket = cluster.submit(piece("add", numbers=[1], seconds=600))
        for processes in list(made.cluster.head_node.all_processes.values()):
            for process in processes:
                process.process.kill()
        begun = time.monotonic()
        with pytest.raises(SandboxError) as error:
            list(cluster.as_completed([ticket]))
        assert time.monotonic() - begun < GONE_SECONDS + 10
        where = made.address.removeprefix("ray://")
        assert str(error.value).startswith(f"the cluster at {where} is gone (")
        assert str(error.value).endswith("results so far are stored: go on with whet runs resume")
        cluster.close()
        assert gone(workers(home)[1], 30)
