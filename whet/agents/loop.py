"""The loop that Coder, ladder and Judge turn in: a langgraph StateGraph with a SQLite checkpointer.

The state holds ids, scores and counters only. Whatever a node finds is a fact in the store before the next
node reads it, and a node that a kill cut short finds its own facts again when it is run anew; so prompts,
and with them the keys of recorded replies, come out the same.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import Any, Protocol, TypedDict, cast

from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import END, START, StateGraph

from whet.agents.coder import Proposal, coder_request, propose
from whet.agents.evaluations import Evaluations
from whet.agents.facts import Facts, Plan
from whet.agents.history import Caps, History, Round, Stopwatch
from whet.agents.judge import diagnose
from whet.agents.ledger import Ledger
from whet.agents.models.base import Model, ModelError
from whet.core.errors import BudgetError
from whet.core.events import Event, Kind, Listener
from whet.core.store import Store

PATIENCE = 3
"""Rounds without a gain after which a run ends. A gain lies above the old best beyond its own noise."""
STOPS = 2
"""Times in a row that the Judge says stop before the run does."""
CONFIRMS = 3
"""Candidates that may be tried as the winner."""


class State(TypedDict, total=False):
    """What a checkpoint holds.

    Attributes:
        round: rounds proposed so far.
        best: id of the best so far.
        ratio: its measured speedup; 1 for the baseline.
        stale: rounds in a row without a gain.
        stops: times in a row that the Judge said stop.
        ended: why no further round follows: rounds, budget, judge, patience, nothing or model; empty before.
        message: the same for people.
        winner: id of the confirmed candidate; empty without one.
    """

    round: int
    best: str
    ratio: float
    stale: int
    stops: int
    ended: str
    message: str
    winner: str


class Node(Protocol):
    """A step: from the state to what it changes in it."""

    def __call__(self, state: State) -> State:
        """Takes the step."""


@dataclass(frozen=True, slots=True)
class Loop:
    """One run's parts; `turn` makes them work together."""

    store: Store
    run: str
    evaluations: Evaluations
    ledger: Ledger
    coder: Model
    judge: Model
    facts: Facts
    history: History
    plan: Plan
    caps: Caps
    watch: Stopwatch
    listener: Listener

    def turn(self) -> State:
        """Runs the loop to its end, from where an earlier process left it.

        Raises:
            BaselineError: no verdict could rest on this baseline.
            SandboxError: the sandbox broke; the run can be resumed.
        """
        with closing(_connect(self.store)) as connection:
            graph = self._graph().compile(checkpointer=_saver(connection))
            config: Any = {
                "configurable": {"thread_id": self.run},
                "recursion_limit": 10 + 5 * self.plan.rounds,
            }
            known = graph.get_state(config)
            # `known.next` leaves out a node that had ended when its process was killed before the next checkpoint.
            if known.values and not known.tasks:
                return cast(State, known.values)
            first: Any = None if known.values else _beginning(self.evaluations.baseline.id)
            return cast(State, graph.invoke(first, config, durability="sync"))

    def _graph(self) -> StateGraph[State, None, State, State]:
        nodes = {
            "validate": self._validate,
            "propose": self._propose,
            "check": self._check,
            "measure": self._measure,
            "weigh": self._weigh,
            "confirm": self._confirm,
        }
        graph = StateGraph(State)
        for name, node in nodes.items():
            graph.add_node(name, self._timed(node))
        graph.add_edge(START, "validate")
        for before, after in pairwise(("validate", "propose", "check", "measure", "weigh")):
            graph.add_edge(before, after)
        graph.add_conditional_edges("weigh", lambda state: "confirm" if state["ended"] else "propose")
        graph.add_edge("confirm", END)
        return graph

    def _timed(self, node: Callable[[State], State]) -> Node:
        def work(state: State) -> State:
            update = node(state)
            self.watch.save()
            return update

        return work

    # nodes

    def _validate(self, state: State) -> State:
        self._say(Kind.STAGE, "checking the baseline", stage="baseline")
        self.evaluations.validate()
        return {}

    def _propose(self, state: State) -> State:
        number = state["round"] + 1
        self._say(Kind.ROUND, f"round {number} of {self.plan.rounds}", round=number)
        known = {self.evaluations.baseline.id, *self.history.seen(number - 1)}
        update: State = {"round": number}
        proposals: list[Proposal] = []
        facts = self.facts.situation(number)
        question = coder_request(facts)
        try:
            self.caps.check_time(f"round:{number}")
            for sample in range(self.facts.room(number)):
                ask = partial(propose, self.ledger.ask, self.coder, facts, replace(question, sample=sample))
                if proposal := self.caps.guard(f"coder:{number}:{sample}", ask):
                    proposals.append(proposal)
            if not proposals:
                more = "" if number == 1 else " more"
                update |= {"ended": "nothing", "message": f"the model has nothing{more} to propose"}
        except BudgetError as error:
            update |= {"ended": "budget", "message": str(error)}
        except ModelError as error:
            update |= {"ended": "model", "message": str(error)}
        batch: list[str] = []
        complaints: list[str] = []
        for proposal in proposals:
            if proposal.candidate is None:
                complaints.append(proposal.complaint)
            elif proposal.candidate.id in known:
                complaints.append("an answer was, to the letter, a file that was tried before")
            else:
                batch.append(self.evaluations.add(proposal.candidate))
                known.add(batch[-1])
        proposed = sum(proposal.candidate is not None for proposal in proposals)
        self.history.add(number, Round(facts.parent.id, tuple(batch), proposed, tuple(complaints)))
        self._say_cost()
        return update

    def _check(self, state: State) -> State:
        batch = self.history.round(state["round"]).batch
        if not batch:
            return {}
        try:
            self.caps.check_time(f"check:{state['round']}")
        except BudgetError as error:
            return {"ended": "budget", "message": str(error)}
        pool = ThreadPoolExecutor(min(self.plan.workers, len(batch)))
        try:
            for _ in pool.map(self._check_one, batch):
                pass
        finally:
            # After an interrupt nobody waits for what is under way; closing the evaluator ends it.
            pool.shutdown(wait=False, cancel_futures=True)
        return {}

    def _check_one(self, id: str) -> None:
        self._say_candidate(id, "checking")
        if not self.evaluations.check(id).correct:
            self._say_done(id)

    def _measure(self, state: State) -> State:
        right = []
        for id in self.history.round(state["round"]).batch:
            verdict = self.evaluations.verdict(id)
            if verdict is not None and verdict.correct:
                right.append((sum(rung.seconds for rung in verdict.rungs), id))
        # What was quick to check is likely to be quick: should the time run out, the best are measured.
        for _, id in sorted(right):
            try:
                self.caps.check_time(f"measure:{id}")
            except BudgetError as error:
                return {"ended": "budget", "message": str(error)}
            self._say_candidate(id, "measuring")
            self.evaluations.measure(id)
            self._say_done(id)
        return {}

    def _weigh(self, state: State) -> State:
        number = state["round"]
        update: State = {"stale": state["stale"] + 1}
        if improved := self.facts.standing(number).improved:
            if improved[0].low > state["ratio"]:
                update["stale"] = 0
            update |= {"best": improved[0].id, "ratio": improved[0].ratio}
        if state["ended"]:
            return update
        if number >= self.plan.rounds:
            return {**update, "ended": "rounds", "message": f"the last of {number} rounds is done"}
        if update["stale"] >= PATIENCE:
            return {**update, "ended": "patience", "message": f"{PATIENCE} rounds brought no further gain"}
        batch = self.history.round(number).batch
        if not batch:
            return update
        records = [self.evaluations.record(id) for id in batch]
        facts = self.facts.situation(number, judged=True)
        ask = partial(diagnose, self.ledger.ask, self.judge, facts, records)
        try:
            diagnosis = self.caps.guard(f"judge:{number}", ask)
        except BudgetError as error:
            return {**update, "ended": "budget", "message": str(error)}
        self.history.judged(number, diagnosis)
        self._say(Kind.JUDGE, f"judge: {diagnosis.directive}", directive=diagnosis.directive)
        self._say_cost()
        update["stops"] = state["stops"] + 1 if diagnosis.stop else 0
        if update["stops"] >= STOPS:
            update |= {"ended": "judge", "message": "the judge sees nothing left to try"}
        return update

    def _confirm(self, state: State) -> State:
        improved = self.facts.standing(state["round"]).improved
        for scored in improved[:CONFIRMS]:
            self._say(Kind.STAGE, f"confirming {scored.id[:10]}", stage="confirm")
            if self.evaluations.confirm(scored.id).confirmed:
                return {"winner": scored.id}
        if improved:
            return {"message": f"{state['message']}; what was measured faster was not confirmed"}
        return {}

    # events

    def _say(self, kind: Kind, text: str, **data: Any) -> None:
        self.listener(Event(kind, text, data))

    def _say_cost(self) -> None:
        cost = self.ledger.cost()
        tokens = cost.tokens.input + cost.tokens.output
        self._say(Kind.COST, f"{cost.usd:.4f} USD", usd=cost.usd, tokens=tokens, calls=cost.calls)

    def _say_candidate(self, id: str, state: str, **data: Any) -> None:
        origin = self.evaluations.candidate(id).origin
        self._say(Kind.CANDIDATE, f"{id[:10]} {state}", candidate=id, origin=origin, state=state, **data)

    def _say_done(self, id: str) -> None:
        record = self.evaluations.record(id)
        figures = {name: record[name] for name in ("ratio", "low", "high", "metric") if record["ratio"] is not None}
        self._say_candidate(id, "done", reason=record["reason"], **figures)


def _beginning(baseline: str) -> State:
    return {
        "round": 0,
        "best": baseline,
        "ratio": 1.0,
        "stale": 0,
        "stops": 0,
        "ended": "",
        "message": "",
        "winner": "",
    }


def forget(store: Store, run: str) -> None:
    """Drops the checkpoints of a finished run: nothing reads them again, and each holds the whole state."""
    with closing(_connect(store)) as connection:
        _saver(connection).delete_thread(run)


def _saver(connection: sqlite3.Connection) -> SqliteSaver:
    # The state is plain data, so nothing but plain data need ever be read back.
    return SqliteSaver(connection, serde=JsonPlusSerializer(allowed_msgpack_modules=None))


def _connect(store: Store) -> sqlite3.Connection:
    return sqlite3.connect(store.home / "checkpoints.db", check_same_thread=False, timeout=30)
