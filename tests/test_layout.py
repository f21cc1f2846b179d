"""The layout: packages, downward imports, links, file sizes."""

from __future__ import annotations

import ast
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from paths import ROOT, TESTS

WHET = ROOT / "whet"
PACKAGES = ("core", "sandbox", "evaluators", "prompts", "agents", "benchmarks", "bot", "cli")
LINKS = ("agents", "sandbox", "evaluators", "benchmarks", "prompts")
MAY_TEST = ("cli", "testing")
TASKS = WHET / "benchmarks" / "tasks"
INSIDE = WHET / "sandbox" / "inside"
CANDIDATES_OWN = ("numpy", "torch", "triton")
BROUGHT = {"mp_reference.py": "mpmath"}
"""What comes into the sandbox in the tree of the job."""
"""What a candidate may bring into its own process; imported on demand only."""
LONGEST = 500


def sources() -> list[Path]:
    """Returns our own modules; the tasks are targets, not code of ours."""
    return [path for path in sorted(WHET.rglob("*.py")) if TASKS not in path.parent.parents]


def imports(text: str, path: Path) -> Iterator[str]:
    """Yields the absolute dotted names that a module imports, anywhere in it, relative ones resolved.

    A name imported from a package is yielded as its member, for it may be a module itself.
    """
    package = path.relative_to(ROOT).with_suffix("").parts[:-1]
    for node in ast.walk(ast.parse(text, str(path))):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else ()
            module = ".".join((*base, *filter(None, [node.module])))
            yield from (f"{module}.{name.name}" for name in node.names)


def faults(text: str, path: Path) -> list[str]:
    """Returns what a module's imports do wrong."""
    found = []
    where = path.relative_to(WHET).parts
    package = where[0] if len(where) > 1 else None
    for name in imports(text, path):
        top, *rest = name.split(".")
        if top in LINKS:
            found.append(f"{name}: import it as whet.{name}")
        if INSIDE in path.parents:
            own = name.startswith("whet.sandbox.inside.")
            if not own and top not in sys.stdlib_module_names and top not in (*CANDIDATES_OWN, BROUGHT.get(path.name)):
                found.append(f"{name}: only the standard library exists inside the sandbox")
        elif top == "whet" and rest and package is not None:
            other = rest[0]
            if other == "testing" and package not in MAY_TEST and where[:2] != ("benchmarks", "self"):
                found.append(f"{name}: only cli, benchmarks/self and tests import whet.testing")
            if package in PACKAGES and other in PACKAGES and PACKAGES.index(other) > PACKAGES.index(package):
                found.append(f"{name}: {package} lies below {other}")
    return found


@pytest.mark.parametrize("path", sources(), ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_run_downward(path):
    assert faults(path.read_text(encoding="utf-8"), path) == []


@pytest.mark.parametrize(
    ("text", "package"),
    [
        ("from whet.agents.models import base", "evaluators"),
        ("def f():\n    from whet.cli import main", "bot"),
        ("from whet.prompts import render", "evaluators"),
        ("import agents", "cli"),
        ("from ..agents import ledger", "core"),
        ("from whet.testing.models import Scripted", "agents"),
        ("import pydantic", "sandbox/inside"),
        ("from whet.core import task", "sandbox/inside"),
    ],
)
def test_an_import_upward_is_noticed(text, package):
    assert len(faults(text, WHET / package / "module.py")) == 1


@pytest.mark.parametrize(
    ("text", "package"),
    [
        ("from whet.core.task import Task", "agents"),
        ("from . import wire\nimport json", "sandbox/inside"),
        ("from whet.testing import models", "benchmarks/self"),
        ("from whet.testing import models", "cli"),
    ],
)
def test_an_import_downward_is_fine(text, package):
    assert faults(text, WHET / package / "module.py") == []


def test_inside_knows_its_siblings_by_relative_imports_only():
    absolute = [
        path.name
        for path in INSIDE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and node.level == 0 and (node.module or "").split(".")[0] == "whet"
    ]
    assert absolute == []


def test_inside_starts_without_what_only_candidates_bring():
    early = [
        (path.name, name)
        for path in INSIDE.rglob("*.py")
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in imports(ast.unparse(node), path)
        if name.split(".")[0] in CANDIDATES_OWN
    ]
    assert early == []


@pytest.mark.parametrize("name", LINKS)
def test_the_top_level_shows_the_packages(name):
    link = ROOT / name
    assert link.is_symlink()
    assert link.readlink() == Path("whet", name)
    assert (WHET / name).is_dir()


def test_no_test_imports_a_link():
    wrong = [
        (path.name, name)
        for path in (ROOT / "tests").rglob("*.py")
        for name in imports(path.read_text(encoding="utf-8"), path)
        if name.split(".")[0] in LINKS
    ]
    assert wrong == []


@pytest.mark.parametrize("path", sources(), ids=lambda path: str(path.relative_to(ROOT)))
def test_files_stay_short(path):
    assert len(path.read_text(encoding="utf-8").splitlines()) <= LONGEST


def calls(text: str, function: str) -> bool:
    """Whether code calls a function by its full name; what stands in strings runs elsewhere."""
    nodes = ast.walk(ast.parse(text))
    return any(isinstance(node, ast.Call) and ast.unparse(node.func) == function for node in nodes)


def test_python_is_parsed_by_one_thread_at_a_time():
    own = {"core/trees.py"}
    apart = ("sandbox/inside/", "benchmarks/tasks/", "benchmarks/held_out/", "testing/exploits/")
    texts = {path.relative_to(ROOT / "whet").as_posix(): path.read_text() for path in (ROOT / "whet").rglob("*.py")}
    parsing = {
        name
        for name, text in texts.items()
        if re.search(r"\bast\.parse\(", text) and not name.startswith(apart) and calls(text, "ast.parse")
    }
    assert parsing == own, "CPython 3.11 counts the depth of trees for all threads together: see whet.core.trees"


FAMILIES = (
    "evaluators/languages",
    "evaluators/assembly",
    "evaluators/mutants/native.py",
    "evaluators/native_readers.py",
    "evaluators/prototypes.py",
    "evaluators/syntax/native.py",
)
"""Files of one family of languages, which tell its members apart."""


TOLD = ("language", "written")
"""Attributes of a task that say its language."""


def languages_asked(text: str) -> list[int]:
    """Returns the lines that compare a language with something."""
    return [
        node.lineno
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Compare)
        and not isinstance(node.ops[0], ast.Is | ast.IsNot)
        and any(
            getattr(side, "id", None) == "language" or getattr(side, "attr", None) in TOLD
            for side in (node.left, *node.comparators)
        )
    ]


def test_nothing_in_evaluators_asks_which_language_it_has():
    files = [path for path in sources() if path.relative_to(WHET).parts[0] in ("core", "evaluators", "bot", "cli")]
    asking = {
        where: lines
        for path in files
        if not (where := path.relative_to(WHET).as_posix()).startswith(FAMILIES)
        and (lines := languages_asked(path.read_text(encoding="utf-8")))
    }
    assert asking == {}


@pytest.mark.parametrize(
    "text",
    [
        "if task.language == 'python': pass",
        "x = 1 if language in ('c', 'cpp') else 2",
        "y = 'c' != task.written",
        "z = task.language not in KNOWN",
    ],
)
def test_a_question_for_the_language_is_found(text):
    assert languages_asked(text) == [1]


def test_each_test_lies_in_the_folder_of_a_package() -> None:
    folders = {path.name for path in TESTS.iterdir() if path.is_dir() and any(path.glob("test_*.py"))}
    assert folders == {path.name for path in WHET.iterdir() if (path / "__init__.py").exists()} - {"prompts"}
    alike = Counter(path.name for name in folders for path in (TESTS / name).rglob("*.py") if path.stem != "conftest")
    assert [name for name, count in alike.items() if count > 1] == [], "pytest tells them apart by their names alone"
