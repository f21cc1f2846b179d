"""How a round comes by its candidates: what the strategy aims at is asked of the Coder, all at once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from whet.agents.asking import Asking
from whet.agents.checkpoints import UNASKED
from whet.agents.coder import Proposal, coder_request, propose
from whet.agents.distinct import Distinct
from whet.agents.facts import Facts
from whet.agents.history import Caps, History, Round, Stopwatch
from whet.agents.ledger import Ledger
from whet.agents.models.base import Model, ModelError
from whet.agents.stops import NOTHING
from whet.agents.strategies.base import Aim
from whet.core.candidate import Candidate
from whet.core.errors import BudgetError
from whet.core.store import Store


@dataclass(frozen=True, slots=True)
class Proposing:
    """The parts of a run that make proposals."""

    store: Store
    facts: Facts
    history: History
    distinct: Distinct
    ledger: Ledger
    caps: Caps
    asking: Asking
    watch: Stopwatch

    def round(self, number: int, edited: Sequence[Candidate], coder: Model) -> Round:
        """Records what a round brings, and returns it.

        Args:
            number: of the round.
            edited: what a person wrote for it: each takes the place of an answer.
            coder: drafts in this round.
        """
        proposals = [Proposal(candidate) for candidate in edited]
        ended = message = ""
        aims: Sequence[Aim] = ()
        try:
            self.caps.check_time(f"round:{number}")
            aims = self.facts.aims(number)
            questions = self._questions(number, aims[: max(0, len(aims) - len(edited))], coder)
            outcomes = self.asking.each(coder, questions)
            # What came of the other samples counts, whatever ended the round.
            proposals += [outcome for outcome in outcomes if isinstance(outcome, Proposal)]
            for error_of in (ModelError, BudgetError):
                if failures := [outcome for outcome in outcomes if isinstance(outcome, error_of)]:
                    raise failures[0]
            if not proposals:
                more = "" if number == 1 else " more"
                ended, message = NOTHING, f"the model has nothing{more} to propose"
        except BudgetError as error:
            ended, message = "budget", str(error)
        except ModelError as error:
            ended, message = UNASKED, str(error)
        parent = aims[0].parent if aims else self.facts.standing(number - 1, number).best
        seen = self.history.seen(number - 1)
        with self.store.on_disk():  # and with it the replies that the round was made of
            gathered = self.distinct.gathered(parent, proposals, seen)
            brought = replace(gathered, ended=ended, message=message)
            self.history.add(number, brought)
            self.watch.save()
        return brought

    def _questions(self, number: int, aims: Sequence[Aim], coder: Model) -> dict[str, Callable[[], Proposal | None]]:
        """Returns a question for each aim.

        Samples are numbered by their parent: no two answers have one number, even where two questions about a parent
        turn out the same, and a model that is a program gives each its own.
        """
        told = {aim: (facts := self.facts.situation(number, aim), coder_request(facts)) for aim in dict.fromkeys(aims)}
        numbers = Counter({aim.parent: self.facts.first_sample(number) for aim in aims})
        questions: dict[str, Callable[[], Proposal | None]] = {}
        for place, aim in enumerate(aims):
            facts, question = told[aim]
            which = f"round {number}, sample {place + 1} of {len(aims)}"
            asked = replace(question, sample=numbers[aim.parent], place=which)
            numbers[aim.parent] += 1
            questions[f"coder:{number}:{place}"] = partial(propose, self.ledger.ask, coder, facts, asked)
        return questions
