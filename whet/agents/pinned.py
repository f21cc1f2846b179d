"""An evaluator that lets no rewrite pass which changes what a person pinned."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from whet.agents.person import Said
from whet.core.candidate import Candidate
from whet.core.circumstances import Circumstances
from whet.core.evidence import Provenance
from whet.core.helpers import Helpers
from whet.core.profile import Profile
from whet.core.task import Task
from whet.core.verdict import Reason, Rung, RungStatus, Verdict
from whet.evaluators.protocol import Evaluator


class Pinned:
    """Judges as another evaluator does, but for rewrites without the pinned lines: those fall at the screen.

    Args:
        evaluator: judges the others; see `whet.evaluators.protocol.Evaluator`.
        said: gives what counts now. What was judged before a pin keeps its verdict.
    """

    def __init__(self, evaluator: Evaluator, said: Callable[[], Said]) -> None:
        self._evaluator = evaluator
        self._said = said

    @property
    def task(self) -> Task:
        """The task of the other one."""
        return self._evaluator.task

    def validate(self) -> None:
        """Does what the other one does."""
        self._evaluator.validate()

    def provenance(self, keep: Callable[[str], str]) -> Provenance | None:
        """Returns that of the other one."""
        return self._evaluator.provenance(keep)

    def circumstances(self) -> Circumstances:
        """Returns those of the other one."""
        return self._evaluator.circumstances()

    def profile(self, candidate: Candidate) -> Profile:
        """Returns that of the other one."""
        return self._evaluator.profile(candidate)

    def announce(self, candidates: Sequence[Candidate]) -> None:
        """Announces all, for what the others meet follows from who is among them."""
        self._evaluator.announce(candidates)

    def check(self, candidate: Candidate) -> Verdict:
        """Returns the verdict of the other one, or that of the pins where they were not kept."""
        if missed := self._said().missed(candidate.source):
            return Verdict(candidate.id, (Rung("screen", RungStatus.FAILED, Reason.PINNED, missed),))
        return self._evaluator.check(candidate)

    def helpers(self, candidate: Candidate, verdict: Verdict) -> Helpers:
        """Returns those of the other one."""
        return self._evaluator.helpers(candidate, verdict)

    def measure(self, candidate: Candidate, verdict: Verdict, *, looks: int | None = None) -> Verdict:
        """Returns the verdict of the other one."""
        return self._evaluator.measure(candidate, verdict, looks=looks)

    def confirm(self, candidate: Candidate, verdict: Verdict) -> Verdict:
        """Returns the verdict of the other one."""
        return self._evaluator.confirm(candidate, verdict)

    def close(self) -> None:
        """Ends the other one."""
        self._evaluator.close()
