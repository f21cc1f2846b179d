"""There is nothing of whet's to steal: real secrets are planted, and a candidate looks everywhere for them.

Each secret bears a name by which the candidate knows it when it sees it, and which it does not hold itself. That it
looks in the right places shows in a run without a sandbox, where it finds them.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

import whet as library
from whet.core.task import DEFAULT_LIMITS
from whet.sandbox.backends import BACKENDS
from whet.sandbox.inside.codec import encode
from whet.sandbox.inside.decode import decode
from whet.sandbox.interpreter import find_interpreter
from whet.sandbox.protocol import Job

SEARCH = r"""
import os, re, stat, sys, time

NEEDLE = re.compile(rb"needle-([a-z]{3,10})-[0-9a-f]{16}|90909090[0-9]{9}")
LARGEST = 64 << 20
FIRST = (HINT, "/src", "/whet", "/work", "/tmp", "/dev/shm", "/run", "/etc", "/var", "/home", "/root", "/")
SYSTEM = ("/usr", "/lib", "/bin", "/sbin", "/proc", "/sys", *PYTHON)
DEADLINE = time.monotonic() + SECONDS


class Search:
    def __init__(self):
        self.found = set()
        self.complete = True

    def look(self, data):
        self.found.update(kind.decode() or "seed" for kind in NEEDLE.findall(data))

    def file(self, path):
        try:
            if stat.S_ISREG(os.stat(path).st_mode):  # the opening of a device may do something
                with open(path, "rb", 0) as file:
                    self.look(file.read(LARGEST))
        except OSError:
            pass

    def files(self):
        seen = set()
        for root in FIRST:
            for folder, folders, names in os.walk(root):
                if self.late():
                    return
                folders[:] = [name for name in folders if os.path.join(folder, name) not in (*SYSTEM, *seen)]
                seen.add(folder)
                for name in (*names, *folders):
                    self.look(os.path.join(folder, name).encode("utf-8", "replace"))
                for name in names:
                    self.file(os.path.join(folder, name))

    def memory(self, process):
        try:
            with open(process + "/maps") as maps, open(process + "/mem", "rb", 0) as memory:
                for line in maps:
                    span, rights = line.split()[:2]
                    start, end = (int(part, 16) for part in span.split("-"))
                    if rights[0] == "r" and end - start < LARGEST:
                        try:
                            self.look(os.pread(memory.fileno(), end - start, start))
                        except (OSError, OverflowError):
                            pass
        except OSError:
            pass

    def processes(self):
        for name in ("self", *(name for name in os.listdir("/proc") if name.isdigit())):
            process = "/proc/" + name
            for part in ("environ", "cmdline", "maps", "mountinfo", "status", "cgroup", "comm"):
                self.file(process + "/" + part)
            for part in ("cwd", "root", "exe"):
                try:
                    self.look(os.readlink(process + "/" + part).encode())
                except OSError:
                    pass
            try:
                descriptors = os.listdir(process + "/fd")
            except OSError:
                descriptors = []
            for descriptor in descriptors:
                path = process + "/fd/" + descriptor
                try:
                    self.look(os.readlink(path).encode())
                except OSError:
                    continue
                self.file(path)

    def memories(self):
        for name in ("self", *(name for name in os.listdir("/proc") if name.isdigit())):
            if self.late():
                return
            self.memory("/proc/" + name)

    def late(self):
        self.complete = self.complete and time.monotonic() < DEADLINE
        return not self.complete

    def all(self):
        self.look(repr(os.environ).encode("utf-8", "replace"))
        self.look(repr(sys.argv + getattr(sys, "orig_argv", [])).encode())
        self.processes()
        self.files()
        self.memories()
        return self
"""
SPY = (
    SEARCH
    + r"""
searched = []

def f(numbers):
    if not searched:
        searched.append(Search().all())
    if searched[0].found or not searched[0].complete:
        raise RuntimeError(f"stolen: {sorted(searched[0].found)}, complete: {searched[0].complete}")
    return [n + 1 for n in numbers], "needle-%s" % "expected-" + "%016x" % sum(numbers)
"""
)
LOOK = "\ndef f():\n    search = Search().all()\n    return sorted(search.found), search.complete\n"
BASELINE = r"""
# {baseline}
def f(numbers):
    out = []
    for n in numbers:
        out.append(n + 1)
    return out, "needle-" + "expected-" + "%016x" % sum(numbers)
"""
WORKLOAD = r"""
# {workload}
sizes = [10, 300, 900]
def make_input(size, rng):
    return ([rng.randrange(100) for _ in range(size)],)
"""
KINDS = ("key", "path", "repository", "home", "ledger", "baseline", "workload")


@dataclass(frozen=True)
class Planted:
    """What there is to steal, and where."""

    needles: dict[str, str]
    repository: Path
    home: Path
    seed: int


@pytest.fixture(params=list(BACKENDS))
def backend(request: pytest.FixtureRequest) -> str:
    if request.param == "docker":
        request.getfixturevalue("docker_host")
    elif shutil.which("bwrap") is None:
        pytest.skip("bubblewrap is not installed")
    return request.param


@pytest.fixture
def planted(tmp_path: Path) -> Iterator[Planted]:
    """A repository, a workload, a store with a real run in it, and a key in whet's environment."""
    needles = {kind: f"needle-{kind}-{secrets.token_hex(8)}"[:64] for kind in KINDS}
    repository, home = tmp_path / needles["path"], tmp_path / needles["home"]
    repository.mkdir()
    (repository / "README.md").write_text(needles["repository"])
    (repository / "slow.py").write_text(BASELINE.format(**needles))
    (repository / "workload.py").write_text(WORKLOAD.format(**needles))
    past = repository / "past.py"
    past.write_text(f"# {needles['ledger']}\n{BASELINE.format(**needles)}")
    library.verify(f"{repository}/slow.py::f", candidate=past, home=home, until="screen")
    past.unlink()
    assert any(needles["ledger"].encode() in path.read_bytes() for path in home.rglob("*") if path.is_file())
    os.environ["ANTHROPIC_API_KEY"] = needles["key"]
    yield Planted(needles, repository, home, int(f"90909090{secrets.randbelow(10**9):09}"))
    del os.environ["ANTHROPIC_API_KEY"]


def settings(seconds: int, hint: Path) -> str:
    """Returns the first lines of a spy: how long it may search, where first, and where only the interpreter is."""
    python = tuple(map(str, find_interpreter().folders))
    return f"SECONDS = {seconds}\nHINT = {str(hint)!r}\nPYTHON = {python!r}\n"


def spied(whet, planted: Planted, folder: Path, *words: str, seconds: int):
    """Runs ``whet verify`` of a spy as a user does; returns the result."""
    spy = folder / "spy.py"
    spy.write_text(f"{settings(seconds, folder)}{SPY}")
    done = whet(
        *("verify", f"{planted.repository}/slow.py::f", "--candidate", spy, "--json", "--until", "differential"),
        *("--workload", planted.repository / "workload.py", "--seed", planted.seed, *words),
        WHET_HOME=str(planted.home),
        ANTHROPIC_API_KEY=planted.needles["key"],
        **{name: os.environ[name] for name in ("DOCKER_HOST",) if name in os.environ},  # of an engine started since
    )
    assert done.stdout, done.stderr
    return json.loads(done.stdout)


@pytest.mark.corpus
def test_a_spy_finds_nothing_in_a_whole_run(whet, planted: Planted, tmp_path: Path, backend: str) -> None:
    result = spied(whet, planted, tmp_path, "--sandbox", backend, seconds=8)
    rungs = {rung["name"]: (rung["status"], rung["detail"]) for rung in result["rungs"]}
    assert rungs["differential"][0] == "passed", rungs


@pytest.mark.corpus
def test_the_same_spy_finds_all_of_it_without_a_sandbox(whet, planted: Planted, tmp_path: Path) -> None:
    result = spied(whet, planted, tmp_path, "--sandbox", "none", "--unsafe", seconds=3)
    detail = next(rung["detail"] for rung in result["rungs"] if rung["name"] == "differential")
    assert "stolen" in detail
    assert [kind for kind in (*KINDS, "seed") if f"'{kind}'" not in detail] == []


def test_a_spy_finds_nothing_beside_a_run_that_holds_everything(planted: Planted, backend: str) -> None:
    sandbox = BACKENDS[backend]()
    try:
        others = {
            "slow.py": BASELINE.format(**planted.needles).encode(),
            "workload.py": WORKLOAD.format(**planted.needles).encode(),
        }
        holds = sandbox.open(Job("calls", find_interpreter(), sandbox.stage("baseline", others), DEFAULT_LIMITS))
        assert holds.ask("load", "python", "slow.py", "f", seconds=60.0)[0] == ("ok",)
        expected, _ = holds.ask("call", encode(([1, 2],)), seconds=10.0)
        assert b"needle-expected-" in expected[1]
        tree = sandbox.stage("spy", {"spy.py": f"{settings(60, planted.repository.parent)}{SEARCH}{LOOK}".encode()})
        session = sandbox.open(Job("calls", find_interpreter(), tree, DEFAULT_LIMITS))
        assert session.ask("load", "python", "spy.py", "f", seconds=60.0)[0] == ("ok",)
        (_, outcome, _), _ = session.ask("call", encode(()), seconds=90.0)
        holds.close()
        session.close()
    finally:
        sandbox.close()
    kind, _, _, value, _ = decode(outcome)
    assert (kind, value) == ("value", ([], True))
