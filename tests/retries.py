"""What a live verdict says about a test, and when it is measured again: one rule for all tests marked `smoke`.

An honest "not shown" is measured again. A wrong verdict, or a cheat that wins, is final at once.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

MOST_IN_A_TEST = 3
"""Retries of one test. A gain of 2x that four measurements do not show is no matter of noise."""
MOST_IN_A_RUN = 3
"""Retries of all tests of one run together: a run that needs more says nothing about the code."""


class Answer(StrEnum):
    """What one measurement means for the test."""

    RIGHT = "right"
    NOT_SHOWN = "not shown"
    WRONG = "wrong"


@dataclass(frozen=True, slots=True)
class Finding:
    """An answer, and the verdict that it was drawn from."""

    answer: Answer
    why: str


@dataclass(slots=True)
class Retries:
    """Those that the run has taken so far."""

    taken: int = 0


def settle(observe: Callable[[], Finding], run: Retries, report: Callable[[int, str], None]) -> Finding:
    """Observes until the answer is right or wrong, or no retry is left.

    Args:
        observe: takes one measurement.
        run: counts over all tests of the run.
        report: is told of each retry before it: its number in this test, and why.

    Returns:
        the last finding; "not shown" where no retry was left.
    """
    found = observe()
    for number in range(1, MOST_IN_A_TEST + 1):
        if found.answer is not Answer.NOT_SHOWN or run.taken == MOST_IN_A_RUN:
            break
        run.taken += 1
        report(number, found.why)
        found = observe()
    return found


def gain(document: Mapping[str, Any], least: float) -> Finding:
    """Judges the verdict on a rewrite that is better by far: `least` must be below the interval of the ratio."""
    status, reason, why = _read(document)
    if status == "improved":
        shown = document["speedup"]["low"] > least
        return Finding(Answer.RIGHT if shown else Answer.NOT_SHOWN, why)
    undecided = status == "no_improvement" and reason == "not_faster"
    return Finding(Answer.NOT_SHOWN if undecided else Answer.WRONG, why)


def loss(document: Mapping[str, Any]) -> Finding:
    """Judges the verdict on a right rewrite that is worse by far."""
    status, reason, why = _read(document)
    answers = {"slower": Answer.RIGHT, "not_faster": Answer.NOT_SHOWN}
    return Finding(answers.get(reason, Answer.WRONG) if status == "no_improvement" else Answer.WRONG, why)


def no_gain(document: Mapping[str, Any], reasons: Collection[str]) -> Finding:
    """Judges the verdict on what must not win: it is never "not shown", so nothing is measured again."""
    status, reason, why = _read(document)
    right = status in ("no_improvement", "rejected") and reason in reasons
    return Finding(Answer.RIGHT if right else Answer.WRONG, why)


def _read(document: Mapping[str, Any]) -> tuple[str, str, str]:
    """Returns a verdict's status, the reason of the rung that failed, and both with its detail as one line."""
    failed = next((rung for rung in document["rungs"] if rung["status"] == "failed"), None)
    reason = failed["reason"] if failed else ""
    detail = failed["detail"] if failed else document["message"]
    speedup = document["speedup"]
    figures = f"{speedup['ratio']:.3f} ({speedup['low']:.3f} to {speedup['high']:.3f})" if speedup else "no figures"
    return document["status"], reason, f"{document['status']} {reason}: {figures}; {detail}".replace("\n", " ")
