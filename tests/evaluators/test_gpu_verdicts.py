"""What is made of a GPU's figures: clocks that disagree, calls faster than physics, and labels by whose kernels ran."""

from __future__ import annotations

import copy
import os
import shutil
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from typing import Any, ClassVar

import pytest
from answering import Answering
from hypothesis import given
from hypothesis import strategies as st
from scripted_device import CUDA, measured

from whet.core.measurement import Measurement, Outcome
from whet.core.options import Options
from whet.core.verdict import Reason
from whet.evaluators.artifacts import Artifact, Builder
from whet.evaluators.evidence.unpaid import odd_costs
from whet.evaluators.finding import Fault, found_by
from whet.evaluators.inputs.source import Input
from whet.evaluators.kernels.physics import Needs, impossible, lower_share
from whet.evaluators.meters.time import TIME
from whet.evaluators.processes import FunctionProcess, Pass
from whet.evaluators.rungs import measured as ended_in
from whet.evaluators.targets import read_task
from whet.evaluators.timing.bench import Bench
from whet.evaluators.timing.hidden_costs import HiddenCosts, assess
from whet.evaluators.timing.on_gpu import (
    Sides,
    _kernels,
    _rates,
    _times,
    bandwidth,
    gauge_for,
    held_up,
    hot_seconds,
    needed,
    told,
)
from whet.evaluators.timing.process_observation import Observation, ObservedProcess
from whet.evaluators.timing.starts import without_start
from whet.evaluators.timing.turns import SIDES, Series, Turn, from_raw, raw, series
from whet.evaluators.timing.workloads import TimedWorkload
from whet.sandbox.backends import open_sandbox
from whet.sandbox.gpu_gauge import GpuReading
from whet.sandbox.inside.module_target import POISONED
from whet.sandbox.interpreter import find_interpreter

sandboxed = pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")

# Clocks

CALLS = 100
WAY = 15e-6
"""Seconds from the host to the device and back, in each call."""


def gpu_pass(seconds: float, events: float | None, jitter: float = 0.0) -> Pass:
    spent = seconds + jitter
    return Pass(spent + 0.002, spent, spent, (), events=events)


def turns_of(seconds: float, events: float | None, baseline: float = 0.02, count: int = 10) -> list[Turn]:
    made = []
    for number in range(count):
        jitter = number % 3 * 5e-5
        ours = gpu_pass(baseline, baseline - CALLS * WAY, jitter)
        sides = {"baseline": ours, "again": ours, "candidate": gpu_pass(seconds, events, jitter)}
        made.append(Turn(SIDES, 0.0, {"a": sides}))
    return made


@pytest.mark.parametrize("seconds", [0.019, 0.01, 0.004, 0.0025])
def test_events_that_agree_with_the_clock_are_believed(seconds: float) -> None:
    assert isinstance(series(turns_of(seconds, seconds - CALLS * WAY), "a"), Series)


@pytest.mark.parametrize(
    ("seconds", "events", "said"),
    [
        (0.01, 0.0002, "works on streams that nobody waits for"),
        (0.01, 0.004, "works on streams that nobody waits for"),
        (0.004, 0.02, "one of them was touched"),
    ],
)
def test_events_that_disagree_are_a_cheat(seconds: float, events: float, said: str) -> None:
    found = series(turns_of(seconds, events), "a")
    assert isinstance(found, Fault)
    assert found.reason is Reason.CHEATING
    assert said in found.detail
    assert "\n" not in found.detail


def test_clocks_of_the_cpu_have_no_events_to_agree_with() -> None:
    sides = {side: gpu_pass(0.02, None) for side in SIDES}
    assert isinstance(series([Turn(SIDES, 0.0, {"a": sides})] * 3, "a"), Series)


def test_events_and_readings_stay_in_the_evidence() -> None:
    reading = GpuReading(1755, 2619, 412.345, 61, ("power cap",))
    plain = {"baseline": gpu_pass(0.02, 0.0185)}
    turn = Turn(SIDES, 0.0, {"a": plain}, gpu={"baseline": reading, "candidate": GpuReading(None, None, None, None)})
    rows = raw([turn])
    assert rows[0]["gpu"]["baseline"]["watts"] == 412.345
    assert from_raw(rows) == [turn]
    older = {name: value for name, value in rows[0].items() if name != "gpu"}
    del older["passes"]["a"]["baseline"]["events"]
    assert from_raw([older])[0].gpu == {}


def costs_of(first: float, early: float = 0.02) -> HiddenCosts:
    """Returns what is found of a candidate whose first call takes so long, and whose first pass takes so long."""

    def side(first: float, early: float) -> tuple[ObservedProcess, ...]:
        return tuple(ObservedProcess(0.01, first, 0.002, (early, *[0.02] * 5), None, None) for _ in range(4))

    found = assess(Observation(side(0.004, 0.02), side(first, early)), 4)
    assert isinstance(found, HiddenCosts)
    return found


def test_compiling_a_kernel_in_each_process_is_told_and_not_charged() -> None:
    compiling = costs_of(0.8)
    assert compiling.seconds == pytest.approx(0.796)
    found = without_start(compiling)
    assert found.seconds == found.evidence["charged_seconds"] == 0.0
    assert found.evidence["before_the_calls"] == pytest.approx(0.796)
    assert without_start(costs_of(0.8, early=0.025)).seconds == pytest.approx(0.005, abs=3e-4)


def test_evidence_may_leave_a_start_uncharged_on_a_gpu_alone() -> None:
    def said(events: float | None, **changed: Any) -> list[str]:
        sides = {side: gpu_pass(0.02, events) for side in SIDES}
        costs = {**without_start(costs_of(0.8)).evidence, **changed}
        works = [{"name": "a", "count": 4}]
        return list(
            odd_costs({"workloads": works, "turns": raw([Turn(SIDES, 0.0, {"a": sides})]), "hidden_costs": costs})
        )

    assert said(0.0185) == []
    assert said(None) == ["its hidden costs leave out the start of processes that ran on no GPU"]
    assert said(0.0185, start_charged=True) == ["its hidden costs are not as their observations show"]


def test_events_are_taken_from_a_process_as_seconds() -> None:
    answer = Answering("done", 10**9, 10**8, 3, 2, 0, 0, 0, [b"x"], 4 * 10**8)
    found = FunctionProcess(answer, 0.0, on_gpu=True).timed([b""], 1.0)
    assert isinstance(found, Pass)
    assert found.events == 0.4


@pytest.mark.parametrize("events", [(float("nan"),), (-1,), ("4",), (10**400,), (), (1, 1)])
def test_forged_events_are_a_cheat(events: tuple[object, ...]) -> None:
    answer = Answering("done", 10**9, 10**8, 3, 2, 0, 0, 0, [b"x"], *events)
    found = FunctionProcess(answer, 0.0, on_gpu=True).timed([b""], 1.0)
    assert isinstance(found, Fault)
    assert found.reason is Reason.CHEATING


# Physics


@given(st.integers(1, 80), st.data(), st.floats(0.5, 0.9999))
def test_the_least_share_is_the_one_that_these_hits_allow(tries: int, data: st.DataObject, confidence: float) -> None:
    shown = data.draw(st.integers(0, tries))
    found = lower_share(tries, shown, confidence)
    assert 0.0 <= found <= shown / tries
    if shown == tries:
        assert found == pytest.approx((1 - confidence) ** (1 / tries))
    if shown < tries:
        assert found <= lower_share(tries, shown + 1, confidence)


def test_only_what_surely_moves_counts() -> None:
    whole = Needs(64, 64, inputs=10**9, results=10**9, cache=50 << 20)
    assert 0.89e9 + 0.94e9 < whole.moved < 2e9
    assert Needs(64, 0, 10**9, 0, 0).moved == 0
    assert Needs(0, 0, 10**9, 4 << 20, 50 << 20).moved == 0


@pytest.mark.parametrize(("seconds", "possible"), [(1e-3, True), (3e-4, True), (2.9e-4, False), (1e-6, False)])
def test_a_call_cannot_be_faster_than_the_memory(seconds: float, possible: bool) -> None:
    found = impossible("size 1", seconds, 1e9, 3.35e12)
    assert (found is None) is possible
    if found is not None:
        assert found.reason is Reason.CHEATING
        assert "faster than physics" in found.detail
        assert "1e+03 MB" in found.detail
        assert "\n" not in found.detail


# A real process, on the CPU

PROBLEM = """\
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        return torch.relu(x)


rows = 64


def get_inputs():
    return [torch.randn(rows, 64)]


def get_init_inputs():
    return []
"""


@pytest.fixture(scope="module")
def artifact(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Artifact]:
    pytest.importorskip("torch", reason="torch is not installed: pip install whet[torch]")
    path = tmp_path_factory.mktemp("problem") / "problem.py"
    path.write_text(PROBLEM)
    task = read_task(str(path), Options())
    with closing(open_sandbox("bubblewrap", unsafe=False)) as sandbox:
        made = Builder(task, sandbox, find_interpreter()).build(task.source)
        assert isinstance(made, Artifact)
        yield made


def inputs(count: int = 3) -> list[bytes]:
    import torch

    from whet.sandbox.inside.codec import encode

    return [encode({"init": (0, (), {}), "args": (torch.rand(64, 64),), "kwargs": {}}) for _ in range(count)]


@pytest.mark.corpus
@sandboxed
def test_the_gate_is_made_of_the_original_s_own_bytes(artifact: Artifact) -> None:
    sides, drawn = Sides(artifact, artifact, 10.0, 1), {"size 1": inputs()}
    times = {"size 1": {"baseline": 2e-5, "candidate": 1e-5}}
    rates = _rates(times, drawn, sides, 3.35e12)["size 1"]
    assert rates["physics"] == "passed"
    assert rates["needs"] == {"tries": 64, "shown": 64, "inputs": 16384, "results": 16384, "cache": 0}
    assert rates["bytes_per_second"] == {"baseline": 32768 / 2e-5, "candidate": 32768 / 1e-5}
    failed = found_by(lambda: _rates(times, drawn, sides, 1e6))
    assert isinstance(failed, Fault)
    assert "size 1: 10 us a call is faster than physics" in failed.detail
    unknown = _rates(times, drawn, sides, None)
    assert unknown["size 1"]["physics"] == "skipped: the driver tells no bandwidth"


@pytest.mark.corpus
@sandboxed
def test_a_broken_context_ends_its_process_and_no_other(artifact: Artifact) -> None:
    source = PROBLEM.replace("return torch.relu(x)", f"__import__('os')._exit({POISONED})")
    broken = artifact.builder.build(source)
    assert isinstance(broken, Artifact)
    process = broken.start()
    assert isinstance(process, FunctionProcess)
    with closing(process):
        found = process.call(inputs(1)[0], 10.0)
    assert isinstance(found, Fault)
    assert found.reason is Reason.CRASH
    assert "broke the CUDA context" in found.detail
    after = artifact.start()
    assert isinstance(after, FunctionProcess)
    with closing(after):
        assert not isinstance(after.call(inputs(1)[0], 10.0), Fault)


@pytest.mark.corpus
@sandboxed
def test_kernels_are_profiled_in_a_process_of_their_own(artifact: Artifact) -> None:
    found = _kernels(inputs(), Sides(artifact, artifact, 10.0, 1))
    assert found is not None
    launches = {one["name"]: one["launches"] for one in found["kernels"]}
    assert launches["aten::relu"] == 3


@pytest.mark.corpus
@sandboxed
def test_a_process_on_the_cpu_has_no_hot_calls(artifact: Artifact) -> None:
    process = artifact.start()
    assert isinstance(process, FunctionProcess)
    with closing(process):
        with pytest.raises(ValueError, match="calls on the CPU have no cold caches"):
            hot_seconds(process, inputs()[0], 10.0)
        assert not isinstance(process.call(inputs(1)[0], 10.0), Fault), "the process has outlived the question"


@pytest.mark.corpus
@sandboxed
def test_what_ran_on_the_cpu_is_held_against_nothing_of_a_gpu(artifact: Artifact) -> None:
    found = measured()
    work = TimedWorkload("size 1", 1, lambda seed, count: [Input("x", one, 1, seed) for one in inputs(count)])
    assert held_up(found, Sides(artifact, artifact, 10.0, 1), [work]) is found


class Scripted(Artifact):
    """A subject whose process is on a GPU: what it answers to each question is known beforehand."""

    answers: ClassVar[dict[str, Any]] = {
        "cost": ("cost", 8 * 10**6, 3 * 10**6, 10**6, 2, "float32", "NVIDIA Something"),
        "needs": ("needs", 64, 64, 2000, 1000, 50 << 20),
        "hot": ("hot", [2000] * 11),
        "kernels": ("kernels", [("relu4(float4*)", 900, 3), ("ampere_sgemm_128x64_nn", 100, 3)]),
    }

    def start(self, *words: Any, **named: Any) -> FunctionProcess:
        return FunctionProcess(self, 0.0, on_gpu=True)  # type: ignore[arg-type]

    def ask(self, *message: Any, seconds: float) -> tuple[tuple[Any, ...], float]:
        return self.answers[message[0]], 0.5

    def close(self) -> None:
        pass


@sandboxed
@pytest.mark.corpus(one_in=8)
def test_a_win_on_a_gpu_is_told_with_all_that_it_is_held_against(artifact: Artifact) -> None:
    module = artifact.builder.task.module
    assert module is not None
    builder = copy.copy(artifact.builder)
    builder.task = replace(builder.task, module=replace(module, device="cuda"))
    one = Scripted("x", CUDA, artifact.tree, builder)
    work = TimedWorkload("a", CALLS, lambda seed, count: [Input("x", b"", 1, seed) for _ in range(count)])
    turns = {"turns": raw(turns_of(0.01, 0.01 - CALLS * WAY))}
    won = replace(measured(), note="2.000x", raw=turns)
    found = held_up(won, Sides(one, one, 1.0, 1), [work])
    assert isinstance(found, Measurement)
    warm = "caches were cold; with warm ones, as their processes say: a 1.000x"
    assert found.note == "2.000x"
    assert ended_in("measure", found, 1.0).detail == f"2.000x; {warm}"
    gpu = found.raw["gpu"]
    assert gpu["hot_seconds"] == {"a": {"baseline": 2e-6, "candidate": 2e-6}}
    assert gpu["kernels"]["shares"]["own"] == 0.9
    rates = gpu["rates"]["a"]
    assert rates["physics"] == ("skipped: the driver tells no bandwidth" if bandwidth() is None else "passed")
    assert rates["must_move"] == pytest.approx(0.8977 * 2000, rel=1e-3)
    assert rates["seconds"] == pytest.approx({"baseline": 2e-4, "candidate": 1e-4}, rel=0.02)
    assert rates["flops_per_second"]["candidate"] == pytest.approx(8e10, rel=0.02)
    lost = replace(won, outcome=Outcome.NOT_SHOWN)
    assert held_up(lost, Sides(one, one, 1.0, 1), [work]) is lost


@pytest.mark.timed
@sandboxed
def test_the_gauge_is_read_after_each_side(artifact: Artifact) -> None:
    read: list[GpuReading] = []

    def gauge() -> GpuReading:
        read.append(GpuReading(1000 + len(read), None, None, None))
        return read[-1]

    work = TimedWorkload("a", 2, lambda seed, count: [Input("x", one, 1, seed) for one in inputs(count)])
    cores = (max(os.sched_getaffinity(0)),)
    made = Bench(artifact, artifact, [work], lambda item, ours, theirs: None, 10.0, cores, TIME, gauge=gauge)
    turn = made.turn(3)
    assert [turn.gpu[side] for side in turn.order] == read
    assert len(read) == 3
    assert gauge_for(artifact.builder.task) is None


def test_what_is_raised_on_the_way_to_an_answer_is_told() -> None:
    process = FunctionProcess(Answering("failed", "KeyError: 'getpwuid(): uid not found'"), 0.0)
    for ask in (lambda: process.cost(b"", 1.0), lambda: needed(process, b"", 1, 1.0)):
        with pytest.raises(ValueError, match="uid not found"):
            ask()


def test_seconds_of_a_call_are_told_of_a_pass_that_repeats_its_inputs() -> None:
    work = TimedWorkload("a", 10, lambda seed, count: [], repeats=5)
    found = replace(measured(), raw={"turns": raw(turns_of(0.01, 0.01 - CALLS * WAY))})
    assert _times(found, [work])["a"] == pytest.approx({"baseline": 0.02 / 50, "candidate": 0.01 / 50}, rel=0.02)


@pytest.mark.parametrize("answer", [("hot", [1] * 10), ("hot", [0] * 11), ("hot", [10**9] * 11), ("hot", "x" * 11)])
def test_forged_hot_times_are_not_shown(answer: tuple[Any, ...]) -> None:
    with pytest.raises(ValueError, match="no times"):
        hot_seconds(FunctionProcess(Answering(*answer), 0.0), b"", 1.0)
    with pytest.raises(ValueError, match="counts nothing"):
        needed(FunctionProcess(Answering("needs", 64, -1, 0, 0, 0), 0.0), b"", 1, 1.0)


def test_warm_caches_are_told_where_they_were_timed() -> None:
    assert told(measured()) == ""
    seconds = {"size 1": {"baseline": 3e-5, "candidate": 2e-5}}
    assert told(replace(measured(), raw={"gpu": {"hot_seconds": seconds}})).endswith("size 1 1.500x")
