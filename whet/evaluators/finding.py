"""What one check of the ladder ends in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

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
