"""Programs in any language: the task's own commands build them inside the sandbox, in a copy of its files."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path, PurePosixPath

from whet.core.task import Task
from whet.sandbox.interpreter import Interpreter
from whet.sandbox.protocol import Incident, Job, Sandbox
from whet.sandbox.toolchains.native import Diagnostics
from whet.sandbox.toolchains.steps import LIMITS

ROOM = 1 << 30
"""Bytes that a build may write."""
SECONDS = 300.0
"""Seconds that a build command may take. Less refuses projects that build slowly; more lets a build that does not end
run for longer."""
SHELL = "/bin/sh"
FOR_A_SHELL = frozenset("|&;<>()$`*?[#~{}!\n\\'\"")
COPY = "built"


def build_tree(sandbox: Sandbox, interpreter: Interpreter, task: Task, tree: Path) -> Mapping[str, bytes] | Diagnostics:
    """Runs a task's build command in a copy of a tree.

    Args:
        sandbox: where to run it; nothing of the network is there.
        interpreter: runs our program inside.
        task: has commands.
        tree: the task's files, with the target's text to be built.

    Returns:
        path -> bytes of all files that the copy holds then, or what the command said.
    """
    assert task.commands is not None
    limits = replace(LIMITS, seconds=SECONDS)
    session = sandbox.open(Job("programs", interpreter, tree, limits, work=ROOM, reserves=True))
    try:
        copied = f"cp -R {shlex.quote(session.tree)}/. {COPY} && chmod -R u+w {COPY} && cd {COPY}"
        session.ask("prepare", [SHELL, "-c", f"{copied} || exit\n{task.commands.build}"], b"", seconds=10.0)
        answer, _ = session.ask("go", seconds=SECONDS)
        (_, printed, said), _ = session.ask("output", seconds=10.0)
        if answer[0] == "error" or answer[1] != 0:
            words = "\n".join(text for one in (said, printed) if (text := one.decode("utf-8", "replace").strip()))
            return Diagnostics(words or f"the build command failed: {task.commands.build}")
        (_, files), _ = session.ask("gather", COPY, LIMITS.output // 2, seconds=60.0)
    except Incident as incident:
        return Diagnostics(f"the build command: {incident}")
    finally:
        session.close()
    if files is None:
        return Diagnostics(f"the build command left more than {LIMITS.output >> 21} MiB of files")
    return {path: content for path, content in files if _plain(path)}


def _plain(path: str) -> bool:
    """Whether a path stays where it belongs: whatever was built names it."""
    parts = PurePosixPath(path).parts
    return bool(parts) and not path.startswith("/") and ".." not in parts and "\0" not in path


def run_words(task: Task, tree: str) -> list[str]:
    """Returns how a built program is started in its tree, which is seen at ``tree``."""
    assert task.commands is not None
    line = task.commands.run
    if FOR_A_SHELL & set(line) or not (words := shlex.split(line)) or "=" in words[0]:
        return [SHELL, "-c", line]
    # Without a shell, whose start would be timed and counted.
    first, *others = words
    return [f"{tree}/{first}" if "/" in first and not first.startswith("/") else first, *others]
