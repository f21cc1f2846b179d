"""A program with its cases as a target of whet: a folder with a ``whet.toml``."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from whet.core.task import Case, Task


def write_task(folder: Path, task: Task, cases: Iterable[Case], rule: str = "") -> str:
    """Writes a program into an empty folder, and returns what ``whet verify`` takes for it.

    Args:
        folder: to write into.
        task: of the program, such as `whet.benchmarks.lab.programs.program_task` makes.
        cases: stdin, and stdout where it is known; they are named by their numbers, whatever they are called.
        rule: lines of ``[oracle]``.
    """
    for name, text in {**task.support, task.filename: task.source}.items():
        (folder / name).write_text(text, encoding="utf-8")
    (folder / "cases").mkdir()
    for number, case in enumerate(cases):
        (folder / "cases" / f"{number:05}.in").write_bytes(case.stdin)
        if case.expected is not None:
            (folder / "cases" / f"{number:05}.out").write_bytes(case.expected)
    build: dict[str, object] = {"flags": list(task.flags)} if task.flags else {}
    tables: dict[str, dict[str, object]] = {
        "task": {"language": task.language, "target": task.filename},
        "workload": {"cases": "cases"},
        "limits": {"seconds": task.limits.seconds, "memory": task.limits.memory, "processes": task.limits.processes},
        "build": {"command": task.commands.build} if task.commands else build,
        "run": {"command": task.commands.run} if task.commands else {},
    }
    # A text of JSON is one of TOML too, and so are its numbers and lists.
    parts = [
        "\n".join([f"[{name}]", *(f"{key} = {json.dumps(value)}" for key, value in keys.items()), ""])
        for name, keys in tables.items()
        if keys
    ]
    oracle = [f"[oracle]\n{rule}\n"] if rule else []
    (folder / "whet.toml").write_text("\n".join([*parts, *oracle]), encoding="utf-8")
    return str(folder)
