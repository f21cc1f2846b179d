"""``--workers`` on the command line: what it takes, what is shown, and what is left after a kill or an interrupt."""

from __future__ import annotations

import importlib.util
import io
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from paths import ROOT
from pieces import workers
from rich.console import Console

from whet.cli.hosts import Pace, host_line, host_lines
from whet.cli.main import main
from whet.cli.progress import View
from whet.core.events import Event, EventKind
from whet.core.options import Budget
from whet.core.store import Store
from whet.sandbox.workers.base import Host, HostStatus

sandboxed = pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")
TASK = ROOT / "whet" / "benchmarks" / "tasks" / "dedup-events"
LABELS = {"arch": "x86_64", "gpu": "none"}


def host(name="alpha", standing=HostStatus.READY, why="", failures=None, **figures):
    given = {"slots": 4, "busy": 2, "queued": 0, "done": 102, "worked": 20.0, "since": 10.0, **figures}
    return Host(name, LABELS, standing, why, failures=failures or {}, **given)


# what it takes


@pytest.mark.corpus
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("optimize", "x.py::f", "--workers", "lokal"), "--workers takes N, local, local:N, ray or ray://HOST:PORT"),
        (("optimize", "x.py::f", "--workers", "-1"), "--workers takes N"),
        (("optimize", "{folder}/x.py::f", "--workers", "local:0"), "local:0"),
        (("optimize", "{folder}/x.py::f", "--workers", "ray:1"), "ray://HOST:PORT"),
        (("optimize", "{folder}/x.py::f", "--workers", "0"), "--workers 0 is below 1"),
        (("bench", "run", "whetbench", "--workers", "lokal"), "--workers takes N"),
    ],
)
def test_what_it_does_not_take_is_one_line(words, said, capsys, tmp_path, monkeypatch):
    monkeypatch.setenv("WHET_HOME", str(tmp_path / "home"))
    (tmp_path / "x.py").write_text("def f(xs: list[int]):\n    return sorted(xs)\n")
    assert main([word.format(folder=tmp_path) for word in words]) == 2
    err = capsys.readouterr().err
    assert len(err.splitlines()) == 1
    assert said in err


@pytest.mark.corpus
def test_a_repository_is_not_evaluated_elsewhere(capsys, tmp_path):
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    assert main(["optimize", str(tmp_path), "--workers", "local:2"]) == 2
    assert "goes with one function" in capsys.readouterr().err


# what is shown


@pytest.mark.corpus
def test_a_host_is_told_with_its_share_of_time_worked_and_its_failures_by_cause():
    line = host_line(host(queued=3, failures={"worker died": 2, "SandboxError": 1}))
    assert re.fullmatch(r"alpha +2/4 busy +50 %, 102 done, 3 queued, 1x SandboxError, 2x worker died", line)


@pytest.mark.corpus
def test_a_quarantined_host_is_told_with_the_reason():
    line = host_line(host(standing=HostStatus.QUARANTINED, why="its disk is full", failures={"host lost": 1}))
    assert re.fullmatch(r"alpha +quarantined: its disk is full; 102 done, 1x host lost", line)


@pytest.mark.corpus
def test_the_summary_counts_those_that_work():
    lost = host("beta", HostStatus.LOST, "it is out of reach")
    assert host_lines([host(), lost], 7)[0] == "1 host: 2 of 4 slots busy, 7 waiting, 1 not working"


@pytest.mark.corpus
def test_the_live_view_fits_a_terminal_of_60_columns():
    view = View(Budget())
    hosts = (host("a-host-of-a-very-long-name.example.org", failures={"worker died": 1000}), host("b\x1b[31m"))
    view.hear(Event(EventKind.HOSTS, "hosts", {"hosts": hosts, "waiting": 12}))
    console = Console(width=60, record=True, file=io.StringIO())
    console.print(view.render())
    shown = console.export_text().splitlines()
    assert max(map(len, shown)) <= 60
    assert "2 hosts: 4 of 8 slots busy, 12 waiting" in shown
    assert any("2/4 busy" in line for line in shown)
    assert "\x1b" not in "".join(shown)


@pytest.mark.corpus
def test_plain_lines_come_now_and_then_and_at_once_where_a_host_stands_otherwise():
    pace = Pace(seconds=3600)
    well = {"hosts": (host(),), "waiting": 0}
    assert pace.lines(well) == []
    assert pace.lines(well) == []
    ill = {"hosts": (host(standing=HostStatus.QUARANTINED, why="its GPU is poisoned"),), "waiting": 0}
    assert "quarantined: its GPU is poisoned" in "\n".join(pace.lines(ill))
    assert pace.lines(ill) == []
    assert Pace(seconds=0).lines(well)


# what comes of it


def words_of(workers, *more):
    shared = ["optimize", f"{TASK}/target.py::dedup_events", "--workload", TASK / "workload.py", "--workers", workers]
    return [*shared, "--sandbox", "bubblewrap", "--seed", "7", *more]


def left_behind(whet):
    """Processes of this test's state directory."""
    home = f"WHET_HOME={whet.environment['WHET_HOME']}".encode()
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdecimal() and home in (entry / "environ").read_bytes().split(b"\0"):
                found.append((entry / "cmdline").read_bytes().decode())
        except OSError:
            continue
    return found


def gone(whet):
    until = time.monotonic() + 30
    while (found := left_behind(whet)) and time.monotonic() < until:
        time.sleep(0.2)
    return not found, found


def begun(whet, *words):
    return subprocess.Popen(
        [sys.executable, "-m", "whet", *map(str, words)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=whet.environment,
        start_new_session=True,
    )


def results(whet):
    """The keys of all work that was done, and when."""
    store = Store(Path(whet.environment["WHET_HOME"]))
    try:
        with store.connection() as db:
            return dict(db.execute("SELECT key, at FROM results").fetchall())
    finally:
        store.close()


def facts_of(whet, run):
    return json.loads(whet("runs", "export", run).stdout)["facts"]


def until_results(whet, number):
    until = time.monotonic() + 120
    while time.monotonic() < until:
        if (Path(whet.environment["WHET_HOME"]) / "whet.db").exists() and len(results(whet)) >= number:
            return
        time.sleep(0.1)
    raise AssertionError("no work was done in two minutes")


@pytest.mark.corpus
@sandboxed
def test_checks_only_end_in_the_same_document_as_in_this_process(whet):
    more = ("--until", "differential", "--rounds", "1", "--json")
    here, there = (whet(*words_of(workers, *more)) for workers in ("2", "local:2"))
    assert here.returncode == there.returncode == 3, there.stderr
    documents = [json.loads(done.stdout) for done in (here, there)]
    assert documents[0]["candidates"] == documents[1]["candidates"]
    assert documents[0]["status"] == documents[1]["status"]
    run = documents[1]["run"]
    told = whet("runs", "show", run).stdout
    assert "timed on hosts with arch" in told
    assert "the hosts, when it ended" in told
    facts = facts_of(whet, run)
    (only,) = facts["hosts"]
    assert only["done"] >= 3
    assert (only["slots"], only["busy"]) == (2, 0)
    assert gone(whet)[0], left_behind(whet)


@pytest.mark.corpus
@sandboxed
def test_an_interrupt_leaves_a_run_that_can_be_resumed_and_no_process(whet):
    work = begun(whet, *words_of("local:2", "--rounds", "1"))
    until_results(whet, 2)
    work.send_signal(signal.SIGINT)
    _, err = work.communicate(timeout=60)
    assert work.returncode == 130, err
    assert re.search(r"resume with: whet runs resume \S+", err)
    assert gone(whet)[0], left_behind(whet)


@pytest.mark.exhaustive
@sandboxed
def test_a_driver_that_was_killed_leaves_nothing_and_goes_on_without_repeating_work(whet):
    work = begun(whet, *words_of("local:2", "--rounds", "1", "--until", "differential"))
    until_results(whet, 3)
    work.kill()
    work.communicate()
    assert gone(whet)[0], left_behind(whet)
    before = results(whet)
    (run,) = json.loads(whet("runs", "list", "--json").stdout)
    again = whet("runs", "resume", run["run"], "--json", timeout=280)
    assert again.returncode in (0, 3), again.stderr
    after = results(whet)
    assert {key: after[key] for key in before} == before
    assert json.loads(again.stdout)["candidates"]["correct"] == 3
    assert gone(whet)[0]


@pytest.mark.exhaustive
@sandboxed
@pytest.mark.parametrize(("until", "done"), [("differential", 2), ("measure", 4)], ids=["checking", "measuring"])
def test_workers_that_are_killed_change_nothing_but_the_count_of_failures(whet, until, done):
    work = begun(whet, *words_of("local:2", "--rounds", "1", "--candidates", "1", "--until", until, "--json"))
    until_results(whet, done)
    for pause in (0.0, 0.5):  # one of the two meets a worker at work; a third death would count against the work
        time.sleep(pause)
        for worker in workers(whet.environment["WHET_HOME"])[0]:
            os.kill(worker, signal.SIGKILL)
    out, err = work.communicate(timeout=280)
    assert work.returncode in (0, 3), err
    run = json.loads(out)["run"]
    facts = facts_of(whet, run)
    assert facts["hosts"][0]["failures"].get("worker died", 0) >= 1
    assert json.loads(out)["candidates"]["correct"] == 1


@pytest.mark.exhaustive
@sandboxed
@pytest.mark.skipif(importlib.util.find_spec("ray") is None, reason="ray is not installed")
def test_a_ray_cluster_of_this_host_ends_in_the_same_document(whet):
    more = ("--until", "differential", "--rounds", "1", "--json")
    done = whet(*words_of("ray", *more), timeout=280, RAY_USAGE_STATS_ENABLED="0")
    assert done.returncode == 3, done.stderr
    document = json.loads(done.stdout)
    assert document["candidates"]["correct"] == 3
    assert "timed on hosts with arch" in whet("runs", "show", document["run"]).stdout
    assert gone(whet)[0], left_behind(whet)
