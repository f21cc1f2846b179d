"""Completion in a shell: the script, and what it is answered."""

from __future__ import annotations

import shlex
import subprocess
import sys

import pytest

from whet.core.store import Store


def complete(whet, line):
    """Returns what bash is told may stand in the place of the last word of a line."""
    words = line.split(" ")
    done = whet(_WHET_COMPLETE="complete_bash", COMP_WORDS=line, COMP_CWORD=str(len(words) - 1))
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.split()


def test_bash_is_given_a_script_that_it_takes(whet):
    program = shlex.join([sys.executable, "-m", "whet"])
    # Not the last command: a shell is replaced by that, and is then not there to be asked about.
    shell = ["bash", "-c", f"{program} --show-completion; true"]
    done = subprocess.run(shell, capture_output=True, text=True, check=False, env=whet.environment)
    assert done.stderr == ""
    assert "complete -o default -F _whet_completion whet" in done.stdout
    assert subprocess.run(["bash", "-n"], input=done.stdout, text=True, check=False).returncode == 0


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("whet opt", {"optimize"}),
        ("whet runs pr", {"prune"}),
        ("whet optimize --budget-c", {"--budget-calls", "--budget-candidates"}),
        ("whet verify f.py::f --pat", {"--patch"}),
        ("whet nosuch --pat", set()),
    ],
)
def test_commands_and_options_are_completed(whet, line, expected):
    assert set(complete(whet, line)) == expected


def test_runs_are_completed(whet, tmp_path):
    store = Store(tmp_path / "home")
    run = store.begin("optimize", "t", {})
    store.close()
    assert complete(whet, f"whet runs show {run[:8]}") == [run]
    assert complete(whet, "whet runs delete x") == []
