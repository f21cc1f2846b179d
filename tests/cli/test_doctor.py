"""``whet doctor``: what there is, what is lacking, and nothing of any key."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import asdict

import pytest

from whet.cli import machine
from whet.cli.doctor import exit_code, lines
from whet.cli.machine import Tool
from whet.sandbox.backends import probe
from whet.testing.attacks.attack import Attack
from whet.testing.attacks.quick import QUICK, attacked
from whet.testing.attacks.strike import CORPUS

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


@pytest.mark.corpus
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


@pytest.mark.corpus(one_in=8)
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


@pytest.mark.corpus(one_in=8)
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


@pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")
def test_it_attacks_each_sandbox_that_is_there(report):
    attacks = named(report["sandboxes"], "bubblewrap")["attacks"]
    assert [attack["name"] for attack in attacks] == [attack.name for attack in QUICK]
    assert [attack["name"] for attack in attacks if attack["held"] is not True] == []
    assert {"read-file", "inet", "fork-bomb", "init-environment", "ptrace"} <= {attack["name"] for attack in attacks}
    assert len(QUICK) > len(CORPUS) / 2
    for backend in report["sandboxes"]:
        assert backend["available"] or backend["attacks"] == []


@pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")
def test_an_attack_that_gets_through_is_told_loudly(report):
    corpus = (
        Attack("gets-through", "", "return True"),
        Attack("broken", "", "return undefined"),
        Attack("held", "", "return False"),
    )
    found = [asdict(found) for found in attacked((r for r in probe() if r.name == "bubblewrap"), corpus)]
    assert [attack["held"] for attack in found[0]["attacks"]] == [False, None, True]
    assert exit_code(found) == 1
    said = "\n".join(lines({"sandboxes": found}, 60))
    assert "ATTACKS THAT GOT THROUGH (1 of 3): gets-through" in said
    assert "attacks that could not be made here (1 of 3): broken" in said
    assert "DO NOT RUN whet here: bubblewrap" in said
    assert exit_code(report["sandboxes"]) == 0
    assert exit_code([{"available": False, "attacks": ()}, *found]) == 1
