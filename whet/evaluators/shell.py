"""Lines of a shell in the sandbox, beside a tree of files: for what is no single program."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Protocol

from whet.core.task import Limits
from whet.evaluators.finding import Fault
from whet.evaluators.processes import START_SECONDS, fault
from whet.sandbox.interpreter import Interpreter
from whet.sandbox.protocol import Incident, Job, Sandbox

LIMITS = Limits(seconds=300.0, memory=8 << 30, processes=256, output=256 << 20)
"""Of a shell: bytes of memory, processes and threads, and bytes of a file or an answer, where its caller states none;
each line has seconds of its own. Smaller limits fail large builds; larger ones let a line use more of the machine."""
ROOM = 4 << 30
"""Bytes that lines may write in ``/work``."""
SAID = 2000
"""Characters of the end of stderr that are kept."""
_NUMBERS = count()


class ShellEnvironment(Protocol):
    """Where lines run."""

    @property
    def sandbox(self) -> Sandbox:
        """Keeps them in."""

    @property
    def interpreter(self) -> Interpreter:
        """The python3 that they see."""


@dataclass(frozen=True, slots=True)
class LineResult:
    """What came of one line.

    Attributes:
        code: exit code, negative for a signal; None where it came to no end of its own.
        stdout: all that it printed.
        stderr: the end of it.
        seconds: from its start to its end, by the clock out here.
        fault: why it came to no end.
    """

    code: int | None
    stdout: str = ""
    stderr: str = ""
    seconds: float = 0.0
    fault: Fault | None = None

    @property
    def well(self) -> bool:
        """Whether it ended with 0."""
        return self.code == 0

    @property
    def why(self) -> str:
        """What went wrong, as one line."""
        if self.fault is not None:
            return f"{self.fault.reason.value}: {_last_line(self.fault.detail)}"
        return f"exit code {self.code}: {_last_line(self.stderr) or _last_line(self.stdout) or 'no word of why'}"


def _last_line(text: str) -> str:
    lines = text.strip().splitlines()
    return lines[-1][:300] if lines else ""


class Shell:
    """One sandbox that lines run in one after the other; ``/work`` keeps what they write. See `opened`."""

    def __init__(self, environment: ShellEnvironment, job: Job) -> None:
        self._session = environment.sandbox.open(job)
        self.tree = self._session.tree
        """Where lines see the files."""

    def run(self, line: str, seconds: float, stdin: bytes = b"") -> LineResult:
        """Runs a line of ``/bin/sh``, which begins in ``/work`` and is ended after some seconds."""
        try:
            self._session.ask("prepare", ["/bin/sh", "-c", f"cd /work || exit\n{line}"], stdin, seconds=START_SECONDS)
            answer, spent = self._session.ask("go", seconds=seconds)
            if answer[0] == "error":
                return LineResult(None, stderr=str(answer[2]))
            (_, stdout, stderr), _ = self._session.ask("output", seconds=START_SECONDS)
        except Incident as incident:
            return LineResult(None, fault=fault(incident, seconds))
        return LineResult(
            answer[1], stdout.decode("utf-8", "replace"), stderr.decode("utf-8", "replace")[-SAID:], spent
        )

    def read(self, path: str) -> bytes | Fault:
        """Returns a file that a line left."""
        try:
            (_, content), _ = self._session.ask("read", path, seconds=START_SECONDS)
        except Incident as incident:
            return fault(incident, START_SECONDS)
        return bytes(content)

    def clear(self) -> None:
        """Removes what earlier lines left, wherever they may write."""
        self._session.ask("clear", seconds=START_SECONDS)

    def close(self) -> None:
        """Ends all that runs in it."""
        self._session.close()


@contextmanager
def staged(
    environment: ShellEnvironment,
    files: Mapping[str, bytes],
    folders: Mapping[str, Path] | None = None,
    executable: bool = False,
    left_out: Sequence[str] = (),
) -> Iterator[Path]:
    """Puts files where a sandbox can show them, for as long as they are used.

    Args:
        environment: whose sandbox.
        files: path -> content.
        folders: name -> folder of the host that is copied beside them, links as links.
        executable: whether the files may be started.
        left_out: names in the folders that are not copied.
    """
    tree = environment.sandbox.stage(f"shell-{next(_NUMBERS)}", {**files, ".whet": b""}, executable)
    try:
        for name, folder in (folders or {}).items():
            shutil.copytree(folder, tree / name, symlinks=True, ignore=shutil.ignore_patterns(*left_out))
            for made in (tree / name, *(tree / name).rglob("*")):
                if not made.is_symlink():
                    made.chmod(made.stat().st_mode | (0o755 if made.is_dir() else 0o444))
        yield tree
    finally:
        shutil.rmtree(tree, ignore_errors=True)


@contextmanager
def opened(
    environment: ShellEnvironment,
    tree: Path,
    cores: Sequence[int] = (),
    limits: Limits = LIMITS,
    gpu: bool = False,
    loopback: bool = False,
    reserves: bool = False,
) -> Iterator[Shell]:
    """Opens a sandbox beside a tree.

    Args:
        environment: whose sandbox.
        tree: that lines may read.
        cores: that they may run on; none for all.
        limits: what they may use.
        gpu: whether they see the GPUs.
        loopback: whether their processes may speak TCP with each other.
        reserves: whether they reserve address space beyond all measure, as sanitizers do.
    """
    job = Job(
        "programs",
        environment.interpreter,
        tree,
        limits,
        tuple(cores),
        threads=max(1, len(cores)),
        work=ROOM,
        gpu=gpu,
        loopback=loopback,
        reserves=reserves,
    )
    shell = Shell(environment, job)
    try:
        yield shell
    finally:
        shell.close()
