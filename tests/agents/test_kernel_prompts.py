"""What the agents are told of a kernel task, and when its run stops."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from whet.agents.coder import coder_request
from whet.agents.judge import judge_request
from whet.agents.kernels import at_roofline, trace_of
from whet.agents.situation import Situation
from whet.core.candidate import Candidate
from whet.core.circumstances import Circumstances, ModuleCost, TimedInput
from whet.core.measurement import Speedup, WorkloadRatio
from whet.core.profile import Profile
from whet.core.task import Kind, Module, Task
from whet.prompts import si

SOURCE = (
    "import torch\n\n\nclass Model(torch.nn.Module):\n    def forward(self, x):\n        return torch.relu(x) * 2\n"
)
TASK = Task(
    "relu", "python", Kind.FUNCTION, Path("/p/relu.py"), SOURCE, "Model", Path("/p"), module=Module()
)  # fmt: skip
ON_GPU = replace(TASK, module=Module("cuda"))
COST = ModuleCost(0, 4_800_000_000, 9_600_000_000, 2, "float32")
HERE = Circumstances(
    "A Processor", {"L2": 1 << 20}, "CPython 3.12", {"torch": "2.9"}, None,
    (TimedInput("size 1", 900, 4e-3, COST),), ("avx2",),
)  # fmt: skip
H200 = replace(HERE, timed=(TimedInput("size 1", 900, 4e-3, replace(COST, device="NVIDIA H200")),))
OTHER = replace(HERE, timed=(TimedInput("size 1", 900, 4e-3, replace(COST, device="Some `GPU`")),))


def faster(ratio: float, metric: str = "time") -> Speedup:
    each = WorkloadRatio("size 1", ratio, ratio, ratio)
    return Speedup(ratio, ratio, ratio, 0.99, metric, 10, 40, (0.99, 1.01), "the original", (each,))


def situation(**changes) -> Situation:
    parent = Candidate(SOURCE, origin="baseline")
    facts = {
        "task": TASK, "metric": "time", "cores": 1, "place": HERE, "round": 1, "rounds": 8, "parent": parent,
        "profile": Profile((), "none"), "best": None,
    }  # fmt: skip
    return Situation(**{**facts, **changes})


def better(**changes) -> Situation:
    parent = Candidate(SOURCE + "\n", parent="p" * 64, origin="scripted")
    return situation(parent=parent, best=faster(2.0), round=2, **changes)


def told(request) -> str:
    return "\n".join(message.text for message in request.messages)


def test_the_form_of_an_answer_is_told_with_the_device_and_the_cost():
    prompt = told(coder_request(situation()))
    for part in (
        "class `ModelNew`",
        "whet_native.load(SOURCE)",
        "same ones in the same order",
        "A Processor: one core of it",
        "vectors of 256 bits",
        "`size 1`: 0 operations, 4.8 GB: 0 operations a byte; the original's 2 operations of torch write 9.6 GB",
    ):
        assert part in prompt
    assert "the name and the signature of `Model`" not in prompt


def test_the_first_kernel_is_asked_for_until_there_is_one():
    first = told(coder_request(situation()))
    assert "# The first kernel" in first
    assert 'extern "C" void scaled' in first
    assert "@triton.jit\ndef" not in first
    later = told(coder_request(better()))
    assert "# The first kernel" not in later
    assert "# The best version as a kernel" in later


def test_on_a_gpu_the_first_kernel_is_triton_or_cuda():
    prompt = told(coder_request(situation(task=ON_GPU, place=H200)))
    assert "@triton.jit\ndef scaled" in prompt
    assert "compute capability 9.0: 132 multiprocessors" in prompt
    assert "It runs on a GPU" in prompt


def test_the_distance_from_the_roofline_is_told_where_it_is_known():
    for prompt in (
        told(coder_request(better(task=ON_GPU, place=H200))),
        told(judge_request(better(task=ON_GPU, place=H200), [])),
    ):
        assert "`size 1`: 2 ms a call: 0 operations and 2.4 TB a second; 50% of what the device allows, bound by memory: at most 2x is left" in prompt  # noqa: E501  # fmt: skip


def test_the_judge_may_cite_what_it_is_shown_of_a_kernel():
    built = {"static": ["scaled: 40 registers"], "kernels": []}
    prompt = told(judge_request(better(task=ON_GPU, place=H200, built=built), []))
    assert "- the kernel: `speed on size 1`, `cost on size 1`, `compiler`" in prompt
    assert "- the kernel:" not in told(judge_request(situation(task=replace(ON_GPU, module=None)), []))


def test_no_peak_of_a_cpu_is_made_up():
    prompt = told(judge_request(better(), []))
    assert "this CPU's peaks were not measured" in prompt
    assert "of what the device allows" not in prompt
    assert "Say which class you take it for" in prompt


def test_a_gpu_without_a_card_is_named_and_no_more():
    prompt = told(coder_request(better(task=ON_GPU, place=OTHER)))
    assert "Some 'GPU'; its peaks are not in whet's cards" in prompt
    assert "of what the device allows" not in prompt


def test_the_class_and_what_shows_it_are_told():
    built = {
        "kernels": [{"resources": {"spill_stores": 16, "spill_loads": 24}}],
        "static": ["k (sm_90): 255 registers [ptxas]"],
    }
    prompt = told(judge_request(better(task=ON_GPU, place=H200, built=built), []))
    assert "It is bound by memory: a thread spills 40 bytes of registers to memory." in prompt
    assert "255 registers [ptxas]" in prompt
    near = told(judge_request(replace(better(task=ON_GPU, place=H200), best=faster(3.5)), []))
    assert "It is bound by memory: 88% of what its memory roofline allows." in near


def test_a_task_without_a_module_is_told_none_of_it():
    plain = replace(TASK, module=None, symbol="f")
    for prompt in (told(coder_request(situation(task=plain))), told(judge_request(situation(task=plain), []))):
        assert "# The first kernel" not in prompt
        assert "as a kernel" not in prompt
        assert "ModelNew" not in prompt


@pytest.mark.parametrize(
    ("task", "place", "best", "stops"),
    [
        (ON_GPU, H200, faster(3.9), True),
        (ON_GPU, H200, faster(3.7), False),
        (ON_GPU, H200, faster(40.0), False),
        (ON_GPU, H200, None, False),
        (ON_GPU, H200, faster(3.9, "memory"), False),
        (ON_GPU, OTHER, faster(3.9), False),
        (TASK, HERE, faster(1000.0), False),
        (replace(TASK, module=None), H200, faster(3.9), False),
        (ON_GPU, replace(H200, timed=()), faster(3.9), False),
        (ON_GPU, replace(H200, timed=(*H200.timed, TimedInput("size 2", 1, 1.0))), faster(3.9), False),
    ],
)
def test_a_run_stops_where_the_roofline_is_known_and_reached(task, place, best, stops):
    assert bool(at_roofline(task, place, best)) is stops


def test_the_end_says_how_near_it_came():
    assert at_roofline(ON_GPU, H200, faster(3.9)) == "the best version reaches 98% of what the device allows"


def test_a_build_without_kernels_tells_nothing_of_them():
    assert trace_of({}).spills == 0


@pytest.mark.parametrize(("value", "text"), [(0, "0 B"), (999, "999 B"), (1500, "1.5 kB"), (2.5e12, "2.5 TB")])
def test_amounts_have_the_prefix_that_fits(value, text):
    assert si(value, "B") == text
    assert si(value) == text.removesuffix("B").strip()
