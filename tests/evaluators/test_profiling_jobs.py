"""Jobs that may count events: that they can, and that nothing else is loosened for them."""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
from pathlib import Path

import pytest

import whet
from whet.evaluators.profilers.privileged import loosened, refusal
from whet.sandbox.inside import supervisor
from whet.sandbox.inside.codec import encode
from whet.sandbox.inside.decode import decode
from whet.sandbox.interpreter import find_interpreter
from whet.sandbox.protocol import Job, Sandbox
from whet.sandbox.staging import FIRST_UID
from whet.testing.attacks.attack import Attack
from whet.testing.attacks.strike import CORPUS, MAKERS, escapes

# perf_event_open for PERF_COUNT_SW_TASK_CLOCK of this process alone, without the kernel's share.
COUNT = """
import ctypes, os, struct
def count():
    libc = ctypes.CDLL(None, use_errno=True)
    attributes = struct.pack("IIQQQQQ", 1, 112, 1, 0, 0, 0, 1 << 5).ljust(112, b"\\0")
    event = libc.syscall(298, attributes, 0, -1, -1, 0)
    if event < 0:
        return -ctypes.get_errno()
    sum(range(100_000))
    return struct.unpack("Q", os.read(event, 8))[0]
def rights():
    lines = dict(line.split(":\\t") for line in open("/proc/self/status").read().splitlines() if ":\\t" in line)
    return [lines[name] for name in ("CapInh", "CapPrm", "CapEff", "CapAmb", "NoNewPrivs", "Seccomp", "Uid")]
"""
STILL_DENIED = (
    "ptrace", "process-vm", "user-namespace", "keyring", "io-uring", "userfaultfd", "own-rights", "become-root",
    "read-file", "sysctl", "devices", "signal-supervisor", "signal-others", "inet", "fork-bomb",
)  # fmt: skip


@pytest.fixture(scope="module", params=list(MAKERS))
def backend(request: pytest.FixtureRequest) -> str:
    if request.param == "docker":
        request.getfixturevalue("docker_host")
    elif shutil.which("bwrap") is None:
        pytest.skip("bubblewrap is not installed")
    return request.param


@pytest.fixture(scope="module")
def sandbox(backend: str):
    made = MAKERS[backend]()
    yield made
    made.close()


def ask(sandbox: Sandbox, symbol: str, profiling: bool) -> object:
    tree = sandbox.stage("count", {"t.py": COUNT.encode()})
    session = sandbox.open(Job("calls", find_interpreter(), tree, profiling=profiling))
    try:
        assert session.ask("load", "python", "t.py", symbol, seconds=20.0)[0] == ("ok",)
        (_, outcome, _), _ = session.ask("call", encode(()), seconds=10.0)
    finally:
        session.close()
    kind, _, _, value, _ = decode(outcome)
    assert kind == "value", value
    return value


def test_an_ordinary_job_counts_nothing(sandbox: Sandbox) -> None:
    assert ask(sandbox, "count", profiling=False) == -errno.EPERM


def test_a_profiling_job_counts(sandbox: Sandbox) -> None:
    if reason := refusal(sandbox.facts):
        pytest.skip(reason)
    assert 0 < ask(sandbox, "count", profiling=True) < 10**10


def test_a_profiling_job_has_that_right_and_no_other(sandbox: Sandbox) -> None:
    *rights, no_new_privileges, seccomp, users = ask(sandbox, "rights", profiling=True)
    assert {int(mask, 16) for mask in rights} == {supervisor.PERFMON if sandbox.facts.get("perfmon") else 0}
    assert (no_new_privileges, seccomp) == ("1", "2")
    assert "0" not in users.split()


def test_an_ordinary_job_after_a_profiling_one_has_no_right(sandbox: Sandbox) -> None:
    ask(sandbox, "rights", profiling=True)
    *rights, _, _, _ = ask(sandbox, "rights", profiling=False)
    assert {int(mask, 16) for mask in rights} == {0}


@pytest.mark.corpus
@pytest.mark.parametrize("attack", [pytest.param(a, id=a.name) for a in CORPUS if a.name in STILL_DENIED])
def test_what_an_ordinary_job_is_denied_stays_denied(attack: Attack, backend: str) -> None:
    assert not escapes(attack, backend, profiling=True)


def test_the_corpus_has_what_must_stay_denied() -> None:
    assert {attack.name for attack in CORPUS} >= set(STILL_DENIED)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root has the right to give away")
def test_the_supervisor_hands_on_that_right_alone() -> None:
    status = subprocess.run(
        [*supervisor.counting(FIRST_UID), "/bin/cat", "/proc/self/status"], capture_output=True, text=True, check=True
    ).stdout
    lines = dict(line.split(":\t") for line in status.splitlines() if ":\t" in line)
    assert {int(lines[name], 16) for name in ("CapInh", "CapPrm", "CapEff", "CapAmb")} == {supervisor.PERFMON}
    assert set(lines["Uid"].split()) == set(lines["Gid"].split()) == {str(FIRST_UID)}
    assert lines["Groups"].split() == []


def test_nothing_but_whet_profile_asks_for_such_a_job() -> None:
    package = Path(whet.__file__).parent
    asking = {path.name for path in package.rglob("*.py") if "profiling=True" in path.read_text()}
    assert asking == {"privileged.py"}
    importing = {path.name for path in package.rglob("*.py") if "import privileged" in path.read_text()}
    assert importing == {"target_profile.py"}


def test_it_is_said_what_is_loosened_and_what_the_kernel_refuses(tmp_path: Path) -> None:
    filtered, able = {"seccomp": True}, {"seccomp": True, "perfmon": True}
    assert "every process" in loosened(able)
    assert "its own processes" in loosened(filtered)
    assert loosened({"unsafe": True}) == ""
    setting = tmp_path / "paranoid"
    setting.write_text("3\n")
    assert "perf_event_paranoid is 3" in refusal(filtered, setting)
    assert refusal(able, setting) == ""
    setting.write_text("2\n")
    assert refusal(filtered, setting) == ""
    assert "cannot be read" in refusal(able, tmp_path / "none")
