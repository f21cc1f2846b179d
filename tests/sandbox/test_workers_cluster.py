"""Work done by the hosts of a standing Ray cluster, which are several raylets on this machine."""

from __future__ import annotations

import shutil
import time
from pathlib import Path

import pytest
from pieces import outcomes, piece
from raylets import raylets

import whet
from whet.core.errors import SandboxError, UsageError
from whet.core.store import Store
from whet.sandbox.workers.agent import versions
from whet.sandbox.workers.base import End, HostStatus, Needs
from whet.sandbox.workers.cluster import OTHER_STORE, Cluster
from whet.sandbox.workers.errors import error_of

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
def two(home):
    with raylets(2) as made:
        yield made


def until(holds, seconds=120):
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.1)


def standing(cluster, name):
    return next(host.standing for host in cluster.hosts() if host.name == name)


def test_both_hosts_work(two, home):
    cluster = Cluster(two.address)
    try:
        works = [piece("add", numbers=[n, 1], seconds=0.05) for n in range(40)]
        found = outcomes(cluster, *works)
        assert [outcome.result["sum"] for outcome in found] == [n + 1 for n in range(40)]
        names = {host.name for host in cluster.hosts()}
        assert len(names) == cluster.slots == 2
        assert {outcome.host for outcome in found} == names == {outcome.result["host"] for outcome in found}
        store = Store(home)
        assert [store.result(work.key) for work in works] == [outcome.result for outcome in found]
        store.close()
        for name in names:
            assert outcomes(cluster, piece("add", Needs(host=name), numbers=[1]))[0].host == name
        assert outcomes(cluster, piece("add", Needs(host="third"), numbers=[1]))[0].end is End.UNPLACED
        failed = error_of(outcomes(cluster, piece("fail", kind="other"))[0])
        assert (type(failed), str(failed)) == (SandboxError, "ZeroDivisionError: first line second line")
    finally:
        cluster.close()


def test_a_host_that_joins_later_works(two):
    cluster = Cluster(two.address)
    try:
        before = cluster.slots
        node = two.add()
        tickets = [cluster.submit(piece("add", numbers=[n], seconds=0.5)) for n in range(100)]
        hosts = set()
        for outcome in cluster.as_completed(tickets, 120):
            hosts.add(outcome.host)
            if len(hosts) > before:
                break
        assert len(hosts) == before + 1
        two.cluster.remove_node(node)
    finally:
        cluster.close()


def test_a_host_whose_probe_fails_is_quarantined_and_comes_back(two, home, tmp_path):
    cluster = Cluster(two.address, probe="whet.testing.pieces:probe")
    try:
        name, other = (host.name for host in cluster.hosts())
        sick = home / f"sick-{name}"
        sick.touch()
        on_it = Needs(host=name)
        waits = cluster.submit(piece("die", on_it, log=str(tmp_path / "log"), times=1))  # after which it is probed
        until(lambda: standing(cluster, name) is HostStatus.QUARANTINED)
        assert [host.why for host in cluster.hosts() if host.name == name] == ["gpu: GPU is lost"]
        found = outcomes(cluster, *(piece("add", numbers=[n]) for n in range(6)))
        assert {outcome.host for outcome in found} == {other}
        sick.unlink()
        until(lambda: standing(cluster, name) is HostStatus.READY)
        (late,) = cluster.as_completed([waits], 120)
        assert (late.end, late.host, late.attempts) == (End.DONE, name, 2)
    finally:
        cluster.close()


def test_unfinished_work_of_a_quarantined_host_is_done_elsewhere(two, home, tmp_path):
    cluster = Cluster(two.address, probe="whet.testing.pieces:probe")
    try:
        name, other = (host.name for host in cluster.hosts())
        go = tmp_path / "go"
        tickets = [cluster.submit(piece("wait", file=str(go))) for _ in range(2)]
        until(lambda: all(host.busy for host in cluster.hosts()))
        cluster._leave(cluster._places[name], HostStatus.QUARANTINED, "GPU is lost", "health probe failed")
        go.touch()
        found = list(cluster.as_completed(tickets, 120))
        assert [(outcome.end, outcome.host) for outcome in found] == [(End.DONE, other)] * 2
        assert max(outcome.attempts for outcome in found) > 1
    finally:
        cluster.close()


def test_a_host_with_another_store_gets_no_work(two, tmp_path):
    node = two.add(WHET_HOME=str(tmp_path / "other"))
    cluster = Cluster(two.address)
    try:
        refused = [host for host in cluster.hosts() if host.standing is HostStatus.QUARANTINED]
        assert [host.why for host in refused] == [OTHER_STORE]
        found = outcomes(cluster, *(piece("add", numbers=[n], seconds=0.05) for n in range(20)))
        assert refused[0].name not in {outcome.host for outcome in found}
        (outcome,) = outcomes(cluster, piece("add", Needs(host=refused[0].name), numbers=[1]), seconds=5)
        assert outcome.end is End.UNPLACED
        assert OTHER_STORE in outcome.error
    finally:
        cluster.close()
        two.cluster.remove_node(node)


def test_a_host_with_another_whet_gets_no_work(two, tmp_path):
    package = Path(whet.__file__).parent
    shutil.copytree(package, tmp_path / "whet", ignore=shutil.ignore_patterns("benchmarks", "exploits", "__pycache__"))
    text = (package / "core/about.py").read_text()
    (tmp_path / "whet/core/about.py").write_text(text.replace(whet.__version__, "99.0.0"))
    node = two.add(PYTHONPATH=str(tmp_path))
    cluster = Cluster(two.address)
    try:
        (refused,) = [host for host in cluster.hosts() if host.standing is HostStatus.QUARANTINED]
        theirs = versions().replace(whet.__version__, "99.0.0")
        assert refused.why == f"the driver has {versions()}, host {refused.name} has {theirs}"
    finally:
        cluster.close()
        two.cluster.remove_node(node)


def test_a_driver_with_another_store_than_all_hosts_is_refused(two, tmp_path, monkeypatch):
    monkeypatch.setenv("WHET_HOME", str(tmp_path / "other"))
    with pytest.raises(UsageError, match=r"no host of the cluster can work for this driver: host .*: its store is"):
        Cluster(two.address)
