"""Programs on cases of stdin, for suites that judge whole programs: built once, a fresh process a case."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from whet.benchmarks.lab.base import Lab
from whet.core.task import DEFAULT_LIMITS, Commands, Kind, Limits, Task
from whet.evaluators.artifacts import Artifact
from whet.evaluators.finding import Fault
from whet.evaluators.meters.base import Setting
from whet.evaluators.meters.instructions import open_count
from whet.evaluators.outcomes import decode_run
from whet.evaluators.processes import TargetProcess
from whet.sandbox.cores import measuring_cores

ROOT = Path("/suite")
"""Stands for the folder of a program that lies in none."""
SUFFIXES = {"python": ".py", "c": ".c", "cpp": ".cpp"}


@dataclass(frozen=True, slots=True)
class ProgramResult:
    """What came of one run.

    Attributes:
        code: exit code; None where it came to no end of its own.
        stdout: all that it printed; nothing where it came to no end.
        stderr: the end of it.
        seconds: from its start to its end, by the clock out here.
        peak: resident bytes of its largest process at the peak.
        fault: why it came to no end: its time, its memory, a signal.
    """

    code: int | None
    stdout: bytes = b""
    stderr: str = ""
    seconds: float = 0.0
    peak: int = 0
    fault: Fault | None = None


@dataclass(frozen=True, slots=True)
class Count:
    """How many instructions one run took in user mode, and what it printed meanwhile."""

    instructions: float
    run: ProgramResult


class Program:
    """A built program. Close it, or use `built`."""

    def __init__(self, artifact: Artifact) -> None:
        self._artifact = artifact
        self._cores: tuple[int, ...] = ()
        self._process: TargetProcess | None = None

    def pin(self, cores: tuple[int, ...]) -> None:
        """Has its processes run on some cores from now on; on all where none is named."""
        self.close()
        self._cores = cores

    def run(self, stdin: bytes, seconds: float) -> ProgramResult:
        """Runs it once, in a fresh process, which is ended after some seconds."""
        if self._process is None:
            process = self._artifact.start(self._cores)
            if isinstance(process, Fault):
                return ProgramResult(None, fault=process)
            self._process = process
        found = self._process.timed([stdin], seconds)
        if isinstance(found, Fault):
            self.close()  # what it ran in may be gone
            return ProgramResult(None, fault=found)
        return _run(found.outcomes[0], found.outside, found.peak)

    def count(self, stdin: bytes, seconds: float) -> Count | Fault:
        """Counts the instructions of one run, which is not timed.

        Raises:
            UsageError: nothing counts them on this machine.
        """
        counted = open_count(self._artifact.builder)[1]
        found = counted(self._artifact, [stdin], Setting("candidate", seconds, self._cores[:1], 0, 0))
        return found if isinstance(found, Fault) else Count(found.instructions, _run(found.outcomes[0], 0.0, 0))

    def counter(self) -> str:
        """Returns what counts instructions here: ``perf`` or ``cachegrind``.

        Raises:
            UsageError: nothing does.
        """
        return open_count(self._artifact.builder)[0]

    def close(self) -> None:
        """Ends its process."""
        if self._process is not None:
            self._process.close()
            self._process = None


def _run(outcome: bytes, seconds: float, peak: int) -> ProgramResult:
    came = decode_run(outcome)
    return ProgramResult(came.code, came.stdout, came.stderr.decode("utf-8", "replace"), seconds, peak)


def program_task(
    language: str,
    source: str,
    flags: Sequence[str] = (),
    limits: Limits = DEFAULT_LIMITS,
    commands: Commands | None = None,
    **more: Any,
) -> Task:
    """Returns the task of a program that lies in no folder.

    Args:
        language: python, c, cpp or command.
        source: its text.
        flags: of its compiler; none are those of whet.
        limits: of one run.
        commands: build and run it, where its language is ``command``; ``filename`` names its file then.
        more: fields of the task, and ``filename``.
    """
    filename = more.pop("filename", f"program{SUFFIXES.get(language, '')}")
    given = {"flags": tuple(flags), "limits": limits, "commands": commands, **more}
    return Task("program", language, Kind.PROGRAM, ROOT / filename, source, None, ROOT, **given)


@contextmanager
def built(lab: Lab, task: Task) -> Iterator[Program | Fault]:
    """Builds the program of a task for as long as it is used; gives a fault where it cannot be built.

    Args:
        lab: where.
        task: of it; see `program_task`.
    """
    artifact = lab.builder(task).build(task.source)
    if isinstance(artifact, Fault):
        yield artifact
        return
    program = Program(artifact)
    try:
        yield program
    finally:
        program.close()
        shutil.rmtree(artifact.tree)


@contextmanager
def on_one_core(*programs: Program) -> Iterator[None]:
    """Has programs run on one core that nobody else measures on meanwhile, whom this waits for."""
    with measuring_cores(1) as cores:
        for program in programs:
            program.pin(cores)
        try:
            yield
        finally:
            for program in programs:
                program.pin(())


def why(fault: Fault) -> str:
    """Returns a fault as one line."""
    return f"{fault.reason.value}: {fault.detail.strip().splitlines()[0] if fault.detail.strip() else 'no word of why'}"
