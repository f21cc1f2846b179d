"""Gives the improved source to the user: ``--apply`` and ``--output``."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from pathlib import Path

from whet.core.errors import UsageError
from whet.core.task import Task


def expect_writable(task: Task, apply: bool, output: Path | None) -> None:
    """StoppingPlan, before any work is done, whether what comes of it can be written.

    Raises:
        UsageError: it cannot.
    """
    if apply and not os.access(task.path, os.W_OK):
        raise UsageError(f"--apply cannot write to {task.path}; use --output FILE")
    if output is None:
        return
    if not output.parent.is_dir():
        raise UsageError(f"--output {output}: there is no folder {output.parent}")
    if output.is_dir() or not os.access(output if output.exists() else output.parent, os.W_OK):
        raise UsageError(f"--output {output} cannot be written to")
    if output.resolve() == task.path.resolve():
        raise UsageError("--output names the target itself; --apply overwrites it")


def deliver(source: str, task: Task, apply: bool, output: Path | None, ours: Sequence[str] = ()) -> list[str]:
    """Writes an improved source where it was asked for, and returns a line for each thing done or not.

    The target is overwritten only while it holds the baseline's bytes, or one of the texts that the run itself has put
    there before (``ours``). Doing it again does no harm.
    """
    lines = []
    if output is not None:
        lines.append(_attempt(output, source, f"written to {output}"))
    if apply:
        there = _bytes(task.path)
        if there in [text.encode("utf-8") for text in (task.source, source, *ours)]:
            lines.append(_attempt(task.path, source, f"applied to {task.path}"))
        else:
            lines.append(f"not applied: {task.path} has changed since the run began; use --output FILE")
    return lines


def _bytes(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except OSError:
        return None


def _attempt(path: Path, text: str, done: str) -> str:
    """Replaces a file in one step, so that nobody ever sees half of it."""
    path = path.resolve()
    partial = path.with_name(f".{path.name}.{os.getpid()}.whet")
    try:
        partial.write_bytes(text.encode("utf-8"))
        if path.exists():
            shutil.copymode(path, partial)
        partial.replace(path)
    except OSError as error:
        partial.unlink(missing_ok=True)
        return f"{path} could not be written: {error.strerror}"
    return done
