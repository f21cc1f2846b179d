"""KernelBench's own rule of correctness, told beside whet's verdict for leaderboard runs. It decides nothing.

Five inputs of public seeds, every tensor cast to the run's type, one tensor out, ``allclose`` with one flat tolerance.
Reference and answer run apart here, as always; the suite runs them in one process.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from contextlib import closing
from dataclasses import replace
from typing import Any

import numpy as np

from whet.core.errors import UsageError
from whet.core.task import Task, Workload
from whet.evaluators.artifacts import Artifact, Builder
from whet.evaluators.finding import Fault
from whet.evaluators.floats.elements import elements
from whet.evaluators.inputs.source import Input, InputSource
from whet.evaluators.outcomes import decode_call
from whet.evaluators.pairs import Side
from whet.sandbox.inside.decode import Node

NAME = "kernelbench"
TRIALS = 5
"""Inputs of a check, as many as in KernelBench's own: with another number the verdict is no longer the suite's."""
SEED = 42
TOLERANCE = 1e-4
"""Of float32, the run's type."""
HASH_SEED = 1

GENERATOR = """\
# Made by whet: the inputs of KernelBench's own check of correctness.
import importlib

import torch

problem = importlib.import_module({module!r})
sizes = list(range(1, {trials} + 1))
torch.manual_seed({seed})
seeds = [int(torch.randint(0, 2**32 - 1, (1,)).item()) for _ in sizes]


def cast(given):
    return tuple(one.to(torch.float32) if isinstance(one, torch.Tensor) else one for one in given)


def make_input(size, rng):
    torch.manual_seed({seed})
    init = cast(problem.get_init_inputs())
    torch.manual_seed(seeds[size - 1])
    return {{"init": ({seed}, init, {{}}), "args": cast(problem.get_inputs())}}
"""


class KernelBench:
    """Applies the rule to answers of one problem. Safe for several threads."""

    def __init__(self, builder: Builder, baseline: Artifact, seconds: float) -> None:
        """Draws nothing yet.

        Args:
            builder: of the task.
            baseline: the problem's own module.
            seconds: that a call may take.
        """
        self._builder = builder
        self._baseline = baseline
        self._seconds = seconds
        self._lock = threading.Lock()
        self._drawn: list[Input] = []
        self._expected: list[Any] | str = ""

    @property
    def inputs(self) -> list[Input]:
        """The public inputs of the trials."""
        with self._lock:
            if not self._drawn:
                self._draw()
        return self._drawn

    @property
    def lost(self) -> str:
        """Why the problem's own module gives nothing to compare with; empty where it does."""
        return self._expected if self.inputs and isinstance(self._expected, str) else ""

    def judge(self, candidate: Artifact) -> Mapping[str, Any]:
        """Returns what the suite would say of an answer, with the differences that it records."""
        with self._lock:
            if not self._drawn:
                self._draw()
        found = self._outputs(candidate)
        said: dict[str, Any] = {"protocol": NAME, "trials": TRIALS, "right": 0, "tolerance": TOLERANCE}
        if isinstance(self._expected, str) or isinstance(found, str):
            error = self._expected if isinstance(self._expected, str) else found
            return {**said, "passed": False, "error": error}
        pairs = list(zip(self._expected, found, strict=True))
        for ours, theirs in pairs:
            form, their_form = (ours.dtype.name, ours.shape), (theirs.dtype.name, theirs.shape)
            if form != their_form:  # the suite's comparison raises on another type
                return {**said, "passed": False, "error": f"{their_form} instead of {form}"}
        right = sum(_close(ours, theirs) for ours, theirs in pairs)
        gaps = [np.abs(ours.astype(float) - theirs.astype(float)) for ours, theirs in pairs]
        return {
            **said,
            "right": right,
            "passed": right == TRIALS,
            "error": "",
            "max_difference": [float(gap.max(initial=0.0)) for gap in gaps],
            "avg_difference": [float(gap.mean()) if gap.size else 0.0 for gap in gaps],
        }

    def _draw(self) -> None:
        task = self._builder.task
        text = GENERATOR.format(module=task.path.stem, trials=TRIALS, seed=SEED)
        drawn = replace(task, workload=Workload(text))
        with closing(InputSource(drawn, self._builder.sandbox, self._builder.interpreter)) as source:
            self._drawn = [source.draw(trial, [0])[0] for trial in source.sizes]
        self._expected = self._outputs(self._baseline)

    def _outputs(self, artifact: Artifact) -> list[Any] | str:
        """Returns the tensor that a module gives in each trial, or what went wrong."""
        found = []
        with closing(Side(artifact, HASH_SEED)) as side:
            for item in self._drawn:
                answer = side.call(item.payload, self._seconds)
                if isinstance(answer, Fault):
                    return f"{answer.reason}: {answer.detail}"
                came = decode_call(answer[0])
                value = came.value
                if came.kind != "value":
                    return f"raised {value[0]}: {value[1]}"[:300] if came.kind == "raise" else came.kind
                if not isinstance(value, Node) or value.kind != "tensor":
                    return "it returned no tensor, and the suite takes one"
                found.append(elements(value))
        return found


def told(found: Mapping[str, Any]) -> str:
    """Returns what the rule says, as a line."""
    verdict = "passes" if found["passed"] else "fails"
    said = found["error"] or f"{found['right']} of {found['trials']} trials"
    return f"KernelBench's own rule {verdict}: {said}"


def expect_applicable(task: Task) -> None:
    """Returns where the rule can be applied to a task.

    Raises:
        UsageError: the task has not KernelBench's form.
    """
    if task.module is None or task.module.harness or task.module.backward:
        raise UsageError(f"--protocol {NAME} is for problems in KernelBench's form; {task.name} is none")


def _close(ours: Any, theirs: Any) -> bool:
    """As `torch.allclose` has it: NaN is close to nothing, an infinity to itself."""
    with np.errstate(invalid="ignore", over="ignore"):
        gap, allowed = np.abs(ours - theirs), TOLERANCE + TOLERANCE * np.abs(theirs)
        return bool(((ours == theirs) | (np.isfinite(gap) & (gap <= allowed))).all())
