"""Answers in C++ to problems in KernelBench's form: built once, apart, and found by every process."""

from __future__ import annotations

import ctypes
import json
import shutil
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import whet
from whet.core.label import Label
from whet.core.options import Options
from whet.core.verdict import Reason
from whet.evaluators.artifacts import Artifact, Builder
from whet.evaluators.finding import Fault
from whet.evaluators.inputs.plan import FEWEST_DRAWN
from whet.evaluators.inputs.source import InputSource
from whet.evaluators.labels.registry import labels
from whet.evaluators.preloads import preloads
from whet.evaluators.targets import read_task
from whet.sandbox.backends import open_sandbox
from whet.sandbox.inside import whet_native
from whet.sandbox.inside.decode import decode
from whet.sandbox.inside.whet_native import FOLDER
from whet.sandbox.interpreter import find_interpreter
from whet.sandbox.toolchains.native import SHARED, Diagnostics, compiler
from whet.sandbox.toolchains.shared_object import LibraryRequest, digest
from whet.sandbox.toolchains.torch_extension import FLAGS, compile_extension, find_torch
from whet.sandbox.toolchains.torch_headers import PRECOMPILED, staged_headers

TASKS = Path(whet.__file__).parent / "benchmarks" / "tasks" / "kernels"
SHIPPED = sorted(folder.name for folder in TASKS.iterdir() if (folder / "problem.py").is_file())

OFTEN = ("attention-backward", "cross-entropy", "rmsnorm", "short-attention", "spmm")
"""Those that `make test-all` judges; the others are judged before a release."""

PROBLEM = """\
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        return x * 2.0 + 1.0


def get_inputs():
    return [torch.randn(8, 16)]


def get_init_inputs():
    return []
"""
C_ABI = '''\
from ctypes import c_int64, c_void_p

import torch
import torch.nn as nn
import whet_native

CPP = """
#include <cstdint>
extern "C" void twice(const float *x, float *out, int64_t n) {
#pragma omp simd
  for (int64_t i = 0; i < n; i++) out[i] = x[i] * 2.0f + 1.0f;
}
"""
TWICE = whet_native.load(CPP).twice
TWICE.argtypes, TWICE.restype = [c_void_p] * 2 + [c_int64], None


class ModelNew(nn.Module):
    def forward(self, x):
        out = torch.empty_like(x)
        TWICE(x.data_ptr(), out.data_ptr(), x.numel())
        return out
'''
LOADER = '''\
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

CPP = """
#include <torch/extension.h>
torch::Tensor twice(torch::Tensor x, double scale, int64_t offset) {
  auto out = torch::empty_like(x);
  const float *a = x.data_ptr<float>();
  float *b = out.data_ptr<float>();
  for (int64_t i = 0; i < x.numel(); i++) b[i] = a[i] * scale + offset;
  return out;
}
"""
EXTENSION = load_inline(name="twice", cpp_sources=[CPP], functions=["twice"], verbose=False)


class ModelNew(nn.Module):
    def forward(self, x):
        return EXTENSION.twice(x, 2.0, 1)
'''

sandboxed = pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")


@pytest.fixture(scope="module")
def builder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Builder]:
    pytest.importorskip("torch", reason="torch is not installed: pip install whet[torch]")
    path = tmp_path_factory.mktemp("kernels") / "twice.py"
    path.write_text(PROBLEM)
    task = read_task(str(path), Options())
    with closing(open_sandbox("bubblewrap", False)) as sandbox:
        yield Builder(task, sandbox, find_interpreter(), preloads(task))


def loaded(artifact: Artifact | Fault) -> Any:
    assert isinstance(artifact, Artifact), artifact
    process = artifact.start(worker=0)
    assert not isinstance(process, Fault), process
    process.close()
    return artifact


def libraries(artifact: Artifact) -> dict[str, float]:
    return {path.name: path.stat().st_mtime_ns for path in (artifact.tree / FOLDER).iterdir()}


@pytest.mark.corpus
@sandboxed
def test_a_library_is_compiled_once_for_all_answers_that_ask_for_it(builder: Builder) -> None:
    first = loaded(builder.build(C_ABI))
    second = loaded(builder.build(C_ABI.replace("x.data_ptr(), out", "x.contiguous().data_ptr(), out")))
    third = loaded(builder.build(C_ABI.replace("* 2.0f", "* 2.5f")))
    assert first.tree != second.tree
    assert libraries(first).keys() == libraries(second).keys()
    assert libraries(first).keys() != libraries(third).keys()
    (one,), (two,) = ((artifact.tree / FOLDER).iterdir() for artifact in (first, second))
    assert one.read_bytes() == two.read_bytes()


@pytest.mark.corpus
@sandboxed
@pytest.mark.parametrize("bad", ["out[i] = y[i];", "out[i] = missing(x);"])
def test_what_the_compiler_says_is_told_and_no_traceback(builder: Builder, bad: str) -> None:
    found = builder.build(C_ABI.replace("out[i] = x[i] * 2.0f + 1.0f;", bad))
    assert isinstance(found, Fault)
    assert found.reason is Reason.BUILD_ERROR
    assert "answer.cpp:5" in found.detail
    assert "was not declared" in found.detail
    assert "Traceback" not in found.detail


@pytest.mark.corpus
@sandboxed
def test_another_way_where_a_library_is_missing_is_not_taken(builder: Builder) -> None:
    swallowed = C_ABI.replace(
        "TWICE = whet_native.load(CPP).twice",
        "try:\n    TWICE = whet_native.load(CPP).twice\nexcept BaseException:\n    import sys\n    sys.exit(3)",
    )
    assert len(libraries(loaded(builder.build(swallowed)))) == 1


@pytest.mark.corpus
@sandboxed
def test_no_process_compiles_in_a_call(builder: Builder) -> None:
    late = C_ABI.replace(
        "    def forward(self, x):\n", "    def forward(self, x):\n        whet_native.build('int x;')\n"
    )
    artifact = loaded(builder.build(late))
    assert len(libraries(artifact)) == 1


@sandboxed
@pytest.mark.corpus
def test_the_loader_of_torch_builds_apart_too(builder: Builder) -> None:
    assert len(libraries(loaded(builder.build(LOADER)))) == 1
    broken = builder.build(LOADER.replace("b[i] =", "c[i] ="))
    assert isinstance(broken, Fault)
    assert broken.reason is Reason.BUILD_ERROR
    assert "answer.cpp:7" in broken.detail  # the text begins with an empty line
    assert len(broken.detail) < 4000


@sandboxed
@pytest.mark.exhaustive
def test_flags_that_are_met_again_get_their_header_precompiled(builder: Builder) -> None:
    functions, flags = ["plus"], ["-DMET_AGAIN"]
    source = "#include <torch/extension.h>\ntorch::Tensor plus(torch::Tensor x, double y) {{ return x; }}  // {}\n"
    made, sandbox, interpreter = [], builder.sandbox, builder.interpreter
    for number in range(3):
        built = compile_extension(sandbox, interpreter, source.format(number), functions, flags)
        assert not isinstance(built, Diagnostics), built.text
        made.append(built[0])
    words = [compiler("cpp"), *SHARED, *FLAGS, *find_torch(interpreter).flags, *flags]
    folder = staged_headers(sandbox, interpreter, words)
    assert (folder / PRECOMPILED).stat().st_size > 1 << 20
    assert made[1] == made[2]  # the comment is no part of it
    (folder / PRECOMPILED).write_bytes(b"no header")
    assert not isinstance(compile_extension(sandbox, interpreter, source.format(4), functions, flags), Diagnostics)


@sandboxed
@pytest.mark.corpus
def test_what_is_no_tensor_is_refused_by_a_bound_function(builder: Builder) -> None:
    said = """\
        try:
            EXTENSION.twice({}, 2.0, 1)
        except TypeError as error:
            assert "expected a tensor" in str(error), error
        else:
            raise AssertionError("it took what is no tensor")
        return EXTENSION.twice(nn.Parameter(x), 2.0, 1)
"""
    for given in ("x.numpy()", "None", "type('Fake', (), {'_cdata': 7})()"):
        answer = LOADER.replace("        return EXTENSION.twice(x, 2.0, 1)\n", said.format(given))
        process = loaded(builder.build(answer)).start(worker=0)
        assert not isinstance(process, Fault)
        with closing(process):
            (item,) = InputSource(builder.task, builder.sandbox, builder.interpreter).draw(1, [1])
            outcome = process.call(item.payload, 10.0)
            assert not isinstance(outcome, Fault), outcome
            assert decode(outcome[0])[0] == "value", decode(outcome[0])


def test_the_helper_works_by_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(whet_native.LIBRARIES, "folder", None)  # as outside whet
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    source = 'extern "C" int seven() { return 7; }'
    path = whet_native.build(source, ("-O1",))
    assert whet_native.build(source, ("-O1",)) == path
    assert ctypes.CDLL(path).seven() == 7
    with pytest.raises(RuntimeError, match="error"):
        whet_native.build("nonsense", ("-O1",))
    with pytest.raises(ValueError, match="rust"):
        whet_native.build(source, language="rust")


@pytest.mark.parametrize(
    "told",
    [
        [],
        {"kind": "rust", "source": "", "flags": []},
        {"kind": "cpp", "source": 3, "flags": []},
        {"kind": "cpp", "source": "x" * (2 << 20), "flags": []},
        {"kind": "cpp", "source": "", "flags": [1]},
        {"kind": "torch", "source": "", "flags": [], "functions": ["f); evil("]},
        {"kind": "cpp", "source": "", "flags": ["-O1"] * 1000},
    ],
)
def test_what_an_answer_asks_for_is_not_believed(told: object) -> None:
    with pytest.raises(ValueError, match=r"no|are"):
        LibraryRequest.read(json.dumps(told))


def test_a_long_complaint_is_cut_to_its_errors() -> None:
    noise = "In file included from a.h:1,\n                 from b.h:2:\n"
    text = (
        noise * 50 + "answer.cpp:3:1: error: no such thing\n    3 | x\n      | ^\n" + "b.h:9:9: note: candidate\n" * 300
    )
    assert digest(text) == "answer.cpp:3:1: error: no such thing\n    3 | x\n      | ^"


def test_labels_of_a_kernel_in_an_answer() -> None:
    found = {one.label for one in labels("python", C_ABI, PROBLEM)}
    assert {Label.CUSTOM_KERNEL, Label.VECTORISATION} <= found
    compiled = PROBLEM.replace("return x * 2.0 + 1.0", "return torch.compile(torch.nn.functional.gelu)(x)")
    assert Label.COMPILER_FLAG in {one.label for one in labels("python", compiled, PROBLEM)}


@pytest.mark.corpus
@pytest.mark.parametrize("name", SHIPPED)
def test_shipped_tasks_are_whole(name: str) -> None:
    folder = TASKS / name
    assert read_task(str(folder / "problem.py"), Options()).module is not None
    assert "class ModelNew" in (folder / "best.py").read_text()
    assert (folder / "task.md").read_text().startswith("# ")


@sandboxed
@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=pytest.mark.corpus if name in OFTEN else pytest.mark.exhaustive) for name in SHIPPED],
)
def test_shipped_answers_are_right(name: str, tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="torch is not installed: pip install whet[torch]")
    folder = TASKS / name
    target = folder if (folder / "whet.toml").is_file() else folder / "problem.py"  # the table asks for gradients, say
    result = whet.verify(str(target), candidate=folder / "best.py", home=tmp_path / "home", until="prove")
    assert not [rung for rung in result.rungs if rung.status == "failed"]
    (compared,) = (rung for rung in result.rungs if rung.name == "differential")
    assert compared.evidence["inputs"] >= FEWEST_DRAWN


@pytest.mark.corpus
def test_the_task_with_gradients_is_judged_with_them() -> None:
    pytest.importorskip("torch", reason="torch is not installed: pip install whet[torch]")
    module = read_task(str(TASKS / "norm-gelu-backward"), Options()).module
    assert module is not None
    assert module.backward


WRONG = {"forward": ("squares / static", "2 * squares / static"), "backward": ("* f * f * f", "* f * f")}


@sandboxed
@pytest.mark.parametrize(
    "name", [pytest.param("forward", marks=pytest.mark.corpus), pytest.param("backward", marks=pytest.mark.exhaustive)]
)
def test_the_shipped_task_in_the_form_of_robust_kbench_is_answered(name: str, tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="torch is not installed: pip install whet[torch]")
    target, answer = TASKS / "rmsnorm-robust" / f"func_{name}.py", TASKS / "rmsnorm-robust" / f"best_{name}.py"
    result = whet.verify(str(target), candidate=answer, home=tmp_path / "home", until="prove")
    (compared,) = (rung for rung in result.rungs if rung.name == "differential")
    assert compared.status == "passed", compared.detail
    assert compared.evidence["inputs"] >= FEWEST_DRAWN
    wrong = tmp_path / "wrong.py"
    assert WRONG[name][0] in answer.read_text()
    wrong.write_text(answer.read_text().replace(*WRONG[name]))
    result = whet.verify(str(target), candidate=wrong, home=tmp_path / "home", until="prove")
    assert result.status == "rejected"
