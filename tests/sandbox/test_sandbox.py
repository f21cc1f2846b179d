"""Every sandbox: what a candidate can reach, what becomes of one that misbehaves, what the next one finds."""

from __future__ import annotations

import os
import shutil
import subprocess
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest
from pieces import commands, gone

from whet.core.errors import SandboxError, UsageError
from whet.core.task import DEFAULT_LIMITS, MIB, Limits
from whet.sandbox.backends import BACKENDS, open_sandbox, probe
from whet.sandbox.inside.codec import encode
from whet.sandbox.inside.decode import decode
from whet.sandbox.interpreter import find_interpreter, reachable
from whet.sandbox.protocol import Incident, Job, Sandbox
from whet.sandbox.session import LocalProcess
from whet.sandbox.staging import USER, write_tree

INTERPRETER = find_interpreter()


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


def run(
    sandbox: Sandbox, body: str, limits: Limits = DEFAULT_LIMITS, seconds: float = 10.0, packages: bool = True
) -> object:
    """Runs the body of a function ``attack()`` inside and returns its value; an exception's text where it raises."""
    source = "def attack():\n" + textwrap.indent(textwrap.dedent(body), "    ")
    tree = sandbox.stage(f"attack-{abs(hash(source))}", {"target.py": source.encode()})
    session = sandbox.open(Job("calls", INTERPRETER, tree, limits, packages=packages))
    try:
        answer, _ = session.ask("load", "python", "target.py", "attack", seconds=20.0)
        assert answer == ("ok",)
        (_, outcome, _), _ = session.ask("call", encode(()), seconds=seconds)
    finally:
        session.close()
    kind, _, _, value, _ = decode(outcome)
    return value if kind == "value" else f"{kind}: {value}"


def test_it_is_available_and_holds(backend: str) -> None:
    report = next(report for report in probe() if report.name == backend)
    assert report.available, report.reason
    assert report.version
    lacking = {name for name, on in report.protections.items() if not on}
    assert lacking <= {"control_group"}, lacking  # which is the kernel's choice for this user


@pytest.mark.parametrize("packages", [True, False])
def test_a_job_that_needs_no_packages_starts_without_a_look_for_them(sandbox: Sandbox, packages: bool) -> None:
    body = """
        import sys
        return any(path.endswith("-packages") for path in sys.path)
        """
    assert run(sandbox, body, packages=packages) == packages


def test_the_candidate_is_nobody(sandbox: Sandbox) -> None:
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


def test_its_user_has_a_name(sandbox: Sandbox) -> None:
    """torch's compiler asks for it when it is imported; the user's number is on no list of users."""
    assert run(sandbox, "import getpass\nreturn getpass.getuser()") == USER


def test_no_environment_of_ours_is_visible(sandbox: Sandbox) -> None:
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
def test_host_files_are_out_of_reach(sandbox: Sandbox, path: str) -> None:
    said = run(
        sandbox,
        f"return open({path!r}).read() if not __import__('os').path.isdir({path!r}) else "
        f"repr(__import__('os').listdir({path!r}))",
    )
    assert said == "[]" or "Error" in str(said), said


def test_nothing_outside_its_own_folders_can_be_written(sandbox: Sandbox) -> None:
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


def test_there_is_no_network(sandbox: Sandbox) -> None:
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
            except OSError:
                tried.append("refused")
        return tried, [name for _, name in socket.if_nameindex()]
        """,
    )
    assert said == (["refused", "refused"], ["lo"])


@pytest.mark.parametrize(
    ("call", "arguments"), [(101, "16, 1, 0, 0"), (272, "0x10000000"), (425, "1, 0"), (298, "0, 0, -1, -1, 0")]
)
def test_system_calls_that_no_candidate_needs_are_denied(sandbox: Sandbox, call: int, arguments: str) -> None:
    said = run(
        sandbox,
        f"""
        import ctypes
        libc = ctypes.CDLL(None, use_errno=True)
        return libc.syscall({call}, {arguments}), ctypes.get_errno()
        """,
    )
    assert said == (-1, 1)  # EPERM


def test_a_fork_bomb_stops_at_the_limit(sandbox: Sandbox) -> None:
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


def test_memory_ends_at_the_limit(sandbox: Sandbox) -> None:
    said = run(sandbox, "return len(bytearray(4 << 30))", Limits(memory=256 * MIB))
    assert said == "memory: None"


def test_an_endless_call_is_killed_with_all_that_it_started(sandbox: Sandbox) -> None:
    mark = f"whet-endless-{os.getpid()}"
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
    assert gone(commands(mark)), "a process of the candidate is still there"


def test_a_crash_is_told_with_its_signal(sandbox: Sandbox) -> None:
    with pytest.raises(Incident) as caught:
        run(sandbox, "import ctypes; ctypes.string_at(0)")
    assert caught.value.kind == "crash"
    assert "SIGSEGV" in str(caught.value)


def test_leaving_early_is_a_crash_not_a_pass(sandbox: Sandbox) -> None:
    with pytest.raises(Incident) as caught:
        run(sandbox, "import os; os._exit(0)")
    assert caught.value.kind == "crash"


def test_a_flood_is_cut(sandbox: Sandbox) -> None:
    with pytest.raises(Incident) as caught:
        run(sandbox, "return b'x' * (8 << 20)", Limits(output=1 * MIB))
    assert caught.value.kind == "output_flood"


def test_speaking_out_of_turn_is_no_message(sandbox: Sandbox) -> None:
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


def test_two_jobs_in_turn_share_nothing(sandbox: Sandbox) -> None:
    leave = """
        import ctypes, os, subprocess, sys
        for path in ("/tmp/left", "/work/left/deep", "/dev/shm/left"):
            os.makedirs(os.path.dirname(path), exist_ok=True)
            open(path, "w").close()
        libc = ctypes.CDLL(None)
        made = libc.semget(77, 1, 0o1666), libc.msgget(77, 0o1666)
        subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"], start_new_session=True)
        return min(made) >= 0
        """
    assert run(sandbox, leave) is True
    look = """
        import ctypes, os
        libc = ctypes.CDLL(None)
        found = [p for p in ("/tmp/left", "/work/left", "/dev/shm/left") if os.path.exists(p)]
        found += [n for n in os.listdir("/proc") if n.isdigit() and os.stat(f"/proc/{n}").st_uid == os.getuid()
                  and int(n) not in (1, os.getpid(), os.getppid())]
        return found, libc.shmget(77, 4096, 0), libc.semget(77, 1, 0), libc.msgget(77, 0)
        """
    assert run(sandbox, look) == ([], -1, -1, -1)


def test_two_jobs_at_once_do_not_see_each_other(sandbox: Sandbox) -> None:
    trees = [sandbox.stage(name, {f"{name}.py": b"def f():\n    pass\n"}) for name in ("one", "two")]
    first = sandbox.open(Job("calls", INTERPRETER, trees[0]))
    try:
        assert first.ask("load", "python", "one.py", "f", seconds=20.0)[0] == ("ok",)
        look = """
            import os
            others = [n for n in os.listdir("/proc") if n.isdigit() and n not in ("1", str(os.getpid()))]
            return os.listdir("/src"), "".join(open(f"/proc/{n}/cmdline").read() for n in others)
            """
        files, commands = run(sandbox, look)  # type: ignore[misc]
    finally:
        first.close()
    assert files == ["target.py"]
    assert "inside.calls" not in commands


def test_its_tree_is_as_it_was_staged(sandbox: Sandbox) -> None:
    tree = sandbox.stage("tool", {"bin/tool": b"#!/bin/sh\nread line; echo got $line\n"}, executable=True)
    session = sandbox.open(Job("programs", INTERPRETER, tree))
    try:
        session.ask("prepare", [f"{session.tree}/bin/tool"], b"it\n", seconds=10.0)
        (_, code, *_), _ = session.ask("go", seconds=10.0)
        (_, stdout, _), _ = session.ask("output", seconds=10.0)
    finally:
        session.close()
    assert (code, stdout) == (0, b"got it\n")


def test_it_stays_on_its_cores(sandbox: Sandbox) -> None:
    core = max(os.sched_getaffinity(0))
    tree = sandbox.stage("cores", {"target.py": b"import os\ndef f():\n    return sorted(os.sched_getaffinity(0))\n"})
    session = sandbox.open(Job("calls", INTERPRETER, tree, cores=(core,)))
    try:
        session.ask("load", "python", "target.py", "f", seconds=20.0)
        (_, outcome, _), _ = session.ask("call", encode(()), seconds=10.0)
    finally:
        session.close()
    assert decode(outcome)[3] == [core]


def test_a_gpu_lifts_the_limit_of_address_space_only(sandbox: Sandbox) -> None:
    source = (
        b"from resource import *\ndef f():\n    return [getrlimit(which)[0] for which in (RLIMIT_AS, RLIMIT_FSIZE)]\n"
    )
    tree = sandbox.stage("gpu", {"target.py": source})
    session = sandbox.open(Job("calls", INTERPRETER, tree, Limits(output=MIB), gpu=True))
    try:
        session.ask("load", "python", "target.py", "f", seconds=20.0)
        (_, outcome, _), _ = session.ask("call", encode(()), seconds=10.0)
    finally:
        session.close()
    assert decode(outcome)[3] == [-1, MIB]


def test_what_it_may_write_is_bounded(sandbox: Sandbox) -> None:
    said = run(
        sandbox,
        """
        import errno
        try:
            for name in ("a", "b", "c"):
                with open(f"/tmp/{name}", "wb") as file:
                    file.write(bytes(30 << 20))
        except OSError as error:
            return errno.errorcode[error.errno]
        """,
    )
    assert said == "ENOSPC"


def test_closing_leaves_nothing_behind(backend: str) -> None:
    made = BACKENDS[backend]()
    tree = made.stage("a", {"x.py": b""})
    made.open(Job("calls", INTERPRETER, tree))
    assert tree.exists()
    made.close()
    assert not tree.parent.parent.exists()


@pytest.mark.parametrize(("begun", "raised"), [("", SandboxError), ("\\0", None)])
def test_only_before_the_program_inside_begins_is_a_failure_ours(begun: str, raised: type[Exception] | None) -> None:
    pipe = subprocess.PIPE
    script = f"printf '{begun}bwrap: no such thing\\n' >&2; exit 1"
    process = subprocess.Popen(["/bin/sh", "-c", script], stdin=pipe, stdout=pipe, stderr=pipe, process_group=0)
    child = LocalProcess(process)
    process.wait()
    try:
        if raised:
            with pytest.raises(raised, match="bwrap: no such thing"):
                child.exit_incident()
        else:
            assert child.exit_incident().kind == "crash"
    finally:
        child.close(spoiled=True)


def test_staging_stays_in_its_folder(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="leads out"):
        write_tree(tmp_path / "trees", "a", {"../../x": b""}, executable=False)


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
