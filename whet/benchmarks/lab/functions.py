"""Runs of Python answers by a suite's own rule, and of the suite's own generators and checkers.

Three kinds of code never share a process: an answer; what makes inputs; and what knows the expected output. Values go
between them as bytes of whet's codec, and nothing of a suite's data is ever evaluated in whet's own process.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from whet.benchmarks.lab.base import Lab
from whet.benchmarks.suites.base import Unusable
from whet.core.errors import UsageError
from whet.core.task import DEFAULT_LIMITS, Kind, Limits, Task
from whet.core.verdict import Reason
from whet.evaluators.artifacts import Builder
from whet.evaluators.counting import Count, count, count_events, trial
from whet.evaluators.finding import Fault
from whet.evaluators.inputs.plain_data import ATOMS, read, write
from whet.evaluators.meters.base import Setting
from whet.evaluators.meters.instructions import APART, HARDWARE, UNSEEN_SECONDS
from whet.evaluators.outcomes import CallOutcome, RunOutcome, decode_run
from whet.evaluators.processes import TargetProcess
from whet.evaluators.timing.turns import EXCESS_OF_HANDOVER, EXCESS_OF_WINDOW, EXCESS_SECONDS
from whet.sandbox.counters import perf
from whet.sandbox.counters.process import PROBE
from whet.sandbox.inside.codec import CodecError
from whet.sandbox.inside.decode import Node

FILENAME = "answer.py"
"""What every text is called where it runs, so that its classes have the same names in each process."""

HELPING_SECONDS = 60.0
"""That one call of a suite's own generator or checker may take."""

HARMLESS = frozenset({"dict", "set", "frozenset", "special", "scalar", "ndarray"})
"""Kinds of values, beside scalars and sequences, that run no code of their own where they are compared."""


@dataclass(frozen=True, slots=True)
class AnswerOutcome:
    """What came of one call of an answer.

    Attributes:
        kind: ``value``, or why there is none: ``raise``, ``timeout``, ``memory``, ``crash``, ``forged`` or ``strange``
            (a result that is no plain data).
        value: the result as plain data, as `whet.evaluators.inputs.plain_data.read` gives it.
        error: type of what was raised, as ``module:name``; empty where nothing was.
        detail: why there is no value, in words.
        inside: seconds in the call, as its process says.
        outside: seconds by the clock out here, the hand-over of input and result included.
        after: the arguments after the call, as a sequence; None where they are as they came.
    """

    kind: str
    value: Any = None
    error: str = ""
    detail: str = ""
    inside: float = 0.0
    outside: float = 0.0
    after: Any = None

    @property
    def handover(self) -> float:
        """Seconds by the clock out here that are not in the call."""
        return self.outside - self.inside


class Submission:
    """One text with the function that a problem asks for, or a program. Its processes hold nothing else."""

    def __init__(self, builder: Builder, source: str, classes: frozenset[str] = frozenset()) -> None:
        """Stages it.

        Args:
            builder: of the problem.
            source: the whole text.
            classes: names of its own classes of which results may hold instances, such as ``ListNode``.
        """
        self._program = builder.task.kind is Kind.PROGRAM
        self._artifact = builder.build(source)
        self._classes = classes

    def call(self, arguments: bytes, seconds: float) -> AnswerOutcome:
        """Calls once, in a process that has called nothing before."""
        (came,) = self.calls([arguments], seconds)
        return came

    def calls(self, inputs: Sequence[bytes], seconds: float) -> Iterator[AnswerOutcome]:
        """Calls with one input after the other in one process, and ends with the first that its process is lost in.

        Args:
            inputs: encoded arguments; of a program its stdin, and each runs in a process of its own.
            seconds: that each call may take, the hand-over included; then the process is killed from outside.
        """
        process = self._started()
        if isinstance(process, AnswerOutcome):
            yield process
            return
        try:
            for arguments in inputs:
                came = self._one(process, arguments, seconds)
                yield came
                if came.kind in ("timeout", "crash", "forged"):
                    return
        finally:
            process.close()

    def _started(self) -> TargetProcess | AnswerOutcome:
        if isinstance(self._artifact, Fault):
            return _lost(self._artifact)
        process = self._artifact.start(worker=None if self._program else 0)
        return _lost(process) if isinstance(process, Fault) else process

    def _one(self, process: TargetProcess, arguments: bytes, seconds: float) -> AnswerOutcome:
        run = process.timed([arguments], seconds)
        if isinstance(run, Fault):
            return _lost(run)
        if len(run.outcomes) != 1 or run.inside > run.outside:
            return AnswerOutcome("forged", detail="its process says more than the clock and the question allow")
        return self._read(run.outcomes[0], run.inside, run.outside)

    def _read(self, outcome: bytes, inside: float = 0.0, outside: float = 0.0) -> AnswerOutcome:
        if self._program:
            return _ended(decode_run(outcome), inside, outside)
        try:
            came = CallOutcome.of(read(outcome))
            kind, value = came.kind, came.value
            arguments = None if came.after is None else came.after[0]
            error, said = (str(value[0]), str(value[1])) if kind == "raise" else ("", "")
            plain = kind == "value" and harmless((value, arguments), self._classes)
        except (CodecError, RecursionError, ValueError, TypeError, IndexError, AttributeError):
            return AnswerOutcome("forged", detail="its process sent no outcome")
        if kind == "raise":
            return AnswerOutcome("raise", None, error, f"{error.partition(':')[2]}: {said[:200]}", inside, outside)
        if kind == "memory":
            return AnswerOutcome("memory", detail="out of memory", inside=inside, outside=outside)
        if not plain:
            return AnswerOutcome("strange", detail="its result is no plain data", inside=inside, outside=outside)
        return AnswerOutcome("value", value, "", "", inside, outside, arguments)

    def count(
        self, counting: Counting, arguments: bytes, came: AnswerOutcome, base: float | None = None
    ) -> float | Fault:
        """Returns the instructions in user mode of one call, without those of starting Python and of loading the text.

        Args:
            counting: what counts.
            arguments: encoded, or stdin.
            came: what came of the same call uncounted; another result than that is a forgery.
            base: instructions of a process that does nothing; None has it counted, for a function.
        """
        if isinstance(self._artifact, Fault):
            return self._artifact
        setting = Setting("candidate", max(1.0, 2 * came.outside), (), 0, 0)
        found = counting.count(self._artifact, [arguments], setting)
        if isinstance(found, Fault):
            return found
        again = self._read(found.outcomes[0]) if len(found.outcomes) == 1 else AnswerOutcome("forged")
        if again.kind != came.kind or write(again.value) != write(came.value):
            return Fault(Reason.CHEATING, "its result was another one while it was counted")
        if base is None:
            idle = counting.count(self._artifact, [arguments], setting, calling=False)
            if isinstance(idle, Fault):
                return idle
            base = idle.instructions
        return max(found.instructions - base, 1.0)

    def believed(
        self, arguments: bytes, seconds: float, counts: tuple[float, float], came: AnswerOutcome, other: AnswerOutcome
    ) -> bool:
        """Whether the clock out here agrees with a count, at the first look or in one of three runs more.

        Args:
            arguments: encoded, or stdin.
            seconds: that a run may take.
            counts: instructions of the call, and of the reference's.
            came: what came of the call.
            other: what came of the reference's.
        """
        if plausible(counts[0], came, counts[1], other):
            return True
        return any(plausible(counts[0], self.call(arguments, seconds), counts[1], other) for _ in range(3))


class Helper:
    """A function of a suite's own data, in a process of its own that never holds an answer."""

    def __init__(self, lab: Lab, source: str, symbol: str, limits: Limits = DEFAULT_LIMITS) -> None:
        self._builder = function_builder(lab, source, symbol, limits)
        self._process: TargetProcess | None = None

    def __call__(self, *arguments: Any, seconds: float = HELPING_SECONDS) -> Any:
        """Returns what the function makes of plain data, as plain data.

        Raises:
            Unusable: it fails, or takes too long.
        """
        if self._process is None:
            self._process = self._start()
        answer = self._process.call(write(arguments), seconds)
        if isinstance(answer, Fault):
            self.close()
            raise Unusable(f"the suite's own code failed: {answer.detail}")
        try:
            came = CallOutcome.of(read(answer[0]))
            said = (
                f"{came.exception}: {came.value[1][:200]}" if came.kind == "raise" else f"no plain data ({came.kind})"
            )
        except (CodecError, RecursionError, ValueError, TypeError, IndexError, AttributeError):
            raise Unusable("the suite's own code sent no outcome") from None
        if came.kind != "value":
            raise Unusable(f"the suite's own code failed: {said}")
        return came.value

    def _start(self) -> TargetProcess:
        artifact = self._builder.build(self._builder.task.source)
        process = artifact if isinstance(artifact, Fault) else artifact.start(worker=0)
        if isinstance(process, Fault):
            raise Unusable(f"the suite's own code does not load: {process.detail}")
        return process

    def close(self) -> None:
        """Ends its process."""
        if self._process is not None:
            self._process.close()
            self._process = None

    def __enter__(self) -> Helper:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


@dataclass(frozen=True, slots=True)
class Counting:
    """What counts instructions here: ``perf`` where the processor shows its counter, else ``cachegrind``."""

    name: str
    count: Count


def open_counting(builder: Builder) -> Counting:
    """Returns what counts instructions in a builder's sandbox.

    Raises:
        UsageError: nothing does.
    """
    if perf.count([PROBE], (HARDWARE,))[0].available:
        return Counting("perf", count_events(HARDWARE))
    if why := trial(builder):
        raise UsageError(f"instructions cannot be counted: {why}")
    return Counting("cachegrind", count)


def function_builder(lab: Lab, source: str, symbol: str, limits: Limits = DEFAULT_LIMITS) -> Builder:
    """Returns what starts texts that define a function or ``Class.method``."""
    root = Path("/")
    return lab.builder(Task(symbol, "python", Kind.FUNCTION, root / FILENAME, source, symbol, root, limits=limits))


def program_builder(lab: Lab, source: str, limits: Limits = DEFAULT_LIMITS) -> Builder:
    """Returns what starts programs that read stdin."""
    root = Path("/")
    return lab.builder(Task("program", "python", Kind.PROGRAM, root / FILENAME, source, None, root, limits=limits))


def _lost(fault: Fault) -> AnswerOutcome:
    kinds = {Reason.TIMEOUT: "timeout", Reason.OUT_OF_MEMORY: "memory", Reason.CHEATING: "forged"}
    return AnswerOutcome(kinds.get(fault.reason, "crash"), detail=fault.detail)


def harmless(value: Any, classes: frozenset[str] = frozenset()) -> bool:
    """Whether a value from an answer can be built where the expected one is known.

    An object of any other class than builtin ones could be one that says that it equals everything.

    Args:
        value: as `whet.evaluators.inputs.plain_data.read` gives it.
        classes: names of classes of the problem's own that are as good.
    """
    seen: set[int] = set()
    left = [value]
    while left:
        one = left.pop()
        if type(one) in ATOMS or type(one) is bytearray or id(one) in seen:
            continue
        seen.add(id(one))
        if type(one) in (list, tuple):
            left += one
        elif type(one) is not Node:
            return False
        elif one.kind == "dict":
            for _, key, item in one.state:
                left += (key, item)
        elif one.kind == "object":
            owner, _, name = one.name.partition(":")
            if owner != FILENAME.removesuffix(".py") or name not in classes:
                return False
            left += [item for _, item in one.state]
        elif one.kind in HARMLESS:
            left.append(one.state)
        else:
            return False
    return True


def agreed(theirs: Sequence[AnswerOutcome], reference: Sequence[AnswerOutcome]) -> bool:
    """Whether the clock out here agrees with what an answer's processes say of their time.

    What the hand-over of the same input and result takes is known from the reference's calls.
    """
    handovers = [one.handover for one in reference]
    usual = statistics.median(handovers)
    window = statistics.median(one.outside for one in theirs)
    allowed = EXCESS_SECONDS + EXCESS_OF_WINDOW * window + EXCESS_OF_HANDOVER * usual
    # On a busy machine the reference's own hand-overs run over now and then: no more is held against anybody.
    allowed += statistics.quantiles(handovers, n=10)[-1] - usual if len(handovers) > 1 else 0.0
    return statistics.median(one.handover for one in theirs) - usual <= allowed


def plausible(count: float, came: AnswerOutcome, reference_count: float, reference: AnswerOutcome) -> bool:
    """Whether the clock out here agrees with a count: it may seem to save ten times more instructions than time."""
    return came.outside <= APART * reference.outside * count / reference_count + UNSEEN_SECONDS + reference.handover


def _ended(run: RunOutcome, inside: float, outside: float) -> AnswerOutcome:
    """Returns what came of a run of a program."""
    if run.code:
        said = run.stderr.decode("utf-8", "replace").strip()[-200:]
        return AnswerOutcome("crash", None, "", f"exit code {run.code}: {said}", inside, outside)
    return AnswerOutcome("value", run.stdout.decode("utf-8", "replace"), "", "", inside, outside)
