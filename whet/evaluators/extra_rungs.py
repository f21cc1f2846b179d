"""Rungs that plug-ins bring, in the entry-point group ``whet.rungs``: taken before a right candidate is measured."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from whet.core.candidate import Candidate
from whet.core.errors import UsageError
from whet.core.plugins import brought, plugged
from whet.core.rungs import RUNGS
from whet.core.verdict import Reason
from whet.evaluators.artifacts import Builder
from whet.evaluators.finding import Finding, Skipped

GROUP = "whet.rungs"


@dataclass(frozen=True, slots=True)
class ExtraRung:
    """A check of a plug-in.

    Attributes:
        check: returns what is found of a candidate, from the builder of its task's texts; None where there is
            nothing to check. Several threads may call it at once.
    """

    check: Callable[[Builder, Candidate], Finding | None]


def extra_rungs() -> tuple[tuple[str, ExtraRung | Skipped], ...]:
    """Returns the rungs of plug-ins, in the order of their names; in the place of one of no use, what is said of it."""
    return tuple((name, _rung(name)) for name in sorted(plugged(GROUP)) if name not in RUNGS)


def checked(name: str, extra: ExtraRung | Skipped, builder: Builder, candidate: Candidate) -> Finding | None:
    """Returns what a rung of a plug-in finds; where it fails, which is no fault of the candidate, that it did."""
    if isinstance(extra, Skipped):
        return extra
    try:
        return extra.check(builder, candidate)
    except Exception as error:  # whatever a plug-in does
        return Skipped(Reason.TOOL_MISSING, f"the plug-in {name} of {GROUP} failed: {error!r}")


def _rung(name: str) -> ExtraRung | Skipped:
    try:
        found = brought(GROUP, name, ExtraRung)
    except UsageError as error:
        return Skipped(Reason.TOOL_MISSING, str(error))
    assert found is not None, "it is plugged in"
    return found
