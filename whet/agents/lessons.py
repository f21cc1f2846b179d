"""Wins and lessons of a run, drawn from its verdicts by rules; no model is asked for them."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from whet.agents.evaluations import Evaluations
from whet.agents.experience import Entry, EntryKind
from whet.agents.knowledge import relevant
from whet.core.candidate import Candidate
from whet.core.measurement import Speedup
from whet.core.profile import HotLine
from whet.core.result import Result, Status
from whet.prompts import times
from whet.sandbox.toolchains import native

LESSONS = 3
"""Of a run, at most."""
CLOSE = 1.05
"""How far an interval around 1 may reach for a candidate to count as no faster; a wider one teaches nothing."""
SMALL_SHARE = 0.2
"""Of the time: a change of lines that take less could not gain much, and that says why it did not."""
NAMED = 2
"""Patterns that are named with a change."""
LONGEST_NOTE = 300
"""Characters of a change's note that an entry keeps. `remembered.md` quotes as many, so more would be stored and not
shown; fewer cut the author's reason short."""


@dataclass(frozen=True, slots=True)
class MeasuredChange:
    """A change, and what it was measured to bring.

    Attributes:
        kind: whether that was a gain.
        before: the text that was changed: the original for a win, else the parent.
        after: what came of it.
        labels: what kind of change it was.
        note: what its authors said of it.
        gain: of ``after`` over ``before``: the ratio and both ends of its interval.
        speedup: of ``after`` over the original.
    """

    kind: EntryKind
    before: Candidate
    after: Candidate
    labels: tuple[str, ...]
    note: str
    gain: tuple[float, float, float]
    speedup: Speedup


def drawn(run: str, repository: str, evaluations: Evaluations, ids: Iterable[str], result: Result) -> list[Entry]:
    """Returns what a run that is over found out.

    Args:
        run: its id.
        repository: that its target belongs to.
        evaluations: its candidates, and what was found of them.
        ids: of all of them, in order.
        result: what the run ended in.
    """
    lessons = [change for id in ids if (change := _lesson(evaluations, id)) is not None]
    # Those first that lost most for certain.
    lessons.sort(key=lambda change: change.gain[2])
    changes = [*_win(evaluations, result), *lessons[:LESSONS]]
    return [_entry(run, repository, evaluations, change) for change in changes]


def because(change: MeasuredChange, hot: Sequence[HotLine]) -> str:
    """Returns why a change brought nothing, in words that quote no code; empty where no figure tells.

    Args:
        change: it.
        hot: lines of what was changed.
    """
    share = sum(line.share for line in _touched(change, hot))
    if hot and share < SMALL_SHARE:
        part = f"{share:.0%}" if share >= 0.01 else "less than 1%"
        return f"little was to gain, for the lines that it changed took {part} of the time"
    inputs = sorted(change.speedup.workloads, key=lambda one: one.ratio)
    if inputs and inputs[0].high < 1.0 < inputs[-1].low:
        return f"it depends on the input: {times(inputs[0].ratio)} on one, {times(inputs[-1].ratio)} on another"
    return ""


def patterns(change: MeasuredChange, language: str, hot: Sequence[HotLine]) -> tuple[str, ...]:
    """Returns the names of the cards that fitted the hot lines of what was changed; of a lesson, those that it changed.

    Args:
        change: it.
        language: of what was changed.
        hot: its lines.
    """
    lines = list(hot) if change.kind is EntryKind.WIN else _touched(change, hot)
    found = relevant(language, change.before.source, lines, NAMED) if lines else []
    return tuple(match.card.name for match in found)


def _win(evaluations: Evaluations, result: Result) -> Iterator[MeasuredChange]:
    """Yields the confirmed gain, if any; all the steps to it made it."""
    if result.status is not Status.IMPROVED or result.candidate is None or result.speedup is None:
        return
    steps = _steps(evaluations, result.candidate.id)
    labels = (*result.candidate.labels, *(label for step in steps for label in step.labels))
    yield MeasuredChange(
        kind=EntryKind.WIN,
        before=evaluations.baseline,
        after=steps[-1],
        labels=tuple(dict.fromkeys(labels)),
        note="; ".join(step.note for step in steps if step.note),
        gain=(result.speedup.ratio, result.speedup.low, result.speedup.high),
        speedup=result.speedup,
    )


def _steps(evaluations: Evaluations, id: str) -> list[Candidate]:
    """Returns the candidates that a candidate was made from, the first one first, and itself."""
    steps = [evaluations.candidate(id)]
    while (parent := steps[-1].parent) is not None and parent != evaluations.baseline.id:
        steps.append(evaluations.candidate(parent))
    return steps[::-1]


def _lesson(evaluations: Evaluations, id: str) -> MeasuredChange | None:
    """Returns the change that made a candidate, where that is right, and surely slower than before or no faster."""
    verdict = evaluations.verdict(id)
    if verdict is None or not verdict.correct or verdict.measurement is None or verdict.measurement.disturbed:
        return None
    candidate = evaluations.candidate(id)
    parent = evaluations.candidate(candidate.parent or evaluations.baseline.id)
    speedup = verdict.measurement.speedup
    gain = (speedup.ratio, speedup.low, speedup.high)
    if parent.id != evaluations.baseline.id:
        known = evaluations.verdict(parent.id)
        if known is None or known.measurement is None:
            return None
        theirs = known.measurement.speedup
        # As wide as both measurements allow.
        gain = (speedup.ratio / theirs.ratio, speedup.low / theirs.high, speedup.high / theirs.low)
    if gain[2] >= 1.0 and not gain[1] <= 1.0 <= gain[2] <= CLOSE:
        return None
    return MeasuredChange(EntryKind.LESSON, parent, candidate, candidate.labels, candidate.note, gain, speedup)


def _entry(run: str, repository: str, evaluations: Evaluations, change: MeasuredChange) -> Entry:
    task = evaluations.task
    profile = evaluations.profiled(change.before.id)
    hot = profile.lines if profile is not None else ()
    ratio, low, high = change.gain
    return Entry(
        kind=change.kind,
        run=run,
        candidate=change.after.id,
        repository=repository,
        language=native.language_of(task, task.source),
        metric=change.speedup.metric,
        labels=change.labels,
        patterns=patterns(change, native.language_of(task, change.before.source), hot),
        note=change.note[:LONGEST_NOTE],
        because=because(change, hot) if change.kind is EntryKind.LESSON else "",
        ratio=ratio,
        low=low,
        high=high,
        confidence=change.speedup.confidence,
        machine=evaluations.circumstances().processor,
    )


def _touched(change: MeasuredChange, hot: Sequence[HotLine]) -> list[HotLine]:
    """Returns the hot lines that a change replaced or left out."""
    before, after = (text.source.split("\n") for text in (change.before, change.after))
    kept = {
        number
        for first, _, size in difflib.SequenceMatcher(None, before, after).get_matching_blocks()
        for number in range(first + 1, first + size + 1)
    }
    return [line for line in hot if line.line not in kept]
