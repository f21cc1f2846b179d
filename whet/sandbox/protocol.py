"""The seam between whet and whatever keeps untrusted code in."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any, Protocol

from whet.core.task import DEFAULT_LIMITS, Limits
from whet.sandbox.interpreter import Interpreter

NO_LINKS: Mapping[str, str] = MappingProxyType({})


class Incident(Exception):
    """Something that untrusted code did to its process; becomes a value in the verdict.

    Attributes:
        kind: ``timeout``, ``crash``, ``memory`` (over its limit), ``output_flood`` or ``protocol`` (it spoke out
            of turn).
    """

    def __init__(self, kind: str, detail: str) -> None:
        super().__init__(detail)
        self.kind = kind


@dataclass(frozen=True, slots=True)
class Job:
    """One process to start in a fresh sandbox, or in one in which only trusted code has run before.

    Attributes:
        program: which of our programs inside runs: ``calls``, ``generate``, ``programs`` or ``count_instructions``.
        interpreter: the python3 that runs it.
        tree: host folder shown read-only at ``/src``, if any.
        limits: what it may use.
        cores: processors that it may run on; empty leaves them as they are.
        hash_seed: PYTHONHASHSEED of the process.
        threads: what OMP_NUM_THREADS and its kin are set to.
        work: bytes of the writable ``/work``.
        within: whether programs start in the tree and not in ``/work``.
        gpu: whether it sees the NVIDIA GPUs; address space has no limit then.
        gauged: whether its peak of memory will be asked for.
        reserves: whether what runs reserves address space beyond all measure, as sanitizers and virtual machines do:
            that has no limit then, and memory in use has the same as ever.
        loopback: whether its processes may speak TCP with each other, over the loopback of a network of their own.
        preload: modules for a fork of a warm worker to have imported; an empty tuple is a fork too. None is a fresh
            process, which a sandbox may start in any case.
        worker: which of several warm workers that are alike.
        profiling: whether it may count the events of its own processes. Never for code that a model wrote.
        packages: whether it can import what is installed for the interpreter; its start is quicker where it need not.
    """

    program: str
    interpreter: Interpreter
    tree: Path | None = None
    limits: Limits = DEFAULT_LIMITS
    cores: tuple[int, ...] = ()
    hash_seed: int = 0
    threads: int = 1
    work: int = 256 << 20
    within: bool = False
    gpu: bool = False
    gauged: bool = False
    reserves: bool = False
    loopback: bool = False
    preload: tuple[str, ...] | None = None
    worker: int = 0
    profiling: bool = False
    packages: bool = True


STARVED = 25.0
"""Wall seconds a CPU second of a limit: a process that gets less than 4 % of a CPU, or waits for ever, is ended."""


@dataclass(frozen=True, slots=True)
class CpuLimit:
    """A limit that a busy machine does not bring nearer.

    Attributes:
        seconds: of CPU time that all processes of a session may use for one answer.
    """

    seconds: float

    @property
    def wall(self) -> float:
        """Wall seconds after which an answer is not waited for, whatever CPU time was used."""
        return self.seconds * STARVED


class Session(Protocol):
    """A live process in a sandbox that answers messages one by one."""

    @property
    def tree(self) -> str:
        """Where the process sees the tree of its job."""

    def ask(self, *message: Any, seconds: float | CpuLimit) -> tuple[tuple[Any, ...], float]:
        """Sends a message and returns (the answer, wall seconds between them by the clock out here).

        Raises:
            Incident: no proper answer came within ``seconds``; the process is gone.
        """

    def ask_each(self, *message: Any, answers: int, seconds: float | CpuLimit) -> Generator[bytes]:
        """Sends a message that has several answers, and yields these as they come: bytes, in whatever form.

        All of the message is asked at once, so an answer may come before the one before it was looked at; one more
        than was asked for is out of turn. Whoever does not take them all ends the process.

        Args:
            message: the message.
            answers: how many it has.
            seconds: for each of them, by the clock out here, or of CPU time.

        Raises:
            Incident: as for `ask`, in the place of the first answer that is missing.
        """

    def peak(self) -> int | None:
        """Returns the most bytes that all processes of a gauged job used together.

        What was used before the job began, or at the last `reset`, is left out. None where no control group counts.
        """

    def reset(self) -> None:
        """Begins the peak anew, where the kernel lets it, and leaves out what is used now."""

    def pids(self) -> list[int]:
        """Returns its processes, below those that keep it, by their numbers out here; none where they are not seen."""

    def cpu(self) -> float | None:
        """Returns the CPU seconds of its processes and of those that keep it so far; None where they are not seen."""

    def group_cpu(self) -> float | None:
        """Returns the CPU seconds of all that ever ran in its control group, exact, with all that has ended.

        Jobs before it are in it too, so differences count. None where no group of its own counts them.
        """

    def close(self) -> None:
        """Ends the process and all that it started."""


class Sandbox(Protocol):
    """Starts processes that can neither see nor touch anything but what they are given."""

    @property
    def name(self) -> str:
        """As the user writes it after ``--sandbox``."""

    @property
    def facts(self) -> Mapping[str, Any]:
        """The version of its tool, and which protections are on, for the evidence."""

    def stage(
        self, name: str, files: Mapping[str, bytes], executable: bool = False, links: Mapping[str, str] = NO_LINKS
    ) -> Path:
        """Writes files into a host folder that a job can show as its tree; returns the folder.

        Args:
            name: of the folder.
            files: path in it -> content.
            executable: whether the files are programs.
            links: path in it -> where a link leads.

        Raises:
            ValueError: a path leads out of the folder.
        """

    def open(self, job: Job) -> Session:
        """Starts a process in a sandbox of its own.

        Raises:
            SandboxError: the sandbox itself could not be made.
        """

    def close(self) -> None:
        """Removes what the sandbox keeps on the host."""


@dataclass(frozen=True, slots=True)
class AttackReport:
    """What came of one attack on a sandbox.

    Attributes:
        name: of the attack.
        held: whether the sandbox held; None where the attack could not be made here.
    """

    name: str
    held: bool | None


@dataclass(frozen=True, slots=True)
class BackendReport:
    """What a machine offers of one backend.

    Attributes:
        name: as the user writes it after ``--sandbox``.
        available: whether a trial run came through.
        version: of the tool, where known.
        reason: why it is not available, and how to mend that.
        protections: name -> whether it is on.
        attacks: what came of each that was made; none where nobody asked for them.
    """

    name: str
    available: bool
    version: str = ""
    reason: str = ""
    protections: Mapping[str, bool] = field(default_factory=dict)
    attacks: tuple[AttackReport, ...] = ()
