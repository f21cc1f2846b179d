"""The facts that the agents are told, drawn from what a run has recorded."""

from __future__ import annotations

from dataclasses import dataclass

from whet.agents.coder import Situation
from whet.agents.evaluations import Evaluations
from whet.agents.history import History
from whet.agents.strategies.base import Scored, Standing, Strategy
from whet.core.errors import BudgetError

EARLIER = 20
"""Earlier candidates that a prompt lists."""


@dataclass(frozen=True, slots=True)
class Plan:
    """How long and how wide the loop turns.

    Attributes:
        rounds: at most.
        candidates: asked for a round.
        most: distinct candidates evaluated in all; None for no cap.
        workers: candidates checked side by side.
        metric: what counts.
        cores: that a candidate may use.
    """

    rounds: int
    candidates: int
    most: int | None
    workers: int
    metric: str
    cores: int


@dataclass(frozen=True, slots=True)
class Facts:
    """What a run knows at each of its rounds."""

    evaluations: Evaluations
    history: History
    strategy: Strategy
    plan: Plan

    def room(self, number: int) -> int:
        """Returns how many candidates a round may ask for.

        Raises:
            BudgetError: none are left.
        """
        if self.plan.most is None:
            return self.plan.candidates
        left = self.plan.most - len(self.history.seen(number - 1))
        if left <= 0:
            raise BudgetError(f"--budget-candidates {self.plan.most} are evaluated")
        return min(left, self.plan.candidates)

    def standing(self, until: int) -> Standing:
        """Returns what the rounds up to a number have reached."""
        improved = []
        for id in self.history.seen(until):
            verdict = self.evaluations.verdict(id)
            if verdict is not None and verdict.improved and verdict.measurement is not None:
                speedup = verdict.measurement.speedup
                improved.append(Scored(id, speedup.ratio, speedup.low, speedup.high))
        improved.sort(key=lambda scored: scored.low, reverse=True)
        return Standing(self.evaluations.baseline.id, tuple(improved))

    def situation(self, number: int, *, judged: bool = False) -> Situation:
        """Returns what the Coder is told before a round, or the Judge after it.

        Neither may see what a killed process recorded later than that, or its prompt would be another one.
        """
        before = number - 1
        parent = self.strategy.parent(self.standing(number if judged else before))
        verdict = self.evaluations.verdict(parent)
        last = self.history.round(before) if before and not judged else None
        earlier = self.history.seen(before if judged else before - 1)[-EARLIER:]
        return Situation(
            task=self.evaluations.task,
            metric=self.plan.metric,
            cores=self.plan.cores,
            round=number,
            rounds=self.plan.rounds,
            parent=self.evaluations.candidate(parent),
            profile=self.evaluations.profile(parent),
            best=verdict.measurement.speedup if verdict and verdict.measurement else None,
            directive=self.history.directive(before),
            last=[self.evaluations.record(id) for id in last.batch] if last else [],
            earlier=[self.evaluations.record(id) for id in reversed(earlier)],
            complaints=last.complaints if last else (),
            tried=(self.evaluations.baseline.id, *self.history.seen(before)),
        )
