"""What one check of the ladder ends in."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar

from whet.core.verdict import Reason


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong with a candidate, or why there is no outcome of it.

    Attributes:
        reason: its code.
        detail: one or a few lines for people and for the Coder.
        evidence: plain JSON data from which it can be repeated.
    """

    reason: Reason
    detail: str
    evidence: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class BaselineLost(Fault):
    """A process of the baseline that failed after validation, or differs from another one: nothing against a candidate.

    Its reason is ``nondeterministic``: on the same inputs, the baseline was fine before.
    """


@dataclass(frozen=True, slots=True)
class Passed:
    """A check that found nothing wrong.

    Attributes:
        detail: what it did, in a line.
        evidence: plain JSON data from which it can be repeated.
    """

    detail: str
    evidence: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Skipped:
    """A check that could not be made.

    Attributes:
        reason: what lacks.
        detail: the same in a line.
    """

    reason: Reason
    detail: str


@dataclass(frozen=True, slots=True)
class Inconclusive:
    """A check that came to no answer, which counts neither for a candidate nor against it.

    Attributes:
        detail: why, in a line.
        evidence: plain JSON data from which it can be repeated.
    """

    detail: str
    evidence: Mapping[str, Any] = field(default_factory=dict)


Finding = Fault | Passed | Skipped | Inconclusive


class RungEndedError(Exception):
    """Ends the work of a rung, from wherever in it something is found that settles it.

    Components that others build on (processes, meters, oracles) give back a `Fault`; `sound` turns it into this, and
    `found_by`, at the border of the rung, turns this into the value again.

    Attributes:
        finding: what settles it.
    """

    def __init__(self, finding: Fault | Skipped) -> None:
        super().__init__(finding.detail)
        self.finding = finding


T = TypeVar("T")


def sound(found: T | Fault | Skipped) -> T:
    """Returns what does not end a rung.

    Raises:
        RungEndedError: it does.
    """
    if isinstance(found, Fault | Skipped):
        raise RungEndedError(found)
    return found


@contextmanager
def lost_with(what: str) -> Iterator[None]:
    """Says of a failure in its block that it is the baseline's, and so nothing against a candidate.

    Args:
        what: the baseline was doing.

    Raises:
        RungEndedError: the block ended so; its finding is a `BaselineLost`.
    """
    try:
        yield
    except RungEndedError as ended:
        detail = f"{what}: {ended.finding.detail}"
        raise RungEndedError(BaselineLost(Reason.NONDETERMINISTIC, detail)) from None


def found_by(work: Callable[[], T]) -> T | Fault | Skipped:
    """Returns what some work finds, or what ended it."""
    try:
        return work()
    except RungEndedError as ended:
        return ended.finding
