"""Judges answers for a GPU where there is none: compiled for a named one, and Triton run by its interpreter.

What only a device can show reads skipped, with the reason ``no_device``; no figure of the CPU ever stands for it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Protocol

from whet.core.candidate import Candidate
from whet.core.errors import BaselineError, UsageError
from whet.core.options import Options
from whet.core.profile import Profile
from whet.core.task import Task
from whet.core.verdict import Reason, Rung, RungStatus, Verdict
from whet.evaluators.artifacts import Builder
from whet.evaluators.finding import Fault, Finding, Passed, Skipped
from whet.evaluators.inputs.source import InputSource, derive
from whet.evaluators.kernels.answers import AnswerLanguage, kind_of
from whet.evaluators.kernels.compiling import NO_TRITON, Compiler
from whet.evaluators.kernels.device import chosen_arch
from whet.evaluators.kernels.problem import screen_answer
from whet.evaluators.kernels.scaling import rewritten
from whet.evaluators.kernels.small import ELEMENTS, FEWER_ELEMENTS, small_scale
from whet.evaluators.rungs import Check
from whet.sandbox.inside.module_target import INTERPRETER
from whet.sandbox.inside.without_device import lacks_device
from whet.sandbox.toolchains.cuda import packages

NOT_HERE = "there is no GPU here"
LEVELS = {ELEMENTS: 3.0, FEWER_ELEMENTS: 30.0}
"""Elements of a tensor for Triton's interpreter, and seconds that a call may take, which is made some fifty times.

An answer that takes longer meets the next ones.
"""
NO_NUMPY = "numpy is not installed in the candidates' python; Triton's interpreter needs it: pip install numpy"


class Small(Protocol):
    """The ladder of the same problem with small shapes."""

    def examine(self, shortest_limit: float | None = None) -> None:
        """See `whet.evaluators.ladder.Ladder.examine`."""

    def check(self, candidate: Candidate) -> Verdict:
        """See `whet.evaluators.protocol.Evaluator.check`."""

    def close(self) -> None:
        """See `whet.evaluators.protocol.Evaluator.close`."""


class Deviceless:
    """Judges the answers to one problem that need a GPU. Safe for several threads.

    Args:
        builder: of the problem.
        source: draws its inputs.
        options: as the user gave them.
        seed: of all inputs.
        open_small: opens the ladder of the same problem with small shapes.
    """

    def __init__(
        self,
        builder: Builder,
        source: InputSource,
        options: Options,
        seed: int,
        open_small: Callable[[Task, Options, int], Small],
    ) -> None:
        self._task = builder.task
        self._source = source
        self._options = options
        self._seed = seed
        self._open_small = open_small
        self._compiler = Compiler(builder.sandbox, builder.interpreter, builder.task, chosen_arch(options))
        self._built: dict[str, Finding] = {}
        self._small: dict[int, tuple[Small | Skipped, str]] = {}
        self._lock = threading.Lock()

    @staticmethod
    def judges(candidate: Candidate) -> bool:
        """See `whet.evaluators.apart.Apart.judges`: an answer that needs a GPU."""
        return kind_of(candidate.source).needs_device

    def checks(self, candidate: Candidate, seed: int) -> Mapping[str, Check]:
        """See `whet.evaluators.apart.Apart.checks`; small shapes have batches of their own."""
        kind = kind_of(candidate.source)
        return {
            "screen": lambda: self._screen(candidate, kind),
            "build": lambda: self._build(candidate, kind),
            "differential": lambda: self._differential(candidate, kind),
            "hazard": lambda: Skipped(Reason.NO_DEVICE, NOT_HERE),
        }

    def untimed(self, name: str) -> Rung:
        """See `whet.evaluators.apart.Apart.untimed`."""
        return Rung(name, RungStatus.SKIPPED, Reason.NO_DEVICE, f"{NOT_HERE}: it cannot be timed")

    def profile(self, candidate: Candidate) -> Profile:
        """See `whet.evaluators.apart.Apart.profile`."""
        found = self._build(candidate, kind_of(candidate.source))
        if isinstance(found, Passed):
            told = "\n".join(found.evidence["static"])
            return Profile((), "static facts", f"no GPU here, so nothing was timed; {found.detail}:\n{told}")
        return Profile((), "static facts", found.detail)

    def close(self) -> None:
        """See `whet.evaluators.apart.Apart.close`."""
        with self._lock:
            for small, _ in self._small.values():
                if not isinstance(small, Skipped):
                    small.close()

    def _screen(self, candidate: Candidate, kind: AnswerLanguage) -> Finding:
        if kind is AnswerLanguage.CUDA_C:
            return Passed("holds kernels", {"answer": kind.value})
        return screen_answer(candidate.source, self._task.source) or Passed(
            f"parses, and has the class of an answer ({kind.value})", {"answer": kind.value}
        )

    def _build(self, candidate: Candidate, kind: AnswerLanguage) -> Finding:
        if candidate.id not in self._built:
            size = self._source.sizes[-1]
            (item,) = self._source.draw(size, [derive(self._seed, "kernels")])
            self._built[candidate.id] = self._compiler.compile(candidate.source, kind, item.payload)
        return self._built[candidate.id]

    def _differential(self, candidate: Candidate, kind: AnswerLanguage) -> Finding:
        if kind is not AnswerLanguage.TRITON:
            return Skipped(Reason.NO_DEVICE, f"{NOT_HERE}, and {kind.value} runs nowhere else")
        for needed, why in (("triton", NO_TRITON), ("numpy", NO_NUMPY)):
            if needed not in packages(self._compiler.interpreter):
                return Skipped(Reason.TOOL_MISSING, why)
        found = Skipped(Reason.NO_DEVICE, NOT_HERE)
        for elements in LEVELS:
            small, shapes = self._interpreted(elements)
            if isinstance(small, Skipped):
                return small
            verdict = small.check(candidate)
            rung = verdict.failed or verdict.rung("differential")
            assert rung is not None, "it was asked for"
            if rung.reason is not Reason.TIMEOUT:
                return _told(rung, shapes)
            # It is far slower than any device, so that says nothing of the answer.
            why = rung.detail.partition("\n")[0]
            found = Skipped(Reason.NO_DEVICE, f"{NOT_HERE}, and Triton's interpreter is too slow, {shapes}: {why}")
        return found

    def _interpreted(self, elements: int) -> tuple[Small | Skipped, str]:
        """Returns the ladder with small shapes, and in words which those are; the first that the problem takes."""
        with self._lock:
            if elements not in self._small:
                whole, inputs = (small_scale(self._task.source, held, elements) for held in (True, False))
                self._small[elements] = self._opened(whole, LEVELS[elements])
                if isinstance(self._small[elements][0], Skipped) and inputs != whole:
                    self._small[elements] = self._opened(inputs, LEVELS[elements])
            return self._small[elements]

    def _opened(self, scale: Mapping[str, tuple[int, int]], seconds: float) -> tuple[Small | Skipped, str]:
        task = self._task
        assert task.module is not None
        told = ", ".join(f"{name} = {now}" for name, (_, now) in scale.items())
        shapes = f"with {told}" if told else "with the problem's shapes"
        before = task.module.scale
        after = {name: (before[name][0] if name in before else was, now) for name, (was, now) in scale.items()}
        module = replace(task.module, device=INTERPRETER, scale={**before, **after})
        small = replace(task, source=rewritten(task.source, scale), module=module)
        try:
            ladder = self._open_small(small, replace(self._options, until="differential"), self._seed)
        except UsageError as error:
            return Skipped(Reason.NO_DEVICE, f"{NOT_HERE}, and the problem takes no smaller shapes: {error}"), shapes
        try:
            ladder.examine(seconds)
        except BaselineError as error:
            ladder.close()
            return Skipped(Reason.NO_DEVICE, f"{NOT_HERE}, and the problem takes no smaller shapes: {error}"), shapes
        return ladder, shapes


def _told(rung: Rung, shapes: str) -> Finding:
    """Returns what a rung in the interpreter says of an answer."""
    if rung.status is RungStatus.PASSED:
        return Passed(f"{rung.detail}, in Triton's interpreter, {shapes}", {**rung.evidence, "where": INTERPRETER})
    if rung.reason is None or lacks_device(rung.detail):
        return Skipped(Reason.NO_DEVICE, f"{NOT_HERE}, and its interpreter says: {rung.detail[:400]}")
    return Fault(rung.reason, f"in Triton's interpreter, {shapes}: {rung.detail}", rung.evidence)
