"""Which edits come next: what promises most by itself, what was measured faster together, and all at once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache

from whet.agents.catalogue.base import Proposal
from whet.agents.catalogue.registry import EDITS, proposals
from whet.agents.knowledge import CardKind, card_of
from whet.agents.models.base import Attempt, Brief
from whet.core.candidate import content_id
from whet.core.same import Same
from whet.prompts import one_line

MANY = 6
"""Edits that are made together at most: each costs a look at the whole file, and one that is wrong spoils them all."""
LEAST_SAVING = 0.01
"""Of the time: what an edit must promise to be made together with others, or again in another version."""
LARGE, SMALL = 0.9, 0.3
"""Of the time of the lines that an edit concerns: what it saves where its card speaks of growth or of vectors, and
what it saves else."""
JOINT = "+"
"""Between the names of edits that were made together."""

Name = tuple[str, str]
"""An edit and its reason, which says what it changes: lines are others in every version."""


def candidates(brief: Brief) -> tuple[Proposal, ...]:
    """Returns what the catalogue has to propose, the most promising first.

    Edits that were measured faster than what they were made from, and that the parent lacks, come first and together.
    Then comes what promises most by itself, then all that is worth it together, for edit by edit it would take a round
    each. Each text comes once; texts that the run has seen, and the source itself, are left out.
    A source that cannot be read gives nothing.
    """
    return _candidates(Same(brief))


def single_edits(brief: Brief) -> list[Proposal]:
    """Returns the edits that are left for a text, each by itself, the most promising first."""
    seen = {content_id(brief.source), *brief.tried}
    return [each for each in _ranked(brief) if content_id(each.source) not in seen]


# All samples of a round bring the same brief.
@lru_cache(maxsize=2)
def _candidates(same: Same) -> tuple[Proposal, ...]:
    (brief,) = same.objects
    assert isinstance(brief, Brief)
    seen = {content_id(brief.source), *brief.tried}
    fresh: list[Proposal] = []
    for proposal in _in_order(brief):
        if (identity := content_id(proposal.source)) not in seen:
            seen.add(identity)
            fresh.append(proposal)
    return tuple(fresh)


def _in_order(brief: Brief) -> Iterator[Proposal]:
    singles = _ranked(brief)
    gains = {_name_of(each): each.low for each in brief.attempts if each.low is not None and each.low > 1}
    proven = sorted((each for each in singles if _name(each) in gains), key=lambda each: -gains[_name(each)])
    others = [each for each in singles if each not in proven]
    doubted = _doubted(brief.attempts)
    right = {_name_of(each) for each in brief.attempts if each.correct}
    trusted = [each for each in others if each.edit not in doubted or _name(each) in right]
    yield from _together(brief, proven)
    yield from proven[:1] or others[:1]
    yield from _together(brief, [*proven, *(each for each in trusted if _saving(each, brief) >= LEAST_SAVING)])
    yield from others
    yield from proven


def _doubted(attempts: Sequence[Attempt]) -> set[str]:
    """Returns the edits of texts that were wrong for no reason known: one of them is, and alone it will show."""
    wrong = [each.origin.rpartition(":")[2].split(JOINT) for each in attempts if not each.correct]
    alone = {edits[0] for edits in wrong if len(edits) == 1}
    return {edit for edits in wrong if alone.isdisjoint(edits) for edit in edits}


def _together(brief: Brief, wanted: Sequence[Proposal]) -> Iterator[Proposal]:
    """Yields the text with several edits, made one after the other; nothing where they are fewer than two."""
    source = brief.source
    made: list[Proposal] = []
    for each in wanted:
        edit = next(edit for edit in EDITS if edit.name == each.edit)
        with suppress(RecursionError):
            for again in edit.propose(replace(brief, source=source)):
                if _name(again) == _name(each):
                    source = again.source
                    made.append(again)
                    break
        if len(made) == MANY:
            break
    if len(made) > 1:
        names = JOINT.join(each.edit for each in made)
        labels = ", ".join(dict.fromkeys(each.label for each in made))
        yield Proposal(source, names, labels, made[0].line, one_line("; ".join(each.why for each in made)))


def _ranked(brief: Brief) -> list[Proposal]:
    """Returns single edits without those that failed or promise nothing any more, the most promising first."""
    found = _found(replace(brief, hot=(), tried=(), attempts=(), verdicts=()))
    places = Counter(map(_name, found))
    tried = Counter(map(_name_of, brief.attempts))
    failed = Counter(map(_name_of, filter(_failed, brief.attempts)))
    worth: list[tuple[float, Proposal]] = []
    for each in found:
        name = _name(each)
        # What brought nothing may do so in another version, whose time goes elsewhere: but what is new comes first.
        saving = _saving(each, brief) / (1 + tried[name])
        # Several places may bear one name; which of them failed is not known in another version.
        if places[name] > failed[name] and (saving >= LEAST_SAVING or not tried[name]):
            worth.append((saving, each))
    return [each for _, each in sorted(worth, key=lambda pair: -pair[0])]


@lru_cache(maxsize=8)
def _found(brief: Brief) -> tuple[Proposal, ...]:
    return tuple(proposals(brief))


def _failed(attempt: Attempt) -> bool:
    return not attempt.correct or (attempt.high is not None and attempt.high < 1)


def _name(proposal: Proposal) -> Name:
    return proposal.edit, one_line(proposal.why)


def _name_of(attempt: Attempt) -> Name:
    return attempt.origin.rpartition(":")[2], attempt.note


def _saving(proposal: Proposal, brief: Brief) -> float:
    """Returns the share of the whole time that an edit may save: that of its lines, by what such edits save of it."""
    card = card_of(proposal.edit)
    is_large = card is not None and (card.gain.growth or card.kind is CardKind.VECTORISATION)
    return _share(proposal, brief) * (LARGE if is_large else SMALL)


def _share(proposal: Proposal, brief: Brief) -> float:
    """Returns the share of the lines that an edit concerns.

    That is its own or one close by, all those that it replaces, or those that call what it changes.
    """
    if not brief.hot:
        return 1.0
    lines = brief.source.split("\n")
    gone = Counter(lines) - Counter(proposal.source.split("\n"))
    replaced = sum(hot.share for hot in brief.hot if hot.line <= len(lines) and lines[hot.line - 1] in gone)
    calling = sum(hot.share for hot in brief.hot if hot.line in proposal.calls)
    nearby = max(hot.share / (1 + abs(hot.line - proposal.line)) ** 2 for hot in brief.hot)
    return max(nearby, min(1.0, replaced), min(1.0, calling))
