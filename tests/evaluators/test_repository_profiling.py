"""Where a repository's command spends its time, and which tests reach what."""

from __future__ import annotations

import json
import shlex
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from planted.build import LARGEST, RUN, SPOTS, build
from repositories import repository

from whet.agents.catalogue.applicable import applicable
from whet.core.config import ProjectConfig
from whet.core.errors import BaselineError, UsageError
from whet.core.repository import HotFunction
from whet.evaluators.repository.definitions import Definitions
from whet.evaluators.repository.profiling import hook_files, times
from whet.evaluators.repository.ranking import hot_functions
from whet.evaluators.repository.reach import reached
from whet.evaluators.repository.running import Hook, run
from whet.evaluators.repository.survey import survey
from whet.sandbox.backends import open_sandbox
from whet.sandbox.inside.function_sampler import JOB
from whet.sandbox.interpreter import find_interpreter

pytestmark = pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")

WORK = """
import multiprocessing
import subprocess
import sys
import threading


def spin(n):
    total = 0
    for i in range(n):
        total += i % 7
    return total


def squares(n):
    return sum(x * x for x in range(n))


def through(n):
    return squares(n)


def maker():
    def inner(n):
        total = 0
        for i in range(n):
            total += i
        return total

    return inner


async def later(n):
    return spin(n)


class Box:
    @property
    def size(self):
        total = 0
        for i in range(900_000):
            total += i
        return total

    def grown(self, n):
        return [x + 1 for x in range(n)]


def in_thread(n):
    thread = threading.Thread(target=spin, args=(n,))
    thread.start()
    thread.join()


def in_fork(n):
    with multiprocessing.get_context("fork").Pool(1) as pool:
        return pool.map(spin, [n])


def in_child(n):
    code = f"from shop.work import squares; squares({n})"
    subprocess.run([sys.executable, "-c", code], check=True)
"""
VENDORED = "def copied(n):\n    return [i for i in range(n) if i % 3]\n"
MAIN = """
import sys
from shop import work
from shop._vendor import six
sys.stdin.read()
work.through(1_500_000)
work.Box().grown(500_000)
work.Box().size
work.maker()(900_000)
six.copied(900_000)
"""
TESTS = """
import pytest
from shop import work

def test_spin():
    assert work.spin(10) > 0

def test_through():
    assert work.through(3) == 5

@pytest.mark.parametrize("n", [1, 2])
def test_child(n):
    work.in_child(n)

def test_fork():
    assert work.in_fork(3)

def test_thread():
    work.in_thread(3)

def test_fails():
    assert work.Box().grown(1) == []

class TestNothing:
    def test_nothing(self):
        pass
"""
FILES = {
    "pyproject.toml": '[project]\nname = "shop"\nversion = "1"\n',
    "src/shop/__init__.py": "",
    "src/shop/work.py": WORK,
    "src/shop/_vendor/__init__.py": "",
    "src/shop/_vendor/six.py": VENDORED,
    "tests/test_work.py": TESTS,
    "main.py": MAIN,
}
IN = "src/shop/work.py"
SUITE = "PYTEST_DISABLE_PLUGIN_AUTOLOAD=1 python -m pytest -q tests"


@pytest.fixture(scope="module")
def sandbox():
    opened = open_sandbox("bubblewrap", False)
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def shop(tmp_path_factory):
    return survey(repository(tmp_path_factory.mktemp("shop"), FILES), ProjectConfig())


@pytest.fixture(scope="module")
def hot(shop, sandbox):
    return hot_functions(shop, "python main.py", sandbox, find_interpreter())


def named(functions):
    return {function.target: function for function in functions}


@pytest.mark.corpus
def test_the_function_that_takes_most_comes_first(hot):
    assert hot[0].target == f"{IN}::squares"
    assert hot[0].total == pytest.approx(hot[0].own)
    through = named(hot)[f"{IN}::through"]
    assert (through.line, through.end) == (19, 20)
    assert through.total >= hot[0].own
    assert "less than 1.0%" in through.skipped


def test_a_comprehension_counts_for_the_function_around_it(hot):
    grown = named(hot)[f"{IN}::Box.grown"]
    assert not grown.skipped
    assert 0.01 < grown.own < hot[0].own


def test_what_is_no_target_is_told_with_its_reason(hot):
    found = named(hot)
    assert found[f"{IN}::Box.size"].skipped.startswith("@property")
    assert "made by maker" in found[f"{IN}::maker.<locals>.inner"].skipped
    assert found["src/shop/_vendor/six.py::copied"].skipped == "vendored: below _vendor"
    kept = [bool(function.skipped) for function in hot]
    assert kept == sorted(kept)


@pytest.mark.corpus
@pytest.mark.parametrize("way", ["in_thread", "in_fork"])
def test_threads_and_forks_are_seen(shop, sandbox, way):
    command = f"python -c 'from shop import work; work.{way}(4_000_000)'"
    found = hot_functions(shop, command, sandbox, find_interpreter())
    assert found[0].target == f"{IN}::spin"
    assert found[0].own > 0.3


def test_other_python_processes_are_seen(shop, sandbox):
    command = "cd src && python3 -c 'from shop import work; work.in_child(4_000_000)' && cd .."
    found = hot_functions(shop, command, sandbox, find_interpreter())
    assert found[0].target == f"{IN}::squares"


LOOP = "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done; echo went on"
SHELL = ["sh", "-c", LOOP]
BECOMES = {
    "a child with a function before it": f"import os, subprocess; subprocess.run({SHELL}, preexec_fn=os.setsid)",
    "itself": f"import os; os.execvp('sh', {SHELL})",
}


@pytest.mark.parametrize("way", BECOMES)
def test_no_timer_ends_what_is_no_python(shop, sandbox, way):
    job = json.dumps({"folder": "tree", "out": "told/samples"})
    hook = Hook(hook_files("function_sampler"), variables={JOB: job})
    ran = run(shop, f"python -c {shlex.quote(BECOMES[way])}", sandbox, find_interpreter(), hook)
    assert (ran.code, ran.said) == (0, "went on")


@pytest.mark.corpus(one_in=8)
def test_a_suite_of_which_some_tests_fail_is_profiled(shop, sandbox):
    found = hot_functions(replace(shop, tests=SUITE), SUITE, sandbox, find_interpreter(), min_share=0.0)
    assert "tests/test_work.py::test_fork" in named(found)


def test_known_edits_raise_the_headroom(shop, sandbox):
    def known(text, symbol, line, end):
        assert text == WORK
        return ("loop-to-builtin",) if symbol == "Box.grown" else ()

    found = named(hot_functions(shop, "python main.py", sandbox, find_interpreter(), applicable=known))
    grown, squares = found[f"{IN}::Box.grown"], found[f"{IN}::squares"]
    assert (grown.edits, squares.edits) == (("loop-to-builtin",), ())
    assert squares.headroom <= 0.5 < grown.headroom


@pytest.mark.parametrize(
    ("command", "told"),
    [
        ("python -c 'raise SystemExit(3)'", "exit code 3"),
        ("python missing.py", "exit code 2"),
        ("true", "too little time in Python"),
    ],
)
def test_a_command_that_does_not_come_through(shop, sandbox, command, told):
    with pytest.raises(BaselineError, match=told):
        hot_functions(shop, command, sandbox, find_interpreter())


def test_a_repository_of_no_kind(tmp_path, sandbox):
    found = survey(repository(tmp_path, {"README": "no code"}), ProjectConfig())
    with pytest.raises(UsageError, match="neither a Python project"):
        hot_functions(found, "true", sandbox, find_interpreter())


def test_the_command_runs_on_a_copy(shop, sandbox):
    ran = run(shop, "echo changed >main.py && ls && pytest --version", sandbox, find_interpreter())
    assert ran.fault == ""
    assert "main.py" in ran.said
    assert "pytest" in ran.said
    assert (shop.root / "main.py").read_text() == MAIN


def test_a_command_that_does_not_end(shop, sandbox):
    ran = run(shop, "sleep 60", sandbox, find_interpreter(), seconds=1.0)
    assert "did not end" in ran.fault


def test_what_the_command_forges_is_no_part_of_the_repository(tmp_path):
    (tmp_path / "secret.py").write_text("def f():\n    pass\n")
    root = repository(tmp_path / "repository", {"a.py": "def f():\n    pass\n"})
    forged = [(("../secret.py", 1, "f"), ("/etc/passwd", 1, "f"), ("a.py", 1, "f"))]
    found = times([(places, 1.0, 0.0) for places in forged], root, 1.0)
    assert {(spot.path, spot.symbol) for spot in found.total} == {("a.py", "f")}


def function(symbol):
    definition = next(each for each in Definitions.of(WORK).all if each.symbol == symbol)
    return HotFunction(IN, symbol, definition.line, definition.end, "python", 0.5, 0.5, 0, 1.0)


def test_tests_are_found_by_what_they_reach(shop, sandbox):
    wanted = [function(symbol) for symbol in ("spin", "squares", "Box.grown", "maker")]
    found = reached(shop, SUITE, wanted, sandbox, find_interpreter())
    tests = {target.partition("::")[2]: [name.partition("::")[2] for name in names] for target, names in found.items()}
    assert sorted(tests["spin"]) == ["test_fork", "test_spin", "test_thread"]
    assert sorted(tests["squares"]) == ["test_child[1]", "test_child[2]", "test_through"]
    assert tests["Box.grown"] == ["test_fails"]
    assert tests["maker"] == []
    assert all(name.startswith("tests/test_work.py::") for names in found.values() for name in names)


def test_tests_that_are_not_of_pytest_reach_nothing_that_is_known(shop, sandbox):
    found = reached(shop, "python -m unittest", [function("spin")], sandbox, find_interpreter())
    assert found == {f"{IN}::spin": ()}


HOT = """#include "work.h"


long hot(long n) {
    long t = 0;
    for (long i = 0; i < n; i++)
        t += i * i % 7;
    return t;
}
"""
COLD = """#include "work.h"
long cold(long n) {
    long t = 0;
    for (long i = 0; i < n / 8; i++)
        t += i % 3;
    return t;
}
"""
BOTH = """#include "work.h"
int main(void) {
    return hot(900000) + cold(900000) == 0;
}
"""
HEADER = "long hot(long n);\nlong cold(long n);\n"
NATIVE = {"src/hot.c": HOT, "src/cold.c": COLD, "src/main.c": BOTH, "src/work.h": HEADER}
MAKEFILE = "app: src/*.c\n\tcc -O1 -o app src/hot.c src/cold.c src/main.c\n\ntest: app\n\t./app\n"
CMAKE = """
cmake_minimum_required(VERSION 3.10)
project(work C)
enable_testing()
add_executable(app src/hot.c src/cold.c src/main.c)
add_test(NAME app COMMAND app)
"""


@pytest.mark.skipif(shutil.which("valgrind", path="/usr/bin") is None, reason="valgrind is not installed")
@pytest.mark.parametrize(
    ("files", "command"),
    [
        ({"Makefile": MAKEFILE}, "make test"),
        pytest.param({"CMakeLists.txt": CMAKE}, "./build/app", marks=pytest.mark.corpus),
    ],
)
def test_native_code_is_told_by_file(tmp_path, sandbox, files, command):
    if "CMakeLists.txt" in files and shutil.which("cmake") is None:
        pytest.skip("cmake is not installed")
    found = survey(repository(tmp_path, NATIVE | files), ProjectConfig())
    hot = hot_functions(found, command, sandbox, find_interpreter())
    assert (hot[0].target, hot[0].language, hot[0].symbol) == ("src/hot.c", "c", None)
    assert hot[0].own > 0.5


@pytest.mark.corpus
def test_the_five_largest_of_the_planted_spots_come_first(tmp_path, sandbox):
    build(tmp_path)
    found = survey(repository(tmp_path, {}), ProjectConfig())
    functions = hot_functions(found, RUN, sandbox, find_interpreter(), applicable=applicable)
    assert {each.target for each in functions[:5]} == LARGEST
    for function in functions:
        if SPOTS.get(function.target) and not function.skipped:
            assert SPOTS[function.target] in function.edits


def test_the_planted_package_is_the_same_every_time(tmp_path):
    for name in ("one", "two"):
        build(tmp_path / name)
    first, second = (contents(tmp_path / name) for name in ("one", "two"))
    assert first == second
    assert sum(text.count("\n") for path, text in first.items() if path.startswith("src/")) > 10_000


def contents(folder: Path) -> dict[str, str]:
    return {path.relative_to(folder).as_posix(): path.read_text() for path in folder.rglob("*.py")}


@pytest.mark.corpus
def test_the_command_line_ranks_a_folder(tmp_path, whet):
    files = {"pyproject.toml": "", "work.py": WORK, "bench.py": "import work\nwork.spin(6_000_000)\n"}
    root = tmp_path / "code"
    for name, text in files.items():  # git is not needed
        root.mkdir(exist_ok=True)
        (root / name).write_text(text)
    done = whet("profile", str(root), "--run", "python bench.py", "--json")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert document["schema"] == "whet.hotspots/1"
    assert document["command"] == "python bench.py"
    assert document["functions"][0]["symbol"] == "spin"
    shown = whet("profile", str(root), "--run", "python bench.py")
    assert "work.py::spin" in shown.stdout


@pytest.mark.corpus
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("profile", "{root}"), "give --run CMD, or --tests CMD"),
        (("profile", "{root}", "--run", "python missing.py"), "missing.py"),
        (
            ("profile", "{root}", "--run", "python bench.py", "--privileged-counters"),
            "--privileged-counters is for",
        ),
        (("profile", "{root}/work.py::spin", "--tests", "pytest"), "--tests goes with a repository's folder"),
        (("profile", "{root}/work.py::spin", "--run", "pytest"), "--run goes with a repository's folder"),
    ],
)
def test_what_cannot_be_ranked_is_said_in_a_line(tmp_path, whet, words, said):
    for name, text in {"pyproject.toml": "", "work.py": WORK, "bench.py": "import work\nwork.spin(9)\n"}.items():
        (tmp_path / name).write_text(text)
    done = whet(*(word.format(root=tmp_path) for word in words))
    assert done.returncode in (2, 5)
    assert said in done.stderr
    assert done.stderr.count("\n") == 1
