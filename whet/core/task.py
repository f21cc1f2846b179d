"""What is to be made faster."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import ClassVar

MIB = 1 << 20


class Kind(StrEnum):
    """What a target is."""

    FUNCTION = "function"
    PROGRAM = "program"


@dataclass(frozen=True, slots=True)
class Limits:
    """What one run of a candidate may use.

    Attributes:
        seconds: wall time of one run; the baseline's own time x 10 where that is more.
        memory: bytes.
        processes: processes and threads at once.
        output: bytes that a run may return.
    """

    seconds: float = 10.0
    memory: int = 2048 * MIB
    processes: int = 32
    output: int = 64 * MIB


DEFAULT_LIMITS = Limits()


@dataclass(frozen=True, slots=True)
class Tolerance:
    """How far a float may lie from the expected one; all zero mean exact.

    Attributes:
        rtol: as a share of the expected value, added to ``atol``.
        atol: as such.
        ulp: in units of the last place of the expected value.
        error_ratio: the candidate's error as a multiple of the baseline's own, both against a reference with more
            bits; see `whet.evaluators.floats.rules`.
    """

    rtol: float = 0.0
    atol: float = 0.0
    ulp: float = 0.0
    error_ratio: float = 0.0

    @property
    def exact(self) -> bool:
        """Whether floats must be equal to the last bit."""
        return not (self.rtol or self.atol or self.ulp or self.error_ratio)


ERROR_RATIO = 4.0
"""What a task that says nothing allows: it tells a sum in another order from one with fewer bits."""


@dataclass(frozen=True, slots=True)
class OracleRule:
    """How outputs are compared.

    Attributes:
        tolerance: for floats, in values and (with ``floats``) in stdout.
        stdout: ``exact`` but for trailing blanks, ``tokens`` or ``floats``; for programs.
        dict_order: whether the order of dict items counts.
        exception_messages: whether the messages of exceptions count, and not only their types.
        strides: whether the layout of arrays in memory counts.
    """

    tolerance: Tolerance = Tolerance(error_ratio=ERROR_RATIO)
    stdout: str = "exact"
    dict_order: bool = False
    exception_messages: bool = False
    strides: bool = False


@dataclass(frozen=True, slots=True)
class Case:
    """A recorded run of a program: its stdin, and its stdout where that is known."""

    # Any bytes may be stdin, and plain JSON data holds text only.
    __pydantic_config__: ClassVar[Mapping[str, str]] = {"ser_json_bytes": "base64", "val_json_bytes": "base64"}

    name: str
    stdin: bytes
    expected: bytes | None = None


@dataclass(frozen=True, slots=True)
class Workload:
    """Where inputs come from: a generator file, recorded cases, or both.

    Attributes:
        generator: the source text of a workload file (``make_input``), if any.
        cases: recorded cases, for programs.
        sizes: overrides the generator's own sizes where not empty.
        calls: encoded arguments of known calls of a function, such as those in its tests; for correctness only.
    """

    __pydantic_config__: ClassVar[Mapping[str, str]] = {"ser_json_bytes": "base64", "val_json_bytes": "base64"}

    generator: str | None = None
    cases: tuple[Case, ...] = ()
    sizes: tuple[int, ...] = ()
    calls: tuple[bytes, ...] = ()


@dataclass(frozen=True, slots=True)
class Task:
    """A target with its oracle, workload and limits.

    Attributes:
        name: for people.
        language: python, c or cpp.
        kind: function or program.
        path: the file that a candidate replaces.
        source: that file's text: the baseline.
        symbol: the function or ``Class.method``, for functions.
        root: the folder that the target's own imports and tests are resolved from.
        support: other files that the target needs to load: path under ``root`` -> text.
        workload: where inputs come from.
        oracle: how outputs are compared.
        tests: the target's own test command, split into words, if any.
        flags: compiler flags, for native code.
        limits: what one run may use.
        project: the folder that the test command is meant for; None for the one that the target's path tells.
    """

    name: str
    language: str
    kind: Kind
    path: Path
    source: str
    symbol: str | None
    root: Path
    support: Mapping[str, str] = field(default_factory=dict)
    workload: Workload = Workload()
    oracle: OracleRule = OracleRule()
    tests: tuple[str, ...] | None = None
    flags: tuple[str, ...] = ()
    limits: Limits = DEFAULT_LIMITS
    project: Path | None = None

    @property
    def filename(self) -> str:
        """The target's path under its root."""
        return self.path.relative_to(self.root).as_posix()

    @property
    def target(self) -> str:
        """The target as a user writes it."""
        return f"{self.path}::{self.symbol}" if self.symbol else str(self.path)
