"""What all processes of a job have run, from outside: nothing is hidden in what has ended, nobody else is in it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from whet.core.options import Options
from whet.evaluators.ladder import open_ladder
from whet.evaluators.processes import Pass
from whet.evaluators.scheduling import ProcessorTime, Watch
from whet.evaluators.targets import read_task
from whet.sandbox import cpu_account
from whet.sandbox.backends import BACKENDS
from whet.sandbox.bubblewrap import Bubblewrap
from whet.sandbox.control_group import find_place
from whet.sandbox.cpu_account import account_in, account_of
from whet.sandbox.inside.codec import encode
from whet.sandbox.inside.decode import decode
from whet.sandbox.interpreter import find_interpreter
from whet.sandbox.process_tree import last_number
from whet.sandbox.protocol import Job, Sandbox, Session

HIDDEN = 0.05
"""CPU seconds of the work that a candidate hides; its own thread does next to nothing."""
WORK = f"""\
import os, signal, sys, threading, time

def compute():
    begun = time.thread_time()
    while time.thread_time() - begun < {HIDDEN}:
        pass

def in_thread():
    thread = threading.Thread(target=compute)
    thread.start()
    thread.join()

def forked(work):
    if os.fork() == 0:
        work()
        os._exit(0)

def until_all_ended(start):
    reading, writing = os.pipe()
    os.set_inheritable(writing, True)
    start()
    os.close(writing)
    os.read(reading, 1)  # returns as the last one that holds the other end is gone

def forget_children():
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
"""
HIDING = {
    "a child that nobody waits for": """
        forget_children()
        until_all_ended(lambda: forked(compute))
        """,
    "a child of a child": """
        until_all_ended(lambda: forked(lambda: forked(compute)))
        os.wait()
        """,
    "a child in a session of its own": """
        until_all_ended(lambda: forked(lambda: (os.setsid(), forked(compute))))
        os.wait()
        """,
    "a child that is waited for": """
        forked(compute)
        os.wait()
        """,
    "a thread": "in_thread()",
    "a thread of a child that nobody waits for": """
        forget_children()
        until_all_ended(lambda: forked(in_thread))
        """,
    "another program": f"""
        forget_children()
        code = "import time" + chr(10) + "while time.thread_time() < {HIDDEN}: pass"
        words = [sys.executable, "-I", "-S", "-c", code]
        until_all_ended(lambda: os.posix_spawn(sys.executable, words, os.environ))
        """,
}
"""How work is done in what has ended before the answer comes."""
every_way = pytest.mark.parametrize("way", HIDING)
needs_bubblewrap = pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")


@pytest.fixture(scope="module", params=list(BACKENDS))
def sandbox(request: pytest.FixtureRequest) -> Iterator[Sandbox]:
    """Each backend that has control groups here."""
    if request.param == "docker":
        request.getfixturevalue("docker_host")
    elif (place := find_place()) is None or place.accounting is None or shutil.which("bwrap") is None:
        pytest.skip("no control group can be made here")
    made = BACKENDS[request.param]()
    yield made
    made.close()


@pytest.fixture(scope="module")
def ungrouped() -> Iterator[Sandbox]:
    if shutil.which("bwrap") is None:
        pytest.skip("bubblewrap is not installed")
    made = Bubblewrap(control_groups=False)
    yield made
    made.close()


def started(sandbox: Sandbox, body: str, preload: tuple[str, ...] | None = None) -> Session:
    source = f"{WORK}\ndef attack():\n{textwrap.indent(textwrap.dedent(body).strip(), '    ')}\n"
    tree = sandbox.stage(f"job-{abs(hash(source))}", {"a.py": source.encode()})
    session = sandbox.open(Job("calls", find_interpreter(), tree, preload=preload))
    assert session.ask("load", "python", "a.py", "attack", seconds=60.0)[0] == ("ok",)
    return session


def call(session: Session) -> None:
    (_, outcome, _), _ = session.ask("call", encode(()), seconds=60.0)
    assert decode(outcome)[0] == "value", decode(outcome)


def given(sandbox: Sandbox, body: str, preload: tuple[str, ...] | None = None) -> ProcessorTime:
    """Returns what a function's processes were given in a call."""
    with closing(started(sandbox, body, preload)) as session:
        watch = Watch(session)
        call(session)
        return watch.read()


def compile_something() -> None:
    """Has somebody else start a process, whose number comes from the same row as those of a sandbox."""
    before = last_number()
    subprocess.run([sys.executable, "-I", "-S", "-c", ""], check=True)
    assert before is None or last_number() != before


@every_way
def test_what_has_ended_is_in_the_account_of_a_control_group(sandbox: Sandbox, way: str) -> None:
    found = given(sandbox, HIDING[way])
    assert found.ran is not None
    assert found.ran >= HIDDEN
    assert found.whole


def test_what_others_do_is_not_in_it(sandbox: Sandbox) -> None:
    with closing(started(sandbox, "pass")) as session, closing(started(sandbox, "compute()")) as other:
        watch = Watch(session)
        call(other)
        compile_something()
        call(session)
        found = watch.read()
    assert found.ran is not None
    assert 0 < found.ran < HIDDEN
    assert found.whole


@every_way
def test_without_a_group_nothing_is_whole_that_had_a_process_or_thread_ended(ungrouped: Sandbox, way: str) -> None:
    found = given(ungrouped, HIDING[way])
    assert found.ran is not None
    assert not found.whole


def test_without_a_group_what_others_start_cannot_be_told_apart(ungrouped: Sandbox) -> None:
    with closing(started(ungrouped, "pass")) as session:
        watch = Watch(session)
        compile_something()
        call(session)
        assert not watch.read().whole


@pytest.mark.parametrize("way", ["a child of a child", "a thread of a child that nobody waits for"])
def test_a_fork_of_a_warm_worker_is_counted_too(sandbox: Sandbox, way: str) -> None:
    found = given(sandbox, HIDING[way], preload=())
    assert found.ran is not None
    assert found.ran >= HIDDEN
    assert found.whole


@needs_bubblewrap
@every_way
def test_a_pass_of_a_program_tells_all_that_it_ran(tmp_path: Path, way: str) -> None:
    if (place := find_place()) is None or place.accounting is None:
        pytest.skip("no control group can be made here")
    (tmp_path / "program.py").write_text(f"{WORK}\n{textwrap.dedent(HIDING[way])}\nprint(input())\n")
    (tmp_path / "workload.py").write_text("sizes = [1]\ndef make_input(size, rng):\n    return str(size)\n")
    settings = Options(sandbox="bubblewrap")
    with closing(open_ladder(read_task(f"{tmp_path}/program.py", settings), settings, 1)) as ladder:
        (item,) = ladder.source.draw(1, [1])
        with closing(ladder.builder.build(ladder.task.source).start((0,), 0, 0)) as process:
            one = process.timed([item.payload] * 2, 60.0)
    assert isinstance(one, Pass), one
    assert one.ran is not None
    assert one.ran >= 2 * HIDDEN
    assert one.whole


@pytest.mark.parametrize(
    ("files", "seconds"),
    [
        ({"cpuacct.usage": "1500000000\n"}, 1.5),
        ({"cpu.stat": "usage_usec 2500000\nuser_usec 2000000\nsystem_usec 500000\n"}, 2.5),
        ({"cpuacct.usage": "1500000000\n", "cpu.stat": "nr_periods 0\nnr_throttled 0\n"}, 1.5),
        ({"cpu.stat": "nr_periods 0\nnr_throttled 0\nthrottled_time 0\n"}, None),
        ({"cpu.stat": ""}, None),
        ({}, None),
    ],
    ids=["version 1", "version 2", "version 1 with limits", "limits alone", "empty", "nothing"],
)
def test_both_versions_are_read(tmp_path: Path, files: dict[str, str], seconds: float | None) -> None:
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    account = account_in(tmp_path)
    assert (account is None) == (seconds is None)
    if account is not None:
        assert account.seconds() == seconds
        account.close()


def test_only_a_group_with_the_right_name_is_a_containers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [line.split(":", 2) for line in Path("/proc/self/cgroup").read_text().splitlines()]
    (controller, group), *_ = [(names, path) for _, names, path in rows if "," not in names]
    monkeypatch.setattr(cpu_account, "ROOTS", {controller: tmp_path})
    folder = tmp_path / group.lstrip("/")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "cpuacct.usage").write_text("7000000000\n")
    account = account_of(os.getpid(), group)
    assert account is not None
    assert account.seconds() == 7.0
    account.close()
    assert account_of(os.getpid(), "another container") is None
