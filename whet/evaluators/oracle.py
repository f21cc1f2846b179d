"""Judges one outcome, outside: against the baseline's on the same input, and by the workload's own property."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from whet.core.task import Kind, Task
from whet.core.verdict import Reason
from whet.evaluators.artifacts import Builder
from whet.evaluators.compare import Difference, difference, show, stdout_difference
from whet.evaluators.finding import Fault
from whet.evaluators.floats.judge import FloatJudge
from whet.evaluators.floats.native_reference import NativeReference
from whet.evaluators.floats.reference import PythonReference, Reference
from whet.evaluators.inputs.plain_data import read
from whet.evaluators.inputs.source import EDITED, Input, InputSource
from whet.evaluators.outcomes import decode_run
from whet.evaluators.python_text import call_text, session_text
from whet.sandbox.inside.codec import CodecError
from whet.sandbox.inside.decode import Node, decode

LAST_LINES = 8
"""Lines of stderr, the last ones, that are told where an exit code is wrong. More cost tokens of the Coder; fewer may
lack the error."""
LAST_CHARACTERS = 800
"""What is told of stderr where an exit code is wrong."""


class Oracle:
    """Knows what is right for one task. Safe for several threads."""

    def __init__(self, task: Task, source: InputSource, builder: Builder | None = None) -> None:
        """Begins without any process.

        Args:
            task: says how outcomes are compared.
            source: of the inputs; knows the workload's own property.
            builder: where the baseline is run with more bits; None judges floats by a few units of their last place.
        """
        self._task = task
        self._source = source
        ratio = task.oracle.tolerance.error_ratio
        judged = ratio and builder is not None and task.kind is Kind.FUNCTION
        self._floats = FloatJudge(ratio, _reference(builder)) if judged and builder is not None else None

    @property
    def floats(self) -> FloatJudge | None:
        """What judges floats by an error ratio, where the task asks for one."""
        return self._floats

    def judge(self, item: Input, expected: bytes, actual: bytes) -> Fault | None:
        """Compares the candidate's outcome on an input with the baseline's; None where it is right."""
        if expected == actual and item.expected is None:
            return None
        found = self.compare(item, expected, actual)
        if found is not None:
            return Fault(found.reason, f"{found.detail}\n{self.input_text(item)}")
        if why := self._source.check(item.payload, self.checkable(actual)):
            return Fault(Reason.WRONG_OUTPUT, f"the workload's {why}\n{self.input_text(item)}")
        return None

    def compare(self, item: Input, expected: bytes, actual: bytes) -> Difference | None:
        """Returns how an outcome differs from the baseline's, if at all."""
        if self._task.kind is Kind.FUNCTION:
            floats = partial(self._floats.where, item.payload) if self._floats else None
            # What an edit of ours made one object says nothing of what callers of the original may rely on.
            return difference(expected, actual, self._task.oracle, floats, sharing=item.source != EDITED)
        ours, theirs = decode_run(expected), decode_run(actual)
        if ours.code != theirs.code:
            lines = theirs.stderr.decode("utf-8", "replace").strip().splitlines()[-LAST_LINES:]
            said = "".join(f"\n{line}" for line in lines)[-LAST_CHARACTERS:]
            return Difference(Reason.CRASH, f"expected exit code {ours.code}, got {theirs.code}{said and f':{said}'}")
        return stdout_difference(
            item.expected if item.expected is not None else ours.stdout, theirs.stdout, self._task.oracle
        )

    def float_evidence(self) -> Mapping[str, Any]:
        """Returns how this thread's floats were judged since it asked last; empty where none had other bits."""
        return self._floats.evidence() if self._floats else {}

    def close(self) -> None:
        """Ends the processes that it judges floats with."""
        if self._floats:
            self._floats.close()

    def checkable(self, outcome: bytes) -> bytes:
        """Returns the part of an outcome that a workload's `check` looks at."""
        if self._task.kind is Kind.FUNCTION:
            return outcome
        return decode_run(outcome).stdout

    def input_text(self, item: Input) -> str:
        """Returns an input as a line for people and for the Coder."""
        if self._task.kind is Kind.PROGRAM:
            return f"on {item.name}, stdin {show(item.payload.decode('utf-8', 'replace'))}"
        value = decode(item.payload)
        symbol = self._task.symbol or ""
        if call := call_text(symbol, value) or _session(symbol, item.payload):
            return f"on {item.name}: {call}"
        if isinstance(value, Node):  # {"args": ..., "kwargs": ..., "init": ...}
            return f"on {item.name}: {show(value)}"
        return f"on {item.name}: {self._task.symbol}({', '.join(show(argument) for argument in value)})"


def _session(symbol: str, payload: bytes) -> str:
    """Returns statements for an input that holds an object twice; empty where there are none."""
    try:
        return session_text(symbol, read(payload))
    except (CodecError, RecursionError):
        return ""


def _reference(builder: Builder) -> Reference:
    return PythonReference(builder) if builder.task.signature is None else NativeReference(builder)
