"""The facts that the agents are told, drawn from what a run has recorded."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from whet.agents.evaluations import Evaluations
from whet.agents.experience import Recalled
from whet.agents.history import History
from whet.agents.kernels import at_roofline
from whet.agents.person import Said, nothing_said
from whet.agents.remembering import nothing_remembered
from whet.agents.siblings import Record, Sibling, siblings
from whet.agents.situation import Partner, Situation
from whet.agents.strategies.base import Aim, Scored, SearchState, Strategy, Tried
from whet.core.constraint import Constraint
from whet.core.errors import BudgetError

EARLIER = 20
"""Earlier candidates that a prompt lists."""
AHEAD = 10
"""Of those that were faster, the best, among which siblings are looked for beside the earlier ones."""


@dataclass(frozen=True, slots=True)
class SearchPlan:
    """How long and how wide the loop turns.

    Attributes:
        rounds: at most.
        candidates: asked for a round.
        most: distinct candidates evaluated in all; None for no cap.
        workers: candidates checked side by side.
        metric: what counts.
        cores: that a candidate may use.
        others: metrics that are improved too where that costs nothing in the one that counts.
        constraints: that a candidate has to keep.
        looks: candidates measured side by side.
    """

    rounds: int
    candidates: int
    most: int | None
    workers: int
    metric: str
    cores: int
    others: tuple[str, ...] = ()
    constraints: tuple[Constraint, ...] = ()
    looks: int = 1


@dataclass(frozen=True, slots=True)
class Facts:
    """What a run knows at each of its rounds.

    Attributes:
        evaluations: of its candidates.
        history: its rounds and diagnoses.
        strategy: chooses what is built upon.
        plan: how long and how wide the loop turns.
        standings: by the number of the round that they follow; none is worked out twice.
        said: gives what a person said before the rounds up to a number.
        remembered: gives what earlier runs found out about code like this.
    """

    evaluations: Evaluations
    history: History
    strategy: Strategy
    plan: SearchPlan
    standings: dict[int, SearchState] = field(default_factory=dict)
    said: Callable[[int], Said] = nothing_said
    remembered: Callable[[], tuple[Recalled, ...]] = nothing_remembered

    def room(self, number: int) -> int:
        """Returns how many candidates a round may ask for.

        Raises:
            BudgetError: none are left.
        """
        if self.plan.most is None:
            return self.plan.candidates
        left = self.plan.most - len(self.history.seen(number - 1))
        if left <= 0:
            raise BudgetError(
                f"--budget-candidates {self.plan.most} {'is' if self.plan.most == 1 else 'are'} evaluated"
            )
        return min(left, self.plan.candidates)

    def aims(self, number: int) -> Sequence[Aim]:
        """Returns what the answers of a round are asked for.

        Raises:
            BudgetError: no candidates are left.
        """
        most = self.room(number)
        return list(self._planned(self.standing(number - 1, number), number, most))

    def judged(self, number: int) -> bool:
        """Returns whether the Judge is asked about a round: where the next one has a question for its directive."""
        return any(aim.directed for aim in self._planned(self.standing(number), number + 1, self.plan.candidates))

    def _planned(self, state: SearchState, number: int, most: int) -> Iterator[Aim]:
        """Yields the strategy's aims at hot lines that there are; without any, the Judge says where to work."""
        for aim in self.strategy.plan(state, number, most):
            if aim.focus is None:
                yield aim
            elif lines := self.evaluations.profile(aim.parent).lines:
                yield replace(aim, focus=aim.focus % len(lines))
            else:
                yield replace(aim, focus=None, directed=aim.parent == state.best)

    def first_sample(self, number: int) -> int:
        """Returns the number of the first answer of a round to a question; each number names another answer to it."""
        return 0 if self.strategy.feedback else (number - 1) * self.plan.candidates

    def standing(self, until: int, asked: int | None = None) -> SearchState:
        """Returns what the rounds up to a number, each of them over, have reached.

        Args:
            until: that number.
            asked: the round before which a person's words count; None is that number too.
        """
        while (number := len(self.standings)) <= until:
            self.standings[number] = self._extended(number) if number else SearchState(self.evaluations.baseline.id)
        said = self.said(until if asked is None else asked)
        return said.allowed(self.standings[until])

    def _extended(self, number: int) -> SearchState:
        """Returns the state before a round with what that round has reached."""
        before = self.standings[number - 1]
        improved = list(before.improved)
        tried = []
        for id in self.history.round(number).batch:
            if (verdict := self.evaluations.verdict(id)) is None:
                continue
            speedup = verdict.measurement.speedup if verdict.measurement else None
            if verdict.improved and speedup is not None:
                improved.append(Scored(id, speedup.ratio, speedup.low, speedup.high, number))
            candidate = self.evaluations.candidate(id)
            tried.append(
                Tried(
                    id=id,
                    parent=candidate.parent or before.baseline,
                    round=number,
                    source=candidate.source,
                    labels=candidate.labels,
                    correct=verdict.correct,
                    improved=verdict.improved,
                    low=speedup.low if speedup else None,
                    ratios=tuple(each.ratio for each in speedup.workloads) if speedup else (),
                )
            )
        return replace(
            before,
            improved=tuple(sorted(improved, key=lambda scored: scored.low, reverse=True)),
            tried=(*before.tried, *tried),
        )

    def at_roofline(self, number: int) -> str:
        """Returns why nothing is left to gain on the best of all rounds up to a number; empty where that is not so."""
        if self.evaluations.task.module is None:
            return ""
        verdict = self.evaluations.verdict(self.standing(number).best)
        speedup = verdict.measurement.speedup if verdict and verdict.measurement else None
        return at_roofline(self.evaluations.task, self.evaluations.circumstances(), speedup)

    def situation(self, number: int, aim: Aim | None = None, *, judged: bool = False) -> Situation:
        """Returns what the Coder is told before a round, or the Judge after it.

        Neither may see what a killed process recorded later than that, or its prompt would be another one.

        Args:
            number: of the round.
            aim: what the Coder is asked for; None is to build upon the best version.
            judged: whether it is the Judge who is told.
        """
        said = self.said(number)
        # Without feedback each round is a first one, and the only one.
        number, rounds = (number, self.plan.rounds) if self.strategy.feedback else (1, 1)
        before = number - 1
        state = self.standing(number if judged else before, number)
        best, since = state.best, state.improved[0].round if state.improved else 0
        aim = aim or Aim(best)
        parent = aim.parent
        verdict = self.evaluations.verdict(parent)
        profile = self.evaluations.profile(parent)
        last = self.history.round(before) if before and not judged else None
        seen = self.history.seen(before if judged else max(0, before - 1))[-EARLIER:]
        earlier = [self.evaluations.record(id) for id in reversed(seen)]
        return Situation(
            task=self.evaluations.task,
            metric=self.plan.metric,
            cores=self.plan.cores,
            others=self.plan.others,
            constraints=self.plan.constraints,
            place=self.evaluations.circumstances(),
            round=number,
            rounds=rounds,
            parent=self.evaluations.candidate(parent),
            leads=parent == best,
            profile=profile,
            best=verdict.measurement.speedup if verdict and verdict.measurement else None,
            directive=self.history.directive(before, since) if aim.directed else "",
            focus=None if aim.focus is None else profile.lines[aim.focus],
            partner=self._other(aim.partner) if aim.partner is not None else None,
            last=[self.evaluations.record(id) for id in last.batch] if last else [],
            earlier=earlier,
            siblings=self._siblings(aim, earlier, state, last.batch) if last else (),
            complaints=last.complaints if last else (),
            built=built.evidence if verdict and (built := verdict.rung("build")) else {},
            said=said,
            remembered=self.remembered(),
            tried=(self.evaluations.baseline.id, *self.history.seen(before), *self.history.same(before)),
        )

    def _siblings(
        self, aim: Aim, earlier: Sequence[Record], state: SearchState, last: Sequence[str]
    ) -> tuple[Sibling, ...]:
        # Of a long run neither all that was tried is looked at, nor all that was faster.
        ahead = [self.evaluations.record(scored.id) for scored in state.improved[:AHEAD]]
        told = [*last, *([aim.partner] if aim.partner is not None else [])]
        return siblings(self.evaluations.candidate(aim.parent), [*earlier, *ahead], told)

    def _other(self, id: str) -> Partner:
        return Partner(self.evaluations.candidate(id).source, self.evaluations.record(id))
