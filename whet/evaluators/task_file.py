"""Reads ``whet.toml``: the task of a folder. Outside data, so checked key by key."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from whet.core.config import describe_invalid, read_toml
from whet.core.errors import UsageError
from whet.core.task import MIB, Limits, OracleRule, Tolerance

FILENAME = "whet.toml"
UNITS = {"B": 1, "KIB": 1 << 10, "MIB": 1 << 20, "GIB": 1 << 30, "KB": 10**3, "MB": 10**6, "GB": 10**9}


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid")


class TaskTable(_Strict):
    """``[task]``."""

    name: str | None = None
    language: Literal["python", "c", "cpp"]
    target: str
    symbol: str | None = None
    kind: Literal["function", "program"] | None = None


class FloatTolerance(_Strict):
    """``tolerance = {rtol = ..., atol = ...}``, ``{ulp = ...}`` or ``{error_ratio = ...}``."""

    rtol: float = Field(default=0.0, ge=0)
    atol: float = Field(default=0.0, ge=0)
    ulp: float = Field(default=0.0, ge=0)
    error_ratio: float = Field(default=0.0, ge=0)


class OracleTable(_Strict):
    """``[oracle]``."""

    tolerance: Literal["exact"] | FloatTolerance | None = None
    stdout: Literal["exact", "tokens", "floats"] = "exact"
    dict_order: bool = False
    exception_messages: bool = False
    strides: bool = False

    @field_validator("tolerance")
    @classmethod
    def one_rule(cls, given: FloatTolerance | str | None) -> FloatTolerance | str | None:
        """Refuses two rules at once."""
        rules = (given.rtol or given.atol, given.ulp, given.error_ratio) if isinstance(given, FloatTolerance) else ()
        if sum(map(bool, rules)) > 1:
            raise ValueError("give rtol and atol, or ulp, or error_ratio")
        return given

    def rule(self) -> OracleRule:
        """Returns it as the rule that outputs are compared by."""
        given = self.tolerance
        if given is None:
            tolerance = OracleRule().tolerance
        else:
            tolerance = Tolerance() if given == "exact" else Tolerance(**given.model_dump())
        return OracleRule(tolerance, self.stdout, self.dict_order, self.exception_messages, self.strides)


class WorkloadTable(_Strict):
    """``[workload]``."""

    sizes: list[int] = Field(default_factory=list)
    generator: str | None = None
    cases: str | None = None


class BuildTable(_Strict):
    """``[build]``."""

    flags: list[str] = Field(default_factory=list)


class LimitsTable(_Strict):
    """``[limits]``."""

    seconds: float = Field(default=10.0, gt=0)
    memory: int = 2048 * MIB
    processes: int = Field(default=32, ge=1)
    output: int = 64 * MIB

    @field_validator("memory", "output", mode="before")
    @classmethod
    def _bytes(cls, value: object) -> object:
        return parse_bytes(value) if isinstance(value, str) else value

    def limits(self) -> Limits:
        """Returns them as the limits of one run."""
        return Limits(self.seconds, self.memory, self.processes, self.output)


class TaskFile(_Strict):
    """A whole ``whet.toml``."""

    task: TaskTable
    oracle: OracleTable = Field(default_factory=OracleTable)
    workload: WorkloadTable = Field(default_factory=WorkloadTable)
    build: BuildTable = Field(default_factory=BuildTable)
    limits: LimitsTable = Field(default_factory=LimitsTable)


def parse_bytes(text: str) -> int:
    """Returns a size such as ``2GiB`` in bytes.

    Raises:
        ValueError: it is none.
    """
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([A-Za-z]+)\s*", text)
    if match is None or match[2].upper() not in UNITS:
        raise ValueError(f"'{text}' is no size; write for instance 2GiB")
    return int(float(match[1]) * UNITS[match[2].upper()])


def read_task_file(folder: Path) -> TaskFile:
    """Reads the ``whet.toml`` of a folder.

    Raises:
        UsageError: it is not TOML, lacks a key, or holds one that whet does not know (the nearest is named).
    """
    path = folder / FILENAME
    try:
        return TaskFile.model_validate(read_toml(path))
    except ValidationError as error:
        raise UsageError(f"{path}: {describe_invalid(error, TaskFile)}") from None
