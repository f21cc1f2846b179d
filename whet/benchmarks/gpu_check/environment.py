"""What the machine has: each line of it stands above the table."""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

from whet.core.errors import UsageError
from whet.core.options import Options
from whet.evaluators.kernels.device import built_for, chosen_arch, lacking
from whet.sandbox.backends import open_sandbox
from whet.sandbox.interpreter import Interpreter, find_interpreter
from whet.sandbox.nvml import Gpu, find_gpu
from whet.sandbox.toolchains.cuda import find_tool, packages

SANDBOX = "bubblewrap"
MISSING = "missing"


@dataclass(frozen=True, slots=True)
class Environment:
    """What the answers meet.

    Attributes:
        told: the machine in a line.
        lacks: tool -> why it is missed.
        why_no_device: empty where torch can use a GPU.
        arch: to compile for.
        sandbox: its name.
        python: that runs the answers; None is the one that runs this.
    """

    told: str
    lacks: tuple[str, ...]
    why_no_device: str
    arch: str
    sandbox: str
    python: Path | None = None

    def options(self, device: str) -> Options:
        """Returns the options of a ladder on a device, ``cpu`` or ``cuda``."""
        unsafe = self.sandbox == "none"
        if device == "cuda":
            return Options(sandbox=self.sandbox, unsafe=unsafe, device=device, python=self.python)
        return Options(
            sandbox=self.sandbox,
            unsafe=unsafe,
            device=device,
            python=self.python,
            arch=self.arch,
            until="differential",
        )


def look(python: Path | None = None) -> Environment:
    """Looks at the machine.

    Args:
        python: that runs the answers; None is the one that runs this.
    """
    interpreter, gpu = find_interpreter(python), find_gpu()
    sandbox, why_none = _sandbox(interpreter)
    versions = {name: _version(name, interpreter) for name in ("torch", "triton")}
    cuda = built_for(interpreter)
    versions["nvcc"] = _nvcc(interpreter)
    device = f"{gpu.name} ({gpu.arch}), driver {gpu.driver}" if isinstance(gpu, Gpu) else "no GPU"
    torch = f"torch {versions['torch']}{'' if cuda else ' without CUDA'}"
    told = [device, f"Python {interpreter.version}", torch, f"triton {versions['triton']}", f"nvcc {versions['nvcc']}"]
    told.append(f"sandbox {sandbox}{f' ({why_none})' if why_none else ''}")
    lacks = tuple(f"{name} is not installed" for name, version in versions.items() if version == MISSING)
    return Environment(", ".join(told), lacks, lacking(gpu, interpreter), chosen_arch(Options()), sandbox, python)


def _sandbox(interpreter: Interpreter) -> tuple[str, str]:
    """Returns the sandbox to use; where that is none, with the reason. The answers are our own."""
    shown = (Path("/usr"), *interpreter.folders)
    hidden = [name for name, at in packages(interpreter).items() if not any(map(at.is_relative_to, shown))]
    if hidden:
        return "none", f"answers ran unprotected, as {hidden[0]} lies outside the folders of its python3"
    try:
        open_sandbox(SANDBOX, unsafe=False).close()
    except UsageError as error:
        return "none", f"answers ran unprotected, as {' '.join(str(error).split())[:200]}"
    return SANDBOX, ""


def _version(name: str, interpreter: Interpreter) -> str:
    if name not in packages(interpreter):
        return MISSING
    ask = f"from importlib.metadata import version; print(version({name!r}))"
    done = subprocess.run(
        [interpreter.executable, "-s", "-c", ask], capture_output=True, text=True, timeout=60, check=False, cwd="/"
    )
    return done.stdout.strip() or "of unknown version"


def _nvcc(interpreter: Interpreter) -> str:
    nvcc = find_tool("nvcc", interpreter)
    if nvcc is None:
        return MISSING
    said = subprocess.run([nvcc, "--version"], capture_output=True, text=True, timeout=60, check=False).stdout
    found = re.search(r"release ([\d.]+)", said)
    return found[1] if found else "of unknown version"
