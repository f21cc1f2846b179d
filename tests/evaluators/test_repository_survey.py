"""What a look around a repository finds, what its configuration says, and which code is left alone."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from repositories import repository

from whet.core.config import ProjectConfig, load_project_config
from whet.core.errors import UsageError
from whet.core.repository import ProjectKind
from whet.evaluators.repository.asked import settings_of
from whet.evaluators.repository.definitions import Definitions
from whet.evaluators.repository.skipped import skipped_file, skipped_function
from whet.evaluators.repository.survey import survey

PROJECT = '[project]\nname = "shop"\nversion = "1"\n'
TEST = "def test_one():\n    assert True\n"
BENCHMARK = "def test_speed(benchmark):\n    benchmark(sum, [1])\n"


def looked_at(folder, files, **config):
    return survey(repository(folder, files), ProjectConfig(**config))


def test_a_src_layout(tmp_path):
    files = {"pyproject.toml": PROJECT, "src/shop/__init__.py": "", "tests/test_shop.py": TEST}
    found = looked_at(tmp_path, files)
    assert (found.kind, found.packages) == (ProjectKind.PYTHON, ("src", "."))
    assert found.tests == found.run == "python -m pytest -q tests"
    assert any("no benchmarks were found" in note for note in found.notes)


@pytest.mark.parametrize(
    "table", ['[tool.setuptools.packages.find]\nwhere = ["lib"]\n', '[tool.setuptools.package-dir]\n"" = "lib"\n']
)
def test_import_roots_that_setuptools_is_told(tmp_path, table):
    found = looked_at(tmp_path, {"pyproject.toml": PROJECT + table, "lib/shop/__init__.py": ""})
    assert found.packages == ("lib", ".")


def test_an_import_root_outside_of_the_repository_is_none(tmp_path):
    (tmp_path / "outside").mkdir()
    table = '[tool.setuptools.packages.find]\nwhere = ["../outside"]\n'
    assert looked_at(tmp_path / "inside", {"pyproject.toml": PROJECT + table}).packages == (".",)


def test_benchmarks_go_before_the_tests_as_what_counts(tmp_path):
    files = {"pyproject.toml": PROJECT, "tests/test_shop.py": TEST, "benchmarks/bench_sums.py": BENCHMARK}
    found = looked_at(tmp_path, files)
    assert found.run == "python -m pytest -q --benchmark-only benchmarks/bench_sums.py"
    assert found.notes == ()


def test_what_the_configuration_says_goes_before_what_is_found(tmp_path):
    files = {"pyproject.toml": PROJECT, "tests/test_shop.py": TEST}
    found = looked_at(tmp_path, files, run="python main.py", tests="make check", ignore=["old/*"])
    assert (found.run, found.tests, found.ignore) == ("python main.py", "make check", ("old/*",))


def test_no_tests_are_told(tmp_path):
    found = looked_at(tmp_path, {"shop.py": "x = 1\n"})
    assert (found.kind, found.tests, found.run) == (ProjectKind.PYTHON, None, None)
    assert any("no tests were found" in note for note in found.notes)


def test_the_environment_beside_the_project_is_its_own(tmp_path):
    repository(tmp_path, {"pyproject.toml": PROJECT})
    python = tmp_path / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.symlink_to("/usr/bin/python3")
    (tmp_path / ".venv" / "pyvenv.cfg").write_text("home = /usr/bin\n")
    assert survey(tmp_path, ProjectConfig()).python == python
    assert survey(tmp_path, ProjectConfig(python=".venv")).python == python
    assert settings_of(ProjectConfig(), {}, survey(tmp_path, ProjectConfig())).python == python
    assert settings_of(
        ProjectConfig(), {"python": "/usr/bin/python3"}, survey(tmp_path, ProjectConfig())
    ).python == Path("/usr/bin/python3")
    with pytest.raises(UsageError, match="no interpreter"):
        survey(tmp_path, ProjectConfig(python="other/bin/python"))


def test_c_extensions_are_told_of(tmp_path):
    found = looked_at(tmp_path, {"setup.py": "", "shop/fast.pyx": ""})
    assert any("C extensions" in note for note in found.notes)


ASV = {
    "pyproject.toml": "",
    "shop.py": "def total(n):\n    return sum(i % 7 for i in range(n))\n",
    "asv.conf.json": """{
        // comments are allowed, "http://here" too
        "version": 1, "project": "shop", /* and
        these */ "benchmark_dir": "perf"
    }""",
    "perf/__init__.py": "",
    "perf/common.py": "SIZES = [2000, 4000]\n",
    "perf/sums.py": """import shop
from .common import SIZES


class Sums:
    params = [SIZES, ["up", "down"]]

    def setup_cache(self):
        return {"made": 1}

    def setup(self, made, size, way):
        if way == "down" and size == 4000:
            raise NotImplementedError
        self.size = size

    def time_total(self, made, size, way):
        assert (made, self.size) == ({"made": 1}, size)
        shop.total(size * 400)

    def track_nothing(self):
        raise AssertionError("not timed")


def time_small(size):
    print("small", size)


time_small.params = [1]
""",
}


@pytest.mark.corpus
def test_benchmarks_of_asv_are_found_and_called(tmp_path, whet):
    found = looked_at(tmp_path, ASV)
    assert found.run == "asv run"
    assert any("asv's benchmarks are called 3 times each" in note for note in found.notes)
    done = whet("profile", str(tmp_path), "--json")
    assert done.returncode == 0, done.stderr
    hottest = json.loads(done.stdout)["functions"][0]
    assert (hottest["path"], hottest["symbol"]) == ("shop.py", "total")
    assert hottest["own"] > 0.5


@pytest.mark.corpus
@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({"perf/sums.py": "import nothing_like_it\n"}, "nothing_like_it"),
        ({"perf/sums.py": "def time_it():\n    1 / 0\n"}, "division by zero"),
        ({"perf/sums.py": "def mem_it():\n    return 1\n"}, "holds no time_ benchmark"),
    ],
)
def test_benchmarks_of_asv_that_do_not_run(tmp_path, whet, files, said):
    looked_at(tmp_path, {**ASV, **files})
    done = whet("profile", str(tmp_path))
    assert done.returncode == 5
    assert said in done.stderr


def test_make_and_cmake(tmp_path):
    made = looked_at(tmp_path / "make", {"Makefile": "all check: app\n\napp: app.c\n\tcc app.c\n", "app.c": ""})
    assert (made.kind, made.build, made.tests) == (ProjectKind.MAKE, "make", "make check")
    found = looked_at(tmp_path / "cmake", {"CMakeLists.txt": "enable_testing()\n", "app.cpp": ""})
    assert (found.kind, found.tests) == (ProjectKind.CMAKE, "ctest --test-dir build --output-on-failure")
    assert found.build is not None
    assert looked_at(tmp_path / "none", {"README": ""}).kind is ProjectKind.UNKNOWN


def test_a_folder_that_is_not_there(tmp_path):
    with pytest.raises(UsageError, match="no folder"):
        survey(tmp_path / "missing", ProjectConfig())


def test_whet_toml_without_a_task_configures_a_repository(tmp_path):
    repository(tmp_path, {"whet.toml": '[tool.whet]\nmin-share = 0.05\nbudget-usd = 2\nignore = ["docs"]\n'})
    config = load_project_config(tmp_path)
    assert (config.min_share, config.budget_usd, config.ignore) == (0.05, 2.0, ["docs"])


def test_a_task_configures_nothing(tmp_path):
    files = {"pyproject.toml": "[tool.whet]\ntop = 3\n", "task/whet.toml": '[task]\nlanguage = "python"\n'}
    assert load_project_config(repository(tmp_path, files) / "task").top == 3


@pytest.mark.parametrize(
    ("table", "told"),
    [
        ("min-shrae = 0.1", "unknown key 'min-shrae'; did you mean 'min-share'?"),
        ("top = 0", "top: "),
        ("confidence = 1.0", "confidence 1 is outside (0.5, 1)"),
        ("run = ''", "run: "),
    ],
)
def test_what_cannot_be_meant_is_one_line(tmp_path, table, told):
    (tmp_path / "pyproject.toml").write_text(f"[tool.whet]\n{table}\n")
    with pytest.raises(UsageError) as caught:
        load_project_config(tmp_path)
    assert told in str(caught.value)


def test_two_configurations_are_one_too_many(tmp_path):
    for name in ("pyproject.toml", "whet.toml"):
        (tmp_path / name).write_text("[tool.whet]\ntop = 1\n")
    with pytest.raises(UsageError, match=r"pyproject\.toml and whet\.toml"):
        load_project_config(tmp_path)


def test_another_table_in_whet_toml_is_named(tmp_path):
    (tmp_path / "whet.toml").write_text("[tasks]\n")
    with pytest.raises(UsageError, match="unknown key 'tasks'; did you mean 'task'"):
        load_project_config(tmp_path)


@pytest.mark.parametrize(
    ("path", "text", "told"),
    [
        ("shop/_vendor/six.py", "", "vendored: below _vendor"),
        ("tests/helpers.py", "", "a part of the tests"),
        ("shop/test_sums.py", "", "a part of the tests"),
        ("shop/messages_pb2.py", "", "generated: by its name"),
        ("shop/table.py", "# Generated by ply, do not edit\n", "generated: it says"),
        ("shop/table.py", '"""\nThis file was auto-generated.\n"""\n', "generated: it says"),
        ("old/sums.py", "", "ignored by the configuration (old)"),
        ("shop/deep/sums.py", "", "ignored by the configuration (*/deep)"),
        ("shop/generator.py", '"""Makes generated files."""\n', ""),
        ("shop/contest.py", "x = 1\n" * 20 + "# do not edit\n", ""),
    ],
)
def test_files_that_are_left_alone(path, text, told):
    found = skipped_file(path, text, ("old", "*/deep"))
    assert found.startswith(told)
    assert bool(found) == bool(told)


SYMBOLS = """
import functools

async def later():
    pass

@functools.lru_cache(maxsize=None)
def kept(n):
    return n

class Shop:
    @property
    def size(self):
        return 1

    @size.setter
    def size(self, value):
        pass

    @staticmethod
    def half(n):
        return n / 2

    class Inner:
        def deep(self):
            pass

@contextmanager
def opened():
    yield

@numba.njit(cache=True)
def compiled():
    pass
"""


def test_functions_that_are_no_targets():
    found = Definitions.of(SYMBOLS).all
    told = {(each.symbol, each.line): skipped_function(each) for each in found}
    assert {symbol for (symbol, _), reason in told.items() if not reason} == {"kept", "Shop.half"}
    assert sum(reason.startswith("@") for reason in told.values()) == 4
    assert told["later", 4] == "async, which cannot be timed yet"
    assert "Shop.Inner.deep" not in {symbol for symbol, _ in told}


def test_a_function_begins_with_its_decorators():
    kept = Definitions.of(SYMBOLS).around(9)
    assert (kept.symbol, kept.line, kept.end) == ("kept", 7, 9)
    assert Definitions.of("def broken(:").all == ()
