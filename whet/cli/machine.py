"""What this machine has: tools, devices and keys, found by asking each one."""

from __future__ import annotations

import ctypes
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from whet.core.counter import Counter
from whet.core.errors import UsageError
from whet.evaluators.profilers import py_spy
from whet.evaluators.prove.engines import available
from whet.sandbox.counters.registry import survey
from whet.sandbox.interpreter import find_interpreter, reachable

PATIENCE = 5.0
"""Seconds that a tool may take to tell its version."""


@dataclass(frozen=True, slots=True)
class MachineFact:
    """One thing that this machine has or lacks.

    Attributes:
        name: what it is called.
        available: whether it can be used.
        version: its version or model, where it tells.
        reason: why it cannot be used and how to mend that, or a remark; empty where there is nothing to say.
        costs: what its lack costs; empty where nothing is lacking.
    """

    name: str
    available: bool
    version: str | None = None
    reason: str = ""
    costs: str = ""


@dataclass(frozen=True, slots=True)
class Tool:
    """A program to look for.

    Attributes:
        name: the command.
        package: what Debian calls the package.
        costs: what its lack costs.
        ask: arguments that make it tell its version.
    """

    name: str
    package: str
    costs: str
    ask: tuple[str, ...] = ("--version",)


TOOLS = (
    Tool("bwrap", "bubblewrap", "no bubblewrap sandbox"),
    Tool("setpriv", "util-linux", "no bubblewrap sandbox"),
    Tool("unshare", "util-linux", "no bubblewrap sandbox"),
    Tool("gcc", "gcc", "no C targets"),
    Tool("g++", "g++", "no C++ targets"),
    Tool("clang", "clang", "functions in C, C++ and assembly are measured against gcc alone"),
    Tool("llvm-mca", "llvm", "no word on the loops of assembly for the Coder"),
    *(Tool(f"{isa}-linux-gnu-gcc", f"gcc-{isa}-linux-gnu", f"no routines for {isa}") for isa in ("aarch64", "riscv64")),
    Tool("qemu-aarch64", "qemu-user", "no routines for aarch64"),
    Tool("qemu-riscv64", "qemu-user", "no routines for riscv64"),
    Tool("clang-tidy", "clang-tidy", "no mends of clang-tidy among the catalogue's edits of C and C++"),
    Tool("valgrind", "valgrind", "no hot lines for C and C++ targets, and no --metric instructions"),
    Tool("perf", "linux-perf", "no hot spots by time for C and C++ targets, and no kernel and hardware counters"),
    Tool("git", "git", "nothing in this version"),
    Tool("docker", "docker.io", "no docker sandbox", ("version", "--format", "{{.Server.Version}}")),
    Tool("nvcc", "nvidia-cuda-toolkit", "no check of CUDA answers to kernel problems"),
)

KEYS = {"anthropic": "ANTHROPIC_API_KEY", "openai": "OPENAI_API_KEY"}


def tools() -> list[MachineFact]:
    """Returns the interpreters, compilers and helpers of this machine."""
    with ThreadPoolExecutor() as pool:
        return [*_interpreters(), *pool.map(find, TOOLS), _py_spy(), _prover(), _libseccomp(), *counters(survey())]


def counters(readings: Mapping[str, Sequence[Counter]]) -> Iterator[MachineFact]:
    """Yields what each source of counters gives: a finding for what is there, one for each reason of a lack."""
    for source, found in readings.items():
        name = f"counters:{source}"
        if there := [counter.name for counter in found if counter.available]:
            yield MachineFact(name, True, None, ", ".join(there))
        reasons: dict[str, list[str]] = {}
        for counter in found:
            if not counter.available:
                reasons.setdefault(counter.reason, []).append(counter.name)
        for reason, names in reasons.items():
            yield MachineFact(name, False, None, reason, f"no {', '.join(names)}")


def devices() -> list[MachineFact]:
    """Returns the processor and the GPUs."""
    cpus = len(os.sched_getaffinity(0))
    return [MachineFact("cpu", True, f"{cpus} cores"), *_gpus()]


def models(environment: Mapping[str, str]) -> list[MachineFact]:
    """Returns which models can answer; keys are looked for, and never shown."""
    found = [MachineFact("catalogue", True, None, "needs no key and no network")]
    for name, variable in KEYS.items():
        if environment.get(variable):
            found.append(MachineFact(name, True, None, f"{variable} is set"))
        else:
            found.append(MachineFact(name, False, None, f"set {variable}", f"no {name}:NAME models"))
    return [
        *found,
        MachineFact("manual", True, None, "a person or a program answers: manual:DIR"),
        MachineFact("replay", True, None, "the record of a past run answers: replay:RUN"),
    ]


def _interpreters() -> list[MachineFact]:
    names = (sys.executable, shutil.which("python3"), shutil.which("python3", path=os.defpath))
    distinct = {Path(name).resolve(): Path(name) for name in reversed(names) if name}
    return [_interpreter(path) for path in reversed(distinct.values())]


def _interpreter(path: Path) -> MachineFact:
    try:
        found = find_interpreter(path)
    except UsageError as error:
        return MachineFact("python", False, None, str(error), "no candidates on this interpreter")
    closed = [str(folder) for folder in found.folders if not reachable(folder)]
    remark = f"; {', '.join(closed)} is closed to other users, so the sandbox mounts it" if closed else ""
    return MachineFact("python", True, found.version, f"{path}{remark}")


def find(tool: Tool) -> MachineFact:
    """Looks for a program and has it tell its version."""
    path = shutil.which(tool.name)
    if path is None:
        return MachineFact(tool.name, False, None, f"apt install {tool.package}", tool.costs)
    version = _version((path, *tool.ask))
    if version is None:
        asked = " ".join((tool.name, *tool.ask[:1]))
        return MachineFact(tool.name, False, None, f"it is installed, but '{asked}' gets no answer", tool.costs)
    return MachineFact(tool.name, True, version)


def _ask(command: Sequence[str]) -> str | None:
    try:
        done = subprocess.run(
            command,
            check=False,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=PATIENCE,
            stdin=subprocess.DEVNULL,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout if done.returncode == 0 else None


def _version(command: Sequence[str]) -> str | None:
    numbers = re.findall(r"\d+(?:\.\d+)+", _ask(command) or "")
    return numbers[-1] if numbers else None


def _py_spy() -> MachineFact:
    path = py_spy.find()
    if path is None:
        return MachineFact("py-spy", False, None, "pip install py-spy", "Python's hot spots come from a slower tracer")
    version = _version((path, "--version"))
    return MachineFact("py-spy", version is not None, version, "" if version else "it is installed, and gets no answer")


def _prover() -> MachineFact:
    if not available():
        return MachineFact("angr", False, None, "pip install 'whet[prove]'", "no proofs of native functions")
    return MachineFact("angr", True, metadata.version("angr"))


class _SeccompVersion(ctypes.Structure):
    _fields_ = (("major", ctypes.c_uint), ("minor", ctypes.c_uint), ("micro", ctypes.c_uint))


def _libseccomp() -> MachineFact:
    try:
        library = ctypes.CDLL("libseccomp.so.2")
    except OSError:
        return MachineFact("libseccomp", False, None, "apt install libseccomp2", "no system call filter in the sandbox")
    library.seccomp_version.restype = ctypes.POINTER(_SeccompVersion)
    version = library.seccomp_version().contents
    return MachineFact("libseccomp", True, f"{version.major}.{version.minor}.{version.micro}")


def _gpus() -> list[MachineFact]:
    costs = "nothing in this version"
    listed = _ask(("nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader")) or ""
    found = [MachineFact("cuda", True, line.strip()) for line in listed.splitlines() if line.strip()]
    if found:
        return found
    if Path("/dev/nvidia0").exists():
        return [MachineFact("cuda", False, None, "/dev/nvidia0 is there, but nvidia-smi gets no answer", costs)]
    return [MachineFact("cuda", False, None, "no NVIDIA GPU was found", costs)]
