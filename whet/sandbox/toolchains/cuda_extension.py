"""Extensions of torch with CUDA in them: one text for nvcc, bound to Python as those in C++ are."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from whet.core.candidate import content_id
from whet.core.errors import UsageError
from whet.sandbox.interpreter import Interpreter
from whet.sandbox.nvml import Gpu, find_gpu
from whet.sandbox.protocol import Sandbox
from whet.sandbox.toolchains.cuda import OPTIMISED, TORCH_DEFINES, find_tool
from whet.sandbox.toolchains.native import Diagnostics
from whet.sandbox.toolchains.steps import run_steps
from whet.sandbox.toolchains.torch_extension import LACKING, OWN, Torch, find_torch, slim_text, whole_text
from whet.sandbox.toolchains.torch_headers import SMALL

ELSEWHERE = "sm_90"
"""What is compiled for where there is no GPU: what comes of it cannot run, and whether it compiles can be seen."""
UNDEFINED = "is undefined"
"""What nvcc says of a name where a header may be missing."""
HOST = ("-Xcompiler=-fPIC", "-Xcompiler=-fopenmp")
LIBRARY = "/tmp/library.so"
OF_CUDA = ("c10_cuda", "torch_cuda")
"""Libraries that a torch without CUDA lacks."""


def compile_extension(
    sandbox: Sandbox, interpreter: Interpreter, source: str, functions: Sequence[str], flags: Sequence[str]
) -> list[bytes] | Diagnostics:
    """Returns the bytes of an extension, or the compiler's words.

    Args:
        sandbox: where to compile.
        interpreter: whose torch it is for.
        source: declarations and CUDA, in one text.
        functions: that it offers; empty where its text says so itself.
        flags: of nvcc, after ours.

    Raises:
        UsageError: there is no nvcc, or no torch.
    """
    nvcc, torch = find_tool("nvcc", interpreter), find_torch(interpreter)
    if nvcc is None:
        raise UsageError(
            "nvcc is not installed; CUDA answers need it: pip install nvidia-cuda-nvcc, or NVIDIA's toolkit"
        )
    gpu = find_gpu()
    command = [str(nvcc), "-shared", f"-arch={gpu.arch if isinstance(gpu, Gpu) else ELSEWHERE}", *OPTIMISED, *HOST]
    if not OWN.search(source):
        found = _compile(sandbox, interpreter, torch, command, slim_text(source, functions), flags, slim=True)
        if not isinstance(found, Diagnostics) or not (LACKING.search(found.text) or UNDEFINED in found.text):
            return found
    return _compile(sandbox, interpreter, torch, command, whole_text(source, functions), flags, slim=False)


def _compile(
    sandbox: Sandbox,
    interpreter: Interpreter,
    torch: Torch,
    command: Sequence[str],
    text: str,
    flags: Sequence[str],
    slim: bool,
) -> list[bytes] | Diagnostics:
    files = {"answer.cu": text.encode()}
    if slim:
        files |= SMALL
    tree = sandbox.stage(f"cuda-extension-{content_id(' '.join((text, *command, *flags)))}", files)
    words = shlex.join([*command, *TORCH_DEFINES, *_headers(torch), *flags])
    folders = "-I$TREE -I$TREE/shadow" if slim else ""
    step = f"{words} {folders} $TREE/answer.cu -o {LIBRARY} {shlex.join(_libraries(torch))}"
    done = run_steps(sandbox, interpreter, [step], tree, (LIBRARY,))
    if done.code != 0:
        return Diagnostics((done.said + done.printed).strip() or "nvcc failed")
    return [done.files[LIBRARY]]


def _headers(torch: Torch) -> list[str]:
    """Returns where the headers are, as nvcc takes it."""
    return [flag.replace("-isystem", "-isystem=") for flag in torch.flags]


def _libraries(torch: Torch) -> list[str]:
    there = [f"-l{name}" for name in OF_CUDA if (torch.folder / "lib" / f"lib{name}.so").is_file()]
    return [*torch.libraries, *there]
