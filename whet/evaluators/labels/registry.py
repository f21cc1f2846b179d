"""The labels of a change, whatever its language."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from whet.core.label import Label
from whet.core.measurement import Measurement
from whet.core.profile import Profile
from whet.core.verdict import Verdict
from whet.evaluators.labels.base import Derived, compared
from whet.evaluators.labels.gpu import by_kernels
from whet.evaluators.languages import registry


def labels(language: str, source: str, baseline: str) -> tuple[Derived, ...]:
    """Returns the labels that the change from the baseline's text shows; none where nothing is recognised."""
    known = registry.language(language)
    if known is None or (read := known.features) is None:
        return ()
    return tuple(compared(read(baseline, source), read(source, baseline)))


def shown(measurement: Measurement) -> tuple[Derived, ...]:
    """Returns the labels that the figures of a measurement show."""
    used = measurement.speedup.cpu_seconds
    why = "several processors at once" + (f": {used[1]:.3g} CPU seconds against {used[0]:.3g}" if used else "")
    return tuple(Derived(Label(label), why) for label in measurement.labels)


def settled(found: tuple[Derived, ...], verdict: Verdict) -> tuple[Derived, ...]:
    """Returns the labels of a text as a GPU's profile bears them out, and those that a winner's figures show.

    Args:
        found: labels of the text.
        verdict: of the winner; its last rung tells of all that was measured.
    """
    assert verdict.measurement is not None
    looks = [one["raw"].get("gpu") for one in verdict.rungs[-1].evidence.get("measurements", ())]
    kernels = next((gpu["kernels"] for gpu in looks if gpu), None)
    return (*by_kernels(found, kernels), *shown(verdict.measurement))


def evidence(derived: tuple[Derived, ...], profile: Callable[[], Profile]) -> list[dict[str, Any]]:
    """Returns labels as plain data, with the share of time of those that are about some lines.

    Args:
        derived: the labels.
        profile: takes the profile of the candidate; called only where a label asks for it.
    """
    if any(one.lines for one in derived):
        taken = profile()
        derived = tuple(one.measured(taken) for one in derived)
    return [{"label": one.label.value, "why": one.why, "share": one.share} for one in derived]
