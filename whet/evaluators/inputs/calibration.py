"""Sizes for a workload that names none: inputs grow until one call of the baseline lasts long enough to be timed."""

from __future__ import annotations

import ast
import math
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, replace

from whet.core.errors import UsageError
from whet.core.profile import in_bytes
from whet.core.task import HINTS, MIB, Kind, Limits, Task
from whet.core.trees import parse_python
from whet.evaluators.artifacts import Builder
from whet.evaluators.finding import Fault
from whet.evaluators.inputs.drafts import drafts
from whet.evaluators.inputs.source import InputSource, derive
from whet.evaluators.inputs.target_text import read_text
from whet.evaluators.inputs.type_hints import UnknownTypeError
from whet.evaluators.languages.registry import takes_objects
from whet.evaluators.outcomes import decode_call, decode_run
from whet.evaluators.processes import TargetProcess

LIMITS = Limits(seconds=5.0, memory=2048 * MIB, output=64 * MIB)
"""Of the generator, while nobody knows how fast its inputs grow."""
LARGEST = 1 << 22
"""Largest size that is tried. At two bytes an element its input has `MOST_BYTES`, so it ends the search only where
inputs grow more slowly than their size; a smaller one leaves such targets too short to be timed."""
MOST_BYTES = 8 * MIB
"""Of one input: it is drawn, sent and kept many times."""
CALL_SECONDS = 2.0
"""A call that lasts longer is not waited for."""
SECONDS = 45.0
"""All calls of one search together."""
SMALLEST_FAIR = 16
"""Below it, an exception may only mean that an input is too small to make sense."""
DRAWS = 3
"""Inputs of each size that are called; the longest call counts. More find a slow input more often, and each takes a
part of `SECONDS`."""
FLAT = 1 << 14
"""What is still too short to be timed at this size does not grow."""
SHORTEST_CALL = 1e-5
"""What is shorter is not timed even in batches."""
STAND_IN = (16, 64)
"""Sizes of a draft on which the baseline fails: its failure is told when it is validated."""

CallSeconds = Callable[[int, float], float]
"""See `whet.evaluators.timing.instruments.Instruments.call_seconds`."""


@dataclass(frozen=True, slots=True)
class _Window:
    """Seconds that one call shall last."""

    least: float
    most: float


FUNCTION = _Window(0.005, 0.25)
PROGRAM = _Window(0.1, 1.0)
"""The start of a process is part of each run."""


@dataclass(frozen=True, slots=True)
class _Fit:
    """Sizes that fit, and the seconds of a call at the largest."""

    sizes: tuple[int, ...]
    seconds: float


def names_sizes(text: str) -> bool:
    """Whether a workload file says anything about sizes; what cannot be parsed is told when it is loaded."""
    try:
        nodes = list(ast.walk(parse_python(text)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return True
    return any(isinstance(node, ast.Name | ast.alias) and "sizes" in ast.unparse(node) for node in nodes)


def calibrated(builder: Builder, seed: int, timed: bool, call_seconds: CallSeconds) -> Task:
    """Returns a task whose workload has sizes: the given one, where its workload names some or has recorded cases.

    A generator without sizes gets them. Where there is none, and time is to be measured, one is written from the type
    hints. The same seed gives the same inputs; which sizes fit depends on the machine, so they are kept in the task.

    Args:
        builder: of the task.
        seed: of the inputs that are tried.
        timed: whether anything will be timed.
        call_seconds: what a call of some size that took some seconds counts as.

    Raises:
        UsageError: the workload's own generator names no sizes, and none fits.
    """
    task, workload = builder.task, builder.task.workload
    named = workload.generator is not None and not workload.origin and names_sizes(workload.generator)
    if workload.cases or workload.sizes or named or (workload.recorded and workload.generator is None):
        return task
    if workload.generator is not None:
        fit = _fit(builder, workload.generator, seed, call_seconds)
        if isinstance(fit, str):
            raise UsageError(
                f"the workload file names no sizes, and none fits: {fit}; add for instance: sizes = [9, 99]"
            )
        return replace(task, workload=replace(workload, sizes=fit.sizes))
    return _from_hints(builder, seed, call_seconds) if timed else task


def _from_hints(builder: Builder, seed: int, call_seconds: CallSeconds) -> Task:
    """Returns the task with the first generator written from its hints that lasts, or else that which lasts longest."""
    task = builder.task
    if not takes_objects(task):
        return task
    try:
        texts = list(drafts(task, read_text(task).literals))
    except UnknownTypeError:
        return task  # told when its inputs are asked for
    if not texts:
        return task
    best, chosen = _Fit(STAND_IN, 0.0), texts[0]
    for text in texts:
        fit = _fit(builder, text, seed, call_seconds)
        if isinstance(fit, _Fit) and fit.seconds > best.seconds:
            best, chosen = fit, text
        if best.seconds >= FUNCTION.least:
            break
    return replace(task, workload=replace(task.workload, generator=chosen, sizes=best.sizes, origin=HINTS))


def _fit(builder: Builder, text: str, seed: int, call_seconds: CallSeconds) -> _Fit | str:
    """Returns the sizes that fit a generator, or why none does."""
    with closing(_Trials(builder, text, seed, call_seconds)) as trials:
        found = _grown(trials, FUNCTION if builder.task.kind is Kind.FUNCTION else PROGRAM)
        if isinstance(found, str):
            return found
        size, seconds = found
        smaller = (n for n in (size // 2, size * 3 // 4, size - 1) if 0 < n < size)
        second = next((n for n in smaller if _lasts(trials.seconds(n))), 0)
        least = [n for n in (size // 128, size // 16) if 0 < n < second and isinstance(trials.seconds(n), float)]
        return _Fit((*least, *([second] if second else []), size), seconds)


def _lasts(seconds: float | str) -> bool:
    return isinstance(seconds, float) and seconds >= SHORTEST_CALL


def _grown(trials: _Trials, window: _Window) -> tuple[int, float] | str:
    """Returns the size whose call lasts as long as the window asks, or else the largest that fits; or why none does."""
    good: tuple[int, float] | None = None
    bad, why = 0, ""
    for size in _steps():
        found = trials.seconds(size)
        if isinstance(found, float) and found <= window.most:
            good = size, found
            if found >= window.least or (size >= FLAT and found < SHORTEST_CALL):
                return good
        elif good is not None or size >= SMALLEST_FAIR or isinstance(found, float):
            bad, why = size, found if isinstance(found, str) else f"a call lasts {found:.2g} s at size {size}"
            break
    if good is None:
        return why
    low = good[0]
    # What grows like an exponential jumps over the window.
    while bad - low > max(1, low // 8) and good[1] < window.least:
        middle = max(low + 1, math.isqrt(low * bad))
        found = trials.seconds(middle)
        if isinstance(found, float) and found <= window.most:
            low, good = middle, (middle, found)
        else:
            bad = middle
    return good


def _steps() -> Iterator[int]:
    size = 1
    while size <= LARGEST:
        yield size
        size *= 2 if size < SMALLEST_FAIR else 4


class _Trials:
    """Tries sizes of one generator on the baseline. Whatever fails in between costs a process, and no more."""

    def __init__(self, builder: Builder, text: str, seed: int, call_seconds: CallSeconds) -> None:
        workload = replace(builder.task.workload, generator=text, sizes=(1,))
        self._task = replace(builder.task, workload=workload)
        self._builder = builder
        self._seed = seed
        self._call_seconds = call_seconds
        self._source: InputSource | None = None
        self._process: TargetProcess | None = None
        self._spent = 0.0
        self._known: dict[int, float | str] = {}

    def seconds(self, size: int) -> float | str:
        """Returns the longest of some calls at a size, or why there is none."""
        if size not in self._known:
            began = time.monotonic()
            self._known[size] = "it takes too long to try" if self._spent > SECONDS else self._tried(size)
            self._spent += time.monotonic() - began
        return self._known[size]

    def close(self) -> None:
        """Ends its processes."""
        for part in (self._source, self._process):
            if part is not None:
                part.close()

    def _tried(self, size: int) -> float | str:
        try:
            inputs = self._opened().draw(size, [derive(self._seed, "calibrate", size, i) for i in range(DRAWS)])
        except UsageError as error:
            if self._source is not None:
                self._source.close()
            self._source = None
            return str(error)
        if (longest := max(len(item.payload) for item in inputs)) > MOST_BYTES:
            return f"an input of size {size} has {in_bytes(longest)}"
        seconds = [self._called(item.payload) for item in inputs]
        if failed := next((one for one in seconds if isinstance(one, str)), None):
            return f"{failed} at size {size}"
        return max(self._call_seconds(size, one) for one in seconds if isinstance(one, float))

    def _opened(self) -> InputSource:
        if self._source is None:
            self._source = InputSource(self._task, self._builder.sandbox, self._builder.interpreter, LIMITS)
        return self._source

    def _called(self, payload: bytes) -> float | str:
        """Returns the seconds of a call, or how it failed."""
        process = self._started()
        if isinstance(process, Fault):
            return process.detail
        answer = process.call(payload, min(CALL_SECONDS, self._task.limits.seconds))
        if isinstance(answer, Fault):
            process.close()
            self._process = None
            return answer.detail
        if self._task.kind is Kind.PROGRAM:
            code = decode_run(answer[0]).code
            return answer[1] if code == 0 else f"it ended with exit code {code}"
        came = decode_call(answer[0])
        if came.kind != "value":
            return f"it raised {came.exception}" if came.kind == "raise" else str(came.kind)
        return answer[1]

    def _started(self) -> TargetProcess | Fault:
        if self._process is None:
            artifact = self._builder.build(self._task.source)
            process = artifact if isinstance(artifact, Fault) else artifact.start()
            if isinstance(process, Fault):
                return process
            self._process = process
        return self._process
