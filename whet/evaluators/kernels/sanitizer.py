"""NVIDIA's compute-sanitizer on an answer that runs on a GPU: memory out of bounds, and races in shared memory.

An answer may read or write beyond its tensors, or race, and be right all the same, here and today. What is reported of
the answer and not of the problem itself on the same input is ``memory_error``.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import whet.sandbox
from whet.core.verdict import Reason
from whet.evaluators.artifacts import Artifact, task_on_gpu
from whet.evaluators.finding import Fault, Passed, Skipped
from whet.evaluators.inputs.source import Input, InputSource
from whet.evaluators.kernels.answers import kind_of
from whet.evaluators.processes import START_SECONDS, fault
from whet.sandbox.protocol import Incident, Job
from whet.sandbox.toolchains.cuda import find_tool

NAME = "compute-sanitizer"
MEMORY, RACES = "memcheck", "racecheck"
TOOLS = {MEMORY: "memory out of bounds", RACES: "races in shared memory"}
SHARED = "__shared__"
"""Triton's kernels have shared memory too, but no word in their text that could let two threads race for it."""
MISSING = f"{NAME} is not installed; it comes with NVIDIA's CUDA toolkit"
REPORTED = 77
"""Exit code that it ends a program with when it reports."""
SECONDS = 120.0
"""That one run may take: torch starts slowly under it, and each access is looked at."""
OPTIONS = ("--error-exitcode", str(REPORTED), "--report-api-errors", "no", "--print-limit", "4")
SETTINGS = ("PYTORCH_NO_CUDA_MEMORY_CACHING=1",)
"""Each tensor is an allocation of its own then: what lies beyond it is out of bounds."""
SIGN = "========="
CALL = """\
import json, sys
sys.path[:0] = json.loads(sys.argv[1])
from inside.calls import open_target
target = open_target(sys.argv[2], *json.loads(sys.argv[3]))
target.call(*target.decode(sys.stdin.buffer.read()))
"""
PROGRAMS = ["/whet", str(Path(whet.sandbox.__file__).parent)]
"""Where our programs inside lie: in a sandbox, and without one."""


@dataclass(frozen=True, slots=True)
class Ended:
    """How a run ended.

    Attributes:
        code: its exit code; negative is a signal.
        said: what it printed, and wrote to stderr behind that.
    """

    code: int
    said: str


def check_kernels(
    original: Artifact, answer: Artifact, inputs: InputSource, seed: int
) -> Fault | Passed | Skipped | None:
    """Calls an answer once under each tool; None for what runs on no GPU, or has no kernels of its own.

    Args:
        original: the problem; what is reported of it too is not held against an answer.
        answer: what is looked at.
        inputs: draws an input of the smallest size.
        seed: of the input.
    """
    task = answer.builder.task
    if task.module is None or not task_on_gpu(task) or not kind_of(answer.source).needs_device:
        return None
    tool = find_tool(NAME, answer.builder.interpreter)
    if tool is None:
        return Skipped(Reason.TOOL_MISSING, MISSING)
    (item,) = inputs.draw(inputs.sizes[0], [seed])
    return watched(tool, original, answer, item)


def watched(tool: Path, original: Artifact, answer: Artifact, item: Input) -> Fault | Passed | Skipped:
    """Calls an answer once under each tool that has something to look at; see `check_kernels`."""
    used = (MEMORY, RACES) if SHARED in answer.source else (MEMORY,)
    for name in used:
        what = TOOLS[name]
        try:
            found = _run(tool, name, answer, item)
            if found.code == 0:
                continue
            ours = _run(tool, name, original, item)
        except Incident as incident:
            return Skipped(Reason.TOOL_MISSING, f"not watched for {what}: {fault(incident, SECONDS).detail}")
        if ours.code == REPORTED:
            return Skipped(Reason.NOT_ASKED, f"the original itself is reported by {name}")
        if ours.code != 0:
            return Skipped(Reason.TOOL_MISSING, f"{NAME} does not run here: {_last(ours.said)}")
        if found.code != REPORTED:
            return Fault(Reason.CRASH, f"watched for {what}, it ended with {found.code}: {_last(found.said)}")
        return Fault(Reason.MEMORY_ERROR, f"{headline(found.said)}\non {item.name}", {"report": found.said[:4000]})
    told = " and ".join(TOOLS[name] for name in used)
    return Passed(f"watched for {told} on {item.name}", {"tools": list(used)})


def headline(said: str) -> str:
    """Returns what a report comes to in a line: the first error, and where it is."""
    lines = [line.removeprefix(SIGN).strip() for line in said.splitlines() if line.startswith(SIGN)]
    for number, line in enumerate(lines):
        if line.startswith(("Invalid", "Misaligned", "Error:", "Warning:", "Program hit")):
            place = next((one for one in lines[number + 1 : number + 2] if one.startswith("at ")), "")
            return f"{line} {place}".strip()[:300]
    return f"{NAME} ended it without a word"


def _run(tool: Path, name: str, artifact: Artifact, item: Input) -> Ended:
    builder = artifact.builder
    job = Job("programs", builder.interpreter, artifact.tree, builder.task.limits)
    session = builder.sandbox.open(replace(job, reserves=True, gpu=artifact.on_gpu))
    try:
        session.ask("prepare", _argv(tool, name, artifact, session.tree), item.payload, seconds=START_SECONDS)
        (kind, *answer), _ = session.ask("go", seconds=SECONDS)
        if kind == "error":
            return Ended(-1, str(answer[-1]))
        (_, printed, said), _ = session.ask("output", seconds=START_SECONDS)
        return Ended(answer[0], (printed + said).decode("utf-8", "replace"))
    finally:
        session.close()


def _argv(tool: Path, name: str, artifact: Artifact, tree: str) -> Sequence[str]:
    python = str(artifact.builder.interpreter.executable)
    words = json.dumps(PROGRAMS), tree, json.dumps(artifact.builder.target())
    watching = [str(tool), "--tool", name, *OPTIONS]
    return ["/usr/bin/env", *SETTINGS, *watching, python, "-s", "-B", "-c", CALL, *words]


def _last(said: str) -> str:
    return (said.strip().splitlines()[-1:] or [""])[0][:300]
