"""What a function asks of its arguments, seen by objects that note it; and inputs with objects that do no more."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from itertools import islice
from typing import Any

from whet.evaluators.compare import MALFORMED
from whet.evaluators.examiner import VALUE, Step
from whet.evaluators.finding import Fault
from whet.evaluators.inputs.plain_data import read, write
from whet.evaluators.inputs.shapes import Path, UnsuitedError, kind_of
from whet.evaluators.inputs.source import EDITED, Input
from whet.evaluators.needs.abilities import CONTAINERS, NUMBERS, TEXTS, granted
from whet.evaluators.needs.answers import BASELINE_SECONDS, answers_of, same_result
from whet.evaluators.needs.spots import Spot, changed
from whet.evaluators.needs.trials import Places
from whet.evaluators.needs.vocabulary import Need
from whet.evaluators.oracle import Oracle
from whet.evaluators.pairs import Side
from whet.evaluators.processes import CallResult
from whet.sandbox.inside.codec import CodecError
from whet.sandbox.inside.decode import Node
from whet.sandbox.inside.narrowed import NARROWED, SLICE

ONLY_ASKED = "only-asked"
"""Names the need that a place does more than the original asks of it, until it is known what."""
WAY = "asked"
MOST_NOTED = 48
"""Calls of the original that note what it asks. With fewer, places of a wide record would not be tried at all."""
MOST_LOST = 4
"""Processes of the original that these may end."""
MOST_NAMES = 500
"""Names that a candidate may say it asked for, which need not be true."""
LONGEST_NAME = 60
"""Characters of one that is told."""
OBJECT = "object "
"""How the kinds of objects begin."""


def asked_of(ours: Side, places: Places, oracle: Oracle) -> Mapping[Path, frozenset[str]]:
    """Returns what a function asks for at each place, on the inputs on which it takes an object there that notes it.

    Args:
        ours: the function's process.
        places: of its inputs.
        oracle: compares outcomes.
    """
    made = list(islice(_noted(places), MOST_NOTED))
    found: dict[Path, frozenset[str]] = {}
    lost = 0
    with closing(answers_of(ours, [item.payload for _, _, item in made], BASELINE_SECONDS, WAY)) as answers:
        for (spot, base, item), answer in zip(made, answers, strict=True):
            outcome, names = told(answer)
            lost += isinstance(answer, Fault)
            if lost >= MOST_LOST:
                break
            if outcome.startswith(VALUE) and same_result(oracle, item, base.expected, outcome):
                found[spot.path] = found.get(spot.path, frozenset()) | frozenset(names)
    return found


def _noted(places: Places) -> Iterator[tuple[Spot, Step, Input]]:
    """Yields inputs with objects at one place each that note what is asked of them, all places of one input first."""
    for base, value in places.bases:
        for spot in places.spots:
            for new in noting(value, spot):
                try:
                    yield spot, base, Input("objects that note what is asked", write(new), source=EDITED)
                except CodecError:  # nested too deeply by now
                    continue


def told(answer: CallResult) -> tuple[bytes, Sequence[str]]:
    """Returns the outcome of a call, which may be hostile, and what was asked in it; nothing where there is neither."""
    if isinstance(answer, Fault):
        return b"", ()
    try:
        outcome, names = read(answer[0])
    except (CodecError, *MALFORMED):
        return b"", ()
    if type(outcome) is not bytes or type(names) is not tuple:
        return b"", ()
    return outcome, [name for name in names[:MOST_NAMES] if type(name) is str and _is_name(name)]


def _is_name(name: str) -> bool:
    return len(name) <= LONGEST_NAME and (name.isidentifier() or name == SLICE)


def only_asked(asked: Mapping[Path, frozenset[str]]) -> Need:
    """Returns what is broken by objects that do what the original asks of them, and no more."""

    def breaks(value: Any, spot: Spot, spots: Sequence[Spot]) -> Iterator[Any]:
        names = granted(asked[spot.path], spot) if spot.path in asked else None
        if names is not None:
            yield from narrowed(value, spot, names)

    return Need(ONLY_ASKED, "{place} does more than the original asks of it", breaks, supported=True)


def noting(value: Any, spot: Spot) -> Iterator[Any]:
    """Yields an input with objects at a place that note what is asked of them."""
    yield from _replaced(value, spot, None)


def narrowed(value: Any, spot: Spot, names: frozenset[str]) -> Iterator[Any]:
    """Yields an input with objects at a place that do nothing but what some names stand for."""
    yield from _replaced(value, spot, tuple(sorted(names)))


def _replaced(value: Any, spot: Spot, names: tuple[str, ...] | None) -> Iterator[Any]:
    def change(one: Any, number: int) -> Any:
        kind = kind_of(one)
        if kind not in CONTAINERS | TEXTS | NUMBERS and not kind.startswith(OBJECT):
            raise UnsuitedError
        return Node(NARROWED, "", (one, names))

    try:
        yield changed(value, spot.path, change)
    except UnsuitedError:
        return
