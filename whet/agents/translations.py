"""How a loop ends that asks for no more than a right candidate: nothing of an assembly translation is timed."""

from __future__ import annotations

import math
from collections.abc import Iterable

from whet.core.verdict import RungStatus, Verdict

TRANSLATED = "translated"
"""How such a loop ends once it has one."""


def right_translation(verdicts: Iterable[Verdict | None]) -> str:
    """Returns the id of the right candidate of a round with the fewest instructions; empty where none is right."""
    right = [verdict for verdict in verdicts if verdict is not None and _translates(verdict)]
    return min(right, key=_instructions).candidate if right else ""


def _translates(verdict: Verdict) -> bool:
    """Whether a candidate was compared with the reference, and nothing was found wrong."""
    rung = verdict.rung("differential")
    return verdict.correct and rung is not None and rung.status is RungStatus.PASSED


def _instructions(verdict: Verdict) -> float:
    """Returns how many instructions a right candidate took on the calls that were counted; infinite where none were."""
    rung = verdict.rung("differential")
    counted = rung.evidence.get("instructions", ()) if rung is not None else ()
    return sum(one["instructions"] for one in counted) or math.inf
