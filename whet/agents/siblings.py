"""The few earlier candidates that a prompt shows in full, chosen by rules from what was found of them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from whet.core.candidate import Candidate
from whet.core.rungs import place

Record = Mapping[str, Any]

BEST = "The best of the others so far"
DIFFERENT = "Another way that is right"
FAILURE = "One that failed, and how"
FAILED = ("rejected", "slower")
"""Outcomes that teach what not to do; of "not shown" nothing is known but that it is no large gain."""


@dataclass(frozen=True, slots=True)
class Sibling:
    """An earlier candidate that is worth a look.

    Attributes:
        why: what it is shown for.
        record: see `whet.agents.evaluations.Evaluations.record`.
    """

    why: str
    record: Record


def siblings(parent: Candidate, records: Sequence[Record], told: Collection[str]) -> tuple[Sibling, ...]:
    """Returns the best of the others, one of another kind and an instructive failure, as far as there are such.

    Args:
        parent: the version that the prompt shows whole.
        records: of earlier candidates, the newest first.
        told: ids of those that the prompt tells of in full elsewhere.
    """
    known = {record["candidate"]: record for record in records}
    past = {*_lineage(parent, known), *told}
    others = [record for id, record in known.items() if id not in past]
    timed = sorted((one for one in others if one["correct"] and one["low"] is not None), key=lambda one: -one["low"])
    found: list[Sibling] = []
    kinds = set(parent.labels)
    if (best := next((one for one in timed if one["improved"]), None)) is not None:
        found.append(Sibling(BEST, best))
        kinds.update(best["labels"])
    right = (one for one in timed if one["outcome"] not in FAILED and one is not best)
    if (other := next((one for one in right if one["labels"] and kinds.isdisjoint(one["labels"])), None)) is not None:
        found.append(Sibling(DIFFERENT, other))
    # The further it climbed, the less was wrong with it; of those alike the newest, which comes first.
    failed = (one for one in others if one["outcome"] in FAILED)
    if (failure := max(failed, key=lambda one: place(one["rung"]), default=None)) is not None:
        found.append(Sibling(FAILURE, failure))
    return tuple(found)


def _lineage(parent: Candidate, known: Mapping[str, Record]) -> Iterator[str]:
    """Yields the ids of a version and of those that it was made from: it holds what they changed."""
    yield parent.id
    one = parent.parent
    while one is not None:
        yield one
        one = known[one]["parent"] if one in known else None
