"""The commands that repeat a run, or go on with it."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from pathlib import PurePath
from typing import Any

from whet.core.options import Budget, Options
from whet.core.store import RunRecord


@dataclass(frozen=True, slots=True)
class ShellLines:
    """Lines for a shell, and what they do."""

    does: str
    lines: str


def commands(record: RunRecord, target: str, request: Mapping[str, Any], *, evidence: bool) -> Iterator[ShellLines]:
    """Yields what can be done with a run.

    Args:
        record: of the run.
        target: as a user writes it.
        request: that of the record.
        evidence: whether there is a verdict that a bundle can be made of.
    """
    run = record.id
    if evidence and record.result is not None:
        yield ShellLines(
            "Repeat the verdict on any machine, on fresh inputs",
            f"whet runs export {run} --evidence evidence.zip\nwhet verify --evidence evidence.zip",
        )
    if record.command == "optimize":
        if record.result is None:
            yield ShellLines("Go on with the run; nothing recorded is asked or paid again", f"whet runs resume {run}")
        else:
            yield ShellLines("Repeat the run from its record, at no cost", f"whet runs replay {run}")
            yield ShellLines(
                "The same, and time its winner anew on this machine", f"whet runs replay {run} --remeasure"
            )
    yield ShellLines("Read every prompt, reply and verdict", f"whet runs show {run}")
    if not request.get("replays"):
        yield ShellLines(
            "Begin anew, as this run was asked for (a target with a whet.toml is named by its folder)",
            shlex.join(_asked(record.command, target, request)),
        )


def _asked(command: str, target: str, request: Mapping[str, Any]) -> Iterator[str]:
    yield from ("whet", command, target)
    if command == "verify":
        yield from ("--candidate", "FILE")
    else:
        yield from ("--model", request["model"])
        if request["judge_model"] != request["model"]:
            yield from ("--judge-model", request["judge_model"])
        if request.get("takeover"):
            yield from ("--takeover", request["takeover"])
        if request["strategy"] != "auto":
            yield from ("--strategy", request["strategy"])
        yield from ("--rounds", str(request["rounds"]), "--candidates", str(request["candidates"]))
        for field in fields(Budget):
            if (cap := request["budget"][field.name]) is not None:
                yield from (f"--budget-{field.name}", str(cap))
    for field in fields(Options):
        value = request["options"].get(field.name, field.default)
        if value != field.default:
            name = f"--{field.name.replace('_', '-')}"
            value = PurePath(value).name if field.name in ("workload", "python", "project") else value
            yield from (name,) if value is True else (name, str(value))
