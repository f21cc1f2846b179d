"""What candidates run on and may import: the project's interpreter and packages, not whet's own."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import whet
from whet.benchmarks.tasks import task_folder
from whet.core.options import Options
from whet.core.result import Status
from whet.core.task import Kind, Task
from whet.core.verdict import Reason, RungStatus
from whet.evaluators.environment import ACTIVE, FOLDERS, environment_python, in_environment
from whet.evaluators.finding import Fault, Passed, Skipped, found_by
from whet.evaluators.foreign_imports import foreign_imports, own_modules
from whet.evaluators.screening import screened
from whet.sandbox.interpreter import find_interpreter

SLOW = "def f(xs):\n    return sorted(xs)\n"


def task(source=SLOW, **support):
    files = {f"{name}.py": text for name, text in support.items()}
    return Task("f", "python", Kind.FUNCTION, Path("/p/f.py"), source, "f", Path("/p"), support=files)


def test_what_whet_needs_and_what_that_needs_is_known():
    assert {"pydantic", "requests", "rich", "git", "numpy"} <= own_modules()
    assert not {"json", "whet", "pytest", "torch"} & own_modules()


def shown(task: Task, source: str) -> Passed | Fault | Skipped:
    return found_by(lambda: screened(task, source))


@pytest.mark.parametrize(
    "line",
    [
        "import requests",
        "from pydantic import BaseModel",
        "import json, rich.console as c",
        "def g():\n    import yaml, requests",
        "requests = __import__('requests.adapters')",
        "import importlib\nrequests = importlib.import_module('requests')",
    ],
)
def test_a_candidate_that_rests_on_whets_own_packages_falls_at_the_screen(line):
    found = shown(task(), f"{line}\n{SLOW}")
    assert isinstance(found, Fault)
    assert found.reason is Reason.FORBIDDEN_CONSTRUCT
    assert "which the target's project does not" in found.detail


@pytest.mark.parametrize(
    "line",
    [
        "import heapq",
        "import numpy",
        "import whet_not_here",
        "from . import requests",
        "import importlib\nnear = importlib.import_module('.requests', 'p')",
        "import_module = print\nimport_module(1)",
    ],
)
def test_other_imports_are_left_to_the_build(line):
    assert isinstance(shown(task(), f"{line}\n{SLOW}"), Passed)


def test_what_the_target_or_a_file_beside_it_imports_may_be_imported():
    candidate = f"import requests\n{SLOW}"
    assert isinstance(shown(task(f"import requests.adapters\n{SLOW}"), candidate), Passed)
    assert isinstance(shown(task(near="import requests\n"), candidate), Passed)
    assert isinstance(shown(task(near="import heapq\n"), candidate), Fault)
    assert foreign_imports(candidate, ["no python (", SLOW]) == ["requests"]


def environment(folder, name=".venv"):
    """An environment as `venv` makes it, without its packages."""
    place = folder / name
    (place / "bin").mkdir(parents=True)
    (place / "bin" / "python").symlink_to(Path(sys.executable).resolve())
    home = Path(sys.executable).resolve().parent
    (place / "pyvenv.cfg").write_text(f"home = {home}\ninclude-system-site-packages = false\n")
    return place


@pytest.mark.parametrize("name", FOLDERS)
def test_the_environment_beside_the_target_or_above_it_is_found(tmp_path, name):
    (tmp_path / "src" / "deep").mkdir(parents=True)
    made = environment(tmp_path, name)
    assert environment_python(tmp_path / "src" / "deep", {}) == made / "bin" / "python"
    nearer = environment(tmp_path / "src")
    assert environment_python(tmp_path / "src" / "deep", {}) == nearer / "bin" / "python"


def test_nothing_above_a_repository_is_looked_at_and_no_folder_that_only_has_the_name(tmp_path):
    environment(tmp_path)
    inner = tmp_path / "repository"
    (inner / ".git").mkdir(parents=True)
    (inner / "env" / "bin").mkdir(parents=True)
    (inner / "env" / "bin" / "python").write_text("no interpreter")
    assert environment_python(inner, {}) is None


@pytest.mark.parametrize("folder", [".", "src"])
def test_an_interpreter_that_comes_with_the_project_is_never_run(tmp_path, folder):
    (tmp_path / ".git").mkdir()
    (tmp_path / "tool").write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    (tmp_path / "tool").chmod(0o755)
    (tmp_path / folder).mkdir(exist_ok=True)
    link = environment(tmp_path / folder) / "bin" / "python"
    link.unlink()
    link.symlink_to(tmp_path / "tool")
    assert environment_python(tmp_path / folder, {}) is None


def test_what_packages_of_an_environment_begin_with_is_not_run_out_here(tmp_path):
    made = environment(tmp_path)
    packages = made / "lib" / f"python{sys.version_info.major}.{sys.version_info.minor}" / "site-packages"
    packages.mkdir(parents=True)
    (packages / "first.pth").write_text(f"import pathlib; pathlib.Path({str(tmp_path / 'ran')!r}).touch()\n")
    found = find_interpreter(made / "bin" / "python")
    assert found.executable == made / "bin" / "python"
    assert any(made.is_relative_to(folder) for folder in found.folders)
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("variable", ACTIVE)
def test_the_active_environment_counts_where_none_lies_there(tmp_path, variable):
    project, elsewhere = tmp_path / "project", tmp_path / "elsewhere"
    (project / ".git").mkdir(parents=True)
    active = environment(elsewhere, "active")
    assert environment_python(project, {variable: str(active)}) == active / "bin" / "python"
    own = environment(project)
    assert environment_python(project, {variable: str(active)}) == own / "bin" / "python"


def test_uv_may_name_an_environment_from_the_projects_folder(tmp_path):
    (tmp_path / "src").mkdir()
    (tmp_path / ".git").mkdir()
    plain, chosen = environment(tmp_path), environment(tmp_path, "envs/linux")
    assert environment_python(tmp_path / "src", {ACTIVE[0]: "envs/linux"}) == chosen / "bin" / "python"
    assert environment_python(tmp_path / "src", {ACTIVE[0]: "envs/other"}) == plain / "bin" / "python"


def test_the_environment_of_whet_itself_is_no_other_one(tmp_path):
    (tmp_path / ".git").mkdir()
    assert environment_python(tmp_path, {"VIRTUAL_ENV": sys.prefix}) is None


PROBLEM = "import torch\n\nclass Model(torch.nn.Module): ...\n\ndef get_inputs(): ...\n\ndef get_init_inputs(): ...\n"


def test_only_python_files_have_one_and_a_given_one_stays(tmp_path):
    made = environment(tmp_path)
    (tmp_path / "problem.py").write_text(PROBLEM)
    for name in ("t.py", "t.cpp"):
        (tmp_path / name).write_text(SLOW)
    for target in ("t.py::f", "t.py"):
        assert in_environment(f"{tmp_path}/{target}", Options(), {}).python == made / "bin" / "python"
    given = Options(python=Path("/usr/bin/python3"))
    assert in_environment(f"{tmp_path}/t.py::f", given, {}) == given
    for target in (f"{tmp_path}/problem.py", f"{tmp_path}/t.cpp::f", f"{tmp_path}/none.py::f", "kernelbench:1/1"):
        assert in_environment(target, Options(), {}) == Options()


@pytest.mark.parametrize(
    ("text", "has_one"),
    [
        ('[task]\nlanguage = "python"\ntarget = "t.py"\n', True),
        ('[task]\nlanguage = "cpp"\ntarget = "t.cpp"\n', False),
        ("[task", False),
        ("task = 1", False),
    ],
)
def test_a_folder_with_a_task_in_python_has_one_too(tmp_path, text, has_one):
    made = environment(tmp_path)
    (tmp_path / "job").mkdir()
    (tmp_path / "job" / "whet.toml").write_text(text)
    found = in_environment(str(tmp_path / "job"), Options(), {}).python
    assert found == (made / "bin" / "python" if has_one else None)


def test_whets_own_tasks_run_on_what_whet_has(tmp_path):
    active = {"VIRTUAL_ENV": str(environment(tmp_path))}
    assert in_environment(str(task_folder("dedup-events")), Options(), active) == Options()


@pytest.mark.corpus(one_in=8)
def test_candidates_run_on_the_projects_interpreter_and_see_its_packages(tmp_path):
    made = environment(tmp_path)
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    packages = made / "lib" / version / "site-packages"
    packages.mkdir(parents=True)
    (packages / "shop.py").write_text("RATE = 3\n")
    slow = "import shop\n\ndef f(xs: list[int]) -> int:\n    return sum([x * shop.RATE for x in xs])\n"
    (tmp_path / "slow.py").write_text(slow)
    (tmp_path / "fast.py").write_text(slow.replace("sum([x * shop.RATE for x in xs])", "shop.RATE * sum(xs)"))
    told = []
    result = whet.verify(
        f"{tmp_path}/slow.py::f",
        candidate=tmp_path / "fast.py",
        until="differential",
        home=tmp_path / "home",
        listener=told.append,
    )
    assert result.status is not Status.REJECTED
    passed = {rung.name for rung in result.rungs if rung.status is RungStatus.PASSED}
    assert {"build", "differential"} <= passed
    (line,) = [event.text for event in told if event.data.get("stage") == "python"]
    assert line.endswith(f": {made / 'bin' / 'python'}")
