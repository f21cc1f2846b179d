"""A driver that may be killed at any moment and begun again: it asks a model, and has its proposals done elsewhere."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from whet.agents.budget import BudgetMeter
from whet.agents.ledger import Ledger
from whet.agents.models.base import Brief, Message, Request
from whet.agents.prices import load_prices
from whet.benchmarks.self.rehearsal import asked
from whet.benchmarks.self.scale.places import done, opened
from whet.benchmarks.self.scale.work import noted, piece
from whet.core.options import Budget
from whet.core.store import RunRecord, Store
from whet.sandbox.workers.base import Executor
from whet.testing.scripted import ScriptedModel

ANSWER_TOKENS = 16
"""Tokens of an answer at most. The scripted model answers with one number, so that a larger limit changes no answer."""


@dataclass(frozen=True, slots=True)
class Script:
    """What a driver is to do, however often it is begun again.

    Each prompt quotes what came of the round before, down to which execution it was: where a result was lost or
    doubled, the driver that goes on asks other questions.

    Attributes:
        folder: holds the journals, and names the run.
        home: the state directory; that of other scripts too.
        place: where the work is done, as ``--workers`` has it.
        rounds: of a question for each candidate, and their work.
        candidates: a round.
        work_seconds: that the work on a candidate takes.
        model_seconds: that an answer takes.
    """

    folder: Path
    home: Path
    place: str
    rounds: int
    candidates: int = 4
    work_seconds: float = 0.02
    model_seconds: float = 0.002

    @property
    def questions(self) -> Path:
        """A journal: one line for each question that reaches the model, written before it answers."""
        return self.folder / "questions"

    @property
    def executions(self) -> Path:
        """A journal: one line for each execution of a piece of work, and when it began."""
        return self.folder / "executions"

    @property
    def told(self) -> Path:
        """A journal: one line for each result that a driver was told, and which driver."""
        return self.folder / "told"

    @property
    def name(self) -> str:
        """Of the run, as the keys of its work have it."""
        return "/".join(self.folder.parts[-2:])

    def work(self) -> None:
        """Begins the run, or goes on with it; returns when it is finished."""
        self.folder.mkdir(parents=True, exist_ok=True)
        with closing(Store(self.home)) as store:
            run = self.record(store)
            if run is not None and run.finished:
                return
            id = run.id if run else store.begin("optimize", self.name, {})
            store.hold(id)
            ledger = Ledger(store, id, BudgetMeter(Budget(tokens=10**12), load_prices({})))
            model = self.model()
            with opened(self.place, self.home) as executor:
                found: list[str] = []
                for number in range(self.rounds):
                    # All rounds are asked again, as a replay does: the ledger answers what it has recorded.
                    proposed = [
                        int(ledger.ask(model, question(number, sample, found)).text)
                        for sample in range(self.candidates)
                    ]
                    key = f"round:{number}"
                    if (recorded := store.fact(id, key)) is None:
                        store.set_fact(id, key, recorded := self._evaluated(executor, proposed))
                    found = recorded
            store.finish(id, {})

    def record(self, store: Store) -> RunRecord | None:
        """Returns the run, if it has begun."""
        return next((record for record in store.runs() if record.target == self.name), None)

    def model(self) -> ScriptedModel:
        """Returns a model that costs tokens, notes each question, and proposes the numbers of candidates."""

        def answer(request: Request) -> str:
            noted(self.questions, named(request))
            time.sleep(self.model_seconds)
            round = int(request.messages[0].text.split()[1])
            return str(round * self.candidates + request.sample)

        return ScriptedModel(answer, free=False)

    def _evaluated(self, executor: Executor, proposed: list[int]) -> list[str]:
        """Returns the executions whose results were told, by candidate."""
        results: list[Mapping[str, Any]] = []
        work = [piece(self.name, number, seconds=self.work_seconds, journal=self.executions) for number in proposed]
        for outcome in done(executor, work):
            noted(self.told, f"{os.getpid()} {outcome.result['number']} {outcome.result['execution']}")
            results.append(outcome.result)
        return [result["execution"] for result in sorted(results, key=lambda result: int(result["number"]))]


def question(round: int, sample: int, found: list[str]) -> Request:
    """Returns the question for a candidate."""
    text = f"Round {round} after {' '.join(found)}"
    return Request("coder", (Message("user", text),), sample, ANSWER_TOKENS, Brief("python", "function", "f", ""))


def named(request: Request) -> str:
    """Returns a question's name, which owes nothing to the ledger's own keys."""
    return asked(request.role, request.sample, [(one.role, one.text) for one in request.messages])
