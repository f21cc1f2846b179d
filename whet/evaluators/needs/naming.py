"""Names what a candidate asks of a place and the original does not, by objects that lack one ability each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace

from whet.evaluators.inputs.plain_data import read, write
from whet.evaluators.inputs.shapes import found
from whet.evaluators.inputs.source import EDITED, Input
from whet.evaluators.needs.abilities import ABILITIES, ATTRIBUTE, abilities_of, missing
from whet.evaluators.needs.answers import CANDIDATE_SECONDS, answers_of
from whet.evaluators.needs.asking import OBJECT, WAY, narrowed, noting, told
from whet.evaluators.needs.broken_inputs import BreakingInput
from whet.evaluators.needs.spots import Spot
from whet.evaluators.needs.trials import NeedTrial
from whet.evaluators.needs.vocabulary import Need
from whet.evaluators.oracle import Oracle
from whet.evaluators.pairs import Side
from whet.sandbox.inside.decode import Node
from whet.sandbox.inside.narrowed import NARROWED, SLICE

TYPE = "type"
"""The need of a candidate that differs even on an object which does all that the value does."""
MOST_TOLD = 6
"""Names of attributes in one sentence."""


def lacking(taken: BreakingInput, ours: frozenset[str], theirs: Side, oracle: Oracle) -> Iterator[NeedTrial]:
    """Yields inputs with objects that lack one ability each of those that a candidate asks for beyond the original.

    Args:
        taken: an input with objects that do what the original asks and no more, on which the candidate differs.
        ours: what the original asks there.
        theirs: the candidate's process.
        oracle: compares outcomes.

    Returns:
        Nothing where the candidate differs on objects that do everything as well.
    """
    trial = taken.trial
    base = read(trial.base.item.payload)
    asked = _asked(taken, [write(value) for value in noting(base, trial.spot)], theirs, oracle)
    provided = _provided(trial)
    every = ours | frozenset(asked)
    if SLICE in every:
        every |= {"__getitem__"}
    for ability in missing(asked, provided):
        names = [name for name in asked if name not in provided and abilities_of([name]) == {ATTRIBUTE}]
        removed = frozenset(names) if ability == ATTRIBUTE else ABILITIES[ability].methods
        if ability == "indexed":
            removed |= {SLICE}
        sentence = _has(names, trial.spot) if ability == ATTRIBUTE else ABILITIES[ability].sentence
        for value in narrowed(base, trial.spot, every - removed):
            item = Input(f"an object that breaks a need ({ability})", write(value), source=EDITED)
            yield replace(trial, need=_need(ability, sentence), value=value, item=item)


def typed(taken: BreakingInput) -> NeedTrial:
    """Returns an input with objects that are not of a builtin type, or of the class that was drawn."""
    kinds = sorted(kind.rpartition(":")[2].rpartition(".")[2] for kind in taken.trial.spot.shape.kinds)
    return replace(taken.trial, need=_need(TYPE, f"{{place}} is of type {' or '.join(kinds)}"))


def _asked(taken: BreakingInput, payloads: Sequence[bytes], theirs: Side, oracle: Oracle) -> Sequence[str]:
    """Returns what the candidate asks of objects that do everything; nothing where it differs on these."""
    with closing(answers_of(theirs, payloads, CANDIDATE_SECONDS, WAY)) as answers:
        for answer in answers:
            outcome, names = told(answer)
            if oracle.compare(taken.trial.item, taken.expected, outcome) is None:
                return names
    return ()


def _provided(trial: NeedTrial) -> frozenset[str]:
    """Returns what the objects of an input do."""
    there = found(trial.value, trial.spot.path)
    return frozenset(next(one.state[1] for one in there if isinstance(one, Node) and one.kind == NARROWED))


def _has(names: Sequence[str], spot: Spot) -> str:
    """Returns a sentence about attributes; of builtin types these are methods."""
    kind = "attribute" if any(one.startswith(OBJECT) for one in spot.shape.kinds) else "method"
    return f"{{place}} has the {kind}{'s' if len(names) > 1 else ''} {' and '.join(names[:MOST_TOLD])}"


def _need(name: str, sentence: str) -> Need:
    return Need(name, sentence, lambda value, spot, spots: iter(()), supported=True)
