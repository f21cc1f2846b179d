"""Hot lines, found in real runs."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from whet.core.candidate import Candidate
from whet.core.config import Options
from whet.core.profile import Profile
from whet.evaluators.ladder import open_ladder
from whet.evaluators.profiling import by_line, hot_lines
from whet.evaluators.targets import read_task

needs_sandbox = pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")
needs_valgrind = pytest.mark.skipif(shutil.which("valgrind") is None, reason="valgrind is not installed")

FUNCTION = "def f(x):\n    n = len(x)\n    slow = sum(i * i for i in range(n * 200))\n    return n + slow\n"
PYTHON = "n = int(input())\ntotal = 0\nfor i in range(n * 1000): total += i % 7\nprint(total)\n"
CPP = """\
#include <cstdio>
static long slow(long n) {
    long total = 0;
    for (long i = 0; i < n; i++) total += (i * i) % 7;
    return total;
}
int main() {
    long n;
    if (scanf("%ld", &n) != 1) return 1;
    printf("%ld\\n", slow(n * 1000));
}
"""
CALLS = """\
sizes = [10, 100, 150]
def make_input(size, rng):
    return ([rng.random() for _ in range(size + rng.randrange(9))],)
"""
STDIN = "sizes = [10, 800, 2000]\ndef make_input(size, rng):\n    return f'{size * SCALE + rng.randrange(99)}\\n'\n"


def profiled(folder: Path, name: str, source: str, workload: str) -> Profile:
    (folder / name.partition("::")[0]).write_text(source)
    (folder / "workload.py").write_text(workload)
    task = read_task(f"{folder}/{name}", Options())
    ladder = open_ladder(task, Options(), seed=1)
    try:
        ladder.validate()
        return ladder.profile(Candidate(source))
    finally:
        ladder.close()


@needs_sandbox
@pytest.mark.parametrize(
    ("name", "source", "workload", "hottest", "tool"),
    [
        ("t.py::f", FUNCTION, CALLS, 3, "line timer"),
        ("t.py", PYTHON, STDIN.replace("SCALE", "1"), 3, "line timer"),
        pytest.param("t.cpp", CPP, STDIN.replace("SCALE", "12"), 4, "callgrind", marks=needs_valgrind),
    ],
)
def test_the_hottest_line_is_found(
    tmp_path: Path, name: str, source: str, workload: str, hottest: int, tool: str
) -> None:
    found = profiled(tmp_path, name, source, workload)
    assert found.source == tool
    assert found.lines, found.note
    assert found.lines[0].line == hottest, found
    assert found.lines[0].share > 0.5
    assert found.lines[0].text == source.splitlines()[hottest - 1].strip()
    assert sum(line.share for line in found.lines) <= 1.0001


def test_what_a_line_calls_elsewhere_counts_for_it() -> None:
    report = "\n".join(
        [
            "fl=(1) a.cpp", "fn=(1) main", "5 10", "+1 20",
            "cfi=(2) /usr/include/map", "cfn=(2) insert", "calls=3 100", "* 500",
            "cfn=(3) helper", "calls=1 9", "6 70",
            "fi=(2)", "300 5", "fe=(1)", "7 1",
            "fl=(2)", "fn=(2)", "100 500",
            "fl=(1)", "fn=(3)", "9 70",
        ]
    )  # fmt: skip
    assert by_line(report, "a.cpp") == {5: 10, 6: 520, 7: 1, 9: 70}


def test_lines_outside_the_text_are_left_out() -> None:
    assert [line.line for line in hot_lines("a\nb\n", {1: 10, 2: 30, 7: 5})] == [2, 1]
