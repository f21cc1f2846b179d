"""The options that `optimize` and `verify` take, from the command line, a library call or a file."""

from __future__ import annotations

import os
import tomllib
from dataclasses import dataclass, fields
from pathlib import Path
from typing import get_args, get_origin

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from whet.core.constraint import Constraint, read_constraint
from whet.core.errors import UsageError, nearest
from whet.core.measurement import OF_TIME
from whet.core.plugins import plugged
from whet.core.verdict import RUNGS

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
ALIKE = 0.7
"""How much of a wrong key has to agree with the one that is suggested. Below, unrelated ones are: build for until."""
PYPROJECT, WHET_TOML = "pyproject.toml", "whet.toml"


@dataclass(frozen=True, slots=True)
class Options:
    """Options that `optimize` and `verify` share; the names are those of the command line.

    Attributes:
        workload: a workload file or a folder of cases.
        tests: the target's own test command.
        record: a command whose calls of the target become inputs.
        metric: what is to be improved; of several, with commas between, the first decides.
        max_memory: what a candidate may take of memory at most: times the baseline's (``1.1x``), or bytes (``512MiB``).
        max_time: the same of time, times the baseline's.
        min_speedup: the smallest ratio that counts as faster.
        confidence: of intervals and decisions.
        quick: decides at one look of few turns: sooner, and with a wider interval.
        cores: cores that both sides may use.
        until: the last rung to climb.
        python: the interpreter that candidates run on; None is whet's own.
        device: auto, cpu or cuda.
        arch: of the NVIDIA GPU to compile for; None is that of the GPU here, else sm_90.
        sandbox: auto, docker, bubblewrap or none.
        unsafe: allows ``sandbox="none"``.
        workers: candidates checked side by side.
        seed: seed of the inputs, never shown to a candidate; None draws one.
        root: a local checkout of the suite that the target names.
        protocol: a suite's own rule, applied beside whet's; it never decides.
        torch_flags: switches of `TORCH_FLAGS` that both sides of a torch module run with, with commas between.
        to: the instruction set that an assembly routine is to be translated to.
        project: the folder whose copy ``tests`` and ``record`` run in; None finds it.
        cluster: of `optimize` alone: who evaluates in the place of this process, as after ``--workers``: ``local``,
            ``local:2``, ``ray`` or ``ray://HOST:PORT``; empty for nobody.
    """

    workload: Path | None = None
    tests: str | None = None
    record: str | None = None
    metric: str = "time"
    max_memory: str | None = None
    max_time: str | None = None
    min_speedup: float = 1.01
    confidence: float = 0.99
    quick: bool = False
    cores: int = 1
    until: str | None = None
    python: Path | None = None
    device: str = "auto"
    arch: str | None = None
    sandbox: str = "auto"
    unsafe: bool = False
    workers: int = 2
    seed: int | None = None
    root: Path | None = None
    protocol: str | None = None
    torch_flags: str | None = None
    to: str | None = None
    project: Path | None = None
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
    """Caps on a run; None means no cap.

    Attributes:
        usd: money, in US dollars.
        tokens: input and output tokens together.
        calls: model calls.
        candidates: distinct candidates evaluated.
        seconds: wall time.
    """

    usd: float | None = None
    tokens: int | None = None
    calls: int | None = None
    candidates: int | None = None
    seconds: float | None = None

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if value is not None and value < 0:
                raise UsageError(f"--budget-{field.name} {value:g} is negative")


def or_configured(given: Budget, config: ProjectConfig) -> Budget:
    """Returns a budget in which the configuration caps what nobody gave a cap for."""
    caps = {field.name: getattr(given, field.name) for field in fields(Budget)}
    return Budget(**{name: getattr(config, f"budget_{name}") if cap is None else cap for name, cap in caps.items()})


class ModelPrice(BaseModel):
    """USD a million tokens, as a user states it under ``[tool.whet.prices."MODEL"]``."""

    model_config = ConfigDict(extra="forbid")

    input: float = Field(ge=0)
    output: float = Field(ge=0)
    cached: float | None = Field(default=None, ge=0)


class ProviderLimits(BaseModel):
    """What a provider takes, as a user states it under ``[tool.whet.providers."PROVIDER"]``.

    Attributes:
        slots: calls under way at once.
        requests_per_minute: calls that begin within a minute; None for no limit.
        tokens_per_minute: tokens, input and output together, of the calls that begin within a minute.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)

    slots: int = Field(default=4, ge=1)
    requests_per_minute: int | None = Field(default=None, alias="requests-per-minute", ge=1)
    tokens_per_minute: int | None = Field(default=None, alias="tokens-per-minute", ge=1)


class ProjectConfig(BaseModel):
    """``[tool.whet]`` in a pyproject.toml, or in a whet.toml that describes no task.

    All but the models, their prices and providers, what they remember, and the budgets is for whole repositories; None
    leaves it to the command line.

    Attributes:
        model: who proposes.
        judge_model: who judges.
        prices: of models, by name.
        providers: what they take, by name.
        remember: whether they are told what earlier runs found out, and later ones what this one does.
        run: the command whose time counts.
        tests: the command that tests the repository.
        build: the command that makes a C or C++ project, before it is tested or run.
        python: the interpreter of the project's environment, or the environment's folder; from the file's folder.
        ignore: globs of files that are left alone, from the file's folder.
        top: functions that are tried.
        min_share: of the command's time: what takes less is not tried.
        min_speedup: the smallest ratio of a function that counts as faster.
        max_memory: what a function may take of memory at most, as after ``--max-memory``.
        confidence: of intervals and decisions.
        rounds: turns of the loop for one function.
        candidates: in a round.
        strategy: how the next candidates are chosen.
        budget_usd: cap on what models may cost; the other budgets are caps on the whole run too, of one function as
            of a repository.
        budget_tokens: input and output together.
        budget_calls: of models.
        budget_candidates: distinct ones evaluated.
        budget_seconds: wall time.
    """

    model_config = ConfigDict(
        extra="forbid", populate_by_name=True, alias_generator=lambda name: name.replace("_", "-")
    )

    model: str | None = None
    judge_model: str | None = None
    prices: dict[str, ModelPrice] = Field(default_factory=dict)
    providers: dict[str, ProviderLimits] = Field(default_factory=dict)
    remember: bool = True
    run: str | None = Field(default=None, min_length=1)
    tests: str | None = Field(default=None, min_length=1)
    build: str | None = Field(default=None, min_length=1)
    python: str | None = Field(default=None, min_length=1)
    ignore: list[str] = Field(default_factory=list)
    top: int | None = Field(default=None, ge=1)
    min_share: float | None = Field(default=None, ge=0.0, le=1.0)
    min_speedup: float | None = Field(default=None, ge=1.0)
    max_memory: str | None = None
    confidence: float | None = Field(default=None, gt=0.5, lt=1.0)
    rounds: int | None = Field(default=None, ge=1)
    candidates: int | None = Field(default=None, ge=1)
    strategy: str | None = None
    budget_usd: float | None = Field(default=None, ge=0.0)
    budget_tokens: int | None = Field(default=None, ge=0)
    budget_calls: int | None = Field(default=None, ge=0)
    budget_candidates: int | None = Field(default=None, ge=0)
    budget_seconds: float | None = Field(default=None, ge=0.0)


def one_of(option: str, value: str, known: tuple[str, ...]) -> None:
    """Raises UsageError, naming the nearest known value, unless ``value`` is known."""
    if value not in known:
        raise UsageError(f"{option} takes {', '.join(known)}, not '{value}'{nearest(value, known)}")


def describe_invalid(error: ValidationError, model: type[BaseModel]) -> str:
    """Returns one line for the first fault that pydantic found, naming the nearest key for an unknown one."""
    first = error.errors()[0]
    where = ".".join(str(part) for part in first["loc"])
    if first["type"] == "extra_forbidden":
        known = _keys_at(model, tuple(str(part) for part in first["loc"][:-1]))
        key = str(first["loc"][-1])
        if model is ProjectConfig and len(first["loc"]) == 1 and key.replace("-", "_") in Options.__slots__:
            return f"unknown key '{where}'; give it on the command line: --{key.replace('_', '-')}"
        mend = nearest(key, known, ALIKE) or f"; it has {', '.join(known)}"
        return f"unknown key '{where}'{mend}"
    return f"{where}: {first['msg'].lower()}"


def _keys_at(model: type[BaseModel], path: tuple[str, ...]) -> list[str]:
    inner: object = model
    for part in path:
        if get_origin(inner) is dict:
            inner = get_args(inner)[1]
        elif isinstance(inner, type) and issubclass(inner, BaseModel):
            inner = next((f.annotation for n, f in inner.model_fields.items() if part in (n, f.alias)), None)
    if not (isinstance(inner, type) and issubclass(inner, BaseModel)):
        return []
    return [f.alias or n for n, f in inner.model_fields.items()]


def load_project_config(start: Path) -> ProjectConfig:
    """Reads ``[tool.whet]`` of the nearest folder, at or above ``start``, that has a pyproject.toml or a whet.toml.

    A whet.toml that describes a task is none of them.

    Raises:
        UsageError: a file is not TOML, holds a key that whet does not know, or both files have such a table.
    """
    folder = start.resolve()
    for parent in (folder, *folder.parents):
        tables = {path: table for path in _config_files(parent) if (table := _whet_table(path)) is not None}
        if len(tables) > 1:
            raise UsageError(f"{parent}: both {' and '.join(path.name for path in tables)} have [tool.whet]; keep one")
        for path, table in tables.items():
            try:
                return ProjectConfig.model_validate(table)
            except ValidationError as error:
                raise UsageError(f"{path}: [tool.whet] {describe_invalid(error, ProjectConfig)}") from None
        if (parent / PYPROJECT).is_file():
            break
    return ProjectConfig()


def _config_files(folder: Path) -> list[Path]:
    return [path for name in (PYPROJECT, WHET_TOML) if (path := folder / name).is_file()]


def _whet_table(path: Path) -> object | None:
    """Returns the ``[tool.whet]`` of a file; None where it has none.

    Raises:
        UsageError: the file cannot be read, or is a whet.toml of another form.
    """
    data = read_toml(path)
    if path.name == WHET_TOML and "task" not in data and (other := sorted(data.keys() - {"tool"})):
        raise UsageError(f"{path}: unknown key '{other[0]}'{nearest(other[0], ('task', 'tool'))}")
    tool = data.get("tool")
    return tool.get("whet") if isinstance(tool, dict) else None


def read_toml(path: Path) -> dict[str, object]:
    """Reads a TOML file.

    Raises:
        UsageError: it cannot be read, or is not TOML.
    """
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} cannot be read: {error}") from None
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{path} is not valid TOML: {error}") from None
