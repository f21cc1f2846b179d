"""The hosts that other tests work on: that they are apart, that a cut is one, and that nothing is left of them."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest
from hosts import IN_TMP, INIT, Holder, hosts, lacking
from paths import TESTS
from pieces import gone

pytestmark = pytest.mark.skipif(bool(lacking()), reason=lacking() or "there is nothing to skip")

REACHES = "import socket, sys; socket.create_connection((sys.argv[1], 8000), timeout=float(sys.argv[2]))"
CUT_SECONDS = 1.5
"""Without an answer, after which a host that is cut off is taken not to answer."""


def reaches(host, other, seconds=45.0):
    return host.run(sys.executable, "-c", REACHES, other.address, str(seconds)).returncode == 0


def serve(host):
    host.start(sys.executable, "-m", "http.server", "8000", stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and not reaches(host, host):
        time.sleep(0.05)


def test_namespaces_are_there_once_all_of_them_is_furnished(tmp_path):
    slowly = 'sleep 0.3; touch "$0"; exec "$1" -S -c "$2"'
    holder = Holder("--net", command=("sh", "-ec", slowly, str(tmp_path / "furnished"), sys.executable, INIT))
    assert (tmp_path / "furnished").exists()
    assert Path(f"/proc/{holder.pid}/ns/net").readlink() != Path("/proc/self/ns/net").readlink()
    holder.close()
    assert gone([holder.pid])


def test_why_namespaces_cannot_be_made_is_told():
    with pytest.raises(AssertionError, match=r"cannot be made: no room$"):
        Holder("--net", command=("sh", "-c", "echo no room >&2; exit 1"))


@pytest.mark.corpus
def test_a_cut_host_is_reached_by_nobody_until_it_is_healed():
    with hosts("one", "two", "three") as (one, two, three):
        for host in (one, two):
            serve(host)
        assert reaches(three, one)
        assert reaches(one, two)
        two.cut()
        assert not reaches(one, two, CUT_SECONDS)
        assert not reaches(two, one, CUT_SECONDS)
        assert reaches(three, one)
        two.heal()
        assert reaches(one, two)


@pytest.mark.corpus
def test_hosts_have_names_files_and_processes_of_their_own():
    with hosts("one", "two", tmp="1m") as (one, two):
        assert one.run("hostname").stdout == "one\n"
        ours = {path.parts[2] for path in IN_TMP}
        assert set(one.run("sh", "-c", "echo mine > /tmp/file; ls /tmp").stdout.split()) - ours == {"file"}
        assert set(two.run("ls", "/tmp").stdout.split()) - ours == set()
        assert two.run("head", "-c", "2000000", "/dev/zero").returncode == 0
        assert "No space left" in two.run("sh", "-c", "head -c 2000000 /dev/zero > /tmp/large").stderr
        sleeper = one.start("sleep", "1000")
        while not one.processes("sleep 1000"):
            time.sleep(0.01)
        assert two.processes("sleep 1000") == []
    assert sleeper.wait(10) != 0


@pytest.mark.corpus
def test_whatever_kills_the_tests_nothing_is_left():
    script = """
        import os, signal, time
        from hosts import hosts
        with hosts("one", "two") as (one, two):
            print(one.pid, two.pid, flush=True)
            one.start("sleep", "1000")
            while not one.processes("sleep 1000"):
                time.sleep(0.01)
            print(*one.processes("sleep 1000"), flush=True)
            os.kill(os.getpid(), signal.SIGKILL)
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)],
        stdout=subprocess.PIPE,
        text=True,
        check=False,
        timeout=60,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(TESTS), *sys.path])},
    )
    pids = done.stdout.split()
    assert len(pids) >= 3
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and any(Path("/proc", pid).exists() for pid in pids):
        time.sleep(0.05)
    assert not any(Path("/proc", pid).exists() for pid in pids)
