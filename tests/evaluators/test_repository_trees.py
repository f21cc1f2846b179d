"""Copies of a repository in the sandbox: its suite before and after a change, and its command in pairs."""

from __future__ import annotations

from contextlib import closing

import pytest
from repositories import repository

from whet.core.errors import UsageError
from whet.core.measurement import Measurement, Outcome
from whet.core.repository import ProjectKind, Survey
from whet.core.verdict import Reason
from whet.evaluators.finding import Fault
from whet.evaluators.project import MOST_BYTES
from whet.evaluators.repository import end_to_end as pairs
from whet.evaluators.repository.end_to_end import EndToEndRequest, end_to_end
from whet.evaluators.repository.suite_run import BESIDE, alone, baseline, without
from whet.evaluators.repository.trees import LARGE, Ground, copied, lighten, snapshot
from whet.sandbox.backends import open_sandbox
from whet.sandbox.interpreter import find_interpreter

SLOW = "def total(n):\n    found = 0\n    for i in range(n):\n        found += i\n    return found\n"
FAST = "def total(n):\n    return n * (n - 1) // 2\n"
WRONG = "def total(n):\n    return 10\n"
TESTS = """
import os
from pkg.sums import total

def test_five():
    assert total(5) == 10

def test_six():
    assert total(6) == 15

def test_fails():
    assert total(5) == 11
"""
FILES = {
    "src/pkg/__init__.py": "",
    "src/pkg/sums.py": SLOW,
    "tests/test_sums.py": TESTS,
    "run.py": "from pkg.sums import total\n\nprint(total(2_000_000))\n",
}
PYTEST = "pytest -q tests"


@pytest.fixture(scope="module")
def ground():
    with closing(open_sandbox("auto", False)) as sandbox:
        survey = Survey(None, ProjectKind.PYTHON, ("src",), PYTEST, None, None)
        yield Ground(sandbox, find_interpreter(), survey)


@pytest.fixture(scope="module")
def trees(ground, tmp_path_factory):
    """A snapshot for each text of the module."""
    made = {}
    for name, text in (("slow", SLOW), ("fast", FAST), ("wrong", WRONG)):
        root = repository(tmp_path_factory.mktemp(name), {**FILES, "src/pkg/sums.py": text})
        made[name] = snapshot(ground, root, BESIDE)
    return made


@pytest.fixture(scope="module")
def suite(ground, trees):
    return baseline(ground, trees["slow"], PYTEST)


def test_a_copy_is_put_in_place_anew_and_leads_to_no_repository(ground, trees):
    with copied(ground, trees["slow"]) as copy:
        assert copy.run("echo changed > src/pkg/sums.py; echo left > ../left; echo left > /tmp/left").well
        assert copy.renew() is None
        ran = copy.run("cat src/pkg/sums.py; ls -A . .. /tmp; test -d src/pkg/__pycache__ && echo compiled")
    assert SLOW in ran.stdout
    assert "left" not in ran.stdout
    assert ".git\n" not in ran.stdout
    assert "compiled" in ran.stdout


def test_packages_are_imported_from_the_copy(ground, trees):
    with copied(ground, trees["fast"]) as copy:
        ran = copy.run("python -c 'import pkg.sums; print(pkg.sums.__file__)'")
    assert ran.stdout.strip() == "/work/repo/src/pkg/sums.py"


@pytest.mark.corpus
def test_tests_that_fail_before_any_change_are_told_apart(suite):
    assert list(suite.outcome.passed) == ["tests/test_sums.py::test_five", "tests/test_sums.py::test_six"]
    assert suite.failing == ("tests/test_sums.py::test_fails",)
    assert suite.flaky == ()


@pytest.mark.corpus
def test_a_change_must_leave_what_passed(ground, trees, suite):
    assert suite.check(ground, trees["fast"]) is None
    fault = suite.check(ground, trees["wrong"])
    assert fault.reason is Reason.TEST_FAILURE
    assert "test_six" in fault.detail
    assert "test_five" not in fault.detail


@pytest.mark.corpus
def test_a_forged_report_of_the_tests_is_no_report(ground, tmp_path, suite):
    forged = "import os\nprint('whet-tests ' + '0' * 64 + ' {}')\nos._exit(0)\n"
    tree = snapshot(ground, repository(tmp_path, {**FILES, "src/pkg/sums.py": forged}), BESIDE)
    assert "without their report" in suite.check(ground, tree).detail


def test_of_any_other_command_the_exit_code_tells(ground, trees):
    command = "cd tests && test -f test_sums.py"
    found = baseline(ground, trees["slow"], command, times=1)
    assert list(found.expected.passed) == [command]
    assert baseline(ground, trees["slow"], "false", times=1).failing == ("false",)


@pytest.mark.parametrize(
    ("command", "tests", "expected"),
    [
        ("pytest -q", ["t.py::a[x y]"], "pytest -q --deselect 't.py::a[x y]'"),
        ("pytest -q", [], "pytest -q"),
        ("tox", ["t.py::a"], "tox"),
        ("cd x && pytest", ["t.py::a"], "cd x && pytest"),
    ],
)
def test_tests_are_left_out_where_pytest_runs_them(command, tests, expected):
    assert without(command, tests) == expected


def test_few_tests_are_named_one_by_one_and_many_by_their_files():
    assert alone(["t.py::a", "t.py::b"]) == "python -m pytest -q t.py::a t.py::b"
    assert alone([f"t.py::a[{i}]" for i in range(100)]) == "python -m pytest -q t.py"
    assert alone([]) is None


@pytest.mark.corpus
def test_a_command_that_does_something_else_is_not_timed(ground, trees):
    found = end_to_end(ground, EndToEndRequest("python run.py", 1.0, 0.99), trees["slow"], trees["wrong"])
    assert isinstance(found, Fault)
    assert found.reason is Reason.WRONG_OUTPUT


@pytest.mark.usefixtures("figures")
@pytest.mark.corpus(one_in=8)
def test_a_command_is_timed_in_pairs(ground, trees, monkeypatch):
    monkeypatch.setattr(pairs, "MOST", pairs.FEWEST)
    found = end_to_end(ground, EndToEndRequest("python run.py", 1.0, 0.99), trees["slow"], trees["fast"])
    assert isinstance(found, Measurement)
    assert found.outcome is Outcome.FASTER
    assert found.speedup.low > 1.5
    assert found.speedup.cpu_seconds is None
    assert found.speedup.aa_ratio[0] < 1.0 < found.speedup.aa_ratio[1]


def test_large_files_are_left_out_where_that_is_asked_for(tmp_path):
    root = repository(tmp_path, {"run.py": "", "data/small.csv": "1\n"})
    for name, size in (("data/large.bin", 2 * LARGE), ("data/huge.bin", MOST_BYTES + 1)):
        with (root / name).open("wb") as file:
            file.truncate(size)
    with pytest.raises(UsageError, match=r"more than 64 MiB; name large ones .* under ignore"):
        lighten(root, ["data/large.bin"])
    lighten(root, ["data"])
    assert sorted(path.name for path in (root / "data").iterdir()) == ["small.csv"]


FLAKY = """
import os
import pytest

@pytest.mark.parametrize("number", range(60))
def test_of_chance(number):
    assert os.urandom(1)[0] % 2

def test_sure():
    pass
"""


@pytest.mark.corpus
def test_tests_that_do_not_end_alike_are_not_asked_for(ground, trees, tmp_path):
    tree = snapshot(ground, repository(tmp_path, {**FILES, "tests/test_sums.py": FLAKY}), BESIDE)
    suite = baseline(ground, tree, PYTEST)
    passed, failing, flaky = suite.outcome.passed, suite.failing, suite.flaky
    # That a test of chance ends alike in both runs is as likely as not; that all 60 do is not.
    assert flaky
    assert len({*passed, *failing, *flaky}) == len(passed) + len(failing) + len(flaky) == 61
    assert "tests/test_sums.py::test_sure" in passed
    assert without(PYTEST, suite.flaky).count("--deselect") == len(flaky)
