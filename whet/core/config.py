"""The options that `optimize` and `verify` take, from the command line, a library call or a file."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from whet.core.errors import UsageError, nearest
from whet.core.verdict import RUNGS

METRICS = ("time", "memory", "instructions", "energy")
DEVICES = ("auto", "cpu", "cuda")


@dataclass(frozen=True, slots=True)
class Options:
    """Options that `optimize` and `verify` share; the names are those of the command line.

    Attributes:
        workload: a workload file or a folder of cases.
        tests: the target's own test command.
        metric: what is to be improved.
        min_speedup: the smallest ratio that counts as faster.
        confidence: of intervals and decisions.
        cores: cores that both sides may use.
        until: the last rung to climb.
        python: the interpreter that candidates run on; None is whet's own.
        device: auto, cpu or cuda.
        sandbox: auto, docker, bubblewrap or none.
        unsafe: allows ``sandbox="none"``.
        workers: candidates checked side by side.
        seed: seed of the inputs, never shown to a candidate; None draws one.
    """

    workload: Path | None = None
    tests: str | None = None
    metric: str = "time"
    min_speedup: float = 1.01
    confidence: float = 0.99
    cores: int = 1
    until: str | None = None
    python: Path | None = None
    device: str = "auto"
    sandbox: str = "auto"
    unsafe: bool = False
    workers: int = 2
    seed: int | None = None

    def __post_init__(self) -> None:
        for name in ("workload", "python"):  # a library call may give a path as text
            if isinstance(given := getattr(self, name), str):
                object.__setattr__(self, name, Path(given))
        one_of("--metric", self.metric, METRICS)
        one_of("--device", self.device, DEVICES)
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


class ModelPrice(BaseModel):
    """USD a million tokens, as a user states it under ``[tool.whet.prices."MODEL"]``."""

    model_config = ConfigDict(extra="forbid")

    input: float = Field(ge=0)
    output: float = Field(ge=0)
    cached: float | None = Field(default=None, ge=0)


class ProjectConfig(BaseModel):
    """``[tool.whet]`` in a pyproject.toml."""

    model_config = ConfigDict(extra="forbid", populate_by_name=True)

    model: str | None = None
    judge_model: str | None = Field(default=None, alias="judge-model")
    prices: dict[str, ModelPrice] = Field(default_factory=dict)


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
        return f"unknown key '{where}'{nearest(str(first['loc'][-1]), known)}"
    return f"{where}: {first['msg'].lower()}"


def _keys_at(model: type[BaseModel], path: tuple[str, ...]) -> list[str]:
    for part in path:
        inner = next((f.annotation for n, f in model.model_fields.items() if part in (n, f.alias)), None)
        if not (isinstance(inner, type) and issubclass(inner, BaseModel)):
            return []
        model = inner
    return [f.alias or n for n, f in model.model_fields.items()]


def load_project_config(start: Path) -> ProjectConfig:
    """Reads ``[tool.whet]`` from the nearest pyproject.toml at or above ``start``.

    Raises:
        UsageError: it is not TOML, or holds a key that whet does not know.
    """
    folder = start.resolve()
    for parent in (folder, *folder.parents):
        path = parent / "pyproject.toml"
        if not path.is_file():
            continue
        table: Mapping[str, object] = read_toml(path).get("tool", {}).get("whet", {})  # type: ignore[attr-defined]
        try:
            return ProjectConfig.model_validate(table)
        except ValidationError as error:
            raise UsageError(f"{path}: [tool.whet] {describe_invalid(error, ProjectConfig)}") from None
    return ProjectConfig()


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
