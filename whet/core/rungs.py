"""The rungs of the ladder, and their order."""

from __future__ import annotations

RUNGS = ("screen", "build", "test", "differential", "hazard", "prove", "measure", "profile", "confirm")
"""The checks in order of cost; what plug-ins check comes right before "measure"."""
TIMED = ("measure", "confirm")
"""Those that measure a candidate that was found right."""


def place(rung: str) -> float:
    """Returns where a rung stands in the order of all."""
    return RUNGS.index(rung) if rung in RUNGS else RUNGS.index("measure") - 0.5
