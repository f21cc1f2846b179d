"""What a C or C++ function keeps between calls, as far as others can see it, and where a rewrite's differs.

Others see its exported variables, functions that only read, and ``errno``.
"""

from __future__ import annotations

import re
import struct
from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from whet.core.signature import Argument
from whet.core.task import Kind, Task
from whet.evaluators.artifacts import Artifact
from whet.evaluators.compare import JudgeFloats, show
from whet.evaluators.finding import Fault
from whet.evaluators.floats.leaves import RESULT, Groups, leaves, wide
from whet.evaluators.floats.rules import by_tolerance, finite
from whet.evaluators.inputs.call_sequences import Calls
from whet.evaluators.inputs.contract import CODES
from whet.evaluators.native_readers import Reader, readers
from whet.evaluators.native_tree import COMMENTS
from whet.evaluators.native_variables import FLOATS, Float, Variable
from whet.evaluators.own_state import is_cache
from whet.evaluators.sequence_outcomes import SequenceOutcome, by_half_the_digits, first_difference, value_difference
from whet.sandbox.inside.decode import decode
from whet.sandbox.inside.exported_data import keeps_state
from whet.sandbox.inside.native_target import element_bytes
from whet.sandbox.toolchains.native import PROGRAM

SCRATCH = re.compile("scratch|workspace|tmp|buf", re.IGNORECASE)
"""In names of variables that hold what a call leaves behind by chance."""
SETS_ERRNO = re.compile(r"\berrno\s*=\s*E[A-Z]")
TRAPS = (
    "-O1", "-fsanitize=bounds,object-size,null,alignment,integer-divide-by-zero,unreachable,return",
    "-fsanitize-undefined-trap-on-error",
)  # fmt: skip
"""Flags of a build that ends where it would read or write beside a variable."""


@dataclass(frozen=True, slots=True)
class NativeState:
    """How the state of one task's function is compared.

    Attributes:
        task: whose function it is.
        readers: functions that show what the file keeps.
        floats: types of those that variables may hold.
        errno: whether the target sets ``errno`` itself.
    """

    task: Task
    readers: tuple[Reader, ...]
    floats: tuple[Float, ...]
    errno: bool

    @classmethod
    def of(cls, task: Task, baseline: Artifact) -> NativeState | None:
        """Returns how a target is compared; None where it is no native function, or keeps nothing."""
        if task.kind is not Kind.FUNCTION or task.signature is None or task.launch is not None:
            return None
        text = COMMENTS.sub(" ", "\n".join((task.original[0], *task.support.values())))
        errno = SETS_ERRNO.search(text) is not None
        try:
            kept = keeps_state((baseline.tree / PROGRAM.format(layout=0)).read_bytes())
        except (ValueError, LookupError, struct.error):
            kept = False
        if not kept and not errno:
            return None
        return cls(task, tuple(readers(task)), tuple(one for one in FLOATS if one.words.search(text)), errno)

    def differing(self, ours: SequenceOutcome, theirs: SequenceOutcome) -> Fault | None:
        """Returns where a candidate's sequence first differs from the original's."""
        rule = self.task.oracle
        judge = by_tolerance(rule.tolerance)
        if rule.tolerance.error_ratio:
            judge = _by_largest([decode(step.outcome) for step in ours.steps])
        return first_difference(ours, theirs, rule, judge, self._outside)

    def code(self, sequences: Sequence[Calls]) -> str:
        """Returns sequences as calls, each in a line, with the names of the arguments."""
        assert self.task.signature is not None, "it is a native function"
        given = self.task.signature.given
        lines = []
        for call in (call for sequence in sequences for call in sequence.calls):
            parts = (f"{one.name}={show(_plain(one, value))}" for one, value in zip(given, call.args, strict=False))
            lines.append(f"{self.task.symbol}({', '.join(parts)})")
        return "\n".join(lines)

    def _outside(self, ours: SequenceOutcome, theirs: SequenceOutcome, number: int) -> Iterator[str]:
        """Yields how what both sides show after a call differs.

        Before the first call nothing is compared: a table may be filled earlier than it was.
        """
        if number == 0:
            return
        mine, other = (_values(came, number) for came in (ours, theirs))
        for name in sorted(mine.keys() & other.keys()):
            expected, got = mine[name], other[name]
            if expected == got or is_cache(name):
                continue
            seen = [_values(ours, at) for at in range(len(ours.steps))]
            held = [decode(values[name]) for values in seen if name in values]  # readers begin with the first call
            if name == "errno":
                # What a call that succeeds leaves there is anybody's.
                if self.errno and held[number]:
                    yield f"errno: expected {held[number]}, got {show(decode(got))}"
            elif name.endswith(")"):
                if where := value_difference(name, expected, got, self.task.oracle, _by_largest(held)):
                    yield where
            elif not SCRATCH.search(name):
                variable = Variable(held, self.floats, self.task.oracle.tolerance)
                if where := variable.difference(number, decode(got)):
                    yield f"{_readable(name)}{where}"


def trapped(baseline: Artifact) -> Artifact | None:
    """Returns the original in a build that ends where it would read beside a variable; None where there is none."""
    built = baseline.builder.build(baseline.source, TRAPS, layouts=1)
    return built if isinstance(built, Artifact) else None


def _plain(one: Argument, value: Any) -> Any:
    """Returns an argument with a buffer's elements as a list."""
    return array(CODES[one.type], element_bytes(value, one.type, one.name)).tolist() if one.buffer else value


def _readable(name: str) -> str:
    """Returns a name with that of a C++ variable as its source has it, where it is plain."""
    what, _, mangled = name.rpartition(" ")
    parts, rest = [], mangled.removeprefix("_ZN").removesuffix("E")
    while mangled.startswith("_ZN") and (length := re.match(r"\d+", rest)):
        end = length.end() + int(length[0])
        parts.append(rest[length.end() : end])
        rest = rest[end:]
    return f"{what} {'::'.join(parts)}" if parts and not rest else name


def _values(came: SequenceOutcome, number: int) -> Mapping[str, bytes]:
    """Returns all values after a call: each call has those alone that it changed."""
    found: dict[str, bytes] = {}
    for step in came.steps[: number + 1]:
        found |= step.outside
    return found


def _by_largest(values: Sequence[Any]) -> JudgeFloats:
    """Returns a judge of floats by half of their digits, in relation to the largest of several values.

    A float of 32 bits that comes near to zero by chance has no more right digits.
    """

    def judge(ours: Groups, theirs: Groups) -> str:
        groups = [group for value in values for group in leaves(value, RESULT).values()]
        scale = max((float(np.abs(finite(wide(group.values()))).max(initial=0.0)) for group in groups), default=0.0)
        return by_half_the_digits(scale)(ours, theirs)

    return judge
