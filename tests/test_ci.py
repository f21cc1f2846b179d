"""The scripts of `.ci`: failed tests are run once more where they may be, and the summary says what came of a run."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from paths import ROOT

SCRIPTS = ROOT / ".ci"
# Fails in a run, and in the next one only what fails each time.
SUITE = """
import pytest
from pathlib import Path
@pytest.mark.parametrize("number", range({unstable}))
def test_unstable(number):
    seen = Path(__file__).with_suffix(f".{{number}}")
    first = not seen.exists()
    seen.touch()
    assert not first
@pytest.mark.parametrize("number", range({broken}))
def test_broken(number):
    assert False
def test_sound():
    pass
"""


@pytest.fixture
def run_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Runs a suite of modules, each with so many unstable and broken tests, and then what failed once more."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")  # loading plugins takes seconds

    def python(*words: object) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, *map(str, words)]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)

    def run_again(**modules: tuple[int, int]) -> subprocess.CompletedProcess[str]:
        (tmp_path / "pytest.ini").write_text("[pytest]\n")
        for name, (unstable, broken) in modules.items():
            (tmp_path / f"{name}.py").write_text(SUITE.format(unstable=unstable, broken=broken))
        first = python("-m", "pytest", "-q")
        assert first.returncode == (1 if any(sum(one) for one in modules.values()) else 0), first.stdout
        return python(SCRIPTS / "rerun.py", tmp_path / "again.xml")

    return run_again


def test_one_that_then_passes_is_named_and_excused(run_again, tmp_path):
    done = run_again(test_store=(1, 0), test_exploits=(0, 0))
    assert done.returncode == 0, done.stdout
    assert "ci: unstable: test_store.py::test_unstable[0]\n" in done.stdout
    assert 'tests="1"' in (tmp_path / "again.xml").read_text(), "only what failed is run again"


def test_two_are_excused(run_again):
    assert run_again(test_store=(1, 0), test_bot_flow=(1, 0)).returncode == 0


def test_three_are_not_run_again(run_again, tmp_path):
    done = run_again(test_store=(3, 0))
    assert done.returncode == 1
    assert "ci: 3 tests failed; 2 at most are run once more" in done.stdout
    assert not (tmp_path / "again.xml").exists()


@pytest.mark.parametrize("module", ["test_exploits", "test_attacks", "test_verify", "test_hidden_state", "test_smoke"])
def test_a_verdict_is_never_excused(run_again, tmp_path, module):
    done = run_again(**{module: (1, 0), "test_store": (1, 0)})
    assert done.returncode == 1
    assert f"ci: never excused: {module}.py::test_unstable[0]\n" in done.stdout
    assert not (tmp_path / "again.xml").exists()


def test_a_failure_that_stays_fails(run_again):
    done = run_again(test_store=(1, 1))
    assert done.returncode == 1
    assert "ci: unstable" not in done.stdout


def test_a_run_that_failed_without_a_failed_test_fails(run_again):
    done = run_again(test_store=(0, 0))
    assert done.returncode == 1
    assert "ci: 0 tests failed" in done.stdout


REPORT = '<testsuites><testsuite name="pytest">{}</testsuite></testsuites>'
PASSED = '<testcase classname="{}" name="{}" time="{}" />'
FAILED = '<testcase classname="a" name="bad" time="1"><failure message="no">no</failure></testcase>'
BROKEN = '<testcase classname="a" name="broken" time="1"><error message="no">no</error></testcase>'
SKIPPED = '<testcase classname="a" name="left" time="0"><skipped message="no GPU" /></testcase>'
RETRIED = (
    '<testcase classname="s" name="gain" time="50"><properties><property name="retry" value="too noisy" />'
    '<property name="retry" value="too noisy" /><property name="other" value="x" /></properties></testcase>'
)


def summary(folder: Path, phases: str, **files: str) -> tuple[int, list[str]]:
    """Writes what the phases of a run report; returns the exit status and the lines of their summary."""
    (folder / "phases").write_text(phases)
    for name, text in files.items():
        name = name.replace("_", "-")
        (folder / name).with_suffix(".xml" if text.startswith("<") else ".retries").write_text(text)
    command = [sys.executable, SCRIPTS / "summary.py", folder]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stderr == ""
    return done.returncode, done.stdout.splitlines()


def test_the_summary_counts_tests_and_names_retries_and_the_slowest(tmp_path):
    many = "".join(PASSED.format("t", f"n{number}", number / 10) for number in range(30))
    code, lines = summary(
        tmp_path,
        "lint passed 40\ntest passed 300\nsmoke passed 80\ndemo passed 50\n",
        test=REPORT.format(many + FAILED + BROKEN + SKIPPED),
        test_again=REPORT.format(PASSED.format("a", "bad", 1) + PASSED.format("a", "broken", 1)),
        smoke=REPORT.format(RETRIED),
        demo="a gain was not shown\n",
    )
    assert code == 0
    assert lines[:8] == [
        "ci: lint   passed    40 s",
        "ci: test   passed   300 s   30 passed, 2 failed, 1 skipped, 2 passed when run again",
        "ci: smoke  passed    80 s   1 passed, 0 failed, 0 skipped",
        "ci: demo   passed    50 s",
        "ci: retry in smoke: s::gain: too noisy",
        "ci: retry in smoke: s::gain: too noisy",
        "ci: retry in demo: a gain was not shown",
        "ci: the 20 slowest tests",
    ]
    assert lines[8:10] == ["ci:    50.0 s s::gain", "ci:     2.9 s t::n29"]
    assert len(lines) == 8 + 20


def test_a_phase_that_failed_fails_the_run(tmp_path):
    code, lines = summary(tmp_path, "lint FAILED 3\ntest passed 300\n", test=REPORT.format(SKIPPED))
    assert code == 1
    assert lines[0] == "ci: lint   FAILED     3 s"


def test_more_retries_than_three_in_all_fail_the_run(tmp_path):
    told = {"smoke": REPORT.format(RETRIED), "demo": "a gain was not shown\n" * 2}
    code, lines = summary(tmp_path, "smoke passed 80\ndemo passed 50\n", **told)
    assert code == 1
    assert lines[-1] == "ci: FAILED: 4 retries, 3 at most"


def test_a_phase_that_left_no_report_is_shown_without_numbers(tmp_path):
    code, lines = summary(tmp_path, "test FAILED 2\n")
    assert (code, lines[0]) == (1, "ci: test   FAILED     2 s")
