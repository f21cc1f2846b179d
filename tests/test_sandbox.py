"""The bubblewrap sandbox: what a candidate can reach, and what becomes of one that misbehaves."""

from __future__ import annotations

import os
import shutil
import subprocess
import textwrap
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from whet.core.errors import UsageError
from whet.core.task import MIB, Limits
from whet.sandbox.backends import open_sandbox, probe
from whet.sandbox.bubblewrap import Bubblewrap, stage
from whet.sandbox.inside.codec import encode
from whet.sandbox.inside.decode import decode
from whet.sandbox.interpreter import find_interpreter, reachable
from whet.sandbox.protocol import Incident, Job

pytestmark = pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")

INTERPRETER = find_interpreter()


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Bubblewrap]:
    made = Bubblewrap()
    yield made
    made.close()


def run(sandbox: Bubblewrap, body: str, limits: Limits = Limits(), seconds: float = 10.0) -> object:
    """Runs the body of a function ``attack()`` inside and returns its value; an exception's text where it raises."""
    source = "def attack():\n" + textwrap.indent(textwrap.dedent(body), "    ")
    tree = sandbox.stage(f"attack-{abs(hash(source))}", {"target.py": source.encode()})
    session = sandbox.open(Job("calls", INTERPRETER, tree, limits))
    try:
        answer, _ = session.ask("load", "target.py", "attack", seconds=20.0)
        assert answer == ("ok",)
        (_, outcome, _), _ = session.ask("call", encode(()), seconds=seconds)
    finally:
        session.close()
    kind, _, _, value, _ = decode(outcome)
    return value if kind == "value" else f"{kind}: {value}"


def test_it_is_available_and_holds() -> None:
    report = next(report for report in probe() if report.name == "bubblewrap")
    assert report.available, report.reason
    assert all(report.protections.values()), report.protections


def test_the_candidate_is_nobody(sandbox: Bubblewrap) -> None:
    real, effective, capabilities = run(
        sandbox,
        """
        import os
        status = dict(line.split(":\\t") for line in open("/proc/self/status") if ":\\t" in line)
        return (os.getuid(), os.geteuid(), status["CapEff"].strip())
        """,
    )  # type: ignore[misc]
    assert real != 0
    assert effective != 0
    assert int(capabilities, 16) == 0


def test_no_environment_of_ours_is_visible(sandbox: Bubblewrap) -> None:
    os.environ["WHET_TEST_SECRET"] = "hunter2"
    try:
        seen = run(
            sandbox,
            """
            import glob, os
            texts = [repr(dict(os.environ))]
            for path in glob.glob("/proc/[0-9]*/environ"):
                try:
                    texts.append(open(path, "rb").read().decode("latin1"))
                except OSError:
                    pass
            return "\\n".join(texts)
            """,
        )
    finally:
        del os.environ["WHET_TEST_SECRET"]
    assert isinstance(seen, str)
    assert "PATH" in seen
    assert "hunter2" not in seen


@pytest.mark.parametrize(
    "path",
    ["/etc/shadow", "/etc/passwd", "/var/lib", "/home", "/proc/1/root/etc/shadow", str(Path(__file__).resolve())],
)
def test_host_files_are_out_of_reach(sandbox: Bubblewrap, path: str) -> None:
    said = run(
        sandbox,
        f"return open({path!r}).read() if not __import__('os').path.isdir({path!r}) else "
        f"repr(__import__('os').listdir({path!r}))",
    )
    assert said == "[]" or "Error" in str(said), said


def test_nothing_outside_its_own_folders_can_be_written(sandbox: Bubblewrap) -> None:
    written = run(
        sandbox,
        """
        import os
        done = []
        for path in ("/x", "/usr/x", "/src/x", "/whet/x", "/dev/x", "/etc/x", "/proc/sys/kernel/core_pattern",
                     "/proc/sys/vm/drop_caches"):
            try:
                os.close(os.open(path, os.O_WRONLY | os.O_CREAT))
                done.append(path)
            except OSError:
                pass
        return done
        """,
    )
    assert written == []


def test_there_is_no_network(sandbox: Bubblewrap) -> None:
    said = run(
        sandbox,
        """
        import socket
        tried = []
        for family, kind in ((socket.AF_INET, socket.SOCK_STREAM), (socket.AF_INET, socket.SOCK_DGRAM)):
            try:
                s = socket.socket(family, kind)
                s.settimeout(1)
                s.connect(("192.0.2.1", 9))
                tried.append("connected")
            except OSError as error:
                tried.append(type(error).__name__)
        return tried, [name for _, name in socket.if_nameindex()]
        """,
    )
    assert said == (["OSError", "OSError"], ["lo"])


@pytest.mark.parametrize(
    ("call", "arguments"), [(101, "16, 1, 0, 0"), (272, "0x10000000"), (425, "1, 0"), (298, "0, 0, -1, -1, 0")]
)
def test_system_calls_that_no_candidate_needs_are_denied(sandbox: Bubblewrap, call: int, arguments: str) -> None:
    said = run(
        sandbox,
        f"""
        import ctypes
        libc = ctypes.CDLL(None, use_errno=True)
        return libc.syscall({call}, {arguments}), ctypes.get_errno()
        """,
    )
    assert said == (-1, 1)  # EPERM


def test_a_fork_bomb_stops_at_the_limit(sandbox: Bubblewrap) -> None:
    count = run(
        sandbox,
        """
        import os, time
        made = 0
        for _ in range(500):
            try:
                if os.fork() == 0:
                    time.sleep(30)
                    os._exit(0)
                made += 1
            except OSError:
                break
        return made
        """,
        Limits(processes=20),
    )
    assert isinstance(count, int)
    assert 1 <= count <= 25


def test_memory_ends_at_the_limit(sandbox: Bubblewrap) -> None:
    said = run(sandbox, "return len(bytearray(4 << 30))", Limits(memory=256 * MIB))
    assert said == "memory: None"


def test_an_endless_call_is_killed_with_all_that_it_started(sandbox: Bubblewrap) -> None:
    mark = f"whet-endless-{os.getpid()}"
    start = time.perf_counter()
    with pytest.raises(Incident) as caught:
        run(
            sandbox,
            f"""
            import os, signal, subprocess, sys
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)", "{mark}"], start_new_session=True)
            while True:
                pass
            """,
            seconds=1.0,
        )
    assert caught.value.kind == "timeout"
    assert time.perf_counter() - start < 5.0
    deadline = time.perf_counter() + 5.0
    while time.perf_counter() < deadline:
        if subprocess.run(["pgrep", "-f", mark], capture_output=True, check=False).returncode != 0:
            return
        time.sleep(0.05)
    pytest.fail("a process of the candidate is still there")


def test_a_crash_is_told_with_its_signal(sandbox: Bubblewrap) -> None:
    with pytest.raises(Incident) as caught:
        run(sandbox, "import ctypes; ctypes.string_at(0)")
    assert caught.value.kind == "crash"
    assert "SIGSEGV" in str(caught.value)


def test_leaving_early_is_a_crash_not_a_pass(sandbox: Bubblewrap) -> None:
    with pytest.raises(Incident) as caught:
        run(sandbox, "import os; os._exit(0)")
    assert caught.value.kind == "crash"


def test_a_flood_is_cut(sandbox: Bubblewrap) -> None:
    with pytest.raises(Incident) as caught:
        run(sandbox, "return b'x' * (8 << 20)", Limits(output=1 * MIB))
    assert caught.value.kind == "output_flood"


def test_speaking_out_of_turn_is_no_message(sandbox: Bubblewrap) -> None:
    with pytest.raises(Incident) as caught:
        run(
            sandbox,
            """
            import os
            for descriptor in range(3, 30):
                try:
                    os.write(descriptor, b"\\x04" + bytes(7) + b"junk")
                except OSError:
                    pass
            """,
        )
    assert caught.value.kind == "protocol"


def test_two_jobs_share_no_files(sandbox: Bubblewrap) -> None:
    leave = "for p in ('/tmp/left', '/work/left', '/dev/shm/left'): open(p, 'w').close()\nreturn True"
    assert run(sandbox, leave) is True
    look = "import os\nreturn [p for p in ('/tmp/left', '/work/left', '/dev/shm/left') if os.path.exists(p)]"
    assert run(sandbox, look) == []


def test_closing_leaves_nothing_behind() -> None:
    made = Bubblewrap()
    made.stage("a", {"x.py": b""})
    folder = made._folder
    assert folder.exists()
    made.close()
    assert not folder.exists()


def test_staging_stays_in_its_folder(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="leads out"):
        stage(tmp_path / "trees", "a", {"../../x": b""}, executable=False)


def test_none_needs_unsafe() -> None:
    with pytest.raises(UsageError, match="--unsafe"):
        open_sandbox("none", unsafe=False)
    with pytest.raises(UsageError, match="did you mean 'bubblewrap'"):
        open_sandbox("bubblewarp", unsafe=False)
    opened = open_sandbox("none", unsafe=True)
    assert opened.facts["unsafe"] is True
    opened.close()


def test_interpreters_that_do_not_run_are_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="does not run"):
        find_interpreter(tmp_path / "python3")


def test_a_private_folder_is_not_reachable(tmp_path: Path) -> None:
    inner = tmp_path / "private" / "inner"
    inner.mkdir(parents=True)
    inner.parent.chmod(0o700)
    assert not reachable(inner)
    assert reachable(Path("/usr/bin"))
