"""Task folders in robust-kbench's form: read, drawn, judged."""

from __future__ import annotations

import json
import shutil
from contextlib import closing
from pathlib import Path

import pytest
from kernel_problems import IMPORTS, failed, opened, written

from whet.core.candidate import Candidate
from whet.core.errors import UsageError
from whet.core.options import Options
from whet.core.verdict import Reason, RungStatus
from whet.evaluators.inputs.plan import FEWEST_DRAWN
from whet.evaluators.kernels import robust
from whet.evaluators.kernels.problem import generator_text
from whet.evaluators.targets import read_task

torch = pytest.importorskip("torch", reason="torch is not installed: pip install whet[torch]")
sandboxed = pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")

SHIFT = """\
def forward_fn(x, weight):
    return torch.tanh(x @ weight)


class Model(nn.Module):
    def __init__(self, width=8):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(width, width))

    def forward(self, x, fn=forward_fn):
        return fn(x, self.weight)


def get_inputs(rows=4, width=8):
    return [torch.randn(rows, width)]


input_names = ["x"]
"""
PASSES = """\
class AutogradFunction(torch.autograd.Function):
    backward_fn = None

    @staticmethod
    def forward(ctx, x, weight):
        y = torch.tanh(x @ weight)
        ctx.save_for_backward(x, weight, y)
        return y

    @staticmethod
    def backward(ctx, gradient):
        return AutogradFunction.backward_fn(gradient, *ctx.saved_tensors)


"""
CONFIGS = {
    "single_input_configs": [{"rows": 4}],
    "multi_input_configs": [{"rows": 4}, {"rows": 16}],
    "single_init_configs": [{}],
    "multi_init_configs": [{}],
    "single_shared_configs": [{"width": 8}],
    "multi_shared_configs": [{"width": 8}, {"width": 32}],
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    written(tmp_path, IMPORTS + SHIFT, "func_forward.py")
    written(tmp_path, IMPORTS + PASSES + SHIFT, "func_backward.py")
    for name in ("config_forward.json", "config_backward.json"):
        written(tmp_path, json.dumps(CONFIGS), name)
    return tmp_path


def test_settings_are_the_product_of_constructor_inputs_and_shared_ones(folder: Path) -> None:
    settings = robust.settings_of(folder / "func_forward.py")
    shapes = [(init["width"], inputs["rows"], inputs["width"]) for init, inputs in settings]
    assert shapes == [(8, 4, 8), (32, 4, 32), (8, 16, 8), (32, 16, 32)]
    few = {name: configs for name, configs in CONFIGS.items() if name.startswith("single_")}
    written(folder, json.dumps(few), "config_forward.json")
    assert robust.settings_of(folder / "func_forward.py") == [({"width": 8}, {"rows": 4, "width": 8})]
    written(folder, "[]", "config_forward.json")
    with pytest.raises(UsageError, match="holds no table of configurations"):
        robust.settings_of(folder / "func_forward.py")


def test_a_candidates_tree_lacks_the_function_that_is_judged(folder: Path) -> None:
    task = read_task(str(folder), Options())
    assert "tanh" not in task.support[robust.HARNESS]
    assert task.module.slot == "forward_fn"
    assert "sizes = list(range(1, len(settings) + 1))" in generator_text("func_forward", [({}, {})])


@pytest.mark.corpus
@sandboxed
def test_a_function_answers_a_task_of_robust_kbench(folder: Path) -> None:
    with closing(opened(folder)) as ladder:
        ladder.validate()
        assert ladder.source.sizes == (1, 2, 3, 4)
        right = "import torch\n\n\ndef forward_fn(x, weight):\n    return torch.mm(x, weight).tanh_()\n"
        assert failed(ladder, right) is None
        assert failed(ladder, right.replace("tanh_", "sin_")).reason is Reason.WRONG_OUTPUT


@pytest.mark.corpus
@sandboxed
def test_a_backward_function_is_judged_against_autograd(folder: Path) -> None:
    right = (
        "def backward_fn(gradient, x, weight, y):\n    g = gradient * (1 - y * y)\n    return g @ weight.T, x.T @ g\n"
    )
    with closing(opened(folder / "func_backward.py")) as ladder:
        ladder.validate()
        compared = ladder.check(Candidate(right)).rung("differential")
        assert compared.status is RungStatus.PASSED
        assert compared.evidence["inputs"] >= FEWEST_DRAWN
        assert failed(ladder, right.replace("1 - y * y", "1 - y")).reason is Reason.WRONG_OUTPUT


def test_the_suites_own_rule_is_for_its_own_form(folder: Path) -> None:
    with pytest.raises(UsageError, match="is for problems in KernelBench's form"):
        opened(folder, protocol="kernelbench")
