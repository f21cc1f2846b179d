"""Warm workers: what a fork has, what it cannot reach, and that nothing of it meets the next."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from whet.core.task import MIB, Limits
from whet.sandbox.backends import BACKENDS
from whet.sandbox.inside.codec import encode
from whet.sandbox.inside.decode import decode
from whet.sandbox.interpreter import Interpreter, find_interpreter
from whet.sandbox.protocol import Incident, Job, Sandbox, Session

WARM = Job("calls", find_interpreter(), preload=("numpy", "numpy.random"))
WHERE = "import sys\nreturn id(sys)"
"""Processes that were started apart differ in where things lie; forks of one worker do not."""


@pytest.fixture(scope="module", params=list(BACKENDS))
def backend(request: pytest.FixtureRequest) -> str:
    if request.param == "docker":
        request.getfixturevalue("docker_host")
    elif shutil.which("bwrap") is None:
        pytest.skip("bubblewrap is not installed")
    return request.param


@pytest.fixture(scope="module")
def sandbox(backend: str) -> Iterator[Sandbox]:
    made = BACKENDS[backend]()
    yield made
    made.close()


def opened(sandbox: Sandbox, body: str, job: Job = WARM) -> Session:
    source = "def f():\n" + textwrap.indent(textwrap.dedent(body), "    ")
    tree = sandbox.stage(f"tree-{abs(hash(source))}", {"target.py": source.encode()})
    session = sandbox.open(replace(job, tree=tree))
    answer, _ = session.ask("load", "python", "target.py", "f", seconds=20.0)
    assert answer == ("ok",)
    return session


def call(session: Session, seconds: float = 10.0) -> Any:
    (_, outcome, _), _ = session.ask("call", encode(()), seconds=seconds)
    kind, _, _, value, _ = decode(outcome)
    return value if kind == "value" else f"{kind}: {value}"


def run(sandbox: Sandbox, body: str, job: Job = WARM, seconds: float = 10.0) -> Any:
    session = opened(sandbox, body, job)
    try:
        return call(session, seconds)
    finally:
        session.close()


def test_forks_of_one_worker_have_its_modules(sandbox: Sandbox) -> None:
    look = "import sys\nreturn 'numpy' in sys.modules, id(sys)"
    (first, here), (second, there) = run(sandbox, look), run(sandbox, look)
    assert first
    assert second
    assert here == there
    bare = replace(WARM, preload=None)
    assert run(sandbox, look, bare)[0] is False


def test_a_module_that_the_interpreter_lacks_is_the_jobs_own_to_miss(sandbox: Sandbox) -> None:
    job = replace(WARM, preload=("no_such_module_anywhere",))
    assert run(sandbox, "import no_such_module_anywhere", job).startswith("raise: ('builtins:ModuleNotFoundError'")


def test_what_one_leaves_the_next_does_not_find(sandbox: Sandbox) -> None:
    leave = """
        import ctypes, math, numpy, os, subprocess, sys, threading, time
        for path in ("/tmp/left", "/work/left/deep", "/dev/shm/left"):
            os.makedirs(os.path.dirname(path), exist_ok=True)
            open(path, "w").close()
        libc = ctypes.CDLL(None)
        made = libc.semget(77, 1, 0o1666), libc.msgget(77, 0o1666)
        subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"], start_new_session=True)
        threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
        os.environ["LEFT"] = os.environ["HOME"] = "left"
        math.sin, numpy.zeros = math.cos, numpy.ones
        sys.modules["left"] = math
        os.chdir("/")
        os.umask(0o777)
        return min(made) >= 0
        """
    look = """
        import ctypes, math, numpy, os, sys, threading
        libc = ctypes.CDLL(None)
        found = [p for p in ("/tmp/left", "/work/left", "/dev/shm/left") if os.path.exists(p)]
        found += [n for n in os.listdir("/proc") if n.isdigit() and "sleep" in open(f"/proc/{n}/cmdline").read()]
        queues = libc.semget(77, 1, 0), libc.msgget(77, 0)
        state = math.sin(0.0), float(numpy.zeros(1)[0]), "left" in sys.modules, threading.active_count()
        return found, queues, state, os.environ["HOME"], os.environ.get("LEFT"), os.getcwd(), os.umask(0o22)
        """
    before = run(sandbox, look)
    assert before[:-1] == ([], (-1, -1), (0.0, 0.0, False, 1), "/work", None, "/work")
    assert run(sandbox, leave) is True
    assert run(sandbox, look) == before


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ("import ctypes\nctypes.string_at(0)", "crash"),
        ("while True:\n    pass", "timeout"),
        ("kept = b'x' * (400 << 20)\nimport time\ntime.sleep(5)", "memory"),
        ("return b'x' * (8 << 20)", "output_flood"),
        (
            "import os\nfor n in range(3, 30):\n    try:\n        os.write(n, bytes(8))\n    except OSError:\n"
            "        pass",
            "protocol",
        ),
    ],
    ids=lambda value: value if value.isalpha() else None,
)
@pytest.mark.corpus(one_in=8)
def test_an_incident_throws_the_worker_away(sandbox: Sandbox, body: str, kind: str) -> None:
    job = replace(WARM, limits=Limits(memory=256 * MIB, output=MIB))
    before = run(sandbox, WHERE, job)
    assert run(sandbox, WHERE, job) == before
    with pytest.raises(Incident) as caught:
        run(sandbox, body, job, seconds=1.0 if kind == "timeout" else 10.0)
    assert caught.value.kind == kind
    assert run(sandbox, WHERE, job) != before


def test_a_crash_is_told_with_its_signal(sandbox: Sandbox) -> None:
    with pytest.raises(Incident, match="SIGABRT"):
        run(sandbox, "import os\nos.abort()")


def test_a_fork_has_the_rights_of_a_fresh_process(sandbox: Sandbox) -> None:
    look = """
        status = dict(line.split(":", 1) for line in open("/proc/self/status"))
        names = "Groups CapInh CapPrm CapEff CapBnd CapAmb NoNewPrivs Seccomp".split()
        return {name: status[name].strip() for name in names}, "0" in status["Uid"].split() + status["Gid"].split()
        """
    forked, fresh = run(sandbox, look), run(sandbox, look, replace(WARM, preload=None))
    (rights, root), (expected, _) = _plain(forked), _plain(fresh)
    assert rights == expected
    assert not root
    assert rights["NoNewPrivs"] == "1"
    assert rights["Seccomp"] == "2"
    assert {rights[name] for name in ("CapInh", "CapPrm", "CapEff", "CapAmb")} == {"0" * 16}


def test_a_fork_can_neither_signal_nor_trace_nor_read_what_it_came_from(sandbox: Sandbox) -> None:
    attempt = """
        import ctypes, os, signal
        libc = ctypes.CDLL(None, use_errno=True)
        class Piece(ctypes.Structure):
            _fields_ = [("base", ctypes.c_void_p), ("length", ctypes.c_size_t)]
        buffer = ctypes.create_string_buffer(8)
        here, there = Piece(ctypes.addressof(buffer), 8), Piece(id(os), 8)
        done = []
        others = {1, os.getppid()} | {int(name) for name in os.listdir("/proc") if name.isdigit()} - {os.getpid()}
        for pid in others:
            for name in ("mem", "environ", "maps", "fd", "cwd", "root"):
                path = f"/proc/{pid}/{name}"
                try:
                    os.readlink(path) if name in ("cwd", "root") else (
                        os.listdir(path) if name == "fd" else open(path, "rb").read(1))
                    done.append(path)
                except OSError:
                    pass
            if libc.ptrace(16, pid, 0, 0) == 0:
                done.append(f"ptrace {pid}")
            if libc.process_vm_readv(pid, ctypes.byref(here), 1, ctypes.byref(there), 1, 0) >= 0:
                done.append(f"vm {pid}")
            for number in (signal.SIGKILL, signal.SIGSTOP, signal.SIGTERM):
                try:
                    os.kill(pid, number)
                except OSError:
                    pass
        return done
        """
    before = run(sandbox, WHERE)
    assert run(sandbox, attempt) == []
    assert run(sandbox, WHERE) == before


def test_no_descriptor_of_the_worker_is_in_a_fork(sandbox: Sandbox) -> None:
    look = """
        import os
        return sorted(os.path.realpath(f"/proc/self/fd/{n}").split("/")[-1].split(":")[0]
                      for n in os.listdir("/proc/self/fd") if os.path.exists(f"/proc/self/fd/{n}")
                      or os.path.islink(f"/proc/self/fd/{n}"))
        """
    assert run(sandbox, look) == ["null", "null", "null", "pipe", "pipe"]


def test_generators_are_seeded_anew(sandbox: Sandbox) -> None:
    draw = "import random, numpy.random\nreturn random.random(), float(numpy.random.rand())"
    first, second = run(sandbox, draw), run(sandbox, draw)
    assert first[0] != second[0]
    assert first[1] != second[1]


def test_a_fork_has_the_hash_seed_of_its_job(sandbox: Sandbox) -> None:
    fresh, forked = (
        [run(sandbox, "return hash('a')", replace(WARM, hash_seed=seed, preload=preload)) for seed in (0, 5)]
        for preload in (None, ())
    )
    assert fresh == forked
    assert fresh[0] != fresh[1]


def test_forks_at_once_come_from_workers_of_their_own(sandbox: Sandbox) -> None:
    sessions = [opened(sandbox, "import os\nreturn os.listdir('/src'), id(os)") for _ in range(2)]
    try:
        (files, here), (_, there) = map(call, sessions)
    finally:
        for session in sessions:
            session.close()
    assert files == ["target.py"]
    assert here != there


def test_numbered_workers_are_apart(sandbox: Sandbox) -> None:
    first, second = (run(sandbox, WHERE, replace(WARM, worker=number)) for number in (1, 2))
    assert first != second
    assert run(sandbox, WHERE, replace(WARM, worker=1)) == first


def test_a_fork_starts_programs_too(sandbox: Sandbox) -> None:
    tree = sandbox.stage("tool", {"bin/tool": b"#!/bin/sh\nread line; echo got $line; kill $$\n"}, executable=True)
    session = sandbox.open(replace(WARM, program="programs", tree=tree, preload=()))
    try:
        session.ask("prepare", [f"{session.tree}/bin/tool"], b"it\n", seconds=10.0)
        (_, code, *_), _ = session.ask("go", seconds=10.0)
        (_, stdout, _), _ = session.ask("output", seconds=10.0)
    finally:
        session.close()
    assert (code, stdout) == (-15, b"got it\n")


@pytest.mark.corpus
def test_two_hundred_in_a_row_leave_whet_as_it_was(backend: str) -> None:
    def counts() -> tuple[int, int]:
        children = [Path(task.path, "children").read_text().split() for task in os.scandir("/proc/self/task")]
        return len([*Path("/proc/self/fd").iterdir()]), sum(map(len, children))

    sandbox = BACKENDS[backend]()  # in another, what earlier tests have spoiled may still be going
    try:
        run(sandbox, "return 1")
        before = counts()
        for _ in range(200):
            assert run(sandbox, "return 1") == 1
        assert counts() == before
    finally:
        sandbox.close()


@pytest.fixture(scope="module")
def interpreter(tmp_path_factory: pytest.TempPathFactory) -> Interpreter:
    """One below a folder that each job has anew, with a module that writes to memory which its children share."""
    folder = tmp_path_factory.mktemp("venv")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    folder.chmod(0o755)
    (packages,) = folder.glob("lib/python*/site-packages")
    (packages / "sharing.py").write_text("import mmap\nkept = mmap.mmap(-1, 4096)\n")
    (packages / "plain.py").write_text("import sys\nplace = id(sys)\n")
    return find_interpreter(folder / "bin" / "python")


def test_an_interpreter_of_the_users_own_is_forked_from(sandbox: Sandbox, interpreter: Interpreter) -> None:
    job = replace(WARM, interpreter=interpreter, preload=("plain",))
    body = "import sys\nreturn 'plain' in sys.modules, __import__('plain').place"
    first, second = run(sandbox, body, job), run(sandbox, body, job)
    assert first == second
    assert first[0]


def test_one_whose_forks_would_share_memory_is_not_forked_from(sandbox: Sandbox, interpreter: Interpreter) -> None:
    job = replace(WARM, interpreter=interpreter, preload=("sharing",))
    first, second = run(sandbox, WHERE, job), run(sandbox, WHERE, job)
    assert first != second


def test_a_process_without_rights_finds_that_it_makes_no_forks() -> None:
    code = (
        "import os\n"
        "from whet.sandbox.inside import forkserver, kernel\n"
        "if os.geteuid() == 0:\n"
        "    kernel.drop_capabilities()\n"
        "print(forkserver.works(forkserver.Rules(kernel.CLONE_NEWPID, [], [], True, b'')))\n"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert said == "False\n"


def _plain(value: Any) -> Any:
    """Returns what came back with its dicts as dicts."""
    rights, root = value
    return {key: text for _, key, text in rights.state}, root


def test_a_worker_outlives_the_tree_of_its_first_job(sandbox: Sandbox) -> None:
    job = replace(WARM, preload=("json",))  # of which nobody else has made a worker
    first = sandbox.stage("first", {"target.py": b""})
    sandbox.open(replace(job, tree=first)).close()
    shutil.rmtree(first)
    assert run(sandbox, "return 2", job) == 2
