"""CUDA C++: compiled by nvcc to machine code for a named GPU, inside the sandbox; no GPU is needed for that."""

from __future__ import annotations

import hashlib
import json
import shlex
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from whet.core.candidate import content_id
from whet.sandbox.interpreter import Interpreter
from whet.sandbox.protocol import Sandbox
from whet.sandbox.toolchains.steps import run_steps

FOLDERS = (Path("/usr/local/bin"), Path("/usr/local/cuda/bin"), Path("/usr/bin"), Path("/bin"))
BUNDLED = (
    "triton/backends/nvidia/bin", "nvidia/cuda_nvcc/bin", "nvidia/cu13/bin", "nvidia/cuda_cuobjdump/bin",
    "nvidia/cuda_nvdisasm/bin",
)  # fmt: skip
"""Where wheels bring NVIDIA's tools, below a folder of packages."""
ASK = (
    "import json, sysconfig; from importlib.util import find_spec; "
    "specs = {n: find_spec(n) for n in ('torch', 'triton', 'nvidia', 'numpy')}; "
    "found = {n: [*(s.submodule_search_locations or ()), ''][0] for n, s in specs.items() if s}; "
    "print(json.dumps({**found, 'include': sysconfig.get_path('include')}))"
)
"""Asks for packages alone: the prover's engine is a module of one file that is called triton too."""
OPTIMISED = ("-O3", "--std=c++20", "-lineinfo")
FLAGS = (*OPTIMISED, "-Xptxas", "-v")
TORCH_DEFINES = (
    "--expt-relaxed-constexpr",
    "-D__CUDA_NO_HALF_OPERATORS__",
    "-D__CUDA_NO_HALF_CONVERSIONS__",
    "-D__CUDA_NO_BFLOAT16_CONVERSIONS__",
    "-D__CUDA_NO_HALF2_OPERATORS__",
    "-DC10_CUDA_NO_CMAKE_CONFIGURE_FILE",
)
"""What torch's extension loader adds, and last: a torch without CUDA lacks a header, which says nothing on Linux."""
TORCH_FLAGS = (*TORCH_DEFINES, "-DTORCH_EXTENSION_NAME=answer")
PRELUDE = "#include <cuda.h>\n#include <cuda_runtime.h>\n"
TORCH_PRELUDE = "#include <torch/types.h>\n"
"""What torch's extension loader puts before a CUDA source."""
OF_TORCH = ("torch", "at::", "ATen", "c10")
"""Where a source has none of these, it is compiled without torch's headers, in a tenth of the time."""
SLIM = b"#include <torch/types.h>\n"
"""In place of ``torch/extension.h``: Python's headers double the time, and no kernel needs them."""
PYBIND = "PYBIND11"
NEEDS_TORCH = ("<torch/", "<ATen/", "<c10/")


def prelude(source: str) -> str:
    """Returns what torch's extension loader puts before a CUDA source, as far as that needs it."""
    return (TORCH_PRELUDE if any(word in source for word in OF_TORCH) else "") + PRELUDE


@dataclass(frozen=True, slots=True)
class Compiled:
    """Machine code of one source.

    Attributes:
        cubin: the file; None where the compiler failed.
        said: what nvcc and ptxas wrote.
    """

    cubin: bytes | None
    said: str


@cache
def packages(interpreter: Interpreter) -> dict[str, Path]:
    """Returns folders of an interpreter: of torch, triton, nvidia and numpy where installed, and ``include``."""
    answer = subprocess.run(
        [interpreter.executable, "-s", "-c", ASK], capture_output=True, text=True, timeout=30, check=True, cwd="/"
    ).stdout
    return {name: Path(folder) for name, folder in json.loads(answer).items() if folder}


def find_tool(name: str, interpreter: Interpreter) -> Path | None:
    """Returns one of NVIDIA's tools: of the system, else of a wheel of the interpreter; None where there is none."""
    known = packages(interpreter)
    sites = {folder.parent for key, folder in known.items() if key != "include"}
    folders = (*FOLDERS, *(site / bundled for site in sorted(sites) for bundled in BUNDLED))
    return next((folder / name for folder in folders if (folder / name).is_file()), None)


def compile_cuda(
    sandbox: Sandbox,
    interpreter: Interpreter,
    nvcc: Path,
    source: str,
    arch: str,
    flags: Sequence[str] = (),
) -> Compiled:
    """Compiles one source to machine code.

    Args:
        sandbox: where to compile.
        interpreter: whose torch gives the headers, where the source asks for any.
        nvcc: the compiler.
        source: the text.
        arch: of the GPU, such as ``sm_90``.
        flags: further ones of the author's; hostile, as the text is.
    """
    files = {"answer.cu": source.encode()} | ({} if PYBIND in source else {"slim/torch/extension.h": SLIM})
    tree = sandbox.stage(f"cuda-{content_id(' '.join((source, arch, *flags)))}", files)
    chosen = [str(nvcc), "-cubin", f"-arch={arch}", *FLAGS, *_torch(interpreter, source), *flags]
    command = " ".join(map(shlex.quote, chosen))
    # The end of stderr alone comes out otherwise, and the kernels are told of all along.
    compiling = f"{command} -I$TREE/slim $TREE/answer.cu -o answer.cubin >said 2>&1"
    done = run_steps(
        sandbox,
        interpreter,
        [f"{{ {compiling} || {{ tail -c 12000 said >&2; false; }}; }}"],
        tree,
        ("/tmp/answer.cubin", "/tmp/said"),
    )
    if done.code != 0:
        return Compiled(None, done.said.replace(f"{_where(done.said)}answer.cu", "answer.cu").strip())
    return Compiled(done.files["/tmp/answer.cubin"], done.files["/tmp/said"].decode("utf-8", "replace"))


def _where(said: str) -> str:
    """Returns the folder before the source's name, as the compiler writes it."""
    head = said.partition("answer.cu")[0]
    return head[max(head.rfind(blank) for blank in (" ", "\n", '"')) + 1 :]


def _torch(interpreter: Interpreter, source: str) -> list[str]:
    known = packages(interpreter)
    if "torch" not in known or not any(sign in source for sign in NEEDS_TORCH):
        return []
    include = known["torch"] / "include"
    folders = (include, include / "torch/csrc/api/include", known["include"])
    return [*TORCH_FLAGS, *(f"-isystem={folder}" for folder in folders)]


def dump(sandbox: Sandbox, interpreter: Interpreter, tool: Path, cubin: bytes) -> tuple[str, str]:
    """Returns (what cuobjdump says of the resources of kernels, their disassembly); empty where it cannot read them."""
    tree = sandbox.stage(f"cubin-{hashlib.sha256(cubin).hexdigest()}", {"answer.cubin": cubin})
    command = shlex.quote(str(tool))
    usage = run_steps(sandbox, interpreter, [f"{command} --dump-resource-usage $TREE/answer.cubin 2>&1"], tree)
    sass = run_steps(sandbox, interpreter, [f"{command} -sass $TREE/answer.cubin"], tree)
    return (usage.printed if usage.code == 0 else "", sass.printed if sass.code == 0 else "")
