"""The record from which a third party can repeat a verdict: schema ``whet.evidence/1``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from whet.core.errors import Exit
from whet.core.measurement import Speedup
from whet.core.plain import to_plain
from whet.core.result import Result, Status
from whet.core.signature import Signature
from whet.core.task import Commands, Kind, Limits, Module, OracleRule
from whet.core.verdict import Rung

SCHEMA = "whet.evidence/1"
REPLICATION = "whet.replication/1"


@dataclass(frozen=True, slots=True)
class Machine:
    """What the figures were taken on; nothing that tells whose it is.

    Attributes:
        cpu: the processor's model.
        architecture: such as ``x86_64``.
        cores: processors that whet could use.
        memory: bytes.
        kernel: the kernel's release.
        system: the operating system.
    """

    cpu: str
    architecture: str
    cores: int
    memory: int
    kernel: str
    system: str


@dataclass(frozen=True, slots=True)
class Toolchain:
    """What turned source texts into processes.

    Attributes:
        interpreter: implementation and version of the python3 that ran both sides, or the programs around them.
        interpreter_sha256: of its executable.
        packages: versions of the packages that the target's own files import, as that interpreter has them.
        compiler: the first line of its version; None for Python.
        compiler_sha256: of its executable; None for Python.
        flags: the task's own.
    """

    interpreter: str
    interpreter_sha256: str
    packages: Mapping[str, str]
    compiler: str | None
    compiler_sha256: str | None
    flags: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Provenance:
    """Facts about a run that its verdicts do not tell; gathered before the first of them.

    Attributes:
        gathered: when, in UTC, as ISO 8601.
        seed: of all inputs.
        machine: what the figures were taken on.
        toolchain: what turned source texts into processes.
        sandbox: the backend, its version and which protections were on.
        tools: versions of whet and of what its figures rest on; ``harness`` is the SHA-256 of whet's own sources.
        tests: the clean copy that the target's own tests ran in: path -> SHA-256. Hidden files, and files that are no
            text, are not among them.
        tests_left_out: files of that copy that are no text, or too much.
        test_target: the target's path in that copy; None without tests.
        validated: when an earlier run on this machine validated the baseline, as ISO 8601; empty where this one did.
    """

    gathered: str
    seed: int
    machine: Machine
    toolchain: Toolchain
    sandbox: Mapping[str, Any]
    tools: Mapping[str, str]
    tests: Mapping[str, str] = field(default_factory=dict)
    tests_left_out: int = 0
    test_target: str | None = None
    validated: str = ""


@dataclass(frozen=True, slots=True)
class PackageRecord:
    """The package whose files the target's processes saw; see `whet.core.task.Package`.

    Attributes:
        name: of its folder.
        installed: whether it lay in the interpreter's environment; whoever repeats it needs it in theirs. The files of
            any other are in the bundle.
        files: how many.
        bytes: in them.
        sha256: of them all.
    """

    name: str
    installed: bool
    files: int
    bytes: int
    sha256: str


@dataclass(frozen=True, slots=True)
class TaskSettings:
    """The task but for its texts; see `whet.core.task.Task`.

    Attributes:
        filename: the target's path under its root.
        sizes: those that override the workload's own.
        tests: the target's own test command; paths of the project are relative to it.
        others: files that the target's text holds beside its own; see `whet.core.parts`.
        package: None where the texts in the bundle are all that the target needs.
    """

    name: str
    language: str
    kind: Kind
    filename: str
    symbol: str | None
    sizes: tuple[int, ...]
    oracle: OracleRule
    limits: Limits
    tests: tuple[str, ...] | None
    signature: Signature | None = None
    module: Module | None = None
    commands: Commands | None = None
    others: tuple[str, ...] = ()
    package: PackageRecord | None = None


@dataclass(frozen=True, slots=True)
class Settings:
    """What was asked for; see `whet.core.options.Options`."""

    metric: str
    min_speedup: float
    confidence: float
    cores: int
    until: str | None
    max_memory: str | None = None
    max_time: str | None = None
    quick: bool = False


@dataclass(frozen=True, slots=True)
class CandidateRecord:
    """The rewrite that the verdict is about; its text is a part of the bundle."""

    id: str
    parent: str | None
    origin: str
    labels: tuple[str, ...]
    diff: str


@dataclass(frozen=True, slots=True)
class Evidence:
    """One verdict, with all that it takes to climb to it again.

    Attributes:
        schema: `SCHEMA`.
        run: id of the run.
        command: ``optimize`` or ``verify``.
        repeat: the command that repeats it, where FILE is the bundle.
        task: what was to be made faster.
        settings: what was asked for.
        candidate: the rewrite.
        status: ``improved``, ``no_improvement`` or ``rejected``.
        speedup: the headline; None where nothing was timed, or the candidate is wrong.
        rungs: each with its evidence; the raw samples of a timed rung are in its ``measurements``.
        code: path of each text in the bundle -> its SHA-256.
        provenance: machine, toolchain, sandbox, tools and seed.
    """

    schema: str
    run: str
    command: str
    repeat: str
    task: TaskSettings
    settings: Settings
    candidate: CandidateRecord
    status: Status
    speedup: Speedup | None
    rungs: tuple[Rung, ...]
    code: Mapping[str, str]
    provenance: Provenance


@dataclass(frozen=True, slots=True)
class Comparison:
    """One thing that evidence claims, beside what was found here.

    Attributes:
        name: of the thing.
        recorded: what the evidence says.
        here: what this machine says.
        agrees: None where that could not be compared, or is only told.
        note: why it could not be compared, or why it differs.
    """

    name: str
    recorded: str
    here: str
    agrees: bool | None
    note: str = ""


@dataclass(frozen=True, slots=True)
class Replication:
    """What came of repeating somebody's evidence: schema ``whet.replication/1``.

    Attributes:
        run: id of the recorded run.
        candidate: id of the candidate.
        authorship: who signed the bundle, as far as that was asked for and can be told.
        compared: what counts.
        surroundings: machine, toolchain and tools, there and here; told, and not judged.
        result: the verdict here.
    """

    run: str
    candidate: str
    authorship: str
    compared: tuple[Comparison, ...]
    surroundings: tuple[Comparison, ...]
    result: Result

    @property
    def agrees(self) -> bool:
        """Whether nothing that was compared differs."""
        return all(row.agrees is not False for row in self.compared)

    @property
    def exit_code(self) -> Exit:
        """The exit code of a command that ends in this."""
        return Exit.IMPROVED if self.agrees else Exit.NO_IMPROVEMENT

    def to_json(self) -> dict[str, Any]:
        """Returns the document as plain JSON data."""
        plain = {**to_plain(self), "result": self.result.to_json()}
        return {"schema": REPLICATION, "agrees": self.agrees, **plain}
