"""PTX: assembled by ptxas to machine code for a named GPU and disassembled again, inside the sandbox; without a GPU."""

from __future__ import annotations

import hashlib
import shlex
from dataclasses import dataclass
from pathlib import Path

from whet.core.candidate import content_id
from whet.sandbox.interpreter import Interpreter
from whet.sandbox.protocol import Sandbox
from whet.sandbox.toolchains.cuda import Compiled, find_tool
from whet.sandbox.toolchains.native import Diagnostics
from whet.sandbox.toolchains.steps import run_steps

FLAGS = ("-O3", "--std=c++20")
DISASSEMBLERS = {"cuobjdump": ("-sass",), "nvdisasm": ("-c",)}
"""The tools that print machine code, the first one first, and how they are asked."""
SAID = 12000
"""Bytes of what ptxas says of a text that it refuses."""


@dataclass(frozen=True, slots=True)
class Disassembly:
    """Machine code as text.

    Attributes:
        tool: that printed it.
        text: what it printed; empty where it cannot read the file.
    """

    tool: str
    text: str


def compile_to_ptx(sandbox: Sandbox, interpreter: Interpreter, nvcc: Path, source: str, arch: str) -> str | Diagnostics:
    """Returns the PTX that nvcc makes of CUDA C++, the starting text of a task, or its words.

    Args:
        sandbox: where to compile.
        interpreter: runs our program inside.
        nvcc: the compiler.
        source: the text.
        arch: of the GPU, such as ``sm_90``.
    """
    tree = sandbox.stage(f"cuda-ptx-{content_id(f'{arch} {source}')}", {"reference.cu": source.encode()})
    command = shlex.join([str(nvcc), "-ptx", f"-arch={arch}", *FLAGS])
    made = "/tmp/reference.ptx"
    done = run_steps(sandbox, interpreter, [f"{command} $TREE/reference.cu -o {made}"], tree, (made,))
    if done.code != 0:
        return Diagnostics((done.said + done.printed).strip() or "nvcc failed")
    return done.files[made].decode("utf-8", "replace")


def assemble(sandbox: Sandbox, interpreter: Interpreter, ptxas: Path, source: str, arch: str) -> Compiled:
    """Assembles PTX to machine code.

    Args:
        sandbox: where to assemble.
        interpreter: runs our program inside.
        ptxas: the assembler.
        source: the text.
        arch: of the GPU.
    """
    tree = sandbox.stage(f"ptx-{content_id(f'{arch} {source}')}", {"target.ptx": source.encode()})
    command = shlex.join([str(ptxas), "-v", f"-arch={arch}", "-O3", "target.ptx", "-o", "/tmp/target.cubin"])
    # Of stderr as such only the end comes out, and the first errors matter most.
    step = f"cp $TREE/target.ptx . && {{ {command} >said 2>&1 || {{ head -c {SAID} said >&2; false; }}; }}"
    done = run_steps(sandbox, interpreter, [step], tree, ("/tmp/target.cubin", "/tmp/said"))
    if done.code != 0:
        return Compiled(None, done.said.strip() or "ptxas failed")
    return Compiled(done.files["/tmp/target.cubin"], done.files["/tmp/said"].decode("utf-8", "replace"))


def disassemble(sandbox: Sandbox, interpreter: Interpreter, cubin: bytes) -> Disassembly | None:
    """Returns the instructions of machine code; None where no disassembler is installed.

    The text is empty where none of them can read it.
    """
    tree = sandbox.stage(f"cubin-{hashlib.sha256(cubin).hexdigest()}", {"answer.cubin": cubin})
    found = None
    for name, options in DISASSEMBLERS.items():
        if (tool := find_tool(name, interpreter)) is not None:
            done = run_steps(sandbox, interpreter, [f"{shlex.join([str(tool), *options])} $TREE/answer.cubin"], tree)
            found = Disassembly(name, done.printed if done.code == 0 else "")
            if found.text:
                break
    return found
