"""``whet profile``, as a user meets it."""

from __future__ import annotations

import json
import shutil

import pytest

from whet.cli.profile import report_lines
from whet.core.counter import counted, missing
from whet.core.profile import HotFunction, HotLine, Profile, ProfileReport
from whet.core.result import TaskName

FUNCTION = """\
def f(xs):
    seen = []
    for x in xs:
        if x not in seen:
            seen.append(x)
    return seen
"""
WORKLOAD = "sizes = [10, 400]\ndef make_input(size, rng):\n    return ([rng.randrange(size) for _ in range(size)],)\n"
PROGRAM = "n = int(input())\nprint(sum(i % 7 for i in range(n * 1000)))\n"
STDIN = "sizes = [10, 400]\ndef make_input(size, rng):\n    return f'{size}\\n'\n"

needs_sandbox = pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")
AS = ("--sandbox", "bubblewrap", "--seed", "1")


@pytest.fixture
def function(tmp_path):
    (tmp_path / "t.py").write_text(FUNCTION)
    (tmp_path / "workload.py").write_text(WORKLOAD)
    return f"{tmp_path}/t.py::f"


@pytest.fixture
def program(tmp_path):
    (tmp_path / "p.py").write_text(PROGRAM)
    (tmp_path / "workload.py").write_text(STDIN)
    return f"{tmp_path}/p.py"


@pytest.mark.corpus
@needs_sandbox
def test_it_shows_functions_lines_and_counters(whet, function):
    done = whet("profile", function, *AS, COLUMNS="40")
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    lines = done.stdout.splitlines()
    for heading in ("hot functions", "hot lines", "counters"):
        assert heading in lines
    assert any("f (t.py:1)" in line for line in lines)
    assert any("#" in line and "if x not in seen:" in line for line in lines)
    assert any(line.startswith("  cpu-seconds") for line in lines)
    assert max(map(len, lines)) <= 40


@pytest.mark.corpus
@needs_sandbox
def test_the_document_is_all_that_stdout_holds(whet, function):
    done = whet("profile", function, *AS, "--json")
    assert (done.returncode, done.stderr) == (0, "")
    document = json.loads(done.stdout)
    assert document["schema"] == "whet.profile/1"
    assert document["task"] == {"name": "f", "language": "python", "target": function}
    profile = document["profile"]
    assert profile["source"] in ("py-spy", "line timer")
    assert profile["unit"] in ("samples", "ns")
    assert profile["lines"][0] | {"share": 0} == {"line": 4, "share": 0, "text": "if x not in seen:"}
    assert profile["functions"][0]["name"] == "f"
    assert {"name", "file", "line", "own", "total"} == set(profile["functions"][0])
    counters = {counter["name"]: counter for counter in document["counters"]}
    assert counters["cpu-seconds"]["value"] > 0
    for counter in counters.values():
        assert counter["available"] == (counter["value"] is not None) == (not counter["reason"])
    assert document["loosened"] == ""
    assert document["sandbox"]["backend"] == "bubblewrap"
    assert document["seconds"] > 0


@pytest.mark.corpus
@needs_sandbox
@pytest.mark.skipif(shutil.which("perf", path="/usr/bin") is None, reason="perf is not installed")
def test_privileged_counters_say_what_they_loosen_and_count(whet, program):
    done = whet("profile", program, *AS, "--privileged-counters", "--json")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert "perf_event_open is allowed" in document["loosened"]
    counters = {counter["name"]: counter for counter in document["counters"]}
    assert {"instructions", "cycles", "task-clock"} <= set(counters)
    if not counters["task-clock"]["available"]:
        assert "perf_event_paranoid" in counters["task-clock"]["reason"]
        pytest.skip(counters["task-clock"]["reason"])
    assert counters["task-clock"]["value"] > 0
    assert counters["task-clock"]["source"] == "perf"
    plain = json.loads(whet("profile", program, *AS, "--json").stdout)
    assert plain["loosened"] == ""
    named = {(counter["name"], counter["source"]) for counter in document["counters"]}
    assert len(named) == len(document["counters"])


@pytest.mark.corpus
@needs_sandbox
@pytest.mark.parametrize(
    ("source", "said"),
    [("def f(x:\n", "does not load"), ("import os\ndef f(x): os._exit(3)\n", "failed on size 1")],
)
def test_a_target_that_does_not_run_is_exit_5(whet, tmp_path, source, said):
    (tmp_path / "t.py").write_text(source)
    (tmp_path / "workload.py").write_text("sizes = [1]\ndef make_input(size, rng):\n    return (1,)\n")
    done = whet("profile", f"{tmp_path}/t.py::f", *AS)
    assert (done.returncode, done.stdout) == (5, "")
    assert done.stderr.startswith("error: ")
    assert done.stderr.count("\n") == 1
    assert said in done.stderr


@pytest.mark.corpus
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("none.py",), "no file none.py"),
        (("t.py::g",), "defines no g"),
        (("t.py::f", "--sandbox", "docke"), "did you mean 'docker'?"),
        (("t.py::f", "--privileged"), "--privileged-counters"),
        (("t.py::f", "--privileged-counters"), "is a function"),
    ],
)
def test_what_cannot_be_used_is_exit_2(whet, tmp_path, words, said):
    (tmp_path / "t.py").write_text(FUNCTION)
    done = whet("profile", *words, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1
    assert said in done.stderr


def report(**changes):
    profile = Profile(
        (HotLine(12, 0.625, "\x1b[31mred = 1"), HotLine(3, 0.25, "x" * 200)),
        "perf",
        "callgrind: gone",
        (HotFunction("f", "/usr/lib/a.py", 7, 0.5, 0.75), HotFunction("g\n", "t.cpp", None, 0.25, None)),
        "samples",
    )
    facts = {
        "task": TaskName("t", "cpp", "/p/t.cpp"),
        "profile": profile,
        "counters": (
            counted("cpu-seconds", 0.5, "s", "rusage"),
            missing("a", "", "perf", "no such thing"),
            missing("b", "", "perf", "no such thing"),
        ),
        "loosened": "all of it",
    }
    return ProfileReport(**{**facts, **changes})


@pytest.mark.parametrize("columns", [20, 40, 200])
def test_nothing_is_wider_than_the_terminal_or_moves_its_cursor(columns):
    lines = list(report_lines(report(), columns))
    assert max(map(len, lines)) <= columns
    assert "\x1b" not in "".join(lines)


def test_a_report_in_full():
    lines = list(report_lines(report(), 200))
    assert "measured by perf, in samples" in lines
    assert "note: callgrind: gone" in lines
    assert "loosened: all of it" in lines
    assert "  50%   75%  f (a.py:7)" in lines
    assert "  25%     -  g  (t.cpp)" in lines
    assert "  62%  #####...   12  \\x1b[31mred = 1" in lines
    assert "  cpu-seconds  0.5 s (rusage)" in lines
    assert "  not available: a, b: no such thing" in lines


def test_a_report_without_hot_spots_says_why():
    lines = list(report_lines(report(profile=Profile((), "none", "py-spy: gone")), 80))
    assert "note: py-spy: gone" in lines
    assert "hot lines" not in lines
    assert not any(line.startswith("measured") for line in lines)
