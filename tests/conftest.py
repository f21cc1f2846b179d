"""What several test files share."""

from __future__ import annotations

import itertools
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import zlib
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass, replace
from pathlib import Path

import guard
import pytest
import slices
from brought import packages
from hypothesis import settings
from recordings import Recording
from tiers import Tiers

from whet.core.task import Case, Kind, OracleRule, Task, Workload
from whet.evaluators.artifacts import Builder
from whet.evaluators.differential import compare_all
from whet.evaluators.environment import ACTIVE
from whet.evaluators.inputs.literals import literal_calls
from whet.evaluators.inputs.source import InputSource
from whet.evaluators.oracle import Oracle
from whet.evaluators.preloads import preloads
from whet.sandbox.backends import open_sandbox
from whet.sandbox.interpreter import find_interpreter
from whet.testing.engine import NoEngine
from whet.testing.postgres import NoServer, postgres_server
from whet.testing.scripted_meter import Script, ScriptedInstruments
from whet.testing.shared_engine import shared_engine, stop_shared_engine

# A shell that puts a command into the background has it ignore interrupts, which tests are about.
signal.signal(signal.SIGINT, signal.default_int_handler)
# Tests have stores of their own.
os.environ.pop("WHET_STORE", None)
# Candidates of tests run on the interpreter of the tests, whatever environment is active.
for _name in ACTIVE:
    os.environ.pop(_name, None)
# No deadline, and the same examples in each run: a test fails for what the code does, not for the day or the load.
settings.load_profile("ci")

SHARED = pytest.StashKey[Path]()
ALLOWED_SKIPS = ("no NVIDIA device", "triton is installed")
"""Why a test may be skipped in continuous integration: no GPU, or it is about a lack of what is installed there.

Any other reason is a step of `.ci/run` that lacks something.
"""


def pytest_addoption(parser):
    parser.addoption("--record", action="store_true", help="tests that replay a recording make it anew first")
    slices.add_option(parser)


def pytest_configure(config):
    guard.wrap_here()
    config.pluginmanager.register(slices)
    config.pluginmanager.register(Tiers())


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


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node):
    """Tells a worker what the workers share."""
    node.workerinput |= {"owner": os.getpid(), "shared": str(shared_folder(node.config))}


def pytest_unconfigure(config):
    """Ends what the workers shared, when they have ended."""
    if SHARED in config.stash:
        stop_shared_engine(config.stash[SHARED])
        shutil.rmtree(config.stash[SHARED])


def shared_folder(config):
    """Returns the folder of what all workers share."""
    if hasattr(config, "workerinput"):
        return Path(config.workerinput["shared"])
    if SHARED not in config.stash:
        config.stash[SHARED] = Path(tempfile.mkdtemp(prefix="whet-tests-"))
    return config.stash[SHARED]


@dataclass(frozen=True)
class CommandLine:
    """Runs ``whet`` as a user does, with a state directory of its own and inputs that depend on the test alone."""

    environment: dict[str, str]
    test: str
    calls: Iterator[int]

    def __call__(self, *words, cwd=None, timeout=120, **environment):
        words = [str(word) for word in words]
        if words and words[0] in SEEDED and "--seed" not in words:
            words += ["--seed", str(seed_of(f"{self.test} {next(self.calls)}"))]
        return subprocess.run(
            [sys.executable, "-m", "whet", *words],
            capture_output=True,
            text=True,
            check=False,
            cwd=cwd,
            timeout=timeout,
            stdin=subprocess.DEVNULL,
            env={**self.surroundings, **environment},
        )

    @property
    def surroundings(self):
        """The environment of a process, with the script of figures that was told since the fixture was made."""
        return self.environment | {name: value for name, value in os.environ.items() if name == guard.SCRIPT}


SEEDED = ("audit", "optimize", "profile", "verify")
"""Commands that draw inputs, which are secret: another seed each time, unless they are given one."""


def seed_of(text):
    """Returns a seed that is the same in each run, whatever ran before, on whichever worker."""
    return zlib.crc32(text.encode())


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Gives a folder to install plug-ins in."""
    with packages(tmp_path / "site", monkeypatch) as place:
        yield place


@pytest.fixture
def whet(request, tmp_path):
    """The command line; every call of one test shares a state directory."""
    kept = {name: value for name, value in os.environ.items() if not name.endswith("_API_KEY")}
    kept.pop("WHET_MODEL", None)
    environment = {**kept, "WHET_HOME": str(tmp_path / "home")}
    return CommandLine(environment, request.node.nodeid, itertools.count())


@pytest.fixture
def scripted(monkeypatch):
    """Has all ladders take their figures from a script: here, and in commands that the test runs from then on.

    It takes the fields of `whet.testing.scripted_meter.Script`; commands take what is plain data of them.
    """

    def script(**told):
        monkeypatch.setattr("whet.evaluators.timing.instruments.INSTRUMENTS", ScriptedInstruments(Script(**told)))
        with suppress(TypeError):
            monkeypatch.setenv(guard.SCRIPT, json.dumps(told))

    return script


BOTH = ("scripted", pytest.param("real", marks=pytest.mark.timed))


@pytest.fixture(params=BOTH)
def figures(request, scripted):
    """Runs a test twice: with a script's figures in `make test`, a gain of 4x, and with those of a real clock.

    Returns ``scripted`` or ``real``.
    """
    if request.param == "scripted":
        scripted(ratio=4.0)
    return request.param


@pytest.fixture(params=BOTH)
def figures_at_usual_looks(request, scripted):
    """As `figures`, with as many turns as the real meter takes; evidence is checked against that."""
    if request.param == "scripted":
        scripted(ratio=4.0, looks=None)


@pytest.fixture(scope="session")
def recorded(pytestconfig):
    """Takes a `Recording` and what makes its data; returns them as recorded, or with ``--record`` made anew, once."""
    made = set()

    def replay(recording: Recording, make):
        if pytestconfig.getoption("--record") and recording.path not in made:
            recording.save(make())
            made.add(recording.path)
        return recording.load()

    return replay


@pytest.fixture(scope="session")
def engine(request):
    """DOCKER_HOST of a docker engine, started by hand where none answers; None where the environment's answers.

    All workers share one, which ends with the process that the user started.
    """
    owner = getattr(request.config, "workerinput", {"owner": os.getpid()})["owner"]
    try:
        return shared_engine(shared_folder(request.config), owner)
    except NoEngine as error:
        pytest.skip(str(error))


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
        test = os.environ["PYTEST_CURRENT_TEST"].rpartition(" ")[0]
        calls[test] += 1
        return seed_of(f"{test} {calls[test]}")

    def compare(
        baseline,
        workload,
        candidate,
        symbol="f",
        seed=None,
        oracle=None,
        tests="",
        cases=(),
        costs=None,
        refined=False,
    ):
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
        builder = Builder(task, sandbox, interpreter, preloads(task))
        source = InputSource(task, sandbox, interpreter)
        try:
            sides = builder.build(baseline), builder.build(candidate)
            judge = Oracle(task, source, builder) if refined else Oracle(task, source)
            with closing(judge):
                found = compare_all(*sides, source, judge, seed or seed_of_test(), 7, 10.0, costs=costs)
                return replace(found, evidence={**found.evidence, "floats": judge.float_evidence()})
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
