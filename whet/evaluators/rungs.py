"""What a check found, as a rung of the ladder."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, TypeVar

from whet.core.measurement import Measurement, Outcome
from whet.core.rungs import before_measuring, beyond
from whet.core.task import Task
from whet.core.verdict import Reason, Rung, RungStatus, Verdict
from whet.evaluators.finding import BaselineLost, Fault, Finding, Inconclusive, RungEndedError, Skipped, found_by
from whet.evaluators.inputs.source import derive

OF_A_TRANSLATION = "of a translation it counts that it is right"


def ended(name: str, found: Finding | None, seconds: float) -> Rung:
    """Returns the rung of a check; None says that there was nothing to check with."""
    if found is None:
        return Rung(name, RungStatus.SKIPPED, Reason.NOT_ASKED, "nothing to check with", seconds)
    if isinstance(found, Skipped):
        return Rung(name, RungStatus.SKIPPED, found.reason, found.detail, seconds)
    if isinstance(found, Fault):
        ended_in = RungStatus.INCONCLUSIVE if isinstance(found, BaselineLost) else RungStatus.FAILED
        return Rung(name, ended_in, found.reason, found.detail, seconds, found.evidence)
    status = RungStatus.INCONCLUSIVE if isinstance(found, Inconclusive) else RungStatus.PASSED
    return Rung(name, status, None, found.detail, seconds, found.evidence)


@dataclass(frozen=True, slots=True)
class Timed:
    """What measuring a candidate came to.

    Attributes:
        measurement: of the metric that decides.
        evidence: what it follows from, as plain JSON data.
        beside: what is said of each other metric.
    """

    measurement: Measurement
    evidence: Mapping[str, Any] = field(default_factory=dict)
    beside: tuple[str, ...] = ()

    @property
    def facts(self) -> Mapping[str, Any]:
        """The evidence, and what it shows."""
        return {**_shown(self.measurement), **self.evidence}


T = TypeVar("T")
Check = Callable[[], Finding | Timed | None]
"""One rung's work. It may end early, by a `whet.evaluators.finding.RungEndedError`."""


def climb_rung(name: str, check: Check, until: str | None) -> tuple[Rung, Finding | Timed | None]:
    """Returns the rung of a check, and what it found; beyond the last rung that was asked for, nothing is checked.

    Args:
        name: of the rung.
        check: its work.
        until: the last rung that was asked for, if not all were.
    """
    if beyond(name, until):
        return unasked(name, until), None
    start = time.perf_counter()
    found = found_by(check)
    spent = time.perf_counter() - start
    if not isinstance(found, Timed):
        return ended(name, found, spent), found
    rung = measured(name, found.measurement, spent)
    detail = "; ".join((rung.detail, *found.beside))
    return replace(rung, detail=detail, evidence={**rung.evidence, **found.evidence}), found


def with_the_baseline(seed: int, check: Callable[[int], T]) -> T:
    """Returns what a check finds with a seed; where its processes lost the baseline, in fresh ones with another.

    Args:
        seed: of all that the check draws.
        check: is given its seed.

    Raises:
        RungEndedError: the check was ended, and not by that, or by that once more.
    """
    try:
        return check(seed)
    except RungEndedError as ended:
        if not isinstance(ended.finding, BaselineLost):
            raise
    return check(derive(seed, "once more"))


def climbed(candidate: str, checks: Mapping[str, Check], until: str | None) -> Verdict:
    """Returns what checks find of a candidate, up to the first that fails, or loses the baseline.

    Args:
        candidate: its id.
        checks: by the name of the rung; one that is not among them has nothing to check with.
        until: the last rung that was asked for, if not all were.
    """
    rungs: list[Rung] = []
    absent: Skipped | None = None
    for name in before_measuring(checks):
        rung, found = climb_rung(name, checks.get(name, _nothing) if absent is None else partial(_same, absent), until)
        rungs.append(rung)
        if isinstance(found, Fault):
            break
        if isinstance(found, Skipped) and found.reason is Reason.UNSUPPORTED_CPU:
            absent = found  # nothing further of it can be run
    return Verdict(candidate, tuple(rungs))


def _nothing() -> None:
    """Checks nothing."""


def _same(found: Skipped) -> Skipped:
    return found


def unasked(name: str, until: str | None) -> Rung:
    """Returns a rung beyond the last that was asked for."""
    return Rung(name, RungStatus.SKIPPED, Reason.NOT_ASKED, f"--until {until}")


def measured(name: str, found: Measurement, seconds: float) -> Rung:
    """Returns the rung of a measurement."""
    from whet.evaluators.timing.on_gpu import told  # imports what a verdict by the text alone does not need

    evidence = _shown(found)
    detail = conclusion(found)
    losing = [ratio for ratio in found.untimed if ratio.high < 1.0]
    if losing:
        detail += "; slower at " + ", ".join(f"{r.name} ({r.low:.3f}x to {r.high:.3f}x)" for r in losing)
    if warm := told(found):
        detail += f"; {warm}"
    if found.undecided:
        return Rung(name, RungStatus.INCONCLUSIVE, None, detail, seconds, evidence)
    if found.faster:
        return Rung(name, RungStatus.PASSED, None, detail, seconds, evidence)
    return Rung(name, RungStatus.FAILED, reason_of(found), detail, seconds, evidence)


def _shown(found: Measurement) -> Mapping[str, Any]:
    return {"p_value": found.p_value, "outcome": found.outcome.value}


def conclusion(found: Measurement) -> str:
    """Returns what the detail of a timed rung begins with: its note, and which of several versions it is against."""
    return f"against {found.speedup.baseline}: {found.note}" if found.speedup.baselines else found.note


def reason_of(found: Measurement) -> Reason:
    """Returns why a measurement is no gain."""
    if found.outcome is Outcome.SLOWER:
        return Reason.SLOWER
    return Reason.OVER_LIMIT if found.over_limit else Reason.NOT_FASTER


def unrunnable(task: Task, verdict: Verdict, name: str) -> Rung | None:
    """Returns the rung of what is not timed, a translation or what this processor cannot run; None of all else."""
    if task.untimed:
        return Rung(name, RungStatus.SKIPPED, Reason.NOT_ASKED, OF_A_TRANSLATION)
    absent = next((rung for rung in verdict.rungs if rung.reason is Reason.UNSUPPORTED_CPU), None)
    return None if absent is None else Rung(name, RungStatus.SKIPPED, absent.reason, absent.detail)


def extended(verdict: Verdict, rung: Rung, measurement: Measurement | None = None) -> Verdict:
    """Returns a verdict with one more rung."""
    return Verdict(verdict.candidate, (*verdict.rungs, rung), measurement or verdict.measurement)


def lengthened(verdict: Verdict, seconds: float) -> Verdict:
    """Returns a verdict whose last rung took so much longer."""
    return _with_last(verdict, seconds=verdict.rungs[-1].seconds + seconds)


def noted(verdict: Verdict, said: str) -> Verdict:
    """Returns a verdict whose last rung says something more."""
    return _with_last(verdict, detail=f"{verdict.rungs[-1].detail}; {said}")


def with_evidence(verdict: Verdict, **more: Any) -> Verdict:
    """Returns a verdict whose last rung has more evidence."""
    return _with_last(verdict, evidence={**verdict.rungs[-1].evidence, **more})


def _with_last(verdict: Verdict, **changes: Any) -> Verdict:
    *rungs, last = verdict.rungs
    return Verdict(verdict.candidate, (*rungs, replace(last, **changes)), verdict.measurement)
