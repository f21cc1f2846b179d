"""Identical candidates are evaluated once: what a round brought that the run had not seen before."""

from __future__ import annotations

from collections.abc import Container, Sequence

from whet.agents.coder import Proposal
from whet.agents.evaluations import Evaluations
from whet.agents.history import Round
from whet.core.measurement import gain_in
from whet.core.text import times
from whet.evaluators.syntax.fingerprint import fingerprint, outline

SHORT = 10
"""Characters of an id that a line shows."""
TO_THE_LETTER = "an answer was, to the letter, a file that was tried before"
IN_EFFECT = "an answer was, but for layout, comments and docstrings, a file that was tried before"


def repeated(evaluations: Evaluations, id: str) -> str:
    """Returns a line on an answer that repeats a text of the run: what that was found to be.

    Args:
        evaluations: of the run.
        id: of the text that it repeats.
    """
    if id == evaluations.baseline.id:
        return "an answer is the original; not judged"
    if (verdict := evaluations.verdict(id)) is None:
        return f"an answer is the same as {id[:SHORT]}; not judged again"
    if verdict.failed is not None and not verdict.correct:
        found = f"{verdict.failed.name}: {verdict.failed.reason}"
    elif verdict.measurement is None:
        found = "right, not timed"
    else:
        ratio = times(verdict.measurement.speedup.ratio)
        found = f"{ratio}, {gain_in(verdict.measurement.speedup.metric) if verdict.improved else 'not shown better'}"
    return f"an answer is the same as {id[:SHORT]}, not judged again: {found}"


class Distinct:
    """Tells candidates of one run that say the same as an earlier one; not safe for several threads."""

    def __init__(self, evaluations: Evaluations) -> None:
        self._evaluations = evaluations
        self._language = evaluations.task.written
        self._outlines: dict[bytes, list[str]] = {}
        self._entered: set[str] = set()
        self._enter(evaluations.baseline.id)

    def gathered(self, parent: str, proposals: Sequence[Proposal], seen: Sequence[str]) -> Round:
        """Returns the round that proposals make, with its candidates added to the evaluations.

        Args:
            parent: id of the text that they were asked to build upon.
            proposals: what came of the round's questions, in their order.
            seen: ids of the candidates of earlier rounds.
        """
        known = {id: id for id in (self._evaluations.baseline.id, *seen)}
        for id in seen:
            self._enter(id)
        batch: list[str] = []
        same: list[str] = []
        again: list[str] = []
        complaints: list[str] = []
        for proposal in proposals:
            if (candidate := proposal.candidate) is None:
                complaints.append(proposal.complaint)
                continue
            id = candidate.id
            if id in known:
                complaints.append(TO_THE_LETTER)
                again.append(known[id])
            elif twin := self._twin(candidate.source, alike := self._alike(candidate.source), known):
                complaints.append(IN_EFFECT)
                same.append(id)
                again.append(twin)
                known[id] = twin
            else:
                batch.append(self._evaluations.add(candidate))
                self._entered.add(id)
                alike.append(id)
                known[id] = id
        proposed = sum(proposal.candidate is not None for proposal in proposals)
        return Round(parent, tuple(batch), proposed, tuple(complaints), tuple(same), again=tuple(again))

    def _enter(self, id: str) -> None:
        if id not in self._entered:
            self._entered.add(id)
            self._alike(self._evaluations.candidate(id).source).append(id)

    def _alike(self, source: str) -> list[str]:
        """Returns the ids of the entered candidates that may say the same as a text; to be added to."""
        return self._outlines.setdefault(outline(self._language, source), [])

    def _twin(self, source: str, alike: Sequence[str], known: Container[str]) -> str:
        """Returns the id of a known text that says the same; empty where none does."""
        others = [id for id in alike if id in known]
        name = fingerprint(self._language, source) if others else ""
        said = (id for id in others if fingerprint(self._language, self._evaluations.candidate(id).source) == name)
        return next(said, "")
