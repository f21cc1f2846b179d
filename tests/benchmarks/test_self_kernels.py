"""``whet bench self kernels``: its parts, results that are kept, and what rows come to."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from whet.benchmarks.self import kernels
from whet.benchmarks.self.kernel_gains import Gain, figures, measured, task_names, totals
from whet.cli import bench_self
from whet.cli.errors import Invocation
from whet.core.errors import UsageError
from whet.core.measurement import BaselineRatio, Speedup
from whet.core.plain import to_plain
from whet.core.result import Status
from whet.testing.exploits.corpus import ExpectedResult, exploits

CONTEXT = SimpleNamespace(obj=Invocation())
WON = Gain("rmsnorm", True, Status.IMPROVED, (3.0, 2.9, 3.1), (1.5, 1.4, 1.6), 300.0, "faster")
BEHIND = Gain("spmm", True, Status.NO_IMPROVEMENT, (2.0, 1.9, 2.1), (0.9, 0.8, 1.0), 300.0, "slower than compiled")
SLOW = Gain("spmv", True, Status.NO_IMPROVEMENT, (0.9, 0.8, 1.0), None, 60.0, "not faster")
TORCH = replace(WON, task="axpy", native=False)


def kept(folder: Path, *rows: Gain) -> Path:
    file = folder / "results.json"
    file.write_text(json.dumps({"gains": [to_plain(row) for row in rows]}))
    return file


def test_answers_in_cpp_count_by_what_they_beat() -> None:
    eager, fastest, alone = totals([WON, BEHIND, SLOW, TORCH])
    assert eager == "answers in C++ that beat eager PyTorch: 2 of 3, goal 10: rmsnorm, spmm"
    assert fastest == "answers in C++ that beat the faster of eager and torch.compile: 1 of 3, goal 5: rmsnorm"
    assert alone == "not held against torch.compile: spmv: not faster"


def test_of_the_compiled_baselines_the_fastest_counts() -> None:
    eager = Speedup(3.0, 2.9, 3.1, 0.99, "time", 8, 80, (0.99, 1.01), "eager PyTorch", ())
    assert figures(None) == (None, None)
    assert figures(eager) == ((3.0, 2.9, 3.1), None)
    three = (
        BaselineRatio("eager PyTorch", 3.0, 2.9, 3.1),
        BaselineRatio("torch.compile (default)", 1.5, 1.4, 1.6),
        BaselineRatio("torch.compile (max-autotune-no-cudagraphs)", 1.2, 1.1, 1.3),
    )
    assert figures(replace(eager, baselines=three)) == ((3.0, 2.9, 3.1), (1.2, 1.1, 1.3))


def test_what_was_measured_is_not_measured_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = kept(tmp_path, WON, BEHIND)
    before = file.read_bytes()
    assert list(measured(["spmm", "rmsnorm"], file)) == [BEHIND, WON]
    assert bench_self.measure_self(CONTEXT, "kernels", ids="rmsnorm,spmm", results=file) == 0
    said = capsys.readouterr().out.splitlines()
    assert said[2] == "| rmsnorm | C++ | improved | 3.00x (2.90 to 3.10) | 1.50x (1.40 to 1.60) | 300 |"
    assert said[-1].startswith("answers in C++ that beat the faster of eager and torch.compile: 1 of 2")
    assert file.read_bytes() == before


def test_what_is_no_part_and_no_results_is_refused_before_anything_runs(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no part 'rmsnrm'; did you mean 'rmsnorm'"):
        next(kernels.report(["rmsnrm"]))
    file = tmp_path / "other.json"
    for text in ("not JSON", "[]", '{"gains": [{"task": 1}]}'):
        file.write_text(text)
        with pytest.raises(UsageError, match="holds no results of whet bench self kernels"):
            next(kernels.report(["rmsnorm"], file))


def test_the_shipped_tasks_are_enough_for_the_goals() -> None:
    assert len(task_names()) >= 20


def test_cheats_are_those_on_clocks_caching_and_weak_oracles() -> None:
    rows = [row for about in kernels.CHEATS.values() for row in about]
    assert rows == list(range(1, 50))
    tried = {one.row for one in exploits() if one.language == "torch" and one.outcome is ExpectedResult.REJECTED}
    assert all(tried & set(about) for about in kernels.CHEATS.values())


@pytest.mark.corpus
@pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")
def test_cheats_are_counted_and_one_that_gets_through_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("torch", reason="torch is not installed: pip install whet[torch]")
    (zeros,) = (one for one in exploits() if one.name == "35-zeros-torch")
    missed = replace(zeros, row=18, rungs=("measure",))  # it falls before
    monkeypatch.setattr(kernels, "exploits", lambda: (zeros, missed))
    *counts, told = list(kernels.cheats())[2:]
    assert counts == ["| clocks and reports | 0 | 0 |", "| caching and leaks | 1 | 0 |", "| weak oracles | 1 | 1 |"]
    assert told.startswith("not caught as it must be: 35-zeros-torch: differential wrong_output")
