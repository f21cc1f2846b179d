"""The options of `optimize` and `verify`, declared once: for the command line, its manual, tools and library calls."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path
from typing import Annotated, Any, get_type_hints

from whet.core.constraint import Constraint, read_constraint
from whet.core.errors import UsageError, nearest
from whet.core.measurement import OF_TIME
from whet.core.plugins import plugged
from whet.core.rungs import RUNGS

METRIC_GROUP = "whet.metrics"
"""The entry points of metrics that plug-ins bring."""
METRICS = ("time", "throughput", "cpu", "memory", "instructions", "energy")
DEVICES = ("auto", "cpu", "cuda")
ARCHS = ("sm_75", "sm_80", "sm_86", "sm_87", "sm_89", "sm_90", "sm_90a", "sm_100", "sm_100a", "sm_120", "sm_120a")
"""Architectures of NVIDIA GPUs that answers can be compiled for; a letter adds what no later one promises to keep."""
PROTOCOLS = ("kernelbench",)
TORCH_FLAGS = ("tf32", "cudnn-benchmark")
"""Switches of cuBLAS and cuDNN that a user may want both sides to run with."""
ISAS = ("x86_64", "aarch64", "riscv64")


@dataclass(frozen=True, slots=True)
class Said:
    """What is told of an option, wherever it is told.

    Attributes:
        help: for people.
        metavar: what stands for its value; empty for a switch.
    """

    help: str
    metavar: str = ""


@dataclass(frozen=True, slots=True)
class Options:
    """Options that `optimize` and `verify` share; the names are those of the command line.

    What each says stands beside it. ``workers`` is how many candidates are checked side by side, and ``cluster`` who
    evaluates in the place of this process, as after ``--workers``: ``local``, ``local:2``, ``ray`` or
    ``ray://HOST:PORT``; empty for nobody. A library call may give a path as text.
    """

    workload: Annotated[Path | None, Said("Workload file, or folder of NAME.in and NAME.out.", "PATH")] = None
    tests: Annotated[str | None, Said("The target's own test command, such as 'pytest -q'.", "CMD")] = None
    record: Annotated[
        str | None,
        Said(
            "Run this once, such as 'pytest -q' or 'python script.py', and take its calls of the target as inputs.",
            "CMD",
        ),
    ] = None
    project: Annotated[
        Path | None,
        Said(
            "The folder whose copy --tests and --record run in; else the current one, or the target's project.",
            "DIR",
        ),
    ] = None
    metric: Annotated[
        str,
        Said(
            "Less time, cpu, memory, instructions, energy, or more throughput; of several (a,b), the first decides.",
            "NAMES",
        ),
    ] = "time"
    max_memory: Annotated[str | None, Said("Peak memory at most: 1.1x the original's, or 512MiB.", "LIMIT")] = None
    max_time: Annotated[str | None, Said("Time at most: 1.05x the original's.", "LIMIT")] = None
    min_speedup: Annotated[float, Said("The smallest ratio that counts as faster.", "RATIO")] = 1.01
    confidence: Annotated[float, Said("Confidence of intervals and decisions.", "SHARE")] = 0.99
    quick: Annotated[
        bool,
        Said(
            "Decide at one look of eight turns: sooner, with a wider interval; marked as such.",
        ),
    ] = False
    cores: Annotated[int, Said("Cores that both sides may use.", "N")] = 1
    until: Annotated[str | None, Said("The last rung of the ladder to climb.", "RUNG")] = None
    python: Annotated[
        Path | None,
        Said(
            "Interpreter that candidates run on; else that of the project's environment, else whet's own.",
            "PATH",
        ),
    ] = None
    device: Annotated[str, Said("Of kernels: auto, cpu or cuda.", "NAME")] = "auto"
    arch: Annotated[
        str | None,
        Said(
            "GPU that kernels are compiled for, such as sm_90; else that of this machine, else sm_90.",
            "NAME",
        ),
    ] = None
    sandbox: Annotated[str, Said("auto, docker, bubblewrap, or none with --unsafe.", "NAME")] = "auto"
    unsafe: Annotated[bool, Said("Allow --sandbox none: candidates then run with your own rights.")] = False
    workers: Annotated[int, Said("Candidates checked side by side.", "N")] = 2
    seed: Annotated[int | None, Said("Seed of the inputs, never shown to a candidate; else drawn.", "N")] = None
    root: Annotated[
        Path | None,
        Said(
            "A local checkout of the suite that TARGET names: kernelbench:LEVEL/ID.",
            "DIR",
        ),
    ] = None
    protocol: Annotated[
        str | None,
        Said(
            "A suite's own rule, told beside whet's verdict: kernelbench.",
            "NAME",
        ),
    ] = None
    torch_flags: Annotated[
        str | None,
        Said(
            "Switches that both sides of a torch module run with: tf32, cudnn-benchmark, or both with a comma.",
            "LIST",
        ),
    ] = None
    to: Annotated[str | None, Said("aarch64, riscv64 or x86_64.", "ISA")] = None
    cluster: str = ""

    def __post_init__(self) -> None:
        for name in ("workload", "python", "root", "project"):  # a library call may give a path as text
            if isinstance(given := getattr(self, name), str):
                object.__setattr__(self, name, Path(given))
        for metric in self.metrics:
            if metric not in METRICS:  # else no plug-in is looked for
                one_of("--metric", metric, (*METRICS, *plugged(METRIC_GROUP)))
        if len(set(self.metrics)) < len(self.metrics):
            raise UsageError(f"--metric {self.metric} names one of them twice")
        if set(OF_TIME) <= {*self.metrics, *self.beside}:
            raise UsageError(
                "throughput is calls a second, the reciprocal of time: one measurement; ask for one of them"
            )
        one_of("--device", self.device, DEVICES)
        if self.arch is not None:
            one_of("--arch", self.arch, ARCHS)
        if self.protocol is not None:
            one_of("--protocol", self.protocol, PROTOCOLS)
        for flag in self.torch_flags.split(",") if self.torch_flags is not None else ():
            one_of("--torch-flags", flag, TORCH_FLAGS)
        if self.to is not None:
            one_of("--to", self.to, ISAS)
        if self.until is not None:
            one_of("--until", self.until, RUNGS)
        if not 0.5 < self.confidence < 1.0:
            raise UsageError(f"--confidence {self.confidence:g} is outside (0.5, 1); give 0.99 for 99 %")
        if self.min_speedup < 1.0:
            raise UsageError(f"--min-speedup {self.min_speedup:g} is below 1; give 1.01 for a gain of 1 %")
        cpus = len(os.sched_getaffinity(0))
        if not 1 <= self.cores <= cpus:
            raise UsageError(f"--cores {self.cores} does not fit this machine; it offers 1 to {cpus}")
        if self.workers < 1:
            raise UsageError(f"--workers {self.workers} is below 1")

    @property
    def metrics(self) -> tuple[str, ...]:
        """What is to be improved; the first decides."""
        return tuple(self.metric.split(","))

    @property
    def times(self) -> bool:
        """Whether candidates that are right are to be measured."""
        return self.until is None or RUNGS.index(self.until) >= RUNGS.index("measure")

    @property
    def constraints(self) -> tuple[Constraint, ...]:
        """What a candidate has to keep, whatever it gains."""
        asked = {"memory": self.max_memory, "time": self.max_time}
        return tuple(read_constraint(metric, text) for metric, text in asked.items() if text is not None)

    @property
    def beside(self) -> tuple[str, ...]:
        """Metrics that are measured beside the first: the others that are named, and those that are limited."""
        named = dict.fromkeys((*self.metrics, *(one.metric for one in self.constraints)))
        return tuple(named)[1:]


@dataclass(frozen=True, slots=True)
class Budget:
    """Caps on a run; None means no cap."""

    usd: Annotated[float | None, Said("Cap on what models may cost.", "USD")] = None
    tokens: Annotated[int | None, Said("Cap on tokens, input and output together.", "N")] = None
    calls: Annotated[int | None, Said("Cap on model calls.", "N")] = None
    candidates: Annotated[int | None, Said("Cap on distinct candidates evaluated.", "N")] = None
    seconds: Annotated[float | None, Said("Cap on wall time.", "S")] = None

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if value is not None and value < 0:
                raise UsageError(f"--budget-{field.name} {value:g} is negative")


CAPS = {f"budget_{field.name}": field.name for field in fields(Budget)}
"""The options that are caps, and what each is called in a budget."""


@cache
def declared(kind: type) -> Mapping[str, tuple[Any, Said]]:
    """Returns the type of each option of `Options` or `Budget` by its name, and what is told of it."""
    hints = get_type_hints(kind, include_extras=True)
    told = {name: hint for name, hint in hints.items() if hasattr(hint, "__metadata__")}
    return {name: (hint.__origin__, hint.__metadata__[0]) for name, hint in told.items()}


def one_of(option: str, value: str, known: tuple[str, ...]) -> None:
    """Raises UsageError, naming the nearest known value, unless ``value`` is known."""
    if value not in known:
        raise UsageError(f"{option} takes {', '.join(known)}, not '{value}'{nearest(value, known)}")
