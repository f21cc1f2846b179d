"""The target's own tests: counted, and out of a candidate's reach."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

import whet
from whet.core.errors import UsageError
from whet.core.options import Options
from whet.core.patch import files_changed
from whet.core.verdict import Reason
from whet.evaluators.finding import Fault, Passed, found_by
from whet.evaluators.own_tests import Mode, OwnTests
from whet.evaluators.project import project_files
from whet.evaluators.targets import read_task
from whet.sandbox.backends import open_sandbox
from whet.sandbox.interpreter import find_interpreter
from whet.sandbox.protocol import Sandbox

pytestmark = pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")

RIGHT = "def unique(items):\n    return list(dict.fromkeys(items))\n"
WRONG = "def unique(items):\n    return sorted(set(items))\n"
TESTS = """\
from unique import unique

def test_order():
    assert unique([2, 1, 2]) == [2, 1]

def test_strings():
    assert unique('baca') == ['b', 'a', 'c']
"""
UNITTESTS = """\
import unittest
from unique import unique

class Unique(unittest.TestCase):
    def test_order(self):
        self.assertEqual(unique([2, 1, 2]), [2, 1])

    def test_strings(self):
        self.assertEqual(unique("baca"), ["b", "a", "c"])

if __name__ == "__main__":
    unittest.main()
"""
SCRIPT = """\
from unique import unique

assert unique([2, 1, 2]) == [2, 1]
print("12 passed")
"""


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    made = open_sandbox("bubblewrap", False)
    yield made
    made.close()


def project(folder: Path) -> Path:
    files = {
        "pyproject.toml": "",
        "unique.py": RIGHT,
        "test_unique.py": TESTS,
        "unit.py": UNITTESTS,
        "script.py": SCRIPT,
    }
    for name, text in files.items():
        (folder / name).write_text(text)
    return folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return project(tmp_path)


def validated(folder: Path, sandbox: Sandbox, command: str = "pytest -q") -> OwnTests:
    task = read_task(f"{folder}/unique.py::unique", Options(tests=command))
    tests = OwnTests.of(task, find_interpreter()).validated(sandbox, find_interpreter(), task.source)
    assert isinstance(tests, OwnTests), tests.detail
    return tests


class Suites(dict[str, OwnTests]):
    """Validated test commands of one project, each validated once."""

    def __init__(self, folder: Path, sandbox: Sandbox) -> None:
        self.folder, self.sandbox = folder, sandbox

    def __missing__(self, command: str) -> OwnTests:
        self[command] = validated(self.folder, self.sandbox, command)
        return self[command]


@pytest.fixture(scope="module")
def suites(tmp_path_factory: pytest.TempPathFactory, sandbox: Sandbox) -> Suites:
    return Suites(project(tmp_path_factory.mktemp("project")), sandbox)


def checked(suites: Suites, source: str, command: str = "pytest -q") -> Fault | Passed:
    return found_by(lambda: suites[command].check(suites.sandbox, find_interpreter(), source))


COMMANDS = ("pytest -q", "python -m unittest unit", "python unit.py", "python script.py", "python -m script")


@pytest.mark.parametrize("command", COMMANDS)
def test_a_right_candidate_passes_and_a_wrong_one_fails(suites: Suites, command: str) -> None:
    assert isinstance(checked(suites, RIGHT + "# the same\n", command), Passed)
    wrong = checked(suites, WRONG, command)
    assert isinstance(wrong, Fault)
    assert wrong.reason is Reason.TEST_FAILURE


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("leave", ["os._exit(0)", "atexit.register(os._exit, 0); sys.exit(0)"])
@pytest.mark.corpus(one_in=8)
def test_an_early_exit_is_no_pass(suites: Suites, command: str, leave: str) -> None:
    head = "import atexit, os, sys\nprint('2 passed in 0.01s', flush=True)\n"
    assert isinstance(checked(suites, f"{head}{leave}\n{WRONG}", command), Fault)
    assert isinstance(checked(suites, f"{head}def unique(items):\n    {leave}\n", command), Fault)


def test_the_evidence_says_what_was_run(suites: Suites, folder: Path, sandbox: Sandbox) -> None:
    found = checked(suites, RIGHT)
    assert isinstance(found, Passed)
    assert found.detail == "2 tests pass"
    assert found.evidence["tests"] == 2
    assert found.evidence["tree"] == "read-only"
    assert found.evidence["counted_by"] == "report"
    assert len(found.evidence["tree_sha256"]) == 64
    (folder / "test_unique.py").write_text(TESTS + "# changed\n")
    other = validated(folder, sandbox)
    assert other.evidence["tree_sha256"] != found.evidence["tree_sha256"]


def test_a_command_that_cannot_see_an_early_exit_is_called_so(suites: Suites) -> None:
    found = checked(suites, RIGHT, "sh -c '/usr/bin/env python3 script.py'")
    assert isinstance(found, Passed)
    assert found.evidence["counted_by"] == "exit code"
    assert found.evidence["early_exit_passes"] is True
    assert "an early exit would pass too" in found.detail


@pytest.mark.corpus
def test_tests_that_write_beside_themselves_run_in_a_copy(folder: Path, sandbox: Sandbox) -> None:
    (folder / "test_unique.py").write_text(TESTS + "\ndef test_writes():\n    open('out.txt', 'w').write('x')\n")
    tests = validated(folder, sandbox)
    assert tests.mode == Mode(copied=True)
    assert tests.evidence["tree"] == "copy"
    assert isinstance(tests.check(sandbox, find_interpreter(), RIGHT), Passed)
    rewriting = f"""\
import pathlib
for path in (pathlib.Path('test_unique.py'), pathlib.Path('conftest.py')):
    path.write_text('def test_order(): pass\\n')
{WRONG}"""
    found = found_by(lambda: tests.check(sandbox, find_interpreter(), rewriting))
    assert isinstance(found, Fault)
    planting = f"open('sitecustomize.py', 'w').write('')\n{RIGHT}"
    planted = found_by(lambda: tests.check(sandbox, find_interpreter(), planting))
    assert isinstance(planted, Fault)
    assert planted.reason is Reason.CHEATING
    assert "sitecustomize.py" in planted.detail


TAMPERING = {
    "patched report": """\
import _pytest.reports as r
r.TestReport.outcome = property(lambda s: 'passed', lambda s, v: None)""",
    "patched runner": "import _pytest.runner as r\nr.check_interactive_exception = lambda *a: False",
    "swapped code": """\
import _pytest.python as p
def quiet(pyfuncitem):
    return True
p.pytest_pyfunc_call.__code__ = quiet.__code__""",
    "added plugin": """\
import gc, _pytest.config
class Quiet:
    def pytest_pyfunc_call(self, pyfuncitem):
        return True
for found in gc.get_objects():
    if type(found) is _pytest.config.PytestPluginManager:
        found.register(Quiet())""",
    "deleted tests": "import os, glob\nfor f in glob.glob('test_*.py'):\n    os.remove(f)",
    "edited tests": "open('test_unique.py', 'w').write('')",
    "planted conftest": "open('conftest.py', 'w').write('collect_ignore_glob = [\"*\"]')",
    "planted user site": """\
import os, site, sys
os.makedirs(site.getusersitepackages(), exist_ok=True)
open(os.path.join(site.getusersitepackages(), 'usercustomize.py'), 'w').write('import os; os._exit(0)')""",
    "preloaded": "import os\nos.environ['LD_PRELOAD'] = '/work/evil.so'\nos.environ['PYTHONPATH'] = '/work'",
    "wrapper in PATH": """\
import os
os.makedirs('/work/bin', exist_ok=True)
open('/work/bin/pytest', 'w').write('#!/bin/sh\\nexit 0\\n')
os.chmod('/work/bin/pytest', 0o755)
os.environ['PATH'] = '/work/bin:' + os.environ['PATH']""",
    "skipping": "import pytest\ndef unique(items):\n    pytest.skip()\ndef hidden(items): pass",
    "expecting failure": "import pytest\ndef unique(items):\n    pytest.xfail()\ndef hidden(items): pass",
    "forged report": """\
import os
body = b'{"code": 0, "passed": {}, "plugins": [], "ended": "", "altered": []}'
for fd in range(1, 20):
    try:
        os.write(fd, b'\\nwhet-tests ' + b'0' * 64 + b' ' + body + b'\\n')
    except OSError:
        pass
os._exit(0)""",
}


@pytest.mark.parametrize("name", TAMPERING)
def test_tampering_gains_nothing(suites: Suites, name: str) -> None:
    trick = TAMPERING[name]
    wrong = trick if "def unique" in trick else f"{trick}\n{WRONG}"
    assert isinstance(checked(suites, wrong), Fault)
    assert (suites.folder / "test_unique.py").read_text() == TESTS


@pytest.mark.parametrize("name", ["patched report", "patched runner", "swapped code", "added plugin"])
def test_a_changed_framework_is_named_even_where_the_tests_would_pass(suites: Suites, name: str) -> None:
    found = checked(suites, f"{TAMPERING[name]}\n{RIGHT}")
    assert isinstance(found, Fault)
    assert found.reason is Reason.CHEATING


def test_replaced_tests_are_told_by_their_code(suites: Suites) -> None:
    trick = """\
def unique(items):
    {replace}
    return [2, 1]
"""
    swap = "import test_unique; test_unique.test_strings.__code__ = (lambda: None).__code__"
    found = checked(suites, trick.format(replace=swap))
    assert isinstance(found, Fault)
    assert found.reason is Reason.CHEATING
    assert "replaced" in found.detail
    swap = "import unit; unit.Unique.test_strings = lambda self: None"
    found = checked(suites, trick.format(replace=swap), "python -m unittest unit")
    assert isinstance(found, Fault)
    assert "replaced" in found.detail


def test_a_unittest_framework_that_was_changed_is_noticed(suites: Suites) -> None:
    trick = f"import unittest\nunittest.TestCase.assertEqual = lambda *a: None\n{WRONG}"
    for command in ("python -m unittest unit", "python unit.py"):
        found = checked(suites, trick, command)
        assert isinstance(found, Fault)
        assert found.reason is Reason.CHEATING


@pytest.mark.parametrize("name", ["conftest.py", "test_helpers.py", "sitecustomize.py", "setup.py"])
def test_what_steers_the_tests_is_no_target_for_them(folder: Path, name: str) -> None:
    (folder / name).write_text(RIGHT)
    task = read_task(f"{folder}/{name}::unique", Options(tests="pytest -q"))
    with pytest.raises(UsageError, match="steers the tests"):
        OwnTests.of(task, find_interpreter())


def test_a_patch_of_another_file_is_refused(folder: Path, tmp_path: Path) -> None:
    patch = tmp_path / "change.diff"
    patch.write_text("--- a/conftest.py\n+++ b/conftest.py\n@@ -0,0 +1 @@\n+collect_ignore_glob = ['*']\n")
    with pytest.raises(UsageError, match=r"changes conftest\.py; only the target, unique\.py, may change"):
        whet.verify(f"{folder}/unique.py::unique", patch=patch, home=tmp_path / "home")


def test_every_file_of_a_diff_is_named() -> None:
    text = (
        "diff --git a/old.py b/new.py\nrename from old.py\nrename to new.py\n"
        "--- a/one.py\t2026-01-01\n+++ b/one.py\n@@ -1 +1 @@\n-a\n+b\n--- /dev/null\n+++ b/two.py\n@@ -0,0 +1 @@\n+c\n"
    )
    assert files_changed(text) == {"old.py", "new.py", "one.py", "two.py"}


def test_what_holds_keys_by_its_name_is_not_in_a_copy(tmp_path: Path) -> None:
    for name in (".env", ".env.local", ".netrc", ".pypirc", "id_ed25519", "deep/server.pem", ".coveragerc", "envy.py"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("key\n")
    assert set(project_files(tmp_path)) == {".coveragerc", "envy.py"}
