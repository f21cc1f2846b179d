"""The rungs of the ladder, and their order."""

from __future__ import annotations

from collections.abc import Iterable

RUNGS = ("screen", "build", "test", "differential", "hazard", "prove", "measure", "profile", "confirm")
"""The checks in order of cost; what plug-ins check comes right before "measure"."""
TIMED = ("measure", "confirm")
"""Those that measure a candidate that was found right."""


CHECKS = RUNGS[: RUNGS.index("measure")]
"""Those before measuring."""


def place(rung: str) -> float:
    """Returns where a rung stands in the order of all."""
    return RUNGS.index(rung) if rung in RUNGS else RUNGS.index("measure") - 0.5


def beyond(rung: str, until: str | None) -> bool:
    """Tells whether a rung lies behind the last that was asked for; None asks for all."""
    return until is not None and place(rung) > place(until)


def before_measuring(names: Iterable[str]) -> tuple[str, ...]:
    """Returns all rungs before measuring in their order: whet's own, and then those of plug-ins among the names."""
    return (*CHECKS, *sorted(set(names).difference(RUNGS)))
