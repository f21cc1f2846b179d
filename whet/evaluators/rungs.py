"""What a check found, as a rung of the ladder."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from whet.core.measurement import Measurement, Outcome
from whet.core.verdict import NO_GAIN, Reason, Rung, RungStatus, Verdict
from whet.evaluators.finding import Fault, Finding, Skipped


def ended(name: str, found: Finding | None, seconds: float) -> Rung:
    """Returns the rung of a check; None says that there was nothing to check with."""
    if found is None:
        return Rung(name, RungStatus.SKIPPED, Reason.NOT_ASKED, "nothing to check with", seconds)
    if isinstance(found, Skipped):
        return Rung(name, RungStatus.SKIPPED, found.reason, found.detail, seconds)
    if isinstance(found, Fault):
        return Rung(name, RungStatus.FAILED, found.reason, found.detail, seconds, found.evidence)
    return Rung(name, RungStatus.PASSED, None, found.detail, seconds, found.evidence)


def unasked(name: str, until: str | None) -> Rung:
    """Returns a rung beyond the last that was asked for."""
    return Rung(name, RungStatus.SKIPPED, Reason.NOT_ASKED, f"--until {until}")


def measured(name: str, found: Measurement, seconds: float) -> Rung:
    """Returns the rung of a measurement."""
    evidence = {"p_value": found.p_value, "outcome": found.outcome.value}
    detail = found.note
    losing = [ratio for ratio in found.untimed if ratio.high < 1.0]
    if losing:
        detail += "; slower at " + ", ".join(f"{r.name} ({r.low:.3f}x to {r.high:.3f}x)" for r in losing)
    if found.faster:
        return Rung(name, RungStatus.PASSED, None, detail, seconds, evidence)
    reason = Reason.SLOWER if found.outcome is Outcome.SLOWER else Reason.NOT_FASTER
    assert reason in NO_GAIN
    return Rung(name, RungStatus.FAILED, reason, detail, seconds, evidence)


def extended(verdict: Verdict, rung: Rung, measurement: Measurement | None = None) -> Verdict:
    """Returns a verdict with one more rung."""
    return Verdict(verdict.candidate, (*verdict.rungs, rung), measurement or verdict.measurement)


def with_evidence(verdict: Verdict, **more: Any) -> Verdict:
    """Returns a verdict whose last rung has more evidence."""
    *rungs, last = verdict.rungs
    last = replace(last, evidence={**last.evidence, **more})
    return Verdict(verdict.candidate, (*rungs, last), verdict.measurement)
