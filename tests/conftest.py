"""What several test files share."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import zlib
from collections import Counter
from contextlib import ExitStack
from dataclasses import dataclass

import pytest
from hypothesis import settings

from whet.core.task import Case, Kind, OracleRule, Task, Workload
from whet.evaluators.differential import compare_all
from whet.evaluators.environment import ACTIVE
from whet.evaluators.inputs.literals import literal_calls
from whet.evaluators.inputs.source import InputSource
from whet.evaluators.oracle import Oracle
from whet.evaluators.preloads import preloads
from whet.evaluators.subjects import Workshop
from whet.sandbox.backends import open_sandbox
from whet.sandbox.interpreter import find_interpreter
from whet.testing.engine import NoEngine, docker_engine
from whet.testing.postgres import NoServer, postgres_server

# A shell that puts a command into the background has it ignore interrupts, which tests are about.
signal.signal(signal.SIGINT, signal.default_int_handler)
# Tests have stores of their own.
os.environ.pop("WHET_STORE", None)
# Candidates of tests run on the interpreter of the tests, whatever environment is active.
for _name in ACTIVE:
    os.environ.pop(_name, None)
# No deadline, and the same examples in each run: a test fails for what the code does, not for the day or the load.
settings.load_profile("ci")

ALLOWED_SKIPS = ("no NVIDIA device", "triton is installed")
"""Why a test may be skipped in continuous integration: no GPU, or it is about a lack of what is installed there.

Any other reason is a step of `.ci/run` that lacks something.
"""


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport():
    """Fails a test that is skipped in continuous integration for a reason that is not allowed."""
    return fail_unless_allowed((yield))


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report():
    """Does the same for modules that are skipped as a whole."""
    return fail_unless_allowed((yield))


def fail_unless_allowed(report):
    if report.skipped and os.environ.get("CI") and not hasattr(report, "wasxfail"):
        reason = report.longrepr[2].removeprefix("Skipped: ")
        if not reason.startswith(ALLOWED_SKIPS):
            report.outcome = "failed"
            report.longrepr = f"{report.nodeid} is skipped where everything has to be installed: {reason}"
    return report


@dataclass(frozen=True)
class CommandLine:
    """Runs ``whet`` as a user does, with a state directory of its own."""

    environment: dict[str, str]

    def __call__(self, *words, cwd=None, timeout=120, **environment):
        return subprocess.run(
            [sys.executable, "-m", "whet", *map(str, words)],
            capture_output=True,
            text=True,
            check=False,
            cwd=cwd,
            timeout=timeout,
            stdin=subprocess.DEVNULL,
            env={**self.environment, **environment},
        )


@pytest.fixture
def whet(tmp_path):
    """The command line; every call of one test shares a state directory."""
    kept = {name: value for name, value in os.environ.items() if not name.endswith("_API_KEY")}
    kept.pop("WHET_MODEL", None)
    return CommandLine({**kept, "WHET_HOME": str(tmp_path / "home")})


@pytest.fixture(scope="session")
def engine():
    """DOCKER_HOST of a docker engine, started by hand where none answers; None where the environment's answers."""
    with ExitStack() as stack:
        try:
            host = stack.enter_context(docker_engine())
        except NoEngine as error:
            pytest.skip(str(error))
        yield host


@pytest.fixture(scope="module")
def docker_host(engine):
    """Makes that engine this module's; other modules take what the machine offers."""
    before = os.environ.get("DOCKER_HOST")
    if engine is not None:
        os.environ["DOCKER_HOST"] = engine
    yield
    if engine is not None:
        del os.environ["DOCKER_HOST"]
        if before is not None:
            os.environ["DOCKER_HOST"] = before


@pytest.fixture(scope="session")
def postgres():
    """A PostgreSQL server, started by hand."""
    with ExitStack() as stack:
        try:
            server = stack.enter_context(postgres_server())
        except NoServer as error:
            pytest.skip(str(error))
        yield server


@pytest.fixture
def postgres_url(postgres):
    """An empty database of it, as ``WHET_STORE`` takes it."""
    url = postgres.create()
    yield url
    postgres.drop(url)


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request, monkeypatch):
    """The kind of database that stores are kept in, here and in processes begun here; each test runs on both."""
    if request.param == "postgresql":
        monkeypatch.setenv("WHET_STORE", request.getfixturevalue("postgres_url"))
    return request.param


@pytest.fixture(scope="session")
def rung(tmp_path_factory):
    """The differential rung alone: takes a baseline, a workload and a candidate as texts, and returns what it found."""
    if shutil.which("bwrap") is None:
        pytest.skip("bubblewrap is not installed")
    sandbox = open_sandbox("bubblewrap", False)
    interpreter = find_interpreter(None)
    calls = Counter()

    def seed_of_test():
        # The same whatever ran before, on whichever worker.
        test = os.environ["PYTEST_CURRENT_TEST"].rpartition(" ")[0]
        calls[test] += 1
        return zlib.crc32(f"{test} {calls[test]}".encode())

    def compare(baseline, workload, candidate, symbol="f", seed=None, oracle=None, tests="", cases=()):
        folder = tmp_path_factory.mktemp("rung")
        path = folder / ("target.py" if symbol else "program.py")
        path.write_text(baseline)
        (folder / "test_target.py").write_text(tests)
        calls = literal_calls(path, symbol) if symbol else ()
        kind = Kind.FUNCTION if symbol else Kind.PROGRAM
        work = Workload(workload, tuple(Case(f"case {n}", stdin) for n, stdin in enumerate(cases)), calls=calls)
        task = Task(
            "target", "python", kind, path, baseline, symbol, folder, workload=work, oracle=oracle or OracleRule()
        )
        workshop = Workshop(task, sandbox, interpreter, preloads(task))
        source = InputSource(task, sandbox, interpreter)
        try:
            sides = workshop.build(baseline), workshop.build(candidate)
            return compare_all(*sides, source, Oracle(task, source), seed or seed_of_test(), 7, 10.0)
        finally:
            source.close()

    yield compare
    sandbox.close()


@pytest.fixture(scope="module")
def chromium():
    """Debian's Chromium, without a window."""
    from playwright.sync_api import sync_playwright

    path = shutil.which("chromium")
    if path is None:
        pytest.skip("chromium is not installed; on Debian: apt-get install chromium")
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser
        browser.close()
