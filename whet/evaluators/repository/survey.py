"""Looks around a repository: how it is built, where its imports start, what tests it and what it runs."""

from __future__ import annotations

import os
import re
import shlex
import tomllib
from collections.abc import Iterator, Mapping
from fnmatch import fnmatch
from itertools import chain
from pathlib import Path
from typing import Any

from whet.core.config import ProjectConfig
from whet.core.errors import UsageError
from whet.core.repository import ProjectKind, Survey
from whet.evaluators.environment import FOLDERS, environment_python
from whet.sandbox.inside.asv import CALLS, CONFIG

BENCHMARKS = ("benchmarks", "benchmark", "bench", "perf", "tests", "test")
BENCHMARK = re.compile(r"def test_\w+\([^)]*\bbenchmark\b")
TESTS = ("tests", "test", "testing")
TEST_FILE = re.compile(r"test_.*\.py|.*_test\.py")
PYTHON_MARKS = ("pyproject.toml", "setup.py", "setup.cfg")
MAKEFILES = ("GNUmakefile", "Makefile", "makefile")
MAKE_TARGET = r"(?m)^(?:[\w.-]+[ \t]+)*{}(?:[ \t]+[\w.-]+)*[ \t]*:(?!=)"
CMAKE_BUILD = "cmake -S . -B build -DCMAKE_BUILD_TYPE=Release && cmake --build build"
CMAKE_TESTS = "ctest --test-dir build --output-on-failure"
LARGEST_READ = 1 << 20
"""Bytes of a file that is searched for benchmarks."""


def survey(root: Path, config: ProjectConfig) -> Survey:
    """Looks around a repository; runs and changes nothing.

    What the configuration says goes before what is found.

    Args:
        root: its top folder.
        config: its ``[tool.whet]``.

    Raises:
        UsageError: there is no such folder, or the configuration names an interpreter that is not there.
    """
    root = root.resolve()
    if not root.is_dir():
        raise UsageError(f"no folder {root}")
    kind = _kind(root)
    project = _project(root)
    packages = _packages(root, project) if kind is ProjectKind.PYTHON else ()
    tests = config.tests or _tests(root, kind)
    run, note = (config.run, "") if config.run else _run(root, kind, tests)
    notes = [note] if note else []
    if tests is None:
        notes.append("no tests were found: only comparison with the baseline judges; give them with --tests")
    python = _python(root, config) if kind is ProjectKind.PYTHON else None
    if kind is ProjectKind.PYTHON and any(True for _ in _extensions(root)):
        notes.append("its C extensions are left as they are built")
    build = config.build or _build(root, kind)
    return Survey(root, kind, packages, tests, run, python, tuple(config.ignore), tuple(notes), build)


def _kind(root: Path) -> ProjectKind:
    """Returns how a repository is built; Python code goes before what only helps to build it."""
    if any((root / mark).is_file() for mark in PYTHON_MARKS):
        return ProjectKind.PYTHON
    if (root / "CMakeLists.txt").is_file():
        return ProjectKind.CMAKE
    native = any(True for pattern in ("*.c", "*.cc", "*.cpp", "*.cxx") for _ in _files(root, pattern))
    if native and any((root / name).is_file() for name in MAKEFILES):
        return ProjectKind.MAKE
    return ProjectKind.PYTHON if any(True for _ in _files(root, "*.py")) else ProjectKind.UNKNOWN


def _project(root: Path) -> Mapping[str, Any]:
    try:
        return tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError):
        return {}


def _packages(root: Path, project: Mapping[str, Any]) -> tuple[str, ...]:
    """Returns the folders that imports start from: those that the build tool names, ``src``, and the root itself."""
    setuptools = _table(project, "tool", "setuptools")
    named = _table(setuptools, "packages", "find").get("where", ())
    named = [*(named if isinstance(named, list) else ()), _table(setuptools, "package-dir").get("")]
    found = [str(folder) for folder in named if folder and (root / str(folder)).is_dir()]
    within = [folder for folder in found if (root / folder).resolve().is_relative_to(root)]
    source = root / "src"
    if source.is_dir() and not (source / "__init__.py").is_file() and any(source.glob("*/*.py")):
        within.append("src")
    return tuple(dict.fromkeys((*within, ".")))


def _table(data: Mapping[str, Any], *names: str) -> Mapping[str, Any]:
    for name in names:
        data = data.get(name, {})
        if not isinstance(data, dict):
            return {}
    return data


def _tests(root: Path, kind: ProjectKind) -> str | None:
    if kind is ProjectKind.CMAKE:
        return CMAKE_TESTS if "enable_testing" in _read(root / "CMakeLists.txt") else None
    if kind is ProjectKind.MAKE:
        return next((f"make {name}" for name in ("test", "check", "tests") if _has_target(root, name)), None)
    folder = next((name for name in TESTS if any(map(_is_test, _files(root / name, "*.py")))), None)
    if folder is not None:
        return f"python -m pytest -q {folder}"
    return "python -m pytest -q" if any(map(_is_test, _files(root, "*.py"))) else None


def _is_test(path: Path) -> bool:
    return TEST_FILE.fullmatch(path.name) is not None


def _run(root: Path, kind: ProjectKind, tests: str | None) -> tuple[str | None, str]:
    """Returns the command whose time counts, and what is to be said about it."""
    if kind is ProjectKind.MAKE and (name := next((n for n in ("bench", "benchmark") if _has_target(root, n)), None)):
        return f"make {name}", ""
    if kind is ProjectKind.PYTHON:
        benchmarks = sorted({str(path.relative_to(root)) for path in _benchmarks(root)})
        if benchmarks:
            return f"python -m pytest -q --benchmark-only {shlex.join(benchmarks)}", ""
        if (root / CONFIG).is_file():
            return "asv run", f"asv's benchmarks are called {CALLS} times each on a copy, not by asv itself"
    if tests is None:
        return None, ""
    return tests, "no benchmarks were found: the tests' own time counts; give a command with --run"


def _benchmarks(root: Path) -> Iterator[Path]:
    """Yields files with tests that take the fixture of pytest-benchmark."""
    for folder in BENCHMARKS:
        for path in _files(root / folder, "*.py"):
            if BENCHMARK.search(_read(path)):
                yield path


def _build(root: Path, kind: ProjectKind) -> str | None:
    return {ProjectKind.CMAKE: CMAKE_BUILD, ProjectKind.MAKE: "make"}.get(kind)


def _has_target(root: Path, name: str) -> bool:
    makefile = next((root / each for each in MAKEFILES if (root / each).is_file()), None)
    return makefile is not None and re.search(MAKE_TARGET.format(re.escape(name)), _read(makefile)) is not None


def _python(root: Path, config: ProjectConfig) -> Path | None:
    """Returns the interpreter of the project's environment: the configuration's, or that of a folder beside it."""
    if config.python is not None:
        given = Path(config.python).expanduser()
        path = given if given.is_absolute() else root / given
        path = path / "bin" / "python" if path.is_dir() else path
        if not path.is_file():
            raise UsageError(f"[tool.whet] python: no interpreter {path}")
        return path
    return environment_python(root)


def _extensions(root: Path) -> Iterator[Path]:
    return chain(_files(root, "*.so"), _files(root, "*.pyx"))


def _files(folder: Path, pattern: str) -> Iterator[Path]:
    """Yields files below a folder, but for hidden folders, environments and what builds left."""
    left_out = {*FOLDERS, "node_modules", "build"}
    for where, names, leaves in os.walk(folder):
        names[:] = sorted(name for name in names if not name.startswith(".") and name not in left_out)
        yield from (Path(where, leaf) for leaf in sorted(leaves) if fnmatch(leaf, pattern))


def _read(path: Path) -> str:
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            return file.read(LARGEST_READ)
    except OSError:
        return ""
