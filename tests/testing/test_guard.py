"""A test of tier 1 in which a real clock decides fails, and says how to mend it."""

from __future__ import annotations

import shutil

import paths
import pytest

pytest_plugins = "pytester"

HERE = paths.TESTS
TARGET = "def f(items):\n    return sorted(items)\n"
READS = ("throughput", "cpu", "memory", "hidden", "repeats", "imports", "calls", "commands")
HINTED = "def f(items: list[int]) -> list[int]:\n    return sorted(items)\n"
WORKLOAD = "sizes = [10, 20000]\ndef make_input(size, rng):\n    return ([rng.random() for _ in range(size)],)\n"
TESTS = """
from contextlib import closing
from pathlib import Path

import pytest
from whet.core.repository import ProjectKind, Survey
from whet.evaluators.finding import Fault
from whet.evaluators.meters.base import Setting
from whet.evaluators.meters.cpu import Cpu
from whet.evaluators.meters.memory import Memory
from whet.evaluators.meters.time import THROUGHPUT, TIME
from whet.evaluators.repository.end_to_end import EndToEndRequest, end_to_end
from whet.evaluators.repository.trees import Ground, snapshot
from whet.evaluators.timing.instruments import INSTRUMENTS
from whet.evaluators.timing.process_observation import Calls
from whet.evaluators.timing.zygotes import _import_seconds
from whet.sandbox.backends import open_sandbox
from whet.sandbox.interpreter import find_interpreter

SETTING = Setting("baseline", 1.0, (), 0, 0, lambda *words: Fault("crash", "it does not start"))
READS = {
    "throughput": lambda: THROUGHPUT.take(None, {}, None, SETTING),
    "cpu": lambda: Cpu().take(None, {}, None, SETTING),
    "memory": lambda: Memory().take(None, {}, None, SETTING),
    "hidden": lambda: INSTRUMENTS.hidden_costs(None, None, Calls((), 1, 1.0)),
    "repeats": lambda: INSTRUMENTS.repeat_costs(None, None, (), 1, 1.0),
    "imports": lambda: _import_seconds(None, 1),
    "calls": lambda: INSTRUMENTS.call_seconds(1, 1.0),
    "commands": lambda: INSTRUMENTS.command_seconds("candidate", 1, 1.0),
}


def here():
    assert isinstance(TIME.take(None, {}, None, SETTING), Fault)


def swallowed():
    try:
        here()
    except AssertionError:
        pass


def command(whet):
    return whet("verify", "target.py::f", "--candidate", "rewrite.py", "--until", "measure")


def sizes(whet):
    return whet("verify", "hinted/target.py::f", "--candidate", "hinted/rewrite.py", "--until", "measure")


def repository():
    folder = Path("code")
    folder.mkdir()
    with closing(open_sandbox("bubblewrap", False)) as sandbox:
        ground = Ground(sandbox, find_interpreter(), Survey(folder, ProjectKind.PYTHON, (), None, None, None))
        with closing(snapshot(ground, folder)) as tree:
            return end_to_end(ground, EndToEndRequest("true", 1.0, 0.99), tree, tree)


def test_here():
    here()


def test_swallowed():
    swallowed()


@pytest.mark.parametrize("read", READS)
def test_read(read):
    with pytest.raises(AssertionError, match="reads a real clock"):
        READS[read]()


def test_command(whet):
    command(whet)


def test_sizes(whet):
    sizes(whet)


def test_repository():
    repository()


def test_no_clock():
    assert TIME.name == "time"


@pytest.fixture(scope="module")
def read_early():
    swallowed()


def test_fixture(read_early):
    pass


@pytest.mark.timed
def test_timed():
    here()


@pytest.mark.reads_clock("nothing is measured")
def test_excused():
    here()


def test_scripted_command(whet, scripted):
    scripted(ratio=0.5)
    done = sizes(whet)
    assert done.returncode == 3, done.stderr
    assert "of sizes 4, 32, 64" in done.stdout + done.stderr
    assert "slower" in done.stdout, done.stdout
"""


@pytest.mark.corpus
@pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")
def test_a_real_clock_fails_a_test_of_tier_1_and_no_other(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    for path in HERE.glob("*.py"):
        if not path.name.startswith("test_"):  # what conftest.py imports, whatever that is
            shutil.copy(path, pytester.path)
    shutil.copytree(HERE / "children", pytester.path / "children")
    marks = ("timed", "corpus", "exhaustive", "reads_clock", "smoke", "slice")
    pytester.makeini("[pytest]\nmarkers =\n" + "".join(f"    {mark}: one\n" for mark in marks))
    # Not the original to the letter, of which nothing is run.
    pytester.makepyfile(test_it=TESTS, target=TARGET, rewrite=f"{TARGET}\n\nDONE = True\n", workload=WORKLOAD)
    hinted = pytester.mkdir("hinted")
    hinted.joinpath("target.py").write_text(HINTED)
    hinted.joinpath("rewrite.py").write_text(f"{HINTED}\n\nDONE = True\n")
    monkeypatch.setenv("PYTHONPATH", "")
    ran = pytester.runpytest_subprocess("-p", "no:cacheprovider", "-v", "-rA")
    ran.assert_outcomes(failed=5 + len(READS), errors=1, passed=4)
    for name in ("here", "swallowed", "command", "sizes", "repository", *(f"read?{read}?" for read in READS)):
        ran.stdout.fnmatch_lines([f"FAILED *::test_{name} *"])
    ran.stdout.fnmatch_lines(["ERROR *::test_fixture *"])
    ran.stdout.fnmatch_lines(
        ["*test_command is of tier 1 and had a real clock decide (*.Time.take)*`scripted`*`timed`*"]
    )
