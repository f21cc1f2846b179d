"""The shipped functions of C++: each is whole, and its known best is right."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import whet
from whet.core.options import Options
from whet.evaluators.project import project_files
from whet.evaluators.targets import read_task

KERNELS = Path(whet.__file__).parent / "benchmarks" / "tasks" / "kernels"
SHIPPED = sorted(KERNELS.glob("*-native"))

pytestmark = pytest.mark.parametrize("folder", SHIPPED, ids=lambda folder: folder.name)


def test_it_is_whole_and_no_candidate_sees_its_best(folder: Path) -> None:
    task = read_task(str(folder), Options())
    assert task.name == folder.name
    assert task.signature is not None
    assert task.workload is not None
    assert (folder / "task.md").read_text().startswith("# ")
    assert [path.name for path in folder.glob("best.*")] == ["best.cpp"]
    assert "best.cpp" not in project_files(task.root)


@pytest.mark.corpus
@pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")
def test_its_best_is_right(folder: Path, tmp_path: Path) -> None:
    result = whet.verify(str(folder), candidate=folder / "best.cpp", home=tmp_path / "home", until="hazard")
    assert not [rung for rung in result.rungs if rung.status == "failed"]
    assert [rung.status for rung in result.rungs if rung.name in ("build", "differential")] == ["passed", "passed"]
