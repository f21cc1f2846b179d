"""Repairs: a candidate that is almost right is sent back with what it does wrong, before a round is measured.

What a turn of repairs brought is part of the round's record. So a run that was killed asks for no repair twice, and a
replay meets the same prompts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

from whet.agents.asking import Asking
from whet.agents.coder import Ask, Proposal, coder_request, propose
from whet.agents.distinct import Distinct
from whet.agents.evaluations import Evaluations
from whet.agents.facts import Facts
from whet.agents.history import History, Round
from whet.agents.models.base import Message, Model, ModelError, Request
from whet.agents.person import ORIGIN as PERSON
from whet.agents.situation import Situation
from whet.agents.workload_author import author_of
from whet.core.candidate import Candidate
from whet.core.store import Store
from whet.core.verdict import Reason, Verdict
from whet.prompts import render
from whet.sandbox.toolchains import native

REPAIRS = 2
"""Times that a candidate is sent back: itself, and then what its repair brought."""
LEAST_RIGHT = 3
"""Inputs on which a candidate must have been right before it fell: one that never is wants another idea, no repair."""
SHOWN = frozenset({Reason.WRONG_OUTPUT, Reason.WRONG_EXCEPTION, Reason.MUTATED_INPUT, Reason.CRASH})
"""Faults of which the smallest input is looked for."""
REPAIRED = "repair"
"""Stands behind the model's name in the origin of a repaired candidate."""
UNREPAIRED = ("catalogue", PERSON)
"""Whose candidates are left as they are: an edit of the catalogue knows no other form, and a person is not corrected
behind their back."""


def right_before(verdict: Verdict | None) -> int:
    """Returns on how many inputs a candidate was right before one showed a fault; 0 where it fell otherwise."""
    fallen = verdict.failed if verdict is not None else None
    if fallen is None or fallen.name != "differential" or fallen.reason not in SHOWN:
        return 0
    return max(0, int(fallen.evidence.get("inputs", 0)) - 1)


@dataclass(frozen=True, slots=True)
class Repairs:
    """Has candidates of a round repaired.

    Attributes:
        store: of the run.
        evaluations: of its candidates.
        distinct: tells answers that the run had before.
        facts: what the run knows.
        history: its rounds.
        asking: asks the questions side by side.
        ask: through the ledger.
    """

    store: Store
    evaluations: Evaluations
    distinct: Distinct
    facts: Facts
    history: History
    asking: Asking
    ask: Ask

    def due(self, number: int, coder: Model) -> list[str]:
        """Returns the ids of the candidates that a round's next turn of repairs is about, all of known verdict.

        Args:
            number: of the round.
            coder: the model that proposes; the catalogue is not asked.
        """
        round = self.history.round(number)
        if round.ended or len(round.repairs) >= REPAIRS or not self.facts.strategy.feedback:
            return []
        broken = [id for id in round.groups[-1] if self._repairable(id)]
        return broken[: self._room(number)] if author_of(coder) is not None else []

    def bring(self, number: int, broken: Sequence[str], coder: Model) -> None:
        """Asks for a repair of each of some candidates, and records what came of it as a part of their round.

        A question that a cap does not allow, or that the model fails to answer, brings nothing.
        """
        model = author_of(coder)
        assert model is not None, "nothing would be due"
        facts = self.facts.situation(number)
        for id in broken:
            self.evaluations.helpers(id)  # recorded before a question tells of them
        questions = {f"repair:{id}": partial(self._repaired, model, facts, id) for id in broken}
        outcomes = self.asking.each(model, questions)
        proposals = [outcome for outcome in outcomes if isinstance(outcome, Proposal)]
        proposals += [Proposal(None, str(outcome)) for outcome in outcomes if isinstance(outcome, ModelError)]
        with self.store.on_disk():  # and with it the replies
            round = self.history.round(number)
            brought = self.distinct.gathered(round.parent, proposals, self.history.seen(number))
            self.history.add(number, _with_turn(round, brought))

    def _repairable(self, id: str) -> bool:
        origin = self.evaluations.candidate(id).origin
        return origin.partition(":")[0] not in UNREPAIRED and right_before(self.evaluations.verdict(id)) >= LEAST_RIGHT

    def _room(self, number: int) -> int | None:
        most = self.facts.plan.most
        return None if most is None else max(0, most - len(self.history.seen(number)))

    def _repaired(self, model: Model, facts: Situation, id: str) -> Proposal | None:
        broken = self.evaluations.candidate(id)
        proposal = propose(self.ask, model, replace(facts, parent=broken), self._question(facts, broken))
        if proposal is None or proposal.candidate is None:
            return proposal
        candidate = proposal.candidate
        return Proposal(replace(candidate, origin=f"{candidate.origin}:{REPAIRED}"))

    def _question(self, facts: Situation, broken: Candidate) -> Request:
        task = facts.task
        record = self.evaluations.record(broken.id)
        told = render(
            "repair_candidate",
            note=broken.note,
            right=right_before(self.evaluations.verdict(broken.id)),
            reason=record["reason"],
            detail=record["detail"],
            diff="" if task.translated else broken.diff(self._right(broken).source, task.filename),
            source=broken.source,
            language=native.language_of(task, broken.source),
            helpers=self.evaluations.helpers(broken.id),
        )
        question = coder_request(replace(facts, parent=broken))
        system, about, *_ = question.messages
        return replace(question, messages=(system, about, Message("user", told)))

    def _right(self, broken: Candidate) -> Candidate:
        """Returns the version without a known fault that a broken candidate goes back to."""
        while (parent := broken.parent) is not None:
            broken = self.evaluations.candidate(parent)
            verdict = self.evaluations.verdict(parent)
            if verdict is None or verdict.correct:
                return broken
        return self.evaluations.baseline


def _with_turn(round: Round, brought: Round) -> Round:
    return replace(
        round,
        batch=round.batch + brought.batch,
        proposed=round.proposed + brought.proposed,
        complaints=round.complaints + brought.complaints,
        same=round.same + brought.same,
        again=round.again + brought.again,
        repairs=(*round.repairs, brought.batch),
    )
