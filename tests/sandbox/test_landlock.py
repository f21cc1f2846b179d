"""The second layer: it holds where the first is open, and honest code does not notice it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from whet.sandbox import inside
from whet.sandbox.backends import BACKENDS
from whet.sandbox.bubblewrap import Bubblewrap
from whet.sandbox.inside import landlock
from whet.sandbox.inside.codec import encode
from whet.sandbox.inside.decode import decode
from whet.sandbox.interpreter import find_interpreter
from whet.sandbox.protocol import Job, Sandbox
from whet.testing.attacks.protections import ALL_ON
from whet.testing.attacks.strike import CORPUS, WEAKENED, escapes

SECOND_LAYER = {
    "write-outside": "read_only_root",
    "read-file": "hidden_host_files",
    "climb": "hidden_host_files",
    "sysctl": "drop_privileges",
    "signal-supervisor": "drop_privileges",
    "signal-others": "pid_namespace",
    "inet": "network",
    "inet6": "network",
    "unix-abstract": "network",
}
"""Attack -> the switch of the first layer without which landlock still holds it."""

needs_landlock = pytest.mark.skipif(landlock.version() < 6, reason="this kernel knows no scopes of Landlock")
needs_bubblewrap = pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")


@pytest.fixture(scope="module", params=list(BACKENDS))
def sandbox(request: pytest.FixtureRequest) -> Iterator[Sandbox]:
    if request.param == "docker":
        request.getfixturevalue("docker_host")
    elif shutil.which("bwrap") is None:
        pytest.skip("bubblewrap is not installed")
    made = BACKENDS[request.param]()
    yield made
    made.close()


def run(sandbox: Sandbox, argv: list[str], stdin: bytes = b"") -> tuple[int, bytes, bytes]:
    """Runs a program; returns its code, stdout and stderr."""
    session = sandbox.open(Job("programs", find_interpreter()))
    try:
        session.ask("prepare", argv, stdin, seconds=20.0)
        answer, _ = session.ask("go", seconds=60.0)
        (_, stdout, stderr), _ = session.ask("output", seconds=20.0)
    finally:
        session.close()
    assert answer[0] == "done", answer
    return answer[1], stdout, stderr


@needs_landlock
@needs_bubblewrap
@pytest.mark.parametrize("name", SECOND_LAYER)
def test_it_holds_where_the_first_layer_is_open(name: str) -> None:
    off = SECOND_LAYER[name]
    if off == "drop_privileges" and os.geteuid() != 0:
        pytest.skip("only root has privileges to drop")
    attack = next(attack for attack in CORPUS if attack.name == name)
    assert not escapes(attack, "bubblewrap", replace(ALL_ON, **{off: False}))


def test_facts_tell_the_version_and_the_switch(sandbox: Sandbox) -> None:
    assert sandbox.facts["landlock"] == landlock.version()
    without = WEAKENED[sandbox.facts["backend"]](replace(ALL_ON, landlock=False))
    assert without.facts["landlock"] == 0
    without.close()


HONEST = {
    "numpy with threads": """
        import numpy as np
        from concurrent.futures import ThreadPoolExecutor
        with ThreadPoolExecutor(4) as pool:
            return float(sum(pool.map(lambda n: (np.ones((n, n)) @ np.ones((n, n))).sum(), [100] * 8))) == 8e6
        """,
    "a pool of processes": """
        import multiprocessing
        with multiprocessing.get_context("fork").Pool(2) as pool:
            return pool.map(abs, [-1, 2, -3]) == [1, 2, 3]
        """,
    "shared memory and a manager": """
        import multiprocessing
        from multiprocessing import shared_memory
        block = shared_memory.SharedMemory(create=True, size=100)
        block.buf[0] = 7
        seen = block.buf[0]
        block.close()
        block.unlink()
        with multiprocessing.get_context("fork").Manager() as manager:
            return (seen, list(manager.list([1, 2]))) == (7, [1, 2])
        """,
    "a child python": """
        import subprocess, sys
        return subprocess.run([sys.executable, "-c", "print(6 * 7)"], capture_output=True).stdout == b"42\\n"
        """,
    "temporary files": """
        import os, tempfile
        with tempfile.TemporaryDirectory() as folder, tempfile.NamedTemporaryFile(dir="/dev/shm") as file:
            file.write(b"x")
            os.makedirs(folder + "/a/b")
            open(folder + "/a/b/c", "w").close()
            os.rename(folder + "/a/b/c", folder + "/c")
            os.symlink("c", folder + "/d")
            os.truncate(folder + "/d", 0)
        with open(os.devnull, "w") as null, open("/dev/urandom", "rb") as random:
            return null.write("x") == 1 and len(random.read(8)) == 8
        """,
    "names of threads, and itself in /proc": """
        import ctypes, os
        ctypes.CDLL(None).prctl(15, b"renamed", 0, 0, 0)
        return open("/proc/self/comm").read() == "renamed\\n" and len(os.listdir("/proc/self/task")) >= 1
        """,
}


@pytest.mark.parametrize("what", HONEST)
def test_honest_code_does_not_notice_it(sandbox: Sandbox, what: str) -> None:
    tree = sandbox.stage(f"honest-{what.replace(' ', '-')}", {"a.py": f"def f():{HONEST[what]}".encode()})
    session = sandbox.open(Job("calls", find_interpreter(), tree))
    try:
        assert session.ask("load", "python", "a.py", "f", seconds=20.0)[0] == ("ok",)
        (_, outcome, _), _ = session.ask("call", encode(()), seconds=30.0)
    finally:
        session.close()
    kind, _, _, value, _ = decode(outcome)
    assert (kind, value) == ("value", True)


@pytest.mark.skipif(shutil.which("g++", path="/usr/bin") is None, reason="g++ is not installed")
def test_compilers_work_behind_it(sandbox: Sandbox) -> None:
    build = "cat > /tmp/a.cpp && g++ -O1 /tmp/a.cpp -o /work/a && exec /work/a"
    source = b"#include <iostream>\nint main() { std::cout << 42; }\n"
    assert run(sandbox, ["/bin/sh", "-c", build], source) == (0, b"42", b"")


@pytest.mark.skipif(shutil.which("valgrind", path="/usr/bin") is None, reason="valgrind is not installed")
def test_valgrind_works_behind_it(sandbox: Sandbox) -> None:
    command = "/usr/bin/valgrind -q --tool=callgrind --callgrind-out-file=/tmp/report /bin/true && test -s /tmp/report"
    assert run(sandbox, ["/bin/sh", "-c", command])[0] == 0


def test_a_program_that_cannot_start_says_why(sandbox: Sandbox) -> None:
    session = sandbox.open(Job("programs", find_interpreter()))
    try:
        session.ask("prepare", ["/usr/bin/no-such-program"], b"", seconds=20.0)
        answer, _ = session.ask("go", seconds=20.0)
    finally:
        session.close()
    assert answer[0] == "error"
    assert "No such file" in answer[2]


@needs_landlock
def test_a_missing_path_is_left_out(tmp_path: Path) -> None:
    script = """
        import sys
        sys.path.insert(0, sys.argv[1])
        from inside.landlock import restrict
        restrict([sys.argv[2] + "/missing", "/usr"], [sys.argv[2]])
        open(sys.argv[2] + "/x", "w").close()
        try:
            open("/proc/self/status")
        except PermissionError:
            print("refused")
        """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script), Path(inside.__file__).parents[1], tmp_path],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "refused\n"
    assert (tmp_path / "x").exists()


@needs_bubblewrap
def test_a_program_s_time_does_not_hold_what_came_before_it() -> None:
    sandbox = Bubblewrap()
    session = sandbox.open(Job("programs", find_interpreter()))
    try:
        session.ask("prepare", ["/bin/true"], b"", seconds=20.0)
        (_, code, wall, cpu, *_), outside = session.ask("go", seconds=20.0)
    finally:
        session.close()
        sandbox.close()
    assert code == 0
    assert 0 < wall < outside * 1e9
    assert cpu >= 0
