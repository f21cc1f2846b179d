"""The target's own tests, run from a clean copy of the project with the candidate in place."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from whet.core.candidate import content_id
from whet.core.errors import UsageError
from whet.core.task import MIB, Limits, Task
from whet.core.verdict import Reason
from whet.evaluators.finding import Fault
from whet.sandbox.interpreter import Interpreter
from whet.sandbox.protocol import Incident, Job, Sandbox

MOST_BYTES = 64 * MIB
LIMITS = Limits(seconds=600.0, memory=4096 * MIB, processes=128)
SKIPPED = {"__pycache__", "node_modules", "venv", "build", "dist", "site-packages"}
COUNTS = (re.compile(r"(\d+) passed"), re.compile(r"^Ran (\d+) tests?", re.MULTILINE))
RUN = 'cp -r "$1" /work/tree && cd /work/tree && shift && exec "$@"'


def project_root(path: Path) -> Path:
    """Returns the folder that a test command is meant for.

    The current folder where the target lies below it, else the target's project, else the target's own folder.
    """
    here = Path.cwd()
    if path.is_relative_to(here) and here not in (Path("/"), Path.home()):
        return here
    marks = (".git", "pyproject.toml", "setup.py", "setup.cfg")
    return next((parent for parent in path.parents if any((parent / mark).exists() for mark in marks)), path.parent)


def project_files(root: Path) -> dict[str, bytes]:
    """Reads a project's files, without hidden folders, caches and links.

    Raises:
        UsageError: there is too much of it.
    """
    files: dict[str, bytes] = {}
    total = 0
    for folder, names, leaves in os.walk(root):
        names[:] = [name for name in names if name not in SKIPPED and not name.startswith(".")]
        for leaf in leaves:
            path = Path(folder, leaf)
            if path.is_symlink() or not path.is_file() or leaf.endswith(".pyc"):
                continue
            total += path.stat().st_size
            if total > MOST_BYTES:
                raise UsageError(
                    f"{root} holds more than {MOST_BYTES // MIB} MiB; run --tests from the project's own folder"
                )
            files[path.relative_to(root).as_posix()] = path.read_bytes()
    return files


@dataclass(frozen=True, slots=True)
class OwnTests:
    """A test command with the project that it belongs to.

    Attributes:
        command: split into words.
        files: the clean copy.
        target: the target's path in it.
        passed: how many tests pass on the baseline; None where the command does not say.
    """

    command: tuple[str, ...]
    files: Mapping[str, bytes]
    target: str
    passed: int | None = None

    @classmethod
    def of(cls, task: Task, interpreter: Interpreter) -> OwnTests:
        """Reads the project that the task's test command is for."""
        assert task.tests is not None
        root = task.project or project_root(task.path)
        words = [_relative(word, root) for word in task.tests]
        return cls(
            tuple(_on_interpreter(words, interpreter)), project_files(root), task.path.relative_to(root).as_posix()
        )

    def run(self, sandbox: Sandbox, interpreter: Interpreter, source: str) -> int | Fault | None:
        """Runs the command with ``source`` as the target; returns how many tests passed, if it says so."""
        tree = sandbox.stage(f"tests-{content_id(source)}", dict(self.files) | {self.target: source.encode()})
        session = sandbox.open(Job("programs", interpreter, tree, LIMITS))
        try:
            argv = ["/bin/sh", "-c", RUN, "sh", session.tree, *self.command]
            session.ask("prepare", argv, b"", seconds=10.0)
            answer, _ = session.ask("go", seconds=LIMITS.seconds)
            (_, stdout, stderr), _ = session.ask("output", seconds=30.0)
        except Incident as incident:
            return Fault(Reason.TEST_FAILURE, f"the tests did not end: {incident}")
        finally:
            session.close()
        said = (stdout + b"\n" + stderr).decode("utf-8", "replace")
        if answer[0] == "error" or answer[1] != 0:
            code = answer[2] if answer[0] == "error" else f"exit code {answer[1]}"
            return Fault(Reason.TEST_FAILURE, f"the tests failed ({code}):\n{_tail(said)}")
        passed = next((int(m[-1]) for m in (count.findall(said) for count in COUNTS) if m), None)
        if self.passed is not None and (passed is None or passed < self.passed):
            # An early exit with code 0 proves nothing.
            return Fault(Reason.TEST_FAILURE, f"{passed or 0} tests passed, {self.passed} do on the baseline")
        return passed


def _relative(word: str, root: Path) -> str:
    path = Path(word)
    return path.relative_to(root).as_posix() if path.is_absolute() and path.is_relative_to(root) else word


def _on_interpreter(words: Sequence[str], interpreter: Interpreter) -> list[str]:
    first = Path(words[0]).name
    python = str(interpreter.executable)
    if first in ("python", "python3"):
        words = [python, *words[1:]]
    elif first in ("pytest", "py.test"):
        words = [python, "-m", "pytest", *words[1:]]
    return [*words, "-p", "no:cacheprovider"] if list(words[1:3]) == ["-m", "pytest"] else list(words)


def _tail(text: str) -> str:
    return "\n".join(text.strip().splitlines()[-25:])[-3000:]
