"""Tasks of assembly routines: contracts and inputs fit, best versions agree with their references, answers assemble."""

from __future__ import annotations

import platform
import shutil
import subprocess
from pathlib import Path

import pytest
from native_tasks import best, contract, expect_agreement, expect_inputs_within_the_contract, table_of

import whet
from whet.evaluators.project import project_files

TASKS = Path(whet.__file__).parent / "benchmarks" / "tasks" / "asm"
NAMES = sorted(path.parent.name for path in TASKS.glob("*/whet.toml"))
FLAGS = {"bmi": "bmi1", "lzcnt": "abm", "pclmul": "pclmulqdq", "sse4.2": "sse4_2"}
"""Features whose name in /proc/cpuinfo is another."""
TOOLS = {"x86_64": "", "aarch64": "aarch64-linux-gnu-", "riscv64": "riscv64-linux-gnu-"}
OTHERS = ("aarch64", "riscv64")
SIZES = (*range(72), 129, 200, 500, 1600, 5600)
"""Beyond the longest block that a best version handles in one turn."""


def missing(name: str) -> list[str]:
    known = Path("/proc/cpuinfo").read_text().split() if platform.machine() == "x86_64" else []
    return [
        feature for feature in table_of(TASKS / name)["build"]["features"] if FLAGS.get(feature, feature) not in known
    ]


def test_there_are_routines_of_many_fields_and_most_are_answered_for_both_other_machines() -> None:
    assert len(NAMES) >= 15
    assert sum(best(TASKS / name).suffix == ".s" for name in NAMES) >= 10
    answered = [name for name in NAMES if all((TASKS / name / "answers" / f"{isa}.s").is_file() for isa in OTHERS)]
    assert len(answered) >= 12


@pytest.mark.parametrize("name", NAMES)
def test_a_folder_holds_what_its_file_names(name: str) -> None:
    table, folder = table_of(TASKS / name), TASKS / name
    assert table["task"]["name"] == name
    assert (table["task"]["language"], table["task"]["isa"]) == ("asm", "x86_64")
    assert table["task"]["target"] == f"{name}.s"
    assert not (folder / table["task"]["target"]).exists()  # a compiler's output, made where it is missing
    assert (folder / table["oracle"]["reference"]).is_file()
    floats = any(one.type.startswith("float") for one in contract(TASKS / name).arguments)
    assert (table["oracle"]["tolerance"] == "exact") is not floats
    assert "Known best" in (folder / "task.md").read_text()


@pytest.mark.parametrize("name", NAMES)
def test_no_candidate_sees_the_best_version_or_an_answer(name: str) -> None:
    seen = project_files(TASKS / name)
    assert f"{name}.c" in seen
    assert not [path for path in seen if path.startswith(("best.", "answers/"))]


@pytest.mark.parametrize("name", NAMES)
def test_inputs_keep_to_the_contract(name: str) -> None:
    expect_inputs_within_the_contract(TASKS / name, (0, 1, 2, 17, 60))


@pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")
@pytest.mark.parametrize("name", NAMES)
def test_the_best_version_agrees_with_the_reference(name: str, tmp_path: Path) -> None:
    if lacking := missing(name):
        pytest.skip(f"this machine has no {', '.join(lacking)}")
    folder = TASKS / name
    expect_agreement(folder, (folder / f"{name}.c", best(folder)), tmp_path, SIZES)


@pytest.mark.parametrize("isa", TOOLS)
@pytest.mark.parametrize("name", NAMES)
def test_an_answer_assembles_to_its_one_function(name: str, isa: str, tmp_path: Path) -> None:
    tools = TOOLS[isa]
    if shutil.which(f"{tools}gcc") is None or (not tools and platform.machine() != "x86_64"):
        pytest.skip(f"no compiler for {isa} is installed")
    source = best(TASKS / name) if not tools else TASKS / name / "answers" / f"{isa}.s"
    features = table_of(TASKS / name)["build"]["features"]
    flags = [] if tools else [f"-Wa,-march=generic64+{'+'.join(features)}"]
    subprocess.run([f"{tools}gcc", *flags, "-c", "-o", tmp_path / "made.o", source], check=True)
    lines = subprocess.check_output([f"{tools}nm", "-P", "-g", tmp_path / "made.o"], text=True).splitlines()
    (symbol, kind, _, size), *others = (line.split() for line in lines)
    assert (symbol, kind, others) == (table_of(TASKS / name)["task"]["symbol"], "T", [])
    assert int(size, 16) > 0  # what counts instructions by function asks for the size
