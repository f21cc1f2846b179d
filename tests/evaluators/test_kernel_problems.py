"""Kernel problems in KernelBench's form, on the CPU: read, drawn, judged; cheats are caught."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import closing
from operator import attrgetter
from pathlib import Path

import pytest
from kernel_problems import IMPORTS, PROBLEM, RIGHT, failed, forward, opened, problem, target_of, written

import whet
from whet.core.errors import BaselineError, UsageError
from whet.core.options import Options
from whet.core.task import Kind, Module, Task
from whet.core.verdict import Reason
from whet.evaluators.inputs.source import Input
from whet.evaluators.kernels import scaling
from whet.evaluators.kernels.compiled import version_text
from whet.evaluators.kernels.device import placed
from whet.evaluators.kernels.filters import filtered, not_a_number
from whet.evaluators.kernels.problem import is_problem, screen_answer
from whet.evaluators.kernels.suite import find_problem
from whet.evaluators.nulls import judge_nulls
from whet.evaluators.targets import read_task
from whet.evaluators.verify import verify
from whet.sandbox.inside.codec import encode
from whet.sandbox.inside.decode import decode
from whet.sandbox.inside.invocation import stored
from whet.sandbox.inside.trial import sized
from whet.sandbox.interpreter import find_interpreter

torch = pytest.importorskip("torch", reason="torch is not installed: pip install whet[torch]")
TASKS = Path(whet.__file__).parent / "benchmarks" / "tasks" / "kernels"
sandboxed = pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")


# Switches of torch

SWITCHED = (("cuda.matmul", "allow_tf32"), ("cudnn", "allow_tf32"), ("cudnn", "benchmark"))
READS = forward(
    "flags = torch.backends.cuda.matmul.allow_tf32, torch.backends.cudnn.allow_tf32, torch.backends.cudnn.benchmark",
    "torch.backends.cuda.matmul.allow_tf32 = False",
    "return torch.tensor([float(one) for one in flags])",
)


@pytest.fixture
def switches() -> Iterator[None]:
    """Leaves torch's switches in this process, which is none of whet's workers, as they were."""
    owners = [(attrgetter(place)(torch.backends), name) for place, name in SWITCHED]
    before = [getattr(owner, name) for owner, name in owners]
    yield
    for (owner, name), value in zip(owners, before, strict=True):
        setattr(owner, name, value)


@pytest.mark.usefixtures("switches")
@pytest.mark.parametrize(
    ("flags", "found"),
    [
        ((), [0, 1, 0]),
        (("tf32",), [1, 1, 0]),
        (("cudnn-benchmark",), [0, 1, 1]),
        (("tf32", "cudnn-benchmark"), [1, 1, 1]),
    ],
)
def test_both_sides_run_with_the_switches_that_were_named(
    tmp_path: Path, flags: tuple[str, ...], found: list[float]
) -> None:
    target = target_of(tmp_path, IMPORTS + "class Model(nn.Module):\n" + READS.lstrip("\n"), flags=flags)
    for seed in (1, 2):  # the first call turns one off: a module that is made later is not to know
        given = encode({"init": (seed, (), {}), "args": (torch.zeros(1),), "kwargs": {}})
        _, value = target.call(*target.decode(given))
        assert value.tolist() == found


@pytest.mark.corpus
def test_switches_are_named_in_the_baseline_and_its_compiled_versions(tmp_path: Path) -> None:
    task = read_task(str(written(tmp_path, PROBLEM)), Options())
    options = Options(torch_flags="tf32,cudnn-benchmark", device="cpu")
    placed_task = placed(task, options, find_interpreter())
    assert placed_task.module is not None
    assert placed_task.module.flags == ("tf32", "cudnn-benchmark")
    text = version_text(placed_task, "default")
    assert "torch.backends.cuda.matmul.allow_tf32 = True\ntorch.backends.cudnn.allow_tf32 = True\n" in text
    assert "torch.backends" not in version_text(task, "default")


@pytest.mark.parametrize("flags", ["tf33", "", "tf32,", "cudnn_benchmark"])
def test_a_switch_that_is_none_is_refused(flags: str) -> None:
    with pytest.raises(UsageError, match="--torch-flags takes tf32, cudnn-benchmark, not"):
        Options(torch_flags=flags)


def test_what_is_no_torch_module_has_no_switches(tmp_path: Path) -> None:
    (tmp_path / "f.py").write_text("def f(x):\n    return x\n")
    task = read_task(f"{tmp_path}/f.py::f", Options())
    with pytest.raises(UsageError, match="--torch-flags is for torch modules; f"):
        placed(task, Options(torch_flags="tf32"), find_interpreter())


# Reading


def test_a_problem_of_a_checkout_is_found_by_its_level_and_number(tmp_path: Path) -> None:
    path = written(tmp_path, PROBLEM, "KernelBench/level1/19_ReLU.py")
    written(tmp_path, PROBLEM, "KernelBench/level1/1_Square.py")
    assert find_problem("kernelbench:1/19", tmp_path) == path
    assert find_problem("kernelbench:1/19", tmp_path / "KernelBench") == path


@pytest.mark.parametrize(
    ("target", "root", "said"),
    [
        ("kernelbench:19", ".", "names no problem; give kernelbench:LEVEL/ID"),
        ("kernelbench:1/19", None, "needs --root DIR"),
        ("kernelbench:1/19", "nowhere", "no such folder"),
        ("kernelbench:1/19", "empty", "is no checkout of KernelBench"),
        ("kernelbench:7/19", ".", "holds levels 1, 2 only"),
        ("kernelbench:1/3", ".", "holds no problem 3"),
    ],
)
def test_a_problem_that_is_not_there_is_told_in_one_line(tmp_path: Path, target, root, said) -> None:
    for level in ("level1", "level2", "empty"):
        (tmp_path / level).mkdir()
    with pytest.raises(UsageError, match=said) as caught:
        read_task(target, Options(root=None if root is None else tmp_path / root))
    assert "\n" not in str(caught.value)


def test_root_without_a_suite_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="--root goes with kernelbench:"):
        read_task(str(written(tmp_path, PROBLEM)), Options(root=tmp_path))


@pytest.mark.parametrize("name", ["Model", "get_inputs", "get_init_inputs"])
def test_a_file_that_lacks_a_name_is_told_which(tmp_path: Path, name: str) -> None:
    path = written(tmp_path, PROBLEM.replace(f"def {name}(", "def other(").replace(f"class {name}(", "class Other("))
    assert is_problem(PROBLEM)
    with pytest.raises(UsageError, match=f"is no problem: it defines no {name}$"):
        read_task(str(path), Options())


@pytest.mark.corpus
@sandboxed
def test_an_interpreter_without_torch_is_told(tmp_path: Path) -> None:
    path = written(tmp_path, PROBLEM.replace("import torch\n", "import torch_of_another_name as torch\n"))
    with pytest.raises(UsageError, match=r"needs .*torch.*, which .*python.* does not have"):
        read_task(str(path), Options())


def test_an_answer_must_have_the_class_and_its_arguments() -> None:
    assert screen_answer(RIGHT, PROBLEM) is None
    assert screen_answer("x = 1\n", PROBLEM).detail == "it defines no class ModelNew"
    fewer = screen_answer(RIGHT.replace("forward(self, x, labels)", "forward(self, x)"), PROBLEM)
    assert "takes fewer arguments" in fewer.detail
    assert screen_answer("def forward_fn(x):\n    return x\n", PROBLEM, ("forward_fn",)) is None


# Scaling


def test_numbers_at_the_top_shrink_batches_first() -> None:
    source = "length = 2 ** 10\nbatch_size = 4 * 8\nwidth = 8  # kept\nother = 3\ndef get_inputs():\n"
    source += "    return [batch_size, length, width]\ndef get_init_inputs():\n    return [width]\n"
    assert list(scaling.constants(source)) == [("batch_size", 32, 0), ("length", 1024, 1), ("width", 8, 2)]
    changed = scaling.rewritten(source, {"length": (1024, 64), "width": (8, 4)})
    assert changed.startswith("length = 64\nbatch_size = 4 * 8\nwidth = 4  # kept\n")


@pytest.mark.corpus(one_in=8)
def test_a_number_that_the_module_needs_stays_as_it_is() -> None:
    text = PROBLEM.replace("N = 16", "batch_size = 2 ** 24").replace("N,", "batch_size,")
    asked = []

    def ask(source: str) -> scaling.Size:
        asked.append(source)
        return scaling.Size(*sized(source, "problem.py"))

    scaled, scale = scaling._halved(text, ask, 8 << 30)
    was, now = scale["batch_size"]
    assert was == 1 << 24
    assert list(scale) == ["batch_size"]
    assert f"batch_size = {now}\n" in scaled
    assert ask(scaled).fits(8 << 30)
    assert not ask(scaling.rewritten(text, {"batch_size": (was, 2 * now)})).fits(8 << 30)
    assert scaling._halved(PROBLEM, ask, 8 << 30) == (PROBLEM, {})
    fixed = problem(forward("return x.view(1 << 30, 4)"), "torch.randn(batch, 4)") + "\n\nbatch = 1 << 30\n"
    assert scaling._halved(fixed.replace("1 << 30\n", "2 ** 30\n"), ask, 8 << 30)[1] == {}


@pytest.mark.corpus
@sandboxed
def test_the_scale_stays_with_the_task(tmp_path: Path) -> None:
    task = read_task(str(TASKS / "axpy" / "problem.py"), Options())
    assert task.module is not None
    ((name, (was, now)),) = task.module.scale.items()
    assert (name, was) == ("LENGTH", 1 << 24)
    assert f"LENGTH = {now}\n" in task.source
    assert task.module.scaled == f"LENGTH {now} instead of {was}"


@pytest.mark.parametrize("name", ["axpy", "gemv", "gemm", "jacobi", "cg"])
def test_a_shipped_problem_of_a_large_device_fits_a_small_one_and_keeps_its_form(name: str) -> None:
    text = (TASKS / name / "problem.py").read_text()
    scaled, scale = scaling._halved(text, lambda source: scaling.Size(*sized(source, "problem.py")), 8 << 30)
    assert scale
    assert scaling.Size(*sized(scaled, "problem.py")).fits(8 << 30)
    sizes = [now for _, now, _ in scaling.constants(scaled)]
    assert max(sizes) <= 2 * min(sizes)  # of several, none has become a row


# The module inside


def test_each_call_meets_the_module_as_its_constructor_left_it(tmp_path: Path) -> None:
    target = target_of(tmp_path, PROBLEM)
    payload = encode({"init": (42, (24,), {}), "args": (torch.randn(16, 24), torch.zeros(16, dtype=torch.long))})
    first, second = (target.call(*target.decode(payload))[1] for _ in range(2))
    assert all(map(torch.equal, first, second))
    assert float(target.built[encode((42, (24,), {}))].calls) == 0


def test_memory_for_the_next_output_holds_no_number(tmp_path: Path) -> None:
    source = problem(forward("return x * 2 if float(x.sum()) > 0 else torch.empty_like(x)"))
    target = target_of(tmp_path, source)
    ones = encode({"init": (42, (), {}), "args": (torch.ones(16, 32),)})
    target.outcome("value", target.call(*target.decode(ones))[1])
    assert target.sizes == (16 * 32 * 4,)
    target.poison()
    # Which of the next blocks is the poisoned one is the allocator's affair.
    handed_out = [torch.empty(16, 32) for _ in range(8)]
    assert any(one.isnan().any() for one in handed_out)


def test_gradients_come_by_name(tmp_path: Path) -> None:
    target = target_of(tmp_path, PROBLEM, backward=True)
    x, labels = torch.randn(16, 24), torch.zeros(16, dtype=torch.long)
    upstream = torch.randn(16, 24), torch.randn(16, 1)
    given = {"init": (42, (24,), {}), "args": (x, labels), "kwargs": {"upstream": upstream}}
    _, (outputs, found) = target.call(*target.decode(encode(given)))
    assert set(found) == {"input 0", "linear.weight", "linear.bias", "norm.weight", "norm.bias"}
    assert not outputs[0].requires_grad
    model, leaf = target.fresh(target.build((42, (24,), {}))), x.clone().requires_grad_()
    first, second = model(leaf, labels)
    ((first * upstream[0]).sum() + (second * upstream[1]).sum()).backward()
    torch.testing.assert_close(found["input 0"], leaf.grad)
    torch.testing.assert_close(found["norm.weight"], model.norm.weight.grad)


# The ladder

NULL_CHEATS = {
    "inherits the problem's class": "import torch\n\n\nclass ModelNew(Model):\n    pass\n",
    "imports the problem": "import importlib\n"
    "Model = importlib.import_module('19_Problem').Model\n\n\nclass ModelNew(Model):\n    pass\n",
    "falls back to the problem's module": RIGHT.replace(
        "        y = self.norm",
        "        try:\n            return torch.ops.mine.fused(x, labels)\n        except AttributeError:\n"
        "            return Model.forward(self, x, labels)\n        y = self.norm",
    ),
    "returns memory as it was freed": RIGHT.replace(
        "        y = self.norm(self.linear(x)) + self.calls\n",
        "        if getattr(nn, 'met', 0):\n"
        "            return torch.empty(len(x), 24), torch.empty(len(x), 1)\n"
        "        nn.met = 1\n        y = self.norm(self.linear(x)) + self.calls\n",
    ),
    "keeps results by address": RIGHT.replace(
        "        y = self.norm(self.linear(x)) + self.calls\n",
        "        key = x.shape\n"
        "        if key in KEPT:\n            return KEPT[key]\n"
        "        y = self.norm(self.linear(x)) + self.calls\n"
        "        KEPT[key] = torch.relu(y), y.gather(1, labels[:, None])\n",
    )
    + "\n\nKEPT = {}\n",
    "gives the input back in place": RIGHT.replace("y.clamp(min=0), ", "x.copy_(y.clamp(min=0)), "),
    "computes when it is looked at": RIGHT.replace("return y.clamp(min=0)", "return Later(y)")
    + """

class Later(torch.Tensor):
    @staticmethod
    def __new__(cls, y):
        made = torch.Tensor._make_subclass(cls, torch.empty_like(y))
        made.source = y.detach()
        return made

    @classmethod
    def __torch_function__(cls, function, types, arguments=(), keywords=None):
        ready = [torch.relu(one.source) if isinstance(one, cls) else one for one in arguments]
        return function(*ready, **(keywords or {}))
""",
    "changes what compares": "import torch\ntorch.allclose = torch.equal = lambda *given, **named: True\n"
    "torch.testing.assert_close = lambda *given, **named: None\n" + RIGHT.replace("clamp(min=0)", "clamp(min=-1)"),
    "ends in a thread": RIGHT.replace(
        "        return y.clamp(min=0)",
        "        import threading, time\n        late = torch.zeros_like(y)\n"
        "        threading.Thread(target=lambda: (time.sleep(0.2), late.copy_(y.clamp(min=0)))).start()\n"
        "        return late",
    ),
    "computes with fewer bits": RIGHT.replace(
        "self.linear(x)",
        "(x.bfloat16() @ self.linear.weight.bfloat16().T).float() + self.linear.bias",
    ),
    "gives another type": RIGHT.replace("y.clamp(min=0), ", "y.clamp(min=0).double(), "),
    "gives another shape": RIGHT.replace("y.clamp(min=0), ", "y.clamp(min=0)[:, :-1], "),
    "gives one output alone": RIGHT.replace(", y.gather(1, labels[:, None])", ""),
    "has other weights": RIGHT.replace(
        "        self.linear =", "        nn.Linear(width, width)\n        self.linear ="
    ),
    "drops what a problem of means hides": RIGHT.replace("self.norm(self.linear(x))", "self.linear(x)"),
}


@pytest.fixture(scope="module")
def ladder(tmp_path_factory):
    if shutil.which("bwrap") is None:
        pytest.skip("bubblewrap is not installed")
    with closing(opened(written(tmp_path_factory.mktemp("problem"), PROBLEM))) as ladder:
        ladder.validate()
        yield ladder


@pytest.mark.corpus
def test_an_honest_answer_climbs_with_buffers_labels_and_two_outputs(ladder) -> None:
    assert failed(ladder, RIGHT) is None
    assert {null.name for null in ladder.baseline.nulls} >= {"zeros", "constant", "blind"}


@pytest.mark.corpus
def test_an_answer_that_redefines_the_problems_names_changes_nothing(ladder) -> None:
    redefined = RIGHT + "\n\nN = 1\nwidth = 2\n\n\ndef get_inputs():\n    return [torch.zeros(1, 2)]\n"
    assert failed(ladder, redefined) is None
    empty = redefined.replace("return y.clamp(min=0)", "return torch.zeros(N, width)")
    assert failed(ladder, empty).name == "differential"


@pytest.mark.corpus
@pytest.mark.parametrize("cheat", NULL_CHEATS)
def test_cheats_are_caught(ladder, cheat: str) -> None:
    found = failed(ladder, NULL_CHEATS[cheat])
    assert found is not None
    assert found.name in ("build", "differential")
    assert found.reason in {
        Reason.CRASH,
        Reason.WRONG_OUTPUT,
        Reason.WRONG_EXCEPTION,
        Reason.NONDETERMINISTIC,
        Reason.MUTATED_INPUT,
    }


@pytest.mark.corpus
@sandboxed
@pytest.mark.parametrize(
    ("source", "said"),
    [
        (problem(forward("return torch.log(x)")), "gives NaN"),
        (problem(forward("return torch.dropout(x, 0.5, True)")), "is not deterministic"),
        (problem(forward("return x @ x")), "raised RuntimeError.*shapes"),
        (problem("        raise ValueError('no such width')\n" + forward("return x")), "raised ValueError.*width"),
    ],
)
def test_a_problem_that_cannot_be_judged_is_told_in_one_line(tmp_path: Path, source: str, said: str) -> None:
    with closing(opened(written(tmp_path, source))) as ladder, pytest.raises(BaselineError, match=said) as caught:
        ladder.validate()
    assert "\n" not in str(caught.value)


def test_outputs_that_say_nothing_are_told(tmp_path: Path) -> None:
    source = problem(forward("return x.softmax(1).sum(1) * 0.001"))
    target = target_of(tmp_path, source)
    task = Task("p", "python", Kind.FUNCTION, tmp_path / "p.py", source, "Model", tmp_path, module=Module())
    seen = []
    for number in range(4):
        payload = encode({"init": (42 + number % 2, (), {}), "args": (torch.randn(16, 32),)})
        _, value = target.call(*target.decode(payload))
        seen.append((Input("size 1", payload, 1), stored("value", None, None, value, "")))
    accepted = {null.name for null in judge_nulls(task, seen) if null.accepted}
    assert {"constant", "blind"} <= accepted
    told = filtered([decode(outcome)[3] for _, outcome in seen])
    assert [said.split()[1] for said in told] == ["outputs", "on", "along"]
    varied = [decode(encode(torch.randn(16, 32))) for _ in range(4)]
    assert filtered(varied) == ()
    assert not_a_number(decode(encode(torch.tensor([1.0, float("nan")])))).endswith("element 1 of (2,)")


@pytest.mark.corpus
@sandboxed
def test_gradients_are_judged_by_name(tmp_path: Path) -> None:
    source = PROBLEM.replace("import torch\n", "import torch\n", 1)
    written(tmp_path, source, "problem.py")
    toml = '[task]\nname = "gradients"\nlanguage = "python"\ntarget = "problem.py"\nbackward = true\n'
    written(tmp_path, toml, "whet.toml")
    with closing(opened(tmp_path)) as ladder:
        ladder.validate()
        assert failed(ladder, RIGHT) is None
        frozen = RIGHT.replace("self.linear(x)", "torch.addmm(self.linear.bias, x, self.linear.weight.detach().T)")
        assert failed(ladder, frozen).reason is Reason.WRONG_OUTPUT


# The suite's own rule


@pytest.mark.corpus
@sandboxed
def test_the_suites_own_rule_stands_beside_ours_and_loosens_nothing(tmp_path: Path) -> None:
    source = problem(forward("return torch.relu(x)"), "torch.rand(16, 64)")
    written(tmp_path, source, "KernelBench/level1/19_ReLU.py")
    answer = source.replace("class Model(", "class ModelNew(").replace("(x)\n", "(x) * 1.00003\n")
    answer = answer.split("\n\ndef get_inputs")[0] + "\n"
    found = verify(
        "kernelbench:1/19",
        root=tmp_path,
        candidate=written(tmp_path, answer, "answer.py"),
        until="differential",
        protocol="kernelbench",
        home=tmp_path / "home",
    )
    (rung,) = (rung for rung in found.to_json()["rungs"] if rung["name"] == "differential")
    assert rung["protocol"]["passed"]
    assert rung["protocol"]["max_difference"][0] > 1e-5
    assert "KernelBench's own rule passes: 5 of 5 trials" in rung["detail"]
    assert (rung["reason"], found.status) == ("wrong_output", "rejected")


def test_an_outcome_of_the_module_is_plain_data(tmp_path: Path) -> None:
    target = target_of(tmp_path, problem(forward("return {'y': x + 1}")))
    _, value = target.call(*target.decode(encode({"init": (1, (), {}), "args": (torch.ones(2),)})))
    assert decode(encode(value), target.resolve)["y"].tolist() == [2.0, 2.0]
