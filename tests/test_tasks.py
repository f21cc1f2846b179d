"""Whet's own tasks: each can be read, runs on its workload, and has an edit of the catalogue that helps."""

from __future__ import annotations

import random
import shutil
import subprocess
import sys
import tomllib

import pytest

from whet.agents.catalogue.registry import proposals
from whet.agents.models.base import Brief
from whet.benchmarks.tasks import task_folder, task_names
from whet.core.config import Options
from whet.core.errors import UsageError
from whet.core.task import Kind
from whet.evaluators.targets import read_task

NAMES = task_names()
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
            self.function = load(source, task.name)[task.symbol]
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
            return self.function(*given)
        done = subprocess.run(self.command, input=given, capture_output=True, text=True, check=True, timeout=20)
        return done.stdout


@pytest.fixture(params=NAMES)
def task(request):
    return read_task(str(task_folder(request.param)), Options())


def test_the_kinds_that_the_first_targets_need_are_there():
    tables = [tomllib.loads((task_folder(name) / "whet.toml").read_text())["task"] for name in NAMES]
    kinds = sorted((table["language"], table["kind"]) for table in tables)
    assert kinds.count(("python", "function")) >= 2
    assert kinds.count(("cpp", "program")) >= 2
    assert ("python", "program") in kinds
    assert ("c", "program") in kinds


def test_an_unknown_task_is_answered_with_the_nearest():
    with pytest.raises(UsageError, match="no task 'dedup-event'; did you mean 'dedup-events'"):
        task_folder("dedup-event")


def test_its_folder_holds_what_it_needs(task):
    folder = task_folder(task.name)
    assert task.root == folder.resolve()
    assert task.workload.generator is not None
    assert "Known best" in (folder / "task.md").read_text()
    assert not (folder / "__init__.py").exists()
    if task.kind is Kind.FUNCTION:
        assert (folder / "test_target.py").is_file()


def test_the_baseline_and_all_single_edits_agree_on_the_small_sizes(task, tmp_path):
    workload = load(task.workload.generator, "workload")
    sizes = workload["sizes"]
    assert sizes == sorted(sizes)
    assert len(sizes) >= SMALL + 2
    rng = random.Random(3)
    inputs = [workload["make_input"](size, rng) for size in sizes[:SMALL] for _ in range(2)]
    baseline = Runner(task, task.source, tmp_path / "baseline")
    expected = [baseline(given) for given in inputs]
    if "check" in workload:
        for given, output in zip(inputs, expected, strict=True):
            assert workload["check"](given, output) is not False
    found = proposals(Brief(task.language, task.kind.value, task.symbol, task.source))
    assert found
    for number, proposal in enumerate(found):
        changed = Runner(task, proposal.source, tmp_path / str(number))
        assert [changed(given) for given in inputs] == expected, proposal.edit


def test_inputs_vary_enough_that_doing_nothing_shows(task, tmp_path):
    workload = load(task.workload.generator, "workload")
    size = workload["sizes"][SMALL - 1]
    make = workload["make_input"]
    assert make(size, random.Random(1)) == make(size, random.Random(1))
    baseline = Runner(task, task.source, tmp_path / "baseline")
    inputs = [make(size, random.Random(seed)) for seed in range(3)]
    outputs = [baseline(given) for given in inputs]
    for output, given in zip(outputs, inputs, strict=True):
        assert output
        assert output not in (given, given[0])
        assert outputs.count(output) == 1


@pytest.mark.parametrize("name", [name for name in NAMES if (task_folder(name) / "test_target.py").is_file()])
def test_its_own_tests_pass(name, tmp_path):
    copy = tmp_path / name
    shutil.copytree(task_folder(name), copy)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_target.py"]
    done = subprocess.run(command, cwd=copy, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
