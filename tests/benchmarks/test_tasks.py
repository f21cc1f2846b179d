"""Whet's own tasks: each can be read, runs on its workload and agrees with its best version and its edits."""

from __future__ import annotations

import copy
import random
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest
from paths import ROOT

from whet.agents.catalogue.registry import proposals
from whet.agents.models.base import Brief
from whet.benchmarks import tasks_page
from whet.benchmarks.tasks import held_out_names, hpc_names, task_folder, task_names, task_note
from whet.core.errors import UsageError
from whet.core.options import Options
from whet.core.task import Kind
from whet.evaluators.project import project_files
from whet.evaluators.targets import read_task

NAMES = task_names()
HELD_OUT = held_out_names()
HPC = tuple(name for name in hpc_names() if not name.endswith("-native"))
ALL = (*NAMES, *HELD_OUT, *HPC)
PROGRAMS = [name for name in ALL if not (task_folder(name) / "test_target.py").is_file()]
SMALL = 4
"""Sizes of a workload that the tests run."""


def load(text, name):
    space = {"__name__": name}
    exec(compile(text, name, "exec"), space)
    return space


class Runner:
    """A task's source text, ready to run in a folder of its own."""

    def __init__(self, task, source, folder):
        self.function = None
        folder.mkdir()
        path = folder / task.filename
        path.write_text(source)
        if task.kind is Kind.FUNCTION:
            self.function = called(load(source, task.name), task.symbol)
        elif task.language == "python":
            self.command = [sys.executable, "-I", "-S", path]
        else:
            compiler = {"c": "gcc", "cpp": "g++"}[task.language]
            if shutil.which(compiler) is None:
                pytest.skip(f"no {compiler}")
            self.command = [path.with_suffix("")]
            subprocess.run([compiler, "-O1", "-Wall", "-Wno-sign-compare", "-o", self.command[0], path], check=True)

    def __call__(self, given):
        if self.function is not None:
            return plain(self.function(copy.deepcopy(given)))
        done = subprocess.run(self.command, input=given, capture_output=True, text=True, check=True, timeout=20)
        return done.stdout


def called(module, symbol):
    """Returns what calls a function, or a method on an instance of its own, with a workload's input."""
    owner, _, method = symbol.rpartition(".")
    if owner:
        return lambda given: getattr(module[owner](*given["init"]), method)(*given["args"])
    return lambda given: module[symbol](*given)


def plain(value):
    """Returns a result that equals that of an honest rewrite: floats to nine digits, arrays as lists."""
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, float):
        return f"{value:.9g}"
    if isinstance(value, dict):
        return {key: plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(plain(one) for one in value)
    return value


@pytest.fixture(params=ALL)
def task(request):
    return read_task(str(task_folder(request.param)), Options())


def arguments(given):
    """Returns the arguments of a call; of a program, its stdin."""
    return given["args"] if isinstance(given, dict) else given if isinstance(given, tuple) else (given,)


def small_inputs(workload):
    rng = random.Random(3)
    return [workload["make_input"](size, rng) for size in workload["sizes"][:SMALL] for _ in range(2)]


def test_the_kinds_of_targets_are_there():
    tables = [tomllib.loads((task_folder(name) / "whet.toml").read_text())["task"] for name in NAMES]
    kinds = [(table["language"], table["kind"], "." in table.get("symbol", "")) for table in tables]
    assert len(NAMES) >= 24
    assert kinds.count(("python", "function", False)) >= 8
    assert kinds.count(("python", "function", True)) >= 4
    for language in ("python", "c", "cpp"):
        assert kinds.count((language, "program", False)) >= 3
    assert sum(task_note(name).reach == "beyond" for name in NAMES) >= 6


def test_those_held_out_are_functions_and_programs_of_many_fields():
    kinds = [(task.language, task.kind) for task in (read_task(str(task_folder(name)), Options()) for name in HELD_OUT)]
    assert kinds.count(("python", Kind.FUNCTION)) >= 7
    assert kinds.count(("cpp", Kind.PROGRAM)) >= 3
    assert len({task_note(name).field for name in HELD_OUT}) == len(HELD_OUT)
    assert not set(HELD_OUT) & set(NAMES)


def test_the_page_of_the_tasks_is_that_of_their_notes():
    page = ROOT / "docs" / "tasks.md"
    assert page.read_text(encoding="utf-8") == tasks_page.page(), "python -m whet.benchmarks.tasks_page > docs/tasks.md"


def test_an_unknown_task_is_answered_with_the_nearest():
    with pytest.raises(UsageError, match="no task 'dedup-event'; did you mean 'dedup-events'"):
        task_folder("dedup-event")


def test_its_folder_holds_what_it_needs(task):
    folder = task_folder(task.name)
    assert task.root == folder.resolve()
    assert task.workload.generator is not None
    assert "Known best" in (folder / "task.md").read_text()
    assert task_note(task.name).reach in ("local", "beyond")
    assert not (folder / "__init__.py").exists()
    if task.kind is Kind.FUNCTION:
        assert (folder / "test_target.py").is_file()
    else:
        assert len(task.workload.cases) >= 2
        assert all(case.expected is not None for case in task.workload.cases)


def test_no_candidate_sees_the_best_version(task):
    seen = project_files(task.root)
    assert task.path.name in seen
    assert not [path for path in (*seen, *task.support) if Path(path).stem == "best"]


@pytest.mark.corpus
def test_the_best_version_agrees_on_the_small_sizes(task, tmp_path):
    workload = load(task.workload.generator, "workload")
    sizes = workload["sizes"]
    assert sizes == sorted(sizes)
    assert len(sizes) >= SMALL + 2
    baseline = Runner(task, task.source, tmp_path / "baseline")
    (file,) = task.root.glob("best.*")
    best = Runner(task, file.read_text(), tmp_path / "best")
    for given in small_inputs(workload):
        assert best(given) == baseline(given)


@pytest.mark.corpus
@pytest.mark.parametrize("task", [name for name in NAMES if task_note(name).reach == "local"], indirect=True)
def test_a_task_within_reach_has_edits_and_each_agrees_on_the_small_sizes(task, tmp_path):
    inputs = small_inputs(load(task.workload.generator, "workload"))
    baseline = Runner(task, task.source, tmp_path / "baseline")
    expected = [baseline(given) for given in inputs]
    found = proposals(Brief(task.language, task.kind.value, task.symbol, task.source))
    assert found
    for number, proposal in enumerate(found):
        changed = Runner(task, proposal.source, tmp_path / str(number))
        assert [changed(given) for given in inputs] == expected, proposal.edit


@pytest.mark.corpus
@pytest.mark.parametrize("task", PROGRAMS, indirect=True)
def test_its_own_cases_pass(task, tmp_path):
    (file,) = task.root.glob("best.*")
    for name, source in (("baseline", task.source), ("best", file.read_text())):
        runner = Runner(task, source, tmp_path / name)
        for case in task.workload.cases:
            assert runner(case.stdin.decode()) == case.expected.decode(), (name, case.name)


@pytest.mark.corpus
def test_inputs_vary_enough_that_doing_nothing_shows(task, tmp_path):
    workload = load(task.workload.generator, "workload")
    size = workload["sizes"][SMALL - 1]
    make = workload["make_input"]
    assert plain(make(size, random.Random(1))) == plain(make(size, random.Random(1)))
    baseline = Runner(task, task.source, tmp_path / "baseline")
    inputs = [make(size, random.Random(seed)) for seed in range(3)]
    outputs = [baseline(given) for given in inputs]
    for output, given in zip(outputs, inputs, strict=True):
        assert output
        assert output not in (plain(given), *plain(arguments(given)))
        assert outputs.count(output) == 1


@pytest.mark.corpus
@pytest.mark.parametrize("name", [name for name in ALL if (task_folder(name) / "test_target.py").is_file()])
def test_its_own_tests_pass(name, tmp_path):
    copy = tmp_path / name
    shutil.copytree(task_folder(name), copy)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_target.py"]
    done = subprocess.run(command, cwd=copy, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
