"""Questions that are asked side by side, and an end to waiting for their answers.

An interrupt waits for no call that is under way. Such a call stays an intent in the ledger, and is unknown to
whoever resumes the run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TypeVar

from whet.agents.history import TIME_IS_UP, Caps
from whet.agents.lanes import side_by_side
from whet.agents.ledger import Ledger
from whet.agents.models.base import Model, ModelError
from whet.core.errors import BudgetError

T = TypeVar("T")


class Asking:
    """Asks models on behalf of the loop.

    Args:
        ledger: the questions' calls go through it.
        caps: knows the time that is left, and records where a cap ended something.
    """

    def __init__(self, ledger: Ledger, caps: Caps) -> None:
        self._ledger = ledger
        self._caps = caps

    def each(self, model: Model, questions: Mapping[str, Callable[[], T]]) -> list[T | ModelError | BudgetError]:
        """Asks several questions, as many at once as the model's provider takes.

        One that a cap ends ends alike whenever the run comes here again: what is asked depends on the record only.

        Args:
            model: the one that all the questions go to.
            questions: by a name that is unique in the run.

        Returns:
            what came of each, in the order of the questions, whatever the order of the answers.
        """
        capped = {name: BudgetError(line) for name in questions if (line := self._caps.known(name)) is not None}
        asked = [name for name in questions if name not in capped]
        tasks = [partial(_outcome, questions[name]) for name in asked]
        came = side_by_side(tasks, self._ledger.slots(model), self._caps.seconds_left)
        if len(came) < len(asked):
            self._ledger.abandon()
        outcomes: dict[str, T | ModelError | BudgetError] = {**capped}
        for place, name in enumerate(asked):
            outcome = came.get(place, BudgetError(TIME_IS_UP))
            if isinstance(outcome, BudgetError):
                self._caps.record(name, str(outcome))
            outcomes[name] = outcome
        return [outcomes[name] for name in questions]

    def one(self, model: Model, name: str, question: Callable[[], T]) -> T:
        """Asks one question.

        Raises:
            ModelError: as the question raised it.
            BudgetError: a cap does not allow it, or the time ran out meanwhile.
        """
        (outcome,) = self.each(model, {name: question})
        if isinstance(outcome, ModelError | BudgetError):
            raise outcome
        return outcome


def _outcome(question: Callable[[], T]) -> T | ModelError | BudgetError:
    try:
        return question()
    except (ModelError, BudgetError) as error:
        return error
