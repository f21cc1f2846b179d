"""The command line: help, errors, exit codes."""

from __future__ import annotations

import inspect
import os
import re
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import pytest

from whet import __version__
from whet.cli import optimize, reference, verify
from whet.cli.errors import Session, guarded
from whet.core.config import Options
from whet.core.errors import BaselineError, UsageError

ROOT = Path(__file__).parent.parent
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


def error_line(done):
    """Returns the one line of an error; stdout has to be empty."""
    assert done.stdout == ""
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
        (["optimize", "a.py::f", "--cores"], "'--cores' requires an argument"),
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

    assert guarded(Session(), unusable) == 5
    assert capsys.readouterr().err == "error: the baseline is too short\n"


def test_an_unexpected_error_is_one_line_and_names_debug(capsys):
    def broken():
        raise KeyError("x")

    assert guarded(Session(), broken) == 1
    line = capsys.readouterr().err
    assert line.count("\n") == 1
    assert "internal: KeyError: 'x'" in line
    assert "--debug" in line
    assert guarded(Session(debug=True), broken) == 1
    assert "Traceback (most recent call last)" in capsys.readouterr().err


def test_an_error_never_moves_the_cursor(capsys):
    def hostile():
        raise UsageError("no file '\x1b[2J\u202etxt.py'")

    assert guarded(Session(), hostile) == 2
    assert capsys.readouterr().err == "error: no file '\\x1b[2J\\u202etxt.py'\n"


@pytest.mark.parametrize(
    ("session", "line"),
    [
        (
            Session(run="20260101-000000-abcdef"),
            "interrupted; resume with: whet runs resume 20260101-000000-abcdef\n",
        ),
        (Session(), "interrupted\n"),
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
        assert parameters[field.name].default == field.default, field.name


def test_the_reference_page_is_current():
    assert (ROOT / "docs" / "cli.md").read_text(encoding="utf-8") == reference.page()
