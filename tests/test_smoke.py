"""The live smoke: large effects, end to end through the command line and by the real clock; at most eight tests."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from retries import MOST_IN_A_TEST, Answer, Finding, Retries, gain, loss, no_gain, settle

from whet.benchmarks.self.asm import TASKS as ASSEMBLY
from whet.benchmarks.tasks import task_folder
from whet.testing.exploits.corpus import HERE

pytestmark = pytest.mark.smoke

CALL_SECONDS = 600
"""Of one command, which takes 5 to 20 on an idle machine: only a hang reaches it."""
SLOW = """\
def unique(items):
    seen = []
    for item in items:
        if item not in seen:
            seen.append(item)
    return seen
"""
FAST = "def unique(items):\n    return list(dict.fromkeys(items))\n"
SLOWER = SLOW.replace("    seen = []\n", "    seen = []\n    for _ in range(3):\n        sorted(items * 60)\n")
EQUAL = SLOW.replace("seen", "kept")
WORKLOAD = """\
sizes = [10, 300, 900]
def make_input(size, rng):
    return ([rng.randrange(2 * size) for _ in range(size)],)
"""
# Writes to every page: memory that is only asked for is not used.
HOLDS = "def f(items):\n    held = bytearray(b'x' * {size} * 1048576)\n    return sum(items) + len(held) * 0\n"
NO_GAIN = ("not_faster", "slower")
CHARGED = (*NO_GAIN, "cheating", "timeout")
"""How a cheat may be answered that moves work out of the time, or bends the clock."""

Verify = Callable[..., dict[str, Any]]
Settle = Callable[[Callable[[], Finding]], None]


@pytest.fixture
def verify(whet) -> Verify:
    """Returns the document that `whet verify` ends in; each call draws inputs of its own."""

    def verify(target: object, candidate: Path, *options: str) -> dict[str, Any]:
        done = whet("verify", target, "--candidate", candidate, "--json", *options, timeout=CALL_SECONDS)
        assert done.stdout, done.stderr
        return json.loads(done.stdout)

    return verify


@pytest.fixture(scope="session")
def run_retries() -> Retries:
    return Retries()


@pytest.fixture
def settles(run_retries, record_property, request, capsys) -> Settle:
    """Demands a right answer in the end; retries are printed, and told to the summary of the run."""
    test = request.node.name

    def report(number: int, why: str) -> None:
        record_property("retry", why)
        with capsys.disabled():
            print(f"\nsmoke: retry {number} of {MOST_IN_A_TEST}: {test}: {why}", flush=True)

    def settles(observe: Callable[[], Finding]) -> None:
        found = settle(observe, run_retries, report)
        assert found.answer is Answer.RIGHT, f"{found.answer}, {run_retries.taken} retries in this run: {found.why}"

    return settles


def written(folder: Path, target: str, candidate: str, workload: str = WORKLOAD) -> Path:
    """Writes a target and its workload; returns the candidate beside them."""
    (folder / "target.py").write_text(target)
    (folder / "workload.py").write_text(workload)
    (folder / "candidate.py").write_text(candidate)
    return folder / "candidate.py"


def exploit(folder: Path, name: str, task: str) -> tuple[Path, Path]:
    """Returns a copy of the task of an exploit, and its cheat."""
    copy = Path(shutil.copytree(HERE / "tasks" / task, folder / task))
    return copy, HERE / "rows" / name / "cheat.py"


def test_a_python_function_that_is_rewritten_well_is_improved(verify, settles, tmp_path) -> None:
    candidate = written(tmp_path, SLOW, FAST)
    settles(lambda: gain(verify(f"{tmp_path}/target.py::unique", candidate), 2.0))


def test_a_much_slower_rewrite_is_slower(verify, settles, tmp_path) -> None:
    candidate = written(tmp_path, SLOW, SLOWER)
    settles(lambda: loss(verify(f"{tmp_path}/target.py::unique", candidate)))


def test_an_equal_rewrite_is_no_improvement(verify, settles, tmp_path) -> None:
    candidate = written(tmp_path, SLOW, EQUAL)
    settles(lambda: no_gain(verify(f"{tmp_path}/target.py::unique", candidate), NO_GAIN))


def test_a_cpp_program_is_improved(verify, settles) -> None:
    folder = task_folder("word-counts")
    settles(lambda: gain(verify(folder, folder / "best.cpp"), 2.0))


def test_an_assembly_routine_is_improved(verify, settles) -> None:
    folder = ASSEMBLY / "crc32c"
    settles(lambda: gain(verify(folder, folder / "best.s"), 2.0))


def test_a_function_that_holds_less_memory_is_improved(verify, settles, tmp_path) -> None:
    candidate = written(tmp_path, HOLDS.format(size=40), HOLDS.format(size=4))
    settles(lambda: gain(verify(f"{tmp_path}/target.py::f", candidate, "--metric", "memory"), 2.0))


def test_work_that_is_moved_to_load_time_is_no_gain(verify, settles, tmp_path) -> None:
    settles(lambda: no_gain(verify(*exploit(tmp_path, "59-work-while-loading", "divisor-sums")), CHARGED))


def test_a_clock_that_stands_still_is_no_gain(verify, settles, tmp_path) -> None:
    settles(lambda: no_gain(verify(*exploit(tmp_path, "06-patched-clock-function", "unique")), CHARGED))
