"""Hot spots, found in real runs by every tool, on every backend that is present."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whet.core.options import Options
from whet.core.profile import Profile
from whet.core.task import Task
from whet.evaluators.artifacts import Builder
from whet.evaluators.inputs.source import InputSource
from whet.evaluators.profilers import callgrind, line_timer, perf, py_spy
from whet.evaluators.profilers.hot_spots import profile
from whet.evaluators.profilers.stacks import MOST_FUNCTIONS, Frame, StackCost, from_stacks, hot_functions, hot_lines
from whet.evaluators.targets import read_task
from whet.sandbox.backends import open_sandbox
from whet.sandbox.counters.process import Silent
from whet.sandbox.interpreter import find_interpreter
from whet.sandbox.protocol import Job
from whet.sandbox.sampling import REPORT_BYTES, inner, sample

needs_valgrind = pytest.mark.skipif(shutil.which("valgrind") is None, reason="valgrind is not installed")
needs_perf = pytest.mark.skipif(shutil.which(perf.PATH) is None, reason="perf is not installed")
needs_py_spy = pytest.mark.skipif(py_spy.find() is None, reason="py-spy is not installed")

FUNCTION = """\
def helper(n):
    return sum(i * i for i in range(n))

def f(x):
    n = len(x)
    slow = 0
    for i in range(n * 600): slow += i * i % 7
    return n + slow + helper(n)
"""
PYTHON = """\
def work(n):
    total = 0
    for i in range(n * 1000): total += i % 7
    return total
print(work(int(input())))
"""
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
QUICK, LONG = STDIN.replace("SCALE", "1"), STDIN.replace("SCALE", "12")


@pytest.fixture(params=["docker", "bubblewrap"])
def backend(request: pytest.FixtureRequest) -> str:
    if request.param == "docker":
        request.getfixturevalue("docker_host")
    elif shutil.which("bwrap") is None:
        pytest.skip("bubblewrap is not installed")
    return request.param


def written(folder: Path, name: str, source: str, workload: str) -> Task:
    (folder / name.partition("::")[0]).write_text(source)
    (folder / "workload.py").write_text(workload)
    return read_task(f"{folder}/{name}", Options())


@contextmanager
def workshop_of(task: Task, backend: str) -> Iterator[tuple[Builder, list]]:
    sandbox = open_sandbox(backend, unsafe=False)
    interpreter = find_interpreter()
    try:
        source = InputSource(task, sandbox, interpreter)
        try:
            inputs = source.draw(source.sizes[-1], [1, 2])
        finally:
            source.close()
        yield Builder(task, sandbox, interpreter), inputs
    finally:
        sandbox.close()


def found_by(profiler: Callable[..., Profile], task: Task, backend: str) -> Profile:
    with workshop_of(task, backend) as (builder, inputs):
        return profiler(builder, task.source, inputs)


@pytest.mark.corpus
@pytest.mark.parametrize(
    ("profiler", "name", "source", "workload", "line", "function"),
    [
        pytest.param(py_spy.profile, "t.py::f", FUNCTION, CALLS, 7, "f", marks=needs_py_spy, id="py-spy-function"),
        pytest.param(
            py_spy.profile, "t.py", PYTHON, QUICK, 3, "work", marks=needs_py_spy, id="py-spy-program"
        ),
        pytest.param(line_timer.profile, "t.py::f", FUNCTION, CALLS, 7, "f", id="timer-function"),
        pytest.param(line_timer.profile, "t.py", PYTHON, QUICK, 3, "work", id="timer-program"),
        pytest.param(perf.profile, "t.cpp", CPP, LONG, 4, "slow", marks=needs_perf, id="perf"),
        pytest.param(
            callgrind.profile, "t.cpp", CPP, LONG, 4, "main", marks=needs_valgrind, id="callgrind"
        ),
    ],
)  # fmt: skip
def test_the_hottest_line_and_function_are_found(
    tmp_path: Path,
    backend: str,
    profiler: Callable[..., Profile],
    name: str,
    source: str,
    workload: str,
    line: int,
    function: str,
) -> None:
    found = found_by(profiler, written(tmp_path, name, source, workload), backend)
    assert found.lines, found.note
    assert found.lines[0].line == line, found
    assert found.lines[0].share > 0.5
    assert found.lines[0].text == source.splitlines()[line - 1].strip()
    assert sum(hot.share for hot in found.lines) <= 1.0001
    first = found.functions[0]
    assert first.name.partition("(")[0] in (function, "main"), found  # a compiler may have put one into the other
    assert first.file == name.partition("::")[0]
    assert 0.5 < first.own <= 1.0
    assert first.total is None or first.own <= first.total <= 1.0


@pytest.mark.corpus
def test_the_best_tool_that_works_is_taken_and_the_others_reasons_told(tmp_path: Path, backend: str) -> None:
    quick = PYTHON.replace("n * 1000", "2")  # over before any sampler looks
    found = found_by(profile, written(tmp_path, "t.py", quick, QUICK), backend)
    assert found.source == "line timer"
    assert found.note.startswith("py-spy: ")
    assert found.lines


def test_the_process_of_a_job_is_found_from_outside(backend: str) -> None:
    sandbox = open_sandbox(backend, unsafe=False)
    try:
        tree = sandbox.stage("t", {"t.py": b"def f(): pass\n"})
        session = sandbox.open(Job("calls", find_interpreter(), tree))
        try:
            session.ask("load", "python", "t.py", "f", seconds=30.0)
            command = Path(f"/proc/{inner(session)}/cmdline").read_bytes()
            assert b"from inside.calls import main" in command
            assert b"bwrap" not in command
        finally:
            session.close()
    finally:
        sandbox.close()


@pytest.mark.corpus
def test_a_target_that_crashes_has_a_note_and_no_lines(tmp_path: Path, backend: str) -> None:
    task = written(tmp_path, "t.py::f", "import os\ndef f(x):\n    os._exit(3)\n", CALLS)
    found = found_by(profile, task, backend)
    assert found.lines == found.functions == ()
    assert "py-spy: " in found.note
    assert "line timer: " in found.note


@pytest.mark.corpus
@needs_py_spy
def test_what_a_hostile_process_calls_its_functions_is_only_text(tmp_path: Path, backend: str) -> None:
    named = FUNCTION + "f.__code__ = f.__code__.replace(co_name='a;b (x:1) 5\\n\\x1b[31m', co_qualname=';;\\n 7 8')\n"
    found = found_by(py_spy.profile, written(tmp_path, "t.py::f", named, CALLS), backend)
    assert sum(hot.share for hot in found.lines) <= 1.0001
    assert not any("\n" in function.name for function in found.functions)


def test_a_profiler_that_cannot_attach_or_end_is_told(tmp_path: Path) -> None:
    def work() -> float:
        return 1.0

    interrupted = "trap 'echo broken; exit 4' INT; echo ready; while :; do sleep 0.01; done"
    with pytest.raises(Silent, match="cannot be started"):
        sample([f"{tmp_path}/none"], b"ready", work)
    with pytest.raises(Silent, match="no such process"):
        sample(["/bin/sh", "-c", "echo no such process; exit 1"], b"ready", work)
    with pytest.raises(Silent, match="broken"):
        sample(["/bin/sh", "-c", interrupted], b"ready", work)


def test_the_report_of_a_profiler_is_bounded(tmp_path: Path) -> None:
    report = tmp_path / "report"
    flood = f"echo ready; exec head -c {2 * REPORT_BYTES} /dev/zero > {report}"
    with pytest.raises(Silent, match="it ended with -25"):  # SIGXFSZ
        sample(["/bin/sh", "-c", f"trap '' INT; {flood}"], b"ready", lambda: 1.0)
    assert report.stat().st_size <= REPORT_BYTES


def test_what_a_line_calls_elsewhere_counts_for_it_and_functions_for_themselves() -> None:
    report = "\n".join(
        [
            "fl=(1) /tmp/a.cpp", "fn=(1) main", "5 10", "+1 20",
            "cfi=(2) /usr/include/map", "cfn=(2) insert", "calls=3 100", "* 500",
            "cfn=(3) helper", "calls=1 9", "6 70",
            "fi=(2)", "300 5", "fe=(1)", "7 1",
            "fl=(2)", "fn=(2)", "100 500",
            "fl=(1)", "fn=(3)", "9 60", "cfn=(3)", "calls=1 9", "9 10",
        ]
    )  # fmt: skip
    found = callgrind.parse(report, "a.cpp")
    assert found.lines == {5: 10, 6: 520, 7: 1, 9: 60}
    main, insert, helper = ("main", "/tmp/a.cpp"), ("insert", "/usr/include/map"), ("helper", "/tmp/a.cpp")
    assert found.own == {main: 36, insert: 500, helper: 60}
    assert found.total == {main: 606, insert: 500, helper: 60}
    assert found.starts == {main: 5, insert: 100, helper: 9}


def test_folded_stacks_are_read_innermost_first() -> None:
    report = (
        "<module> (/src/t.py:9);f (/src/t.py:3);g (/usr/lib/x.py:7) 12\nf (/src/t.py:3) 2\nnot a row\n x 99999999999\n"
    )
    assert py_spy.parse(report) == {
        (Frame("g", "/usr/lib/x.py", 7), Frame("f", "/src/t.py", 3), Frame("<module>", "/src/t.py", 9)): 12,
        (Frame("f", "/src/t.py", 3),): 2,
    }


def test_samples_of_perf_are_read_with_what_was_inlined() -> None:
    text = (
        "\n\t            1289 slow(long)\n  /tmp/t.cpp:6 (inlined)\n"
        "\t            1289 main (/src/program)\n  /tmp/t.cpp:13\n"
        "\t    7f00 [unknown] ([unknown])\n\n\n\t            1300 main (/src/program)\n  /tmp/t.cpp:12\n"
    )
    assert perf.parse(text) == {
        (Frame("slow(long)", "/tmp/t.cpp", 6), Frame("main", "/tmp/t.cpp", 13), Frame("[unknown]", "[unknown]", 0)): 1,
        (Frame("main", "/tmp/t.cpp", 12),): 1,
    }


def test_stacks_become_shares_without_the_harness() -> None:
    harness, f, g = Frame("serve", "/whet/calls.py", 1), Frame("f", "/src/t.py", 2), Frame("g", "/lib/x.py", 9)
    stacks = {(g, f, harness): 30, (f, f, harness): 60, (Frame("h", "/src/t.py", 3), f, harness): 10, (harness,): 900}
    found = from_stacks("py-spy", stacks, "/src/t.py", "t.py", "def f():\n  a\n  b\n", {2: 1})
    assert [(line.line, line.share, line.text) for line in found.lines] == [(2, 0.9, "a"), (3, 0.1, "b")]
    assert [(h.name, h.file, h.line, h.own, h.total) for h in found.functions] == [
        ("f", "t.py", 1, 0.6, 1.0),
        ("g", "/lib/x.py", None, 0.3, 0.3),
        ("h", "t.py", None, 0.1, 0.1),
    ]
    assert not from_stacks("py-spy", {(f,): 3}, "/src/t.py", "t.py", "", {}).lines


@given(st.text(st.sampled_from("ab();:/ \t\n0123456789abcdef[]=*+-flcn"), max_size=300))
def test_no_report_breaks_a_parser(report: str) -> None:
    for stack, count in (*py_spy.parse(report).items(), *perf.parse(report).items()):
        assert count >= 0
        assert all(isinstance(frame.line, int) for frame in stack)
    callgrind.parse(report, "a.cpp")


def test_what_readers_see_is_bounded() -> None:
    many = {(f"f{i}" * 200, "t.py", i): StackCost(1, None) for i in range(50)}
    shown = hot_functions(many, 50)
    assert len(shown) == MOST_FUNCTIONS
    assert all(len(function.name) <= 120 for function in shown)
    assert [line.line for line in hot_lines("a\nb\n", {1: 10, 2: 30, 7: 5})] == [2, 1]
