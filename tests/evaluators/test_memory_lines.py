"""Memory by line: known allocations are found with their sizes, in Python and in native code."""

from __future__ import annotations

import json
import shutil

import pytest

from whet.agents.judge import told_of_memory
from whet.cli.profile import report_lines
from whet.core.profile import Memory, MemoryLine, Profile, ProfileReport, in_bytes
from whet.core.result import TaskName
from whet.evaluators.profilers.dhat import parse
from whet.evaluators.profilers.stacks import Held, memory_lines
from whet.evaluators.profilers.target_profile import profile_target

LARGE = 8_000_000
PYTHON = """\
import numpy as np


def held(n):
    block = bytearray(n)
    small = bytearray(1000)
    return len(block) + len(small)


def grown(n):
    rows = []
    for _ in range(n // 80_000):
        rows.append(bytearray(80_000))
    return len(rows)


def passing(n):
    a = sum(bytearray(n)[:5])
    return a


def array(n):
    xs = np.zeros(n // 8)
    return float(xs[0])


def borrowed(n):
    text = "".join(map(chr, range(60, 70)))
    found = np.broadcast_to(np.arange(n // 8), (1, n // 8)).copy()
    return text + str(found.shape)
"""
WORKLOAD = """\
sizes = [80_000, 160_000, 8_000_000]
def make_input(size, rng):
    return (size,)
"""
PROGRAM = """\
import sys
n = int(sys.stdin.readline())
kept = []
for i in range(100):
    kept.append(bytearray(n // 100))
print(len(kept))
"""
NATIVE = """\
#include <cstdio>
#include <cstdlib>
#include <vector>
std::vector<char> *make(long n) {
    return new std::vector<char>(n, 'x');
}
int main() {
    long n, sum = 0;
    if (scanf("%ld", &n) != 1) return 1;
    std::vector<char> *kept = make(n);
    for (int i = 0; i < 100; i++) {
        char *p = (char *)malloc(1000 + i);
        p[i] = i;
        sum += p[i] + (*kept)[i];
        free(p);
    }
    printf("%ld\\n", sum);
}
"""
STDIN = WORKLOAD.replace("(size,)", "f'{size}\\n'")

needs_sandbox = pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")
needs_valgrind = pytest.mark.skipif(shutil.which("valgrind", path="/usr/bin") is None, reason="no valgrind")


def measured(tmp_path, name, source, workload, symbol=""):
    (tmp_path / name).write_text(source)
    (tmp_path / "workload.py").write_text(workload)
    found = profile_target(f"{tmp_path / name}{symbol}", sandbox="bubblewrap", seed=1).profile.memory
    assert found is not None
    assert found.note == ""
    return found


def near(size):
    return pytest.approx(size, rel=0.1)


@pytest.mark.corpus
@needs_sandbox
@pytest.mark.parametrize(
    ("symbol", "text", "blocks"),
    [
        ("held", "block = bytearray(n)", 1),
        ("grown", "rows.append(bytearray(80_000))", 100),
        ("passing", "a = sum(bytearray(n)[:5])", 0),
        ("array", "xs = np.zeros(n // 8)", 1),
    ],
)
def test_a_python_line_that_allocates_much_is_found_with_its_size(tmp_path, symbol, text, blocks):
    found = measured(tmp_path, "t.py", PYTHON, WORKLOAD, f"::{symbol}")
    first = found.lines[0]
    assert found.source == "tracemalloc"
    assert found.peak_bytes == near(LARGE)
    assert (first.text, first.peak_bytes, first.allocations) == (text, near(LARGE), None)
    assert blocks <= first.blocks <= 2 * blocks + 2  # an object and its buffer are two


@pytest.mark.corpus
@needs_sandbox
def test_what_a_line_calls_in_other_files_counts_for_it(tmp_path):
    first = measured(tmp_path, "t.py", PYTHON, WORKLOAD, "::borrowed").lines[0]
    assert first.text.startswith("found =")
    assert first.peak_bytes >= LARGE * 0.95


@pytest.mark.corpus
@needs_sandbox
def test_a_python_program_is_followed_too(tmp_path):
    found = measured(tmp_path, "p.py", PROGRAM, STDIN)
    assert (found.lines[0].line, found.lines[0].peak_bytes) == (5, near(LARGE))
    assert found.peak_bytes == pytest.approx(LARGE, rel=0.2)  # with what the start of the interpreter keeps


@pytest.mark.corpus
@needs_sandbox
@needs_valgrind
def test_a_native_line_that_allocates_much_is_found_and_one_that_allocates_often(tmp_path):
    found = measured(tmp_path, "p.cpp", NATIVE, STDIN)
    lines = {line.line: line for line in found.lines}
    assert found.source == "dhat"
    assert found.peak_bytes == near(LARGE)
    assert found.lines[0].line == 5
    assert lines[5].peak_bytes == near(LARGE)
    assert lines[12].allocations == 100
    assert lines[12].blocks <= 1


def test_a_block_counts_for_the_innermost_line_of_the_target():
    points = [
        {"tb": 900, "tbk": 9, "gb": 300, "gbk": 3, "fs": [0, 1, 2]},
        {"tb": 50, "tbk": 1, "gb": 50, "gbk": 1, "fs": [0, 2]},
        {"tb": 7, "tbk": 1, "gb": 7, "gbk": 1, "fs": [0]},
    ]
    frames = ["0x1: malloc (in /usr/lib/x.so)", "0x2: f (p.c:4)", "0x3: main (p.c:9)"]
    peak, found = parse(json.dumps({"pps": points, "ftbl": frames}), "p.c")
    assert peak == 357
    assert found == {4: Held(300, 3, 9), 9: Held(50, 1, 1), 0: Held(7, 1, 1)}


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"ftbl": [], "pps": [{"gb": 1}]}', '{"ftbl": [], "pps": [{"gb": "x"}]}']
)
def test_a_report_out_of_form_is_refused(text):
    with pytest.raises((ValueError, TypeError, LookupError)):
        parse(text, "p.c")


def test_lines_that_are_none_and_small_ones_are_left_out():
    found = {0: Held(99), 1: Held(1000, 1), 2: Held(3, 1), 9: Held(500, 1)}
    assert memory_lines("a\n  b\n", found) == (MemoryLine(1, "a", 1000, 1, None),)


def test_the_report_says_what_could_not_be_measured():
    profile = Profile((), "none", memory=Memory((), None, "dhat", "valgrind is not installed"))
    lines = list(report_lines(ProfileReport(TaskName("t", "cpp", "t.cpp"), profile, ()), 60))
    assert "  not available: valgrind is not installed" in lines
    assert (
        ProfileReport(TaskName("t", "cpp", "t.cpp"), profile, ()).to_json()["profile"]["memory"]["peak_bytes"] is None
    )


def test_the_judge_is_told_of_large_lines_alone():
    large = [MemoryLine(number, f"x{number} = [0] * n", LARGE, 1, None) for number in (3, 4, 5, 6)]
    told = told_of_memory(Memory((*large, MemoryLine(9, "y = []", 56, 1, None)), 5 * LARGE, "tracemalloc"))
    assert told == [f"peak of line {number}: 7.6 MiB: x{number} = [0] * n" for number in (3, 4, 5)]
    assert told_of_memory(Memory((large[0],), LARGE, "dhat")) == told[:1]
    assert told_of_memory(None) == []


def test_bytes_are_written_as_people_write_them():
    assert [in_bytes(size) for size in (0, 1023, 1024, LARGE, 3 << 30)] == [
        "0 B",
        "1023 B",
        "1.0 KiB",
        "7.6 MiB",
        "3.0 GiB",
    ]
