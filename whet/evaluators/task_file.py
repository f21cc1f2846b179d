"""Reads ``whet.toml``: the task of a folder. Outside data, so checked key by key."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from whet.core.config import describe_invalid, read_toml
from whet.core.errors import UsageError
from whet.core.task import MIB, Commands, Limits, OracleRule, Tolerance
from whet.core.text import parse_bytes
from whet.evaluators.ptx.launching import LaunchTable
from whet.evaluators.signature import SignatureTable

FILENAME = "whet.toml"


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid")


class TaskTable(_Strict):
    """``[task]``."""

    name: str | None = None
    language: str
    target: str
    symbol: str | None = None
    kind: Literal["function", "program", "transpile"] | None = None
    source: str | None = None
    backward: bool = False
    isa: Literal["x86_64", "aarch64", "riscv64", "ptx"] = "x86_64"


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
    reference: str | None = None

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
    features: list[str] = Field(default_factory=list)
    sources: list[str] = Field(default_factory=list)
    command: str = ""

    @field_validator("features")
    @classmethod
    def _names(cls, given: list[str]) -> list[str]:
        if odd := next((name for name in given if not re.fullmatch(r"[a-z0-9][a-z0-9._-]*", name)), None):
            raise ValueError(f"'{odd}' is no feature of a processor; write for instance avx2")
        return given


class RunTable(_Strict):
    """``[run]``."""

    command: str = Field(min_length=1)


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
    signature: SignatureTable | None = None
    launch: LaunchTable | None = None
    oracle: OracleTable = Field(default_factory=OracleTable)
    workload: WorkloadTable = Field(default_factory=WorkloadTable)
    build: BuildTable = Field(default_factory=BuildTable)
    run: RunTable | None = None
    limits: LimitsTable = Field(default_factory=LimitsTable)

    def commands(self) -> Commands:
        """Returns how a program is built and run by commands of its own.

        Raises:
            ValueError: a key stands where it means nothing, or one is missing.
        """
        if self.run is None:
            raise ValueError('language = "command" needs [run] command, which reads stdin and writes stdout')
        if self.build.flags or self.build.features:
            raise ValueError('with language = "command", flags stand in [build] command')
        if self.task.symbol or self.task.kind not in (None, "program"):
            raise ValueError('language = "command" is for programs, which have no symbol')
        return Commands(self.run.command, self.build.command)


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
