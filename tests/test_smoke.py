"""The live smoke: large effects, end to end through the command line and by the real clock; at most eight tests."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from retries import MOST_IN_A_TEST, Answer, Finding, Retries, gain, loss, no_gain, settle
from unique import GOOD, SLOW, workload

from whet.testing.exploits.corpus import HERE

pytestmark = pytest.mark.smoke

CALL_SECONDS = 600
"""Of one command, which takes 5 to 20 on an idle machine: only a hang reaches it."""
SLOWER = SLOW.replace("    seen = []\n", "    seen = []\n    for _ in range(3):\n        sorted(items * 60)\n")
EQUAL = SLOW.replace("seen", "kept")
WORKLOAD = workload(10, 300, 900)
PROGRAM = """\
#include <cstdio>
#include <vector>
int main() {
    std::vector<int> seen;
    for (int value; std::scanf("%d", &value) == 1;) {
        bool known = false;
        for (int other : seen) known |= other == value;
        if (!known) seen.push_back(value);
    }
    std::printf("%zu\\n", seen.size());
}
"""
FAST_PROGRAM = """\
#include <cstdio>
#include <unordered_set>
int main() {
    std::unordered_set<int> seen;
    for (int value; std::scanf("%d", &value) == 1;) seen.insert(value);
    std::printf("%zu\\n", seen.size());
}
"""
LINES = """\
sizes = [10, 12000, 16000]
def make_input(size, rng):
    return " ".join(str(rng.randrange(10**9)) for _ in range(size))
"""
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


def written(folder: Path, target: str, candidate: str, workload: str = WORKLOAD, suffix: str = ".py") -> Path:
    """Writes a target and its workload; returns the candidate beside them."""
    (folder / f"target{suffix}").write_text(target)
    (folder / "workload.py").write_text(workload)
    (folder / f"candidate{suffix}").write_text(candidate)
    return folder / f"candidate{suffix}"


def exploit(folder: Path, name: str, task: str) -> tuple[Path, Path]:
    """Returns a copy of the task of an exploit, and its cheat."""
    copy = Path(shutil.copytree(HERE / "tasks" / task, folder / task))
    return copy, HERE / "rows" / name / "cheat.py"


def test_a_python_function_that_is_rewritten_well_is_improved(verify, settles, tmp_path) -> None:
    candidate = written(tmp_path, SLOW, GOOD)
    settles(lambda: gain(verify(f"{tmp_path}/target.py::unique", candidate), 2.0))


def test_a_much_slower_rewrite_is_slower(verify, settles, tmp_path) -> None:
    candidate = written(tmp_path, SLOW, SLOWER)
    settles(lambda: loss(verify(f"{tmp_path}/target.py::unique", candidate)))


def test_an_equal_rewrite_is_no_improvement(verify, settles, tmp_path) -> None:
    candidate = written(tmp_path, SLOW, EQUAL)
    settles(lambda: no_gain(verify(f"{tmp_path}/target.py::unique", candidate), NO_GAIN))


def test_a_cpp_program_is_improved(verify, settles, tmp_path) -> None:
    candidate = written(tmp_path, PROGRAM, FAST_PROGRAM, LINES, ".cpp")
    settles(lambda: gain(verify(f"{tmp_path}/target.cpp", candidate, "--workload", tmp_path / "workload.py"), 2.0))


def test_work_that_is_moved_to_load_time_is_no_gain(verify, settles, tmp_path) -> None:
    settles(lambda: no_gain(verify(*exploit(tmp_path, "59-work-while-loading", "divisor-sums")), CHARGED))


def test_a_clock_that_stands_still_is_no_gain(verify, settles, tmp_path) -> None:
    settles(lambda: no_gain(verify(*exploit(tmp_path, "06-patched-clock-function", "unique")), CHARGED))
