"""What came of a sequence of calls, and where a candidate's differs from the original's."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np

from whet.core.task import OracleRule
from whet.core.verdict import Reason
from whet.evaluators.compare import JudgeFloats, difference, show
from whet.evaluators.finding import Fault
from whet.evaluators.floats.leaves import LEAST, RESULT, FloatGroup, epsilon, wide
from whet.evaluators.floats.rules import Allowance, beyond, by_tolerance, finite
from whet.evaluators.inputs.plain_data import read, write
from whet.evaluators.own_state import is_cache
from whet.sandbox.inside.decode import decode


@dataclass(frozen=True, slots=True)
class StepCame:
    """What came of one call.

    Attributes:
        outcome: see `whet.sandbox.inside.invocation.stored`.
        outside: values outside of objects that are not as they were before the first call, encoded, by their names.
    """

    outcome: bytes
    outside: Mapping[str, bytes]


@dataclass(frozen=True, slots=True)
class SequenceOutcome:
    """What came of a sequence.

    Attributes:
        names: of the values outside of objects that there were before the first call.
        steps: what came of each call, the making of an object first.
    """

    names: frozenset[str]
    steps: tuple[StepCame, ...]


def came_of(outcome: bytes) -> SequenceOutcome:
    """Reads an outcome of `whet.sandbox.inside.sequences.call_sequence`, which may be hostile.

    Raises:
        ValueError, TypeError: it is none.
    """
    names, steps = decode(outcome)
    found = tuple(StepCame(came, dict(outside)) for came, outside in steps)
    data = [part for step in found for part in (step.outcome, *step.outside.values())]
    texts = [*names, *(name for step in found for name in step.outside)]
    if not all(type(part) is bytes for part in data) or not all(type(name) is str for name in texts):
        raise TypeError("something else than encoded values and their names")
    return SequenceOutcome(frozenset(names), found)


Outside = Callable[[SequenceOutcome, SequenceOutcome, int], Iterator[str]]
"""Yields how values outside of objects differ after the call with a number."""


def differing(ours: SequenceOutcome, theirs: SequenceOutcome, rule: OracleRule) -> Fault | None:
    """Returns where a candidate's sequence of a Python function or method first differs from the original's."""
    judge = by_half_the_digits() if rule.tolerance.error_ratio else by_tolerance(rule.tolerance)
    return first_difference(ours, theirs, rule, judge, partial(_outside, rule, judge))


def first_difference(
    ours: SequenceOutcome, theirs: SequenceOutcome, rule: OracleRule, judge: JudgeFloats, outside: Outside
) -> Fault | None:
    """Returns where a candidate's sequence first differs from the original's.

    Args:
        ours: the original's.
        theirs: the candidate's.
        rule: what counts.
        judge: of floats that were returned.
        outside: compares what outlives calls outside of objects.
    """
    for number, (mine, other) in enumerate(zip(ours.steps, theirs.steps, strict=False)):
        if found := difference(mine.outcome, other.outcome, rule, judge):
            return Fault(found.reason, found.detail)
        if where := next(outside(ours, theirs, number), ""):
            return Fault(Reason.WRONG_OUTPUT, f"after the call, {where}")
    if len(ours.steps) != len(theirs.steps):
        return Fault(Reason.SANDBOX_VIOLATION, "the outcome is not in the form that the harness writes")
    return None


def _outside(
    rule: OracleRule, judge: JudgeFloats, ours: SequenceOutcome, theirs: SequenceOutcome, number: int
) -> Iterator[str]:
    """Yields how values outside of objects differ: those that the original has, but for caches."""
    mine, other = ours.steps[number], theirs.steps[number]
    for name in sorted({*mine.outside, *(other.outside.keys() & ours.names)}):
        expected, got = mine.outside.get(name), other.outside.get(name)
        if expected == got or is_cache(name):
            continue
        if expected is None:
            yield f"{name} has changed, to {show(decode(got or b''))}"
        elif got is None:
            what = "is as it was before" if name in theirs.names else "is gone"
            yield f"{name} {what}: expected {show(decode(expected))}"
        elif where := value_difference(name, expected, got, rule, judge):
            yield where


def value_difference(name: str, expected: bytes, got: bytes, rule: OracleRule, judge: JudgeFloats) -> str:
    """Returns how two encoded values of a name differ; empty where they do not."""
    found = difference(_as_outcome(expected), _as_outcome(got), rule, judge)
    return "" if found is None else found.detail.replace(RESULT, name, 1)


def _as_outcome(data: bytes) -> bytes:
    return write(("value", None, None, read(data), ""))


def by_half_the_digits(scale: float = 0.0) -> JudgeFloats:
    """Returns a judge that says where floats differ by more than half of their digits.

    Single calls are judged by the original's own error. Over several calls errors add up, and a call that is lost, made
    twice or made on other values shows in the leading digits.

    Args:
        scale: what the digits are those of, where it is more than the largest value beside them.
    """

    def rule(name: str, group: FloatGroup) -> Allowance:
        values = finite(wide(group.values()))
        largest = max(scale, float(np.abs(values).max(initial=0.0)))
        allowed = max(largest * epsilon(group.format) ** 0.5, LEAST)
        return Allowance(values, np.full_like(values, allowed), np.zeros_like(values))

    return lambda ours, theirs: beyond(ours, theirs, rule)
