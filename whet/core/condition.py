"""What has to hold for a verified rewrite to behave as the original does."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from whet.core.plain import from_plain
from whet.core.text import count
from whet.core.verdict import Rung

CONDITIONS = "conditions"
"""Names the conditions in the evidence of what compares a candidate with the original."""


@dataclass(frozen=True, slots=True)
class Condition:
    """A need of a rewrite that the original lacks, and that nothing known of the target's callers rules out.

    Attributes:
        need: its name; see `whet.evaluators.needs.vocabulary` and `whet.evaluators.needs.abilities`.
        parameter: of the target.
        sentence: what has to hold, for people.
        counterexample: a call on which both differ, to be pasted into Python; empty where it cannot be written so.
        difference: how they differ on it.
    """

    need: str
    parameter: str
    sentence: str
    counterexample: str
    difference: str


def under(conditions: Collection[Condition]) -> str:
    """Returns in a few words how many conditions there are, to follow a verdict; empty where there are none."""
    return f", under {count(len(conditions), 'condition')}" if conditions else ""


def only_if(conditions: Iterable[Condition]) -> str:
    """Returns what has to hold in one line; empty where nothing has to."""
    said = ", ".join(condition.sentence for condition in conditions)
    return said and f"only if {said}"


def conditions_of(rungs: Iterable[Rung]) -> tuple[Condition, ...]:
    """Returns the conditions that the rungs of a verdict found, each need of a parameter once."""
    found: dict[tuple[str, str], Condition] = {}
    for evidence in _compared(rungs):
        for row in conditions_in(evidence):
            found.setdefault((row.need, row.parameter), row)
    return tuple(found.values())


def conditions_in(evidence: Mapping[str, Any]) -> tuple[Condition, ...]:
    """Returns the conditions in the evidence of one comparison.

    Raises:
        pydantic.ValidationError: they have another form; a stranger's evidence may.
    """
    return from_plain(tuple[Condition, ...], evidence.get(CONDITIONS, ()))


def _compared(rungs: Iterable[Rung]) -> Iterator[Mapping[str, Any]]:
    for rung in rungs:
        if rung.name == "differential":
            yield rung.evidence
        elif rung.name == "confirm":
            yield rung.evidence.get("differential", {})
