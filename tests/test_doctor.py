"""``whet doctor``: what there is, what is lacking, and nothing of any key."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys

import pytest

from whet.cli import machine
from whet.cli.doctor import lines
from whet.cli.machine import Tool

SECRET = "sk-never-shown-0123456789"


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """What the doctor says on this machine, with one key set."""
    done = subprocess.run(
        [sys.executable, "-m", "whet", "doctor", "--json"],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "OPENAI_API_KEY": SECRET, "ANTHROPIC_API_KEY": ""},
    )
    assert SECRET not in done.stdout + done.stderr
    return json.loads(done.stdout)


def named(findings, name):
    return next(finding for finding in findings if finding["name"] == name)


def test_every_part_says_what_is_there_and_why_not(report):
    assert list(report) == ["tools", "sandboxes", "devices", "models"]
    for findings in report.values():
        assert findings
        for finding in findings:
            assert {"name", "available", "version", "reason"} <= set(finding)
            assert finding["available"] or finding["reason"]
    for part in ("tools", "devices", "models"):
        for finding in report[part]:
            assert bool(finding["costs"]) != finding["available"], finding


def test_the_interpreter_that_runs_this_is_named_first(report):
    first = report["tools"][0]
    assert first["name"] == "python"
    assert first["available"]


def test_keys_are_looked_for_and_never_shown(report):
    assert named(report["models"], "catalogue")["available"]
    assert named(report["models"], "openai")["available"]
    missing = named(report["models"], "anthropic")
    assert not missing["available"]
    assert "ANTHROPIC_API_KEY" in missing["reason"]


def test_a_program_that_is_not_there_names_its_package(report):
    found = machine.find(Tool("no-such-program", "some-package", "all of it"))
    assert (found.available, found.reason, found.costs) == (False, "apt install some-package", "all of it")


def test_a_program_that_gives_no_answer_is_not_available():
    found = machine.find(Tool("false", "coreutils", "all of it"))
    assert not found.available
    assert found.costs == "all of it"


def test_a_program_that_answers_tells_its_version():
    found = machine.find(Tool("bash", "bash", "all of it"))
    assert found.available
    assert found.version
    assert found.version[0].isdigit()


def test_without_tools_it_still_answers(whet, tmp_path):
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "true").symlink_to(shutil.which("true"))
    done = whet("doctor", PATH=str(tmp_path / "bin"), DOCKER_HOST=f"unix://{tmp_path}/nobody")
    assert done.returncode == 0
    assert "whet cannot run here" in done.stdout
    assert "apt install bubblewrap" in done.stdout


def test_people_can_read_it_at_60_columns(report):
    text = list(lines(report, 60))
    assert all(len(line) <= 60 for line in text)
    assert text[-1].startswith(("whet can run here", "whet cannot run here"))
