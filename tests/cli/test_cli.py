"""The command line: help, errors, exit codes."""

from __future__ import annotations

import inspect
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from dataclasses import fields

import pytest
from paths import ROOT

from whet import __version__
from whet.cli import optimize, reference, verify
from whet.cli import options as opt
from whet.cli.errors import Invocation, guarded
from whet.core.config import ProjectConfig, load_project_config
from whet.core.errors import BaselineError, UsageError
from whet.core.options import Budget, Options, declared
from whet.testing.fake_provider import FakeProvider

HANG = 180
"""Seconds that only a hang reaches."""
HEAVY = {
    "openai",
    "anthropic",
    "langgraph",
    "torch",
    "ray",
    "docker",
    "matplotlib",
    "numpy",
    "scipy",
    "libcst",
    "rich",
}
SPY = """
import runpy, sys
sys.argv = ["whet", *{arguments!r}]
try:
    {start}
except SystemExit:
    pass
print(*sorted(name.split(".")[0] for name in sys.modules), file=sys.stderr)
"""


def error_line(done, stdout=""):
    """Returns the one line of an error; stdout has to be empty, or to match a pattern."""
    assert re.fullmatch(stdout, done.stdout)
    assert done.stderr.count("\n") == 1
    assert done.stderr.startswith("error: ")
    return done.stderr.removeprefix("error: ").rstrip("\n")


@pytest.mark.parametrize("arguments", [["--help"], [], ["optimize", "--help"], ["runs", "--help"], ["--version"]])
@pytest.mark.parametrize(
    "start",
    ["from whet.cli.main import main; sys.exit(main())", "runpy.run_module('whet', run_name='__main__')"],
)
def test_help_imports_nothing_heavy(arguments, start):
    spy = SPY.format(arguments=arguments, start=start)
    done = subprocess.run([sys.executable, "-c", spy], capture_output=True, text=True, check=True)
    assert "whet" in done.stdout
    loaded = set(done.stderr.split())
    assert "typer" in loaded
    assert loaded & HEAVY == set()


def test_help_names_every_command(whet):
    done = whet("--help")
    assert done.returncode == 0
    assert done.stderr == ""
    for command in ("doctor", "optimize", "verify", "runs"):
        assert re.search(rf"^  {command} ", done.stdout, re.MULTILINE)


def test_version(whet):
    assert whet("--version").stdout == f"whet {__version__}\n"


@pytest.mark.corpus
@pytest.mark.parametrize(
    ("words", "named"),
    [
        (["optimise", "a.py::f"], "'optimize'"),
        (["runs", "lst"], "'list'"),
        (["runs", "zzzzzz"], "it has list, show, resume, replay, export"),
        (["optimize", "a.py::f", "--buget-usd", "1"], "'--budget-usd'"),
        (["verify", "a.py::f", "--candidat", "b.py"], "'--candidate'"),
        (["--zzzzzz"], "see 'whet --help'"),
        (["optimize"], "missing argument 'TARGET'"),
        (["optimize", "--seed", "1", "a.py::f", "--cores"], "'--cores' requires an argument"),
        (["optimize", "a.py::f", "--cores", "two"], "'--cores'"),
        (["optimize", "a.py::f", "b.py::g"], "b.py::g"),
        (["runs"], "missing command"),
        (["verify", "a.py::f"], "--candidate FILE or --patch FILE"),
        (
            ["verify", "a.py::f", "--candidate", "b.py", "--patch", "c.diff"],
            "--candidate FILE or --patch FILE",
        ),
    ],
)
def test_a_usage_error_is_one_line_that_names_the_mend(whet, words, named):
    done = whet(*words)
    assert done.returncode == 2
    assert named in error_line(done)


def test_an_error_of_ours_ends_with_its_own_exit_code(capsys):
    def unusable():
        raise BaselineError("the baseline\nis too short", "too_short")

    assert guarded(Invocation(), unusable) == 5
    assert capsys.readouterr().err == "error: the baseline is too short\n"


def test_an_unexpected_error_is_one_line_and_names_debug(capsys):
    def broken():
        raise KeyError("x")

    assert guarded(Invocation(), broken) == 1
    line = capsys.readouterr().err
    assert line.count("\n") == 1
    assert "internal: KeyError: 'x'" in line
    assert "--debug" in line
    assert guarded(Invocation(debug=True), broken) == 1
    assert "Traceback (most recent call last)" in capsys.readouterr().err


def test_an_error_never_moves_the_cursor(capsys):
    def hostile():
        raise UsageError("no file '\x1b[2J\u202etxt.py'")

    assert guarded(Invocation(), hostile) == 2
    assert capsys.readouterr().err == "error: no file '\\x1b[2J\\u202etxt.py'\n"


@pytest.mark.parametrize(
    ("session", "line"),
    [
        (
            Invocation(run="20260101-000000-abcdef"),
            "interrupted; resume with: whet runs resume 20260101-000000-abcdef\n",
        ),
        (Invocation(), "interrupted\n"),
    ],
)
def test_an_interrupt_names_the_way_back(capsys, session, line):
    def stopped():
        raise KeyboardInterrupt

    assert guarded(session, stopped) == 130
    assert capsys.readouterr().err == line


def test_a_reader_that_goes_away_is_no_error():
    reader, writer = os.pipe()
    os.close(reader)
    try:
        command = [sys.executable, "-m", "whet", "optimize", "--help"]
        done = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, text=True, check=False)
    finally:
        os.close(writer)
    assert done.stderr == ""
    assert done.returncode == 141


@pytest.mark.parametrize("command", [optimize.optimize, verify.verify])
def test_the_defaults_are_those_of_the_library(command):
    parameters = inspect.signature(command).parameters
    for field in fields(Options):
        if field.name not in ("to", "cluster"):  # of transpile alone, and a form of --workers
            assert parameters[field.name].default == field.default, field.name


def test_the_reference_page_is_current():
    assert (ROOT / "docs" / "cli.md").read_text(encoding="utf-8") == reference.page()


NOBODY = "openai:x@http://127.0.0.1:9"
"""A model that nobody serves, and of unknown price."""
SLOW = "def total(numbers):\n    return sum([n for n in numbers])\n"
FAST = "def total(numbers):\n    return sum(numbers)\n"
WORKLOAD = (
    "sizes = [0, 1000, 20000]\n\n\ndef make_input(size, rng):\n    return ([rng.random() for _ in range(size)],)\n"
)


@pytest.fixture
def code(tmp_path):
    """A folder with a target, its workload and two rewrites."""
    folder = tmp_path / "code"
    folder.mkdir()
    for name, text in {
        "total.py": SLOW,
        "workload.py": WORKLOAD,
        "fast.py": FAST,
        "wrong.py": "def total(numbers):\n    return 1\n",
        "broken.py": "def total(:\n",
    }.items():
        (folder / name).write_text(text)
    return folder


@pytest.mark.corpus
def test_verify_of_a_right_rewrite_that_is_not_timed(whet, code):
    words = ["verify", "total.py::total", "--candidate", "fast.py", "--until", "differential"]
    done = whet(*words, "--json", cwd=code)
    document = json.loads(done.stdout)
    assert (done.returncode, done.stderr) == (3, "")
    assert (document["schema"], document["status"], document["speedup"]) == ("whet.result/1", "no_improvement", None)
    text = whet(*words, cwd=code).stdout
    assert "no verified improvement" in text
    assert "+    return sum(numbers)" in text
    assert "\x1b" not in text


@pytest.mark.corpus
def test_verify_of_a_wrong_rewrite_names_rung_and_reason(whet, code):
    done = whet("verify", "total.py::total", "--candidate", "wrong.py", cwd=code)
    assert done.returncode == 3
    assert re.search(r"differential +failed +[\d.]+ s +wrong_output", done.stdout)


@pytest.mark.corpus
def test_a_baseline_that_cannot_be_used(whet, code):
    words = ["verify", "broken.py::total", "--candidate", "fast.py"]
    done = whet(*words, cwd=code)
    assert done.returncode == 5
    assert "does not parse" in error_line(done, stdout=r"run \S+\n")
    done = whet(*words, "--json", cwd=code)
    assert (done.returncode, done.stderr) == (5, "")
    assert json.loads(done.stdout)["status"] == "baseline_invalid"


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (["verify", "total.py::totl", "--candidate", "fast.py"], "'total'"),
        (["verify", "totl.py::total", "--candidate", "fast.py"], "'total.py'"),
        (["verify", "total.py::total", "--candidate", "none.py"], "none.py"),
        (["optimize", "total.py::total", "--sandbox", "none"], "--unsafe"),
        (["optimize", "total.py::total", "--model", "catalog"], "'catalogue'"),
        (["optimize", "total.py::total", "--model", "openai:x"], "OPENAI_API_KEY"),
        (["optimize", "total.py::total", "--budget-usd", "-1"], "--budget-usd"),
        (["optimize", "total.py::total", "--model", NOBODY, "--budget-usd", "1"], "--budget-tokens"),
        pytest.param(
            ["optimize", "total.py::total", "--model", NOBODY],
            "no connection",
            marks=pytest.mark.corpus,  # it is tried again for a while
        ),
        (["optimize", "total.py::total", "--rounds", "0"], "--rounds"),
        (["optimize", "total.py::total", "--strategy", "refin"], "'refine'"),
    ],
)
def test_bad_input_is_one_line_and_leaves_nothing_behind(whet, code, words, named):
    before = sorted(code.iterdir())
    done = whet(*words, "--json", cwd=code)
    assert done.returncode == 2
    assert named in error_line(done)
    assert sorted(code.iterdir()) == before
    assert json.loads(whet("runs", "list", "--json").stdout) == []


@pytest.mark.corpus
def test_an_interrupt_waits_for_no_call_under_way_and_the_run_goes_on_later(whet, code, tmp_path):
    answer = f"```python\n{FAST}```\n"
    four_asked, released = threading.Barrier(5), threading.Event()

    def slowly(body):
        if not released.is_set():
            four_asked.wait(HANG)
            released.wait(HANG)
        return answer

    with FakeProvider(slowly) as provider:
        model = f"openai:any@{provider.openai_url}"
        words = ["optimize", "total.py::total", "--model", model, "--judge-model", "catalogue", "--strategy", "refine"]
        process = subprocess.Popen(
            [sys.executable, "-m", "whet", *words, "--until", "differential", "--rounds", "1", "--json"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=code,
            env=whet.environment,
        )
        try:
            four_asked.wait(HANG)
            process.send_signal(signal.SIGINT)
            out, line = process.communicate(timeout=HANG / 3)  # the calls would have taken longer
        finally:
            process.kill()
            released.set()
        assert (process.returncode, out) == (130, "")
        found = re.fullmatch(r"interrupted; resume with: whet (runs resume \S+)\n", line)
        assert found is not None, line
        run = found[1].split()[-1]

        def calls():
            events = json.loads(whet("runs", "show", run, "--json").stdout)["events"]
            return [(event["sample"], event["state"]) for event in events if event["event"] == "call"]

        assert sorted(sample for sample, state in calls() if state in ("intent", "unknown")) == list(range(4))
        done = whet(*found[1].split(), "--json")
    assert done.returncode == 3, done.stderr
    assert json.loads(done.stdout)["candidates"]["proposed"] == 4
    assert sorted(calls()) == sorted((sample, state) for sample in range(4) for state in ("unknown", "done"))
    assert json.loads(done.stdout)["cost"]["calls"] == 8, "unknown ones count too"


@pytest.mark.corpus
def test_an_interrupted_run_is_resumed_by_the_command_that_it_names(whet, code, tmp_path):
    folder = tmp_path / "answers"
    words = ["optimize", "total.py::total", "--model", f"manual:{folder}", "--judge-model", "catalogue"]
    limits = ["--until", "differential", "--rounds", "1", "--candidates", "1", "--json"]
    process = subprocess.Popen(
        [sys.executable, "-m", "whet", *words, *limits],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=code,
        env=whet.environment,
    )
    try:
        deadline = time.monotonic() + 60
        while not (folder / "0001.prompt.md").exists():
            assert process.poll() is None, process.communicate()
            assert time.monotonic() < deadline
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        out, line = process.communicate(timeout=60)
    finally:
        process.kill()
    assert (process.returncode, out) == (130, "")
    found = re.fullmatch(r"interrupted; resume with: whet (runs resume \S+)\n", line)
    assert found is not None, line
    (row,) = json.loads(whet("runs", "list", "--json").stdout)
    assert (row["status"], row["result"], row["cost"]) == ("interrupted", None, None)

    (folder / "0001.answer.md").write_text(f"```python\n{FAST}```\n")
    done = whet(*found[1].split(), "--json", cwd=tmp_path)
    assert done.returncode == 3, done.stderr
    document = json.loads(done.stdout)
    assert document["run"] == row["run"]
    assert document["candidates"]["correct"] == 1


def test_a_project_states_caps_and_options_as_the_command_line_takes_them():
    configured = {name: field.annotation for name, field in ProjectConfig.model_fields.items()}
    for name, (kind, _) in declared(Budget).items():
        assert configured[f"budget_{name}"] == kind
    stated = ProjectConfig.model_validate({"budget-calls": 3, "min-speedup": 1.2, "max-memory": "1.1x"})
    assert (stated.budget_calls, stated.min_speedup, stated.max_memory, stated.confidence) == (3, 1.2, "1.1x", None)


@pytest.mark.parametrize(
    ("stated", "told"),
    [
        ("budget-usd = -1", "budget-usd -1 is negative"),
        ("confidence = 2", "confidence 2 is outside (0.5, 1); give 0.99 for 99 %"),
        ("min-speedup = 0.5", "min-speedup 0.5 is below 1; give 1.01 for a gain of 1 %"),
        ('budget-calls = "few"', "budget-calls: input should be a valid integer, unable to parse string as an integer"),
        ("budget-usb = 1", "unknown key 'budget-usb'; did you mean 'budget-usd'?"),
    ],
)
def test_what_a_project_states_keeps_the_bounds_of_the_command_line(tmp_path, stated, told):
    path = tmp_path / "pyproject.toml"
    path.write_text(f"[tool.whet]\n{stated}\n")
    with pytest.raises(UsageError) as caught:
        load_project_config(tmp_path)
    assert str(caught.value) == f"{path}: [tool.whet] {told}"


def test_a_file_of_functions_is_told_how_one_is_named(whet, tmp_path):
    (tmp_path / "slow.py").write_text("def f(x):\n    return x\n")
    (tmp_path / "workload.py").write_text("sizes = [1, 2]\n\n\ndef make_input(size, rng):\n    return (size,)\n")
    ended = whet("optimize", tmp_path / "slow.py")
    assert ended.returncode == 2, ended
    assert ended.stderr.splitlines()[-1].endswith("not tuple; one of its functions is meant by file.py::function")


@pytest.mark.parametrize("kind", [Options, Budget])
def test_each_option_says_what_it_is_for(kind):
    assert {field.name for field in fields(kind)} - declared(kind).keys() <= {"cluster"}
    assert all(said.help and said.help.endswith(".") for _, said in declared(kind).values())


def test_a_command_may_have_an_option_in_a_form_of_its_own():
    parameters = inspect.signature(optimize.optimize).parameters
    assert parameters["workers"].annotation.__metadata__[0].metavar == opt.WORKERS
    assert list(parameters)[-2:] == ["as_json", "debug"]
