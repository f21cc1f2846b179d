"""Kernels of scientific computing: each in Python and C++, and their C++ functions keep to contract and reference."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from native_tasks import best, expect_agreement, expect_inputs_within_the_contract, inputs, makers, table_of

from whet.benchmarks.tasks import hpc_names, task_folder, task_note
from whet.core.options import Options
from whet.core.task import Kind
from whet.evaluators.project import project_files
from whet.evaluators.targets import read_task

KERNELS = ("axpy", "cg", "gemm", "gemv", "jacobi", "spmv")
NATIVE = tuple(f"{name}-native" for name in KERNELS)
SIZES = (*range(40), 70, 100)
"""Beyond the longest block that a best version handles in one turn."""


def test_each_kernel_is_there_in_every_form() -> None:
    assert hpc_names() == tuple(sorted((*KERNELS, *NATIVE)))


@pytest.mark.parametrize("name", NATIVE)
def test_a_folder_holds_a_function_under_a_contract_that_no_candidate_is_shown_the_answer_to(name: str) -> None:
    folder = task_folder(name)
    task = read_task(str(folder), Options())
    assert (task.name, task.language, task.kind) == (name, "cpp", Kind.FUNCTION)
    assert task_note(name).reach in ("local", "beyond")
    assert "Known best" in (folder / "task.md").read_text()
    seen = project_files(folder)
    assert task.path.name in seen
    assert best(folder).name not in seen


@pytest.mark.parametrize("name", NATIVE)
def test_inputs_keep_to_the_contract(name: str) -> None:
    expect_inputs_within_the_contract(task_folder(name), (0, 1, 2, 17, 60))


@pytest.mark.parametrize("name", ["cg-native", "spmv-native"])
def test_inputs_are_valid_by_the_workload_s_own_word_and_others_are_not(name: str) -> None:
    folder = task_folder(name)
    valid = makers(folder)[0].__globals__["valid"]
    for given in inputs(folder, SIZES):
        assert valid(given)
        columns = given[1]
        if len(columns):
            assert not valid((given[0], columns + 1000, *given[2:]))


@pytest.mark.corpus
@pytest.mark.skipif(shutil.which("g++") is None, reason="g++ is not installed")
@pytest.mark.parametrize("name", NATIVE)
def test_the_best_version_agrees_with_the_reference(name: str, tmp_path: Path) -> None:
    folder = task_folder(name)
    expect_agreement(folder, (folder / table_of(folder)["task"]["target"], best(folder)), tmp_path, SIZES)
