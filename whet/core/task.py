"""What is to be made faster."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import ClassVar

from whet.core.parts import parts
from whet.core.signature import Signature

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


HINTS = "hints"
"""Origin of a generator that was written from type hints."""


@dataclass(frozen=True, slots=True)
class Workload:
    """Where inputs come from: a generator file, recorded cases or calls, or both.

    Attributes:
        generator: the source text of a workload file (``make_input``), if any.
        cases: recorded cases, for programs.
        sizes: overrides the generator's own sizes where not empty.
        calls: encoded arguments of known calls of a function, such as those in its tests; for correctness only.
        origin: what whet wrote the generator from, `HINTS` or a model's name; empty for a user's own.
        inits: encoded arguments of known calls of the constructor of a method's class, as ``init`` has them.
        recorded: encoded arguments of calls that a command made, the cheapest first; time counts on them where there
            is no generator.
    """

    __pydantic_config__: ClassVar[Mapping[str, str]] = {"ser_json_bytes": "base64", "val_json_bytes": "base64"}

    generator: str | None = None
    cases: tuple[Case, ...] = ()
    sizes: tuple[int, ...] = ()
    calls: tuple[bytes, ...] = ()
    origin: str = ""
    recorded: tuple[bytes, ...] = ()
    inits: tuple[bytes, ...] = ()

    @property
    def given(self) -> bool:
        """Whether somebody gave inputs, or a command made some; else whatever there is was written from type hints."""
        return bool(self.cases or self.recorded) or (self.generator is not None and self.origin != HINTS)


@dataclass(frozen=True, slots=True)
class Module:
    """How a torch module is a target: constructed once, called on tensors.

    Attributes:
        device: where it runs, as torch names it; ``interpreter`` is the CPU in place of a GPU.
        scale: module-level numbers of the problem that were made smaller: name -> (what it was, what it is).
        backward: whether a call asks for gradients too.
        harness: file of the tree whose module calls what an answer defines as ``slot``, if any.
        slot: the function that an answer may define instead of a class: ``forward_fn`` or ``backward_fn``.
        flags: switches of cuBLAS and cuDNN that baseline and answers run with; see `whet.core.options.TORCH_FLAGS`.
    """

    device: str = "cpu"
    scale: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    backward: bool = False
    harness: str = ""
    slot: str = ""
    flags: tuple[str, ...] = ()

    @property
    def scaled(self) -> str:
        """The scale in words; empty where the problem is as it was written."""
        return ", ".join(f"{name} {now} instead of {was}" for name, (was, now) in self.scale.items())


@dataclass(frozen=True, slots=True)
class Reference:
    """What an assembly routine has to do, as a program that a compiler takes.

    Attributes:
        filename: under the task's root.
        language: c or cpp.
        source: its text.
    """

    filename: str
    language: str
    source: str


@dataclass(frozen=True, slots=True)
class Launch:
    """How a kernel in PTX is started, in terms of the numbers that it is given.

    Attributes:
        grid: blocks in three dimensions, such as ``(n + 255) / 256``.
        block: threads of a block in three dimensions.
        shared: bytes of dynamic shared memory of a block.
        device: ``cuda``, or ``cpu`` where there is no GPU: then no kernel runs.
        driver: the GPU's library; another than NVIDIA's own is for tests.
    """

    grid: tuple[str, str, str]
    block: tuple[str, str, str]
    shared: str = "0"
    device: str = "cpu"
    driver: str = "libcuda.so.1"


@dataclass(frozen=True, slots=True)
class Package:
    """The package that a Python target belongs to, where more of it is needed than the texts that are known.

    Attributes:
        root: the folder that it is imported from.
        name: of its folder there.
        target: the target's path under the root.
        needed: files under the root that are part of it whatever they are called.
        hidden: files that are not, by their full paths.
        installed: whether it lies in the interpreter's environment, where it is seen as it is. Else a copy is seen.
        files: in the copy; of an installed one, its sources.
        bytes: in these.
        sha256: of these.
    """

    root: Path
    name: str
    target: str
    needed: tuple[str, ...] = ()
    hidden: tuple[str, ...] = ()
    installed: bool = False
    files: int = 0
    bytes: int = 0
    sha256: str = ""


@dataclass(frozen=True, slots=True)
class Commands:
    """How a program in any language is built and run, in a folder that holds the task's files.

    Attributes:
        run: a line for ``/bin/sh``, from within the built folder, which is read-only then.
        build: a line for ``/bin/sh`` that makes what ``run`` needs; empty where nothing is to be made.
    """

    run: str
    build: str = ""


WRITTEN = {
    **{".py": "python", ".c": "c", ".cc": "cpp", ".cpp": "cpp", ".cxx": "cpp", ".java": "java"},
    **{".f90": "fortran", ".f": "fortran", ".go": "go", ".rs": "rust", ".js": "javascript", ".rb": "ruby"},
}
"""Suffix of a file -> its language, as fenced blocks name it."""

NATIVE_ISA = "x86_64"
"""The instruction set that native code is timed on; others are emulated."""
PTX = "ptx"
"""The instruction set of kernels, which a GPU runs."""


@dataclass(frozen=True, slots=True)
class Task:
    """A target with its oracle, workload and limits.

    Attributes:
        name: for people.
        language: python, c, cpp, asm, or command for whatever ``commands`` build and run.
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
        signature: the contract of a native function.
        module: for a torch module, whose ``symbol`` is its class.
        reference: of an assembly routine: what outputs and baselines come from.
        standing: whether the routine's own text is a baseline too, and not a compiler's output.
        isa: instruction set of an assembly routine: x86_64, aarch64, riscv64 or ptx.
        commands: of a program whose language is ``command``.
        others: files among ``support`` that a candidate may change too; ``source`` holds them all, see
            `whet.core.parts`.
        translated: of an assembly routine that is to be translated, the supporting file that holds it.
        features: what native code may use of the machine beyond the least: ``avx2``, say. Empty is all that it has.
        launch: how a kernel in PTX is started; None for others.
        package: that the target belongs to, where ``support`` is not all that it may need.
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
    signature: Signature | None = None
    module: Module | None = None
    reference: Reference | None = None
    standing: bool = False
    isa: str = NATIVE_ISA
    features: tuple[str, ...] = ()
    translated: str = ""
    launch: Launch | None = None
    commands: Commands | None = None
    others: tuple[str, ...] = ()
    package: Package | None = None

    def files(self, source: str) -> dict[str, str]:
        """Returns the files of a candidate's tree: the target with what it loads, but for what its package holds.

        Returns:
            path under ``root`` -> text.
        """
        support = self.support if self.package is None else {}
        return {**support, **self.parts(source)}

    def parts(self, source: str) -> dict[str, str]:
        """Returns the files that a candidate's text replaces: path under ``root`` -> text."""
        return parts(source, (self.filename, *self.others))

    @property
    def whole(self) -> bool:
        """Whether candidates are judged by a whole project, of which the target is one file."""
        return self.commands is not None and self.project is not None

    @property
    def written(self) -> str:
        """The language of the target's text: of a ``command`` task by its suffix, and empty where that tells none."""
        return self.language if self.commands is None else WRITTEN.get(self.path.suffix, "")

    @property
    def original(self) -> tuple[str, str]:
        """The text that outputs are compared with, and its language: the reference, where there is one."""
        return (
            (self.source, self.language) if self.reference is None else (self.reference.source, self.reference.language)
        )

    @property
    def emulated(self) -> bool:
        """Whether candidates cannot run on this machine by themselves, so that no time of theirs counts."""
        return self.isa not in (NATIVE_ISA, PTX)

    @property
    def untimed(self) -> bool:
        """Whether a right candidate is all that is asked for."""
        return self.emulated or bool(self.translated)

    @property
    def filename(self) -> str:
        """The target's path under its root."""
        return self.path.relative_to(self.root).as_posix()

    @property
    def target(self) -> str:
        """The target as a user writes it."""
        return f"{self.path}::{self.symbol}" if self.symbol else str(self.path)
