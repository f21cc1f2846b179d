"""Pairs of texts to learn from: a better and a worse one, and a right and a wrong one that are nearly equal."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher

from whet.agents.learning.gathering import Judged, TaskHistory
from whet.agents.learning.records import Segment
from whet.agents.learning.tokens import tokens

LEAST_MARGIN = 0.02
"""Of rewards; what is closer is no preference. It is what 1.0x and 1.08x differ by."""
LEAST_SIMILARITY = 0.8
"""Of nearly equal texts."""
MOST_TOKENS = 1000
"""That a text may hold between what both begin with and what both end with; others are not nearly equal."""


@dataclass(frozen=True, slots=True)
class Marked:
    """How two texts differ: see `whet.agents.learning.records.FaultLine`."""

    segments: tuple[Segment, ...]
    similarity: float


def preferences(group: TaskHistory) -> Iterator[tuple[Judged, Judged]]:
    """Yields the best candidate of a task, if it is right, with each that is worth clearly less."""
    ranked = group.ranked
    if not ranked or ranked[0].judgement.reward <= 0.0:
        return
    for other in ranked[1:]:
        if ranked[0].judgement.reward - other.judgement.reward >= LEAST_MARGIN:
            yield ranked[0], other


def faults(group: TaskHistory) -> Iterator[tuple[Judged, Judged, Marked]]:
    """Yields each wrong candidate with the right text that is most like it, where one is nearly equal.

    The original counts as a right text.
    """
    right = [one for one in group.ranked if one.judgement.reward > 0.0] + [group.original]
    for wrong in group.ranked:
        if wrong.judgement.outcome != "rejected":
            continue
        found = [(one, marked) for one in right if (marked := compared(one, wrong, group.subject.language))]
        if found:
            nearest, marked = max(found, key=lambda pair: pair[1].similarity)
            yield nearest, wrong, marked


def compared(correct: Judged, incorrect: Judged, language: str) -> Marked | None:
    """Returns how two texts differ; None where they are not nearly equal."""
    marked = differing(correct.source, incorrect.source, language)
    return marked if marked is not None and marked.similarity >= LEAST_SIMILARITY else None


def differing(correct: str, incorrect: str, language: str) -> Marked | None:
    """Returns two texts in parts, the same and the differing ones; None where the differing part is too long."""
    ours, theirs = tokens(correct, language), tokens(incorrect, language)
    head = _common(ours, theirs)
    tail = _common(ours[head:][::-1], theirs[head:][::-1])
    middle, other = ours[head : len(ours) - tail], theirs[head : len(theirs) - tail]
    if max(len(middle), len(other)) > MOST_TOKENS:
        return None
    segments = [_segment(ours[:head], theirs[:head], differs=False)]
    equal = head + tail
    for tag, a, b, c, d in SequenceMatcher(None, middle, other, autojunk=False).get_opcodes():
        segments.append(_segment(middle[a:b], other[c:d], differs=tag != "equal"))
        equal += b - a if tag == "equal" else 0
    end = len(ours) - tail
    segments.append(_segment(ours[end:], theirs[len(theirs) - tail :], differs=False))
    total = len(ours) + len(theirs)
    similarity = 2 * equal / total if total else 1.0
    return Marked(tuple(one for one in segments if one.correct or one.incorrect), similarity)


def _common(ours: list[str], theirs: list[str]) -> int:
    """Returns how many tokens two lists begin with alike."""
    pairs = enumerate(zip(ours, theirs, strict=False))
    return next((index for index, (one, other) in pairs if one != other), min(len(ours), len(theirs)))


def _segment(correct: list[str], incorrect: list[str], *, differs: bool) -> Segment:
    return Segment(differs, "".join(correct), "".join(incorrect))
