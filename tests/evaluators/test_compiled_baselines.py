"""torch.compile's versions of a problem, as baselines beside the eager one."""

from __future__ import annotations

import ast
import shutil
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

import whet
from whet.cli.render import speedup_lines
from whet.core.measurement import Measurement, Outcome, Speedup
from whet.core.options import Options
from whet.core.task import Module
from whet.core.verdict import Reason, Rung, RungStatus
from whet.evaluators.evidence.consistency import left_uncompiled
from whet.evaluators.finding import Fault
from whet.evaluators.kernels.compiled import MODES, STAGES, Version, Versions, can_be_compiled, compiled, version_text
from whet.evaluators.ladder import Ladder, open_ladder
from whet.evaluators.meters.time import TIME
from whet.evaluators.rungs import measured
from whet.evaluators.targets import read_task
from whet.evaluators.timing.decision import least

sandboxed = pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")
TASKS = Path(whet.__file__).parent / "benchmarks" / "tasks" / "kernels"
PROBLEM = """\
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, scale):
        super().__init__()
        self.scale = scale

    def forward(self, x):
        {forward}


def get_inputs():
    return [torch.randn(64, 500)]


def get_init_inputs():
    return [3.0]
"""
PLAIN = PROBLEM.format(forward="return torch.tanh(x * self.scale) + x.abs().sqrt()")


def figures(name: str, ratio: float, outcome: Outcome = Outcome.FASTER) -> Measurement:
    speedup = Speedup(ratio, ratio - 0.1, ratio + 0.1, 0.99, "time", 8, 80, (0.99, 1.01), name, ())
    return Measurement(outcome, speedup, 0.001, note=f"{ratio:.3f}x")


def test_the_headline_is_against_the_fastest_and_all_are_shown() -> None:
    shown = least([figures("eager", 3.0), figures("torch.compile (default)", 1.5)])
    assert (shown.speedup.ratio, shown.speedup.baseline) == (1.5, "torch.compile (default)")
    assert [(one.name, one.ratio) for one in shown.speedup.baselines] == [
        ("eager", 3.0),
        ("torch.compile (default)", 1.5),
    ]
    lines = "\n".join(speedup_lines(shown.speedup))
    assert "against eager" in lines
    assert "3.00x  2.90x to 3.10x" in lines
    assert measured("confirm", shown, 1.0).detail == "against torch.compile (default): 1.500x"
    alone = least([figures("eager", 3.0)])
    assert alone.speedup.baselines == ()
    assert measured("confirm", alone, 1.0).detail == "3.000x"


def test_what_is_not_faster_than_what_the_compiler_makes_is_no_gain() -> None:
    both = [figures("eager", 3.0), figures("torch.compile (default)", 0.9, Outcome.SLOWER)]
    rung = measured("confirm", least(both), 1.0)
    assert rung.reason is Reason.SLOWER
    assert rung.detail.startswith("against torch.compile (default)")


def test_a_compiled_baseline_is_measured_in_five_processes_at_least() -> None:
    assert min(stage.turns for stage in STAGES) >= 5


@pytest.mark.corpus
def test_problems_of_kernelbench_can_be_compiled_and_no_others(tmp_path: Path) -> None:
    task = read_task(str(TASKS / "rmsnorm" / "problem.py"), Options())
    assert can_be_compiled(task)
    assert not can_be_compiled(replace(task, module=Module(slot="forward_fn")))
    assert not can_be_compiled(replace(task, module=None))


@pytest.mark.corpus
@pytest.mark.parametrize("backward", [False, True])
def test_a_version_is_the_problem_and_a_class_behind_it(backward: bool) -> None:
    task = read_task(str(TASKS / "rmsnorm" / "problem.py"), Options())
    task = replace(task, module=Module(backward=backward))
    first, second = (version_text(task, mode) for mode in MODES)
    assert first.startswith(task.source)
    assert first != second
    classes = [node.name for node in ast.parse(first).body if isinstance(node, ast.ClassDef)]
    assert classes == ["Model", "ModelNew"]


@pytest.fixture
def ladder(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Ladder]:
    pytest.importorskip("torch", reason="torch is not installed: pip install whet[torch]")
    path = tmp_path / "problem.py"
    path.write_text(getattr(request, "param", PLAIN))
    settings = Options(until="prove")
    with closing(open_ladder(read_task(str(path), settings), settings, 7, explain=False)) as opened:
        yield opened


def right(item: object, *, actual: bytes) -> None:
    """Finds nothing wrong."""


@sandboxed
@pytest.mark.corpus
def test_modes_that_give_one_code_are_one_version_and_its_processes_compile_nothing(ladder: Ladder) -> None:
    inputs = ladder.source.draw(1, [5, 6])
    versions = compiled(ladder.builder, 1, inputs, right)
    assert versions.failed == ()
    assert [one.modes for one in versions.made] == [MODES]
    (version,) = versions.made
    process = version.artifact.start()
    assert not isinstance(process, Fault), process
    with closing(process):
        loading = process.call(inputs[0].payload, 120.0)
        again = process.call(inputs[1].payload, 120.0)
    assert not isinstance(loading, Fault), loading
    assert not isinstance(again, Fault), again
    # The first call makes the module, which is outside its clock: neither call may take as long as to load the code.
    assert max(loading[1], again[1]) < 1.0


@sandboxed
@pytest.mark.exhaustive
def test_a_version_that_is_wrong_is_none_and_it_says_why(ladder: Ladder) -> None:
    wrong = Fault(Reason.WRONG_OUTPUT, "result: other numbers")
    versions = compiled(ladder.builder, 1, ladder.source.draw(1, [5]), lambda item, *, actual: wrong)
    assert versions.made == ()
    assert versions.failed == tuple((mode, wrong.detail) for mode in MODES)


@sandboxed
@pytest.mark.corpus
@pytest.mark.parametrize("ladder", [PROBLEM.format(forward="import numpy.nothing")], indirect=True)
def test_what_cannot_be_compiled_says_why(ladder: Ladder) -> None:
    versions = compiled(ladder.builder, 1, [], right)
    assert versions.made == ()
    assert [mode for mode, _ in versions.failed] == list(MODES)
    assert all("numpy.nothing" in why for _, why in versions.failed), versions.failed


@pytest.mark.corpus
def test_a_confirmed_kernel_that_skipped_a_version_is_told() -> None:
    task = read_task(str(TASKS / "rmsnorm" / "problem.py"), Options())
    eager, default = {"flags": ()}, {"flags": (), "compiled": MODES[:1]}
    confirmed = Rung("confirm", RungStatus.PASSED, None, "", 1.0)
    assert list(left_uncompiled(confirmed, [eager, default], task, TIME)) == [
        f"not measured against torch.compile ({MODES[1]})"
    ]
    failed = replace(confirmed, evidence={"not_compiled": {MODES[1]: "it raised"}})
    assert list(left_uncompiled(failed, [eager, default], task, TIME)) == []
    assert list(left_uncompiled(replace(confirmed, status=RungStatus.FAILED), [eager], task, TIME)) == []
    assert list(left_uncompiled(confirmed, [eager], replace(task, module=None), TIME)) == []


def test_a_version_that_fails_later_is_none_and_it_says_why() -> None:
    lost, other = (Version((mode,), None) for mode in MODES)  # type: ignore[arg-type]
    left = Versions((lost, other)).without(lost, "ended by signal 11")
    assert left == Versions((other,), ((MODES[0], "ended by signal 11"),))
