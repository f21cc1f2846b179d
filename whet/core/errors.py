"""Failures of ours, or of what the user gave us. A candidate's failures are values, see `verdict`."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from enum import IntEnum


class Exit(IntEnum):
    """Exit codes of the command line."""

    IMPROVED = 0
    INTERNAL = 1
    USAGE = 2
    NO_IMPROVEMENT = 3
    BUDGET = 4
    BASELINE = 5
    INTERRUPTED = 130


class WhetError(Exception):
    """An error that ends a command: one line that says what is wrong and how to mend it."""

    exit_code = Exit.INTERNAL


class UsageError(WhetError):
    """The command, its options or its configuration cannot be used as given."""

    exit_code = Exit.USAGE


class UnaskedError(UsageError):
    """A model that nobody serves, or that refuses the key, before it ever replied.

    Attributes:
        why: what went wrong, without the way back to the run.
    """

    def __init__(self, why: str, back: str = "") -> None:
        super().__init__(f"{why}; {back}" if back else why)
        self.why = why


class NoInputsError(UsageError):
    """Nothing is known that inputs of the target could be made of."""


class BaselineError(WhetError):
    """The baseline, or the oracle that it gives, cannot be used.

    Attributes:
        reason: a short code for reports, such as ``nondeterministic`` or ``too_short``.
    """

    exit_code = Exit.BASELINE

    def __init__(self, message: str, reason: str) -> None:
        super().__init__(message)
        self.reason = reason


class BudgetError(WhetError):
    """A cap does not allow the next step."""

    exit_code = Exit.BUDGET


class SandboxError(WhetError):
    """The sandbox itself broke; says nothing about the candidate."""


class StoreError(WhetError):
    """The store cannot be read or written any more; what it holds is as it was, and a run can be resumed."""


def nearest(word: str, known: Iterable[str], alike: float = 0.5) -> str:
    """Returns ``; did you mean 'X'?`` for the known word nearest to ``word``, or an empty string.

    Args:
        word: that is not known.
        known: words.
        alike: how much of both has to agree at least, 0 to 1.
    """
    close = difflib.get_close_matches(word, list(known), n=1, cutoff=alike)
    return f"; did you mean '{close[0]}'?" if close else ""
