"""Answers in CUDA and Triton on a machine without a GPU: told by their text, compiled, interpreted, never timed."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
from contextlib import closing
from pathlib import Path

import pytest

import whet
from whet.core.candidate import Candidate
from whet.core.errors import UsageError
from whet.core.options import Options
from whet.core.task import Kind, Task
from whet.core.verdict import Reason, Rung, RungStatus, Verdict
from whet.evaluators.finding import Skipped
from whet.evaluators.kernels import compiling
from whet.evaluators.kernels.answers import AnswerLanguage, kind_of
from whet.evaluators.kernels.device import chosen_arch, lacking, placed, unfit
from whet.evaluators.kernels.deviceless import Deviceless
from whet.evaluators.kernels.small import ELEMENTS, FEWER_ELEMENTS
from whet.evaluators.ladder import Ladder, open_ladder
from whet.evaluators.targets import read_task
from whet.sandbox.backends import open_sandbox
from whet.sandbox.inside.torch_loader import load_inline
from whet.sandbox.inside.whet_native import LIBRARIES, Unbuilt
from whet.sandbox.interpreter import Interpreter, find_interpreter
from whet.sandbox.nvml import Gpu, find_gpu
from whet.sandbox.toolchains.cuda import find_tool, packages
from whet.sandbox.toolchains.native import Diagnostics
from whet.sandbox.toolchains.shared_object import LibraryRequest, compile_library

PROBLEM = """\
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        return torch.relu(x) * 2.0


batch_size = 512
dim = 1024


def get_inputs():
    return [torch.randn(batch_size, dim)]


def get_init_inputs():
    return []
"""
MODEL = """

class ModelNew(nn.Module):
    def forward(self, x):
        {body}
"""
TORCH = "import torch\nimport torch.nn as nn\n" + MODEL.format(body="return torch.clamp(x, min=0.0) * 2.0")
TRITON = """\
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def doubled(x):
    return x * 2.0


@triton.autotune(configs=[triton.Config({"BLOCK": 1024}, num_warps=8), triton.Config({"BLOCK": 256})], key=["n"])
@triton.jit
def relu(out, x, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    value = tl.load(x + at, mask=mask)
    tl.store(out + at, doubled(tl.maximum(value, 0.0)), mask=mask)


class ModelNew(nn.Module):
    def forward(self, x):
        assert x.is_cuda
        out = torch.empty(x.shape, device="cuda", dtype=x.dtype)
        relu[lambda meta: (triton.cdiv(x.numel(), meta["BLOCK"]),)](out, x.cuda(), x.numel())
        return out
"""
KERNEL = """\
#include <cuda_runtime.h>
__global__ void relu(const float4* x, float4* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float4 v = x[i];
    out[i] = make_float4(fmaxf(v.x, 0.f) * 2.f, fmaxf(v.y, 0.f) * 2.f, fmaxf(v.z, 0.f) * 2.f, fmaxf(v.w, 0.f) * 2.f);
}
"""
HOST = """\
extern "C" void run(const float* x, float* out, int n) {
    relu<<<n / 1024, 256>>>((const float4*)x, (float4*)out, n / 4);
}
"""
ABI = KERNEL + HOST
INLINE = f'''\
import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

SOURCE = """{KERNEL}"""
made = load_inline("answer", "", SOURCE, functions=["run"])
''' + MODEL.format(body="return made.run(x)")

interpreter = find_interpreter()
needs_torch = pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="torch is not installed")
has_triton = "triton" in packages(find_interpreter(None))
needs_triton = pytest.mark.skipif(not has_triton, reason="triton is not installed")
needs_nvcc = pytest.mark.skipif(find_tool("nvcc", interpreter) is None, reason="nvcc is not installed")
needs_sandbox = pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")
without_gpu = pytest.mark.skipif(isinstance(find_gpu(), Gpu), reason="there is a GPU here")
CARD = Gpu("NVIDIA Something", "sm_90", "535.54", (12, 2))


@pytest.mark.parametrize(
    ("source", "kind"),
    [
        (TORCH, AnswerLanguage.TORCH),
        ("import torch\n@torch.compile\ndef f(x): return x\n", AnswerLanguage.COMPILED),
        ("import torch\nf = torch.compile(mode='max-autotune')\n", AnswerLanguage.COMPILED),
        ("import re\npattern = re.compile('x')\n", AnswerLanguage.TORCH),
        ("import torch\nx = torch.load('weights')\n", AnswerLanguage.TORCH),
        (TRITON, AnswerLanguage.TRITON),
        ("from triton import jit as kernel, jit\n@jit\ndef f(): pass\n", AnswerLanguage.TRITON),
        ("import triton as t\n@t.jit(debug=True)\ndef f(): pass\n", AnswerLanguage.TRITON),
        ("import numba\n@numba.jit\ndef f(): pass\n", AnswerLanguage.TORCH),
        (INLINE, AnswerLanguage.CUDA_INLINE),
        ("load_inline(name='a', cpp_sources='int x;')\n", AnswerLanguage.CPP_INLINE),
        ("load_inline(name='a', cpp_sources='', cuda_sources=read())\n", AnswerLanguage.CUDA_INLINE),
        (
            "from torch.utils import cpp_extension\ncpp_extension.load(name='a', sources=['a.cpp'])\n",
            AnswerLanguage.CPP_INLINE,
        ),
        (ABI, AnswerLanguage.CUDA_C),
        ("def broken(:\n", AnswerLanguage.TORCH),
    ],
)
def test_the_kind_of_an_answer_is_told_by_its_text(source: str, kind: AnswerLanguage) -> None:
    assert kind_of(source) is kind


@pytest.mark.parametrize("kind", AnswerLanguage)
def test_what_runs_on_a_gpu_alone_needs_one(kind: AnswerLanguage) -> None:
    assert kind.needs_device == (kind.value in ("triton", "cuda inline", "cuda C ABI"))


def fake_nvml(folder: Path, devices: int = 1, init: int = 0, cuda: int = 12020, handle: int = 0) -> str:
    """A library that answers as NVML does; ours, and no driver's."""
    (folder / "nvml.c").write_text(f"""
#include <string.h>
int nvmlInit_v2(void) {{ return {init}; }}
int nvmlShutdown(void) {{ return 0; }}
int nvmlDeviceGetCount_v2(unsigned *n) {{ *n = {devices}; return 0; }}
int nvmlDeviceGetHandleByIndex_v2(unsigned i, void **d) {{ *d = &nvmlShutdown; return {handle}; }}
int nvmlDeviceGetName(void *d, char *s, unsigned n) {{ strncpy(s, "NVIDIA Something", n); return 0; }}
int nvmlDeviceGetCudaComputeCapability(void *d, int *a, int *b) {{ *a = 8; *b = 9; return 0; }}
int nvmlSystemGetDriverVersion(char *s, unsigned n) {{ strncpy(s, "535.54", n); return 0; }}
int nvmlSystemGetCudaDriverVersion_v2(int *v) {{ *v = {cuda}; return 0; }}
""")
    subprocess.run(["gcc", "-shared", "-fPIC", "nvml.c", "-o", "nvml.so"], cwd=folder, check=True, timeout=60)
    return str(folder / "nvml.so")


@pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")
def test_nvml_tells_of_the_first_gpu(tmp_path: Path) -> None:
    assert find_gpu(fake_nvml(tmp_path)) == Gpu("NVIDIA Something", "sm_89", "535.54", (12, 2))


@pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")
@pytest.mark.parametrize(
    ("what", "why"),
    [({"devices": 0}, "knows no GPU"), ({"init": 9}, "does not answer"), ({"handle": 15}, "NVML error 15")],
)
def test_a_driver_without_a_usable_gpu_says_why(what: dict[str, int], why: str, tmp_path: Path) -> None:
    found = find_gpu(fake_nvml(tmp_path, **what))
    assert isinstance(found, str)
    assert why in found


def test_a_machine_without_a_driver_has_no_gpu() -> None:
    assert find_gpu("libnothing-of-the-kind.so") == "no NVIDIA driver is installed"


@pytest.mark.parametrize(
    ("torch", "why"),
    [
        (None, "built without CUDA"),
        ((13, 0), "driver 535.54 runs CUDA up to 12.2, and torch needs 13.0"),
        ((12, 8), ""),
    ],
)
def test_torch_has_to_fit_the_driver(torch: tuple[int, int] | None, why: str) -> None:
    found = unfit(CARD, torch)
    assert why in found
    assert bool(found) == bool(why)
    assert "\n" not in found


def test_an_interpreter_without_torch_cannot_use_a_gpu(tmp_path: Path) -> None:
    subprocess.run(["python3", "-m", "venv", "--without-pip", tmp_path / "bare"], check=True, timeout=60)
    bare = find_interpreter(tmp_path / "bare/bin/python")
    assert "without CUDA" in lacking(CARD, bare)
    assert lacking("no NVIDIA driver is installed", bare) == "no NVIDIA driver is installed"


@pytest.mark.corpus
@without_gpu
def test_a_gpu_that_is_asked_for_has_to_be_here(tmp_path: Path) -> None:
    path = tmp_path / "problem.py"
    path.write_text(PROBLEM)
    options = Options(device="cuda")
    with pytest.raises(UsageError, match=r"--device cuda: no NVIDIA driver is installed; without it .* not timed"):
        placed(read_task(str(path), options), options, interpreter)


def test_what_is_no_kernel_runs_on_no_gpu(tmp_path: Path) -> None:
    task = Task("f", "python", Kind.FUNCTION, tmp_path / "f.py", "def f(): pass\n", "f", tmp_path)
    with pytest.raises(UsageError, match="for kernels"):
        placed(task, Options(device="cuda"), interpreter)
    assert placed(task, Options(), interpreter) is task


def test_an_unknown_architecture_names_the_nearest() -> None:
    with pytest.raises(UsageError, match="did you mean 'sm_90'"):
        Options(arch="sm_9O")
    assert chosen_arch(Options(arch="sm_86")) == "sm_86"


@pytest.fixture(scope="module")
def ladder(tmp_path_factory: pytest.TempPathFactory) -> Ladder:
    """The ladder of the problem; its baseline is not looked at, as nothing here is compared with it."""
    path = tmp_path_factory.mktemp("problem") / "problem.py"
    path.write_text(PROBLEM)
    options = Options(sandbox="bubblewrap", device="cpu", arch="sm_80")
    opened = open_ladder(read_task(str(path), options), options, seed=7)
    yield opened
    opened.close()


def climbed(ladder: Ladder, source: str) -> Verdict:
    candidate = Candidate(source, None, "test")
    verdict = ladder.check(candidate)
    return verdict if verdict.failed else ladder.confirm(candidate, ladder.measure(candidate, verdict))


def statuses(verdict: Verdict) -> dict[str, str]:
    return {rung.name: (rung.reason or rung.status).value for rung in verdict.rungs}


@pytest.mark.corpus
@needs_torch
@needs_sandbox
@needs_nvcc
@pytest.mark.parametrize("source", [ABI, INLINE], ids=["C ABI", "inline"])
def test_cuda_is_compiled_and_never_timed_without_a_gpu(ladder: Ladder, source: str) -> None:
    verdict = climbed(ladder, source)
    told = statuses(verdict)
    assert told["build"] == "passed", verdict.failed
    assert {told[name] for name in ("differential", "hazard", "measure", "confirm")} == {"no_device"}
    assert verdict.measurement is None
    assert not verdict.improved
    build = verdict.rung("build")
    assert build is not None
    (kernel,) = build.evidence["kernels"]
    assert kernel["source"] == "ptxas"
    assert kernel["resources"]["arch"] == "sm_80"
    assert 0 < kernel["resources"]["registers"] < 64
    assert "[ptxas]" in build.evidence["static"][0]


@pytest.mark.corpus
@needs_torch
@needs_sandbox
@needs_nvcc
def test_a_source_that_asks_for_torch_gets_its_headers(ladder: Ladder) -> None:
    launcher = "torch::Tensor run(torch::Tensor x) { return torch::empty_like(x); }"
    verdict = climbed(ladder, INLINE.replace("#include <cuda_runtime.h>", f"#include <torch/extension.h>\n{launcher}"))
    assert statuses(verdict)["build"] == "passed", verdict.failed


@pytest.mark.corpus
@needs_torch
@needs_sandbox
@needs_nvcc
def test_errors_of_cuda_stand_by_the_line_of_the_author(ladder: Ladder) -> None:
    raw = climbed(ladder, ABI.replace("int i =", "integer i ="))
    inline = climbed(ladder, INLINE.replace("int i =", "integer i ="))
    for verdict, line in ((raw, "answer: line 3:"), (inline, "answer: line 3:")):
        assert verdict.failed is not None
        assert verdict.failed.reason is Reason.BUILD_ERROR
        assert line in verdict.failed.detail
        assert 'identifier "integer" is undefined' in verdict.failed.detail


@needs_torch
@needs_sandbox
@needs_nvcc
@pytest.mark.corpus(one_in=8)
def test_the_compiler_reads_no_file_of_the_host(ladder: Ladder, tmp_path: Path) -> None:
    secret = tmp_path / "secret.h"
    secret.write_text("#error the secret\n")
    verdict = climbed(ladder, f'#include "{secret}"\n{ABI}')
    assert verdict.failed is not None
    assert "the secret" not in verdict.failed.detail
    assert "No such file" in verdict.failed.detail


@needs_torch
@needs_sandbox
@pytest.mark.corpus(one_in=8)
def test_cuda_that_never_reaches_the_compiler_is_told(ladder: Ladder) -> None:
    verdict = climbed(ladder, INLINE.replace("made = load_inline(", "made = None\n0 and load_inline("))
    assert statuses(verdict)["build"] == "build_error"


@pytest.mark.corpus
@needs_torch
@needs_triton
@needs_sandbox
def test_triton_is_interpreted_and_compiled(ladder: Ladder) -> None:
    verdict = climbed(ladder, TRITON)
    told = statuses(verdict)
    assert verdict.failed is None, verdict.failed
    assert (told["build"], told["differential"]) == ("passed", "passed")
    assert {told[name] for name in ("hazard", "measure", "confirm")} == {"no_device"}
    build, compared = verdict.rung("build"), verdict.rung("differential")
    assert build is not None
    assert compared is not None
    assert f"in Triton's interpreter, with batch_size = {ELEMENTS // 1024}" in compared.detail
    (kernel,) = build.evidence["kernels"]
    assert (kernel["source"], kernel["threads"]) == ("cuobjdump", 256)
    assert kernel["resources"]["registers"] > 0
    assert kernel["mix"]["loads"]["global 128"] >= 1
    profile = ladder.profile(Candidate(TRITON, None, "test"))
    assert profile.source == "static facts"
    assert "theoretical occupancy" in profile.note


@pytest.mark.corpus
@needs_torch
@needs_triton
@needs_sandbox
@pytest.mark.parametrize(
    ("old", "new", "rung", "reason"),
    [
        ("tl.maximum(value, 0.0)", "value", "differential", Reason.WRONG_OUTPUT),
        ("return x * 2.0", "return x.nothing", "build", Reason.BUILD_ERROR),
    ],
)
def test_wrong_triton_is_told(ladder: Ladder, old: str, new: str, rung: str, reason: Reason) -> None:
    verdict = climbed(ladder, TRITON.replace(old, new))
    assert verdict.failed is not None
    assert (verdict.failed.name, verdict.failed.reason) == (rung, reason)


@needs_torch
@needs_sandbox
@pytest.mark.skipif(has_triton, reason="triton is installed")
def test_without_triton_nothing_passes(ladder: Ladder) -> None:
    verdict = climbed(ladder, TRITON)
    build = verdict.rung("build")
    assert build is not None
    assert (build.status, build.reason) == (RungStatus.SKIPPED, Reason.TOOL_MISSING)
    assert "pip install triton" in build.detail
    assert all(rung.status is not RungStatus.PASSED or rung.name == "screen" for rung in verdict.rungs)
    assert verdict.failed is None


@needs_torch
@needs_sandbox
@pytest.mark.parametrize("source", [ABI, INLINE], ids=["C ABI", "inline"])
@pytest.mark.corpus(one_in=8)
def test_without_nvcc_nothing_passes(ladder: Ladder, source: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiling, "find_tool", lambda *_: None)
    verdict = climbed(ladder, f"{source}\n")  # another text than the one that was built before
    build = verdict.rung("build")
    assert build is not None
    assert (build.status, build.reason) == (RungStatus.SKIPPED, Reason.TOOL_MISSING)
    assert build.detail.startswith("nvcc is not installed; CUDA answers need it")
    assert all(rung.status is not RungStatus.PASSED or rung.name == "screen" for rung in verdict.rungs)


class Slow:
    """A ladder with small shapes on which an answer takes too long."""

    def examine(self, shortest_limit: float | None = None) -> None:
        pass

    def check(self, candidate: Candidate) -> Verdict:
        late = Rung("differential", RungStatus.FAILED, Reason.TIMEOUT, "did not end within 10 s\non size 1: ...")
        return Verdict(candidate.id, (late,))

    def close(self) -> None:
        pass


@needs_torch
@needs_triton
@needs_sandbox
def test_what_the_interpreter_is_too_slow_for_is_skipped_and_never_rejected(
    ladder: Ladder, monkeypatch: pytest.MonkeyPatch
) -> None:
    apart = ladder._apart
    assert isinstance(apart, Deviceless)
    levels = {elements: (Slow(), f"with batch_size = {elements // 1024}") for elements in (ELEMENTS, FEWER_ELEMENTS)}
    monkeypatch.setattr(apart, "_small", levels)
    found = apart._differential(Candidate(TRITON), AnswerLanguage.TRITON)
    assert isinstance(found, Skipped)
    assert found.reason is Reason.NO_DEVICE
    assert found.detail.endswith("too slow, with batch_size = 1: did not end within 10 s")


@pytest.mark.corpus
@needs_torch
@needs_sandbox
@needs_nvcc
@without_gpu
def test_verify_gives_no_speedup_of_cuda_without_a_gpu(tmp_path: Path) -> None:
    (tmp_path / "problem.py").write_text(PROBLEM)
    (tmp_path / "answer.cu").write_text(ABI)
    result = whet.verify(str(tmp_path / "problem.py"), candidate=tmp_path / "answer.cu", home=tmp_path / "home")
    assert (result.status.value, result.speedup) == ("no_improvement", None)
    assert "without a GPU; not timed" in result.message


BOUND = """\
torch::Tensor twice(torch::Tensor x);
#line 1 "answer.cu"
#include <torch/extension.h>
#include <c10/cuda/CUDAStream.h>
__global__ void twice_kernel(const float *x, float *out, long n) {
  const long i = static_cast<long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < n) out[i] = 2.0f * x[i];
}
torch::Tensor twice(torch::Tensor x) {
  auto out = torch::empty_like(x);
  twice_kernel<<<(x.numel() + 255) / 256, 256, 0, c10::cuda::getCurrentCUDAStream()>>>(
      x.data_ptr<float>(), out.data_ptr<float>(), x.numel());
  return out;
}
"""


@pytest.mark.corpus
@needs_torch
@needs_sandbox
@needs_nvcc
def test_an_extension_with_cuda_is_compiled_and_bound() -> None:
    with closing(open_sandbox("bubblewrap", False)) as sandbox:
        built = compile_library(sandbox, interpreter, LibraryRequest("cuda", BOUND, ("-O3",), ("twice",)))
        assert isinstance(built, bytes), built
        assert b"PyInit_whet_extension" in built
        assert b"twice_kernel" in built
        broken = compile_library(
            sandbox, interpreter, LibraryRequest("cuda", BOUND.replace("2.0f *", "2.0f * *"), (), ("twice",))
        )
    assert isinstance(broken, Diagnostics)
    assert "answer.cu(5): error:" in broken.text


def test_cuda_is_asked_for_on_a_gpu_alone(tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="torch is not installed")
    before = LIBRARIES.folder, LIBRARIES.cuda
    try:
        LIBRARIES.folder, LIBRARIES.cuda, LIBRARIES.wanted = str(tmp_path), False, ""
        given = {"functions": "twice", "extra_cflags": ["-O2"], "extra_cuda_cflags": ["-O3"]}
        with pytest.raises(RuntimeError, match="no CUDA GPUs are available"):
            load_inline("a", "declared;", "defined;", **given)
        LIBRARIES.cuda = True
        with pytest.raises(Unbuilt):
            load_inline("a", "declared;", "defined;", **given)
        source = 'declared;\n#line 1 "answer.cu"\ndefined;'
        assert LibraryRequest.read(LIBRARIES.wanted) == LibraryRequest(
            "cuda", source, ("-Xcompiler=-O2", "-O3"), ("twice",)
        )
    finally:
        LIBRARIES.folder, LIBRARIES.cuda = before
        LIBRARIES.wanted = ""


def test_a_folder_of_packages_is_where_tools_are_looked_for() -> None:
    nowhere = Interpreter(interpreter.executable, interpreter.version, ())
    assert find_tool("no-such-tool-of-nvidia", nowhere) is None
