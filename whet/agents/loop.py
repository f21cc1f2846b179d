"""The loop that Coder, ladder and Judge turn in: a langgraph StateGraph with a SQLite checkpointer.

The state holds ids, scores and counters only. Whatever a node finds is a fact in the store before the next
node reads it, and a node that a kill cut short finds its own facts again when it is run anew; so prompts,
and with them the keys of recorded replies, come out the same.
"""

from __future__ import annotations

import gc
import math
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import Any, Protocol, TypedDict, cast

from langgraph.graph import END, START, StateGraph

from whet.agents.asking import Asking
from whet.agents.checkpoints import UNASKED, newest_saver
from whet.agents.diagnosis import Diagnosis
from whet.agents.dialogue import Dialogue
from whet.agents.distinct import repeated
from whet.agents.evaluations import Evaluations
from whet.agents.facts import Facts, SearchPlan
from whet.agents.gains import gain_over
from whet.agents.history import Caps, History, Round, Stopwatch
from whet.agents.judge import Past, diagnose
from whet.agents.known_best import KnownBest
from whet.agents.lanes import side_by_side
from whet.agents.ledger import Ledger
from whet.agents.models.base import Model
from whet.agents.models.manual import by_hand
from whet.agents.predictions import Prediction, Predictions
from whet.agents.proposing import Proposing
from whet.agents.race import BEHIND, TIME_IS_UP, race, undecided
from whet.agents.repairs import REPAIRS, Repairs
from whet.agents.stops import Course, after_judge, after_round, takes_over, too_dear
from whet.agents.translations import TRANSLATED, right_translation
from whet.core.errors import BudgetError
from whet.core.events import Event, EventKind, Listener
from whet.core.store import Store
from whet.core.verdict import Verdict
from whet.evaluators.filters import doubts
from whet.prompts import times

CONFIRMS = 3
"""Candidates that may be tried as the winner."""


class LoopState(TypedDict, total=False):
    """What a checkpoint holds.

    Attributes:
        round: rounds proposed so far.
        mark: id of the best when a gain beyond the resolution was last shown; the baseline's before.
        stale: rounds in a row without one, over what is marked.
        against: answers of the Judge in a row that spoke against a further round.
        taken_over: number of the first round that the model drafts which takes over; 0 before.
        ended: why no further round follows: a word of `whet.agents.stops`, budget, nothing, person, translated or
            model; empty before.
        message: the same for people.
        confirming: ids of those that were tried as the winner.
        winner: id of the confirmed candidate; empty without one.
    """

    round: int
    mark: str
    stale: int
    against: int
    taken_over: int
    ended: str
    message: str
    confirming: list[str]
    winner: str


class Node(Protocol):
    """A step: from the state to what it changes in it."""

    def __call__(self, state: LoopState) -> LoopState:
        """Takes the step."""


@dataclass(frozen=True, slots=True)
class Loop:
    """One run's parts; `turn` makes them work together.

    ``coder`` drafts, and where it stalls ``takeover`` does, if there is one.
    """

    store: Store
    run: str
    evaluations: Evaluations
    proposing: Proposing
    ledger: Ledger
    coder: Model
    takeover: Model | None
    judge: Model
    facts: Facts
    history: History
    predictions: Predictions
    plan: SearchPlan
    caps: Caps
    asking: Asking
    watch: Stopwatch
    listener: Listener
    known_best: KnownBest | None
    dialogue: Dialogue | None
    repairs: Repairs

    def turn(self) -> LoopState:
        """Runs the loop to its end, from where an earlier process left it.

        One that ended because a model could not be asked goes on with the round that was cut short.

        Raises:
            BaselineError: no verdict could rest on this baseline.
            SandboxError: the sandbox broke; the run can be resumed.
        """
        with _settled_heap():
            graph = self._graph().compile(checkpointer=newest_saver(self.store))
            config: Any = {
                "configurable": {"thread_id": self.run},
                "recursion_limit": 10 + 5 * self.plan.rounds,
            }
            known = graph.get_state(config)
            if known.values and not known.tasks:
                if known.values["ended"] != UNASKED:
                    return cast(LoopState, known.values)
                graph.update_state(config, _before_broken_round(known.values), as_node="round")
            first: Any = None if known.values else _beginning(self.evaluations.baseline.id)
            while True:
                for _ in graph.stream(first, config, stream_mode=[], durability="sync"):
                    raise AssertionError("nobody asked what the steps say")
                known, first = graph.get_state(config), None
                if self.dialogue is None or not known.next:
                    return cast(LoopState, known.values)
                self.dialogue.listen(known.values["round"] + 1)

    def _graph(self) -> StateGraph[LoopState, None, LoopState, LoopState]:
        # A person, where one takes part, speaks before each round.
        turn = {"round": self._round} if self.dialogue is None else {"person": self._listen, "round": self._round}
        nodes = {"validate": self._validate, **turn, "confirm": self._confirm}
        graph = StateGraph(LoopState)
        for name, node in nodes.items():
            graph.add_node(name, self._timed(node))
        for before, after in pairwise((START, "validate", next(iter(turn)))):
            graph.add_edge(before, after)
        for before, after in pairwise((*turn, next(iter(turn)))):
            graph.add_conditional_edges(before, _unless_ended(after))
        graph.add_edge("confirm", END)
        return graph

    def _timed(self, node: Callable[[LoopState], LoopState]) -> Node:
        def work(state: LoopState) -> LoopState:
            update = node(state)
            self.watch.save()
            return update

        return work

    # nodes

    def _validate(self, state: LoopState) -> LoopState:
        self._say(EventKind.STAGE, "checking the baseline", stage="baseline")
        self.evaluations.validate()
        if self.known_best is not None:
            self._say(EventKind.STAGE, "timing the known best", stage="known best")
            line = self.known_best.measure()
            self.store.set_fact(self.run, "known_best", {"id": self.known_best.id, "line": line})
            self._say(EventKind.STAGE, line, stage="known best")
        return {}

    def _listen(self, state: LoopState) -> LoopState:
        assert self.dialogue is not None, "the step is there for a person only"
        return cast(LoopState, self.dialogue.heard(state["round"] + 1))

    def _round(self, state: LoopState) -> LoopState:
        # One node, for all that a round comes to is a fact by itself: after a kill in between, none is found anew.
        number = state["round"] + 1
        self._say(EventKind.ROUND, f"round {number} of {self.plan.rounds}", round=number)
        coder = self._drafter(state)
        brought = self.history.recorded(number)
        # What was proposed must not be asked for again once it may have been judged: a call that failed may not now.
        if brought is None or brought.ended == UNASKED:
            brought = self._propose(number, coder)
        update: LoopState = {"round": number, "ended": brought.ended, "message": brought.message}
        update |= self._check(number, coder) or self._measure(number)
        for id in self.history.round(number).again:
            self._say(EventKind.ANSWER, repeated(self.evaluations, id), repeats=id)
        return update | self._weigh({**state, **update})

    def _drafter(self, state: LoopState) -> Model:
        return self.takeover if state["taken_over"] and self.takeover is not None else self.coder

    def _propose(self, number: int, coder: Model) -> Round:
        edited = self.dialogue.words.edited(number) if self.dialogue else []
        brought = self.proposing.round(number, edited, coder)
        for id in brought.same:
            if file := self._answer_file(id):
                self._say(EventKind.ANSWER, f"{file}: the same as a version that the run has seen; not judged again")
        self._say_cost()
        return brought

    def _check(self, number: int, coder: Model) -> LoopState:
        """Checks what a round brought, and what repairs make of what is almost right."""
        for turn in range(1 + REPAIRS):
            if turn == len(self.history.round(number).groups):
                if not (broken := self.repairs.due(number, coder)):
                    break
                self._repair(number, broken, coder)
            if update := self._check_group(number, turn):
                return update
        return {}

    def _repair(self, number: int, broken: Sequence[str], coder: Model) -> None:
        for id in broken:
            self._say_candidate(id, "repairing")
        self.repairs.bring(number, broken, coder)
        self.watch.save()
        self._say_cost()

    def _check_group(self, number: int, turn: int) -> LoopState:
        batch = self.history.round(number).groups[turn]
        if not batch:
            return {}
        try:
            self.caps.check_time(f"check:{number}:{turn}" if turn else f"check:{number}")
        except BudgetError as error:
            return {"ended": "budget", "message": str(error)}
        # They meet the same inputs; no prompt is built before the last of them has its verdict.
        self.evaluations.announce(batch)
        # After an interrupt nobody waits for what is under way; closing the evaluator ends it.
        side_by_side([partial(self._check_one, id) for id in batch], self.plan.workers, math.inf)
        return {}

    def _check_one(self, id: str) -> None:
        self._say_candidate(id, "checking")
        if not self.evaluations.check(id).correct or self.evaluations.task.untimed:
            self._say_done(id)
        else:
            self._say_candidate(id, "waiting for the clock")

    def _measure(self, number: int) -> LoopState:
        if self.evaluations.task.untimed:
            return {}
        right = []
        for id in self.history.round(number).batch:
            verdict = self.evaluations.verdict(id)
            if verdict is not None and verdict.correct:
                seconds = sum(rung.seconds for rung in verdict.rungs)
                right.append((doubts(verdict, self.evaluations.task.kind), seconds, id))
        # What no filter flags is likely to stand, and what was quick to check to be quick: should the time run out, the
        # best are measured.
        first, update = self._first_looks([id for *_, id in sorted(right)])
        known = race(first, self.evaluations.look, self._late, self.plan.looks)
        for id in filter(lambda id: undecided(first[id]), first):
            if undecided(known[id]):
                self.evaluations.leave(id, TIME_IS_UP if self._late() else BEHIND)
            self._say_done(id)
        return update

    def _first_looks(self, ids: Sequence[str]) -> tuple[dict[str, Verdict], LoopState]:
        """Returns what the first look at each showed, in their order, and what follows where the time ran out."""
        update: LoopState = {}
        found: dict[str, Verdict] = {}
        waiting, taking = iter(ids), threading.Lock()

        def look() -> None:
            with taking:  # whoever is begun later finds it later, so that none is left out before the last
                id = next(waiting)
                if update:
                    return
                try:
                    self.caps.check_time(f"measure:{id}")
                except BudgetError as error:
                    update.update({"ended": "budget", "message": str(error)})
                    return
            self._say_candidate(id, "measuring")
            # One alone has nobody to be left behind.
            found[id] = self.evaluations.look(id, 1) if len(ids) > 1 else self.evaluations.measure(id)
            if undecided(found[id]):
                self._say_candidate(id, "waiting for the clock")
            else:
                self._say_done(id)

        side_by_side([look] * len(ids), self.plan.looks, math.inf)
        return {id: found[id] for id in ids if id in found}, update

    def _late(self) -> bool:
        return self.caps.seconds_left <= 0.0

    def _weigh(self, state: LoopState) -> LoopState:
        if state["ended"] == UNASKED:
            return {}  # the round is not over: it is asked for again once that is mended
        number = state["round"]
        batch = [self.evaluations.verdict(id) for id in self.history.round(number).batch]
        if self.evaluations.task.untimed and (translated := right_translation(batch)):
            return {"winner": translated, "ended": TRANSLATED, "message": "a right translation was found"}
        with self.store.transaction():
            self._thin(number)
            foreseen = self.predictions.settle(number)
        if foreseen is not None:
            self._say_prediction(foreseen)
        update = self._progress(state)
        if update["mark"] != state["mark"]:
            self._confirm_early(update["mark"])
        course = self._course(number, update["stale"])
        if self.takeover is not None and not state["taken_over"] and takes_over(course, state["ended"]):
            self._say(EventKind.STAGE, f"{self.takeover.name} takes over from {self.coder.name}", stage="takeover")
            update |= {"taken_over": number + 1, "stale": 0, "against": 0, "ended": "", "message": ""}
            course = replace(course, stale=0)
        elif state["ended"]:
            return update
        if ending := after_round(course):
            return {**update, "ended": ending.ended, "message": ending.message}
        if not course.feedback or not self.history.round(number).batch:
            return update
        if self.dialogue is None and not self.facts.judged(number):
            return {**update, "against": 0}
        return update | self._judge({**state, **update})

    def _progress(self, state: LoopState) -> LoopState:
        """Returns whether a round brought a gain beyond the resolution over what was marked when there last was one."""
        standing = self.facts.standing(state["round"])
        allowed = [scored.id for scored in standing.improved]
        # What a person no longer wants is no mark.
        mark = state["mark"] if state["mark"] in allowed else standing.baseline
        if allowed and allowed[0] != mark:
            best, before = (self.evaluations.verdict(id) for id in (allowed[0], mark))
            assert best is not None, "it was measured"
            assert best.measurement is not None, "it was measured"
            if gain_over(before.measurement if before else None, best.measurement).shown:
                return {"mark": allowed[0], "stale": 0}
        return {"mark": mark, "stale": state["stale"] + 1}

    def _course(self, number: int, stale: int) -> Course:
        improved = self.facts.standing(number).improved
        known_best = self.known_best.reached(improved[0].id) if self.known_best and improved else ""
        roofline = self.facts.at_roofline(number)
        return Course(number, self.plan.rounds, self.facts.strategy.feedback, stale, known_best, roofline)

    def _judge(self, state: LoopState) -> LoopState:
        """Asks the Judge about a round; its answer is a directive, and a voice on whether another round follows."""
        number = state["round"]
        facts = self.facts.situation(number, judged=True)
        records = [self.evaluations.record(id) for id in self.history.round(number).batch]
        past = Past(self.predictions.until(number), self.history.diagnosis(self.history.last_judged(number - 1)))
        ask = partial(diagnose, self.ledger.ask, self.judge, facts, records, past)
        try:
            diagnosis = self.asking.one(self.judge, f"judge:{number}", ask)
        except BudgetError as error:
            return {"ended": "budget", "message": str(error)}
        with self.store.on_disk():
            self.history.judged(number, diagnosis)
        self._say_diagnosis(diagnosis)
        self._say_cost()
        dear = self.caps.noted(f"cost:{number}", too_dear(diagnosis, past.foreseen, self.caps.share / number))
        against = state["against"] + 1 if diagnosis.stop or dear else 0
        update: LoopState = {"against": against}
        if ending := after_judge(diagnosis, against, dear):
            update |= {"ended": ending.ended, "message": ending.message}
        return update

    def _thin(self, number: int) -> None:
        """Drops the raw evidence of all that a round has shown not to be among those that may win."""
        if self.dialogue is not None:
            return  # a person may yet reject those before it
        before, now = (
            {scored.id for scored in self.facts.standing(until).improved[:CONFIRMS]} for until in (number - 1, number)
        )
        self.evaluations.thin(sorted(before.union(self.history.round(number).batch) - now))

    def _confirm(self, state: LoopState) -> LoopState:
        update: LoopState = {"confirming": []}
        if state["ended"] == TRANSLATED:
            return update
        # What a person said last was said before a round that did not come, where they stopped the run.
        for scored in self.facts.standing(state["round"], state["round"] + 1).improved:
            if len(update["confirming"]) == CONFIRMS:
                break
            try:
                confirmed = self._confirmed(scored.id)
            except BudgetError:
                continue  # one that is not as fast may be confirmed already
            update["confirming"].append(scored.id)
            if confirmed:
                return {**update, "winner": scored.id}
        if update["confirming"]:
            update["message"] = f"{state['message']}; what was measured faster was not confirmed"
        return update

    def _confirmed(self, id: str) -> bool:
        """Returns whether a candidate is confirmed.

        Raises:
            BudgetError: nobody knows, and the time is up.
        """
        if self.evaluations.is_settled(id):
            return self.evaluations.confirm(id).confirmed
        self.caps.check_time(f"confirm:{id}")
        self._say(EventKind.STAGE, f"confirming {id[:10]}", stage="confirm")
        confirmed = self.evaluations.confirm(id).confirmed
        self._say_confirmed(id, confirmed)
        return confirmed

    def _confirm_early(self, id: str) -> None:
        """Confirms what has just become the best where the time is capped: when that is up, nothing is begun."""
        if self.caps.seconds_left < math.inf and not self.evaluations.task.untimed:
            with suppress(BudgetError):
                self._confirmed(id)

    # events

    def _say(self, kind: EventKind, text: str, **data: Any) -> None:
        self.listener(Event(kind, text, data))

    def _say_cost(self) -> None:
        spent = self.ledger.spent
        self._say(EventKind.COST, f"{spent.usd:.4f} USD", usd=spent.usd, tokens=spent.tokens, calls=spent.calls)

    def _say_diagnosis(self, said: Diagnosis) -> None:
        data = said.model_dump(mode="json", exclude={"bottleneck"})
        self._say(EventKind.JUDGE, f"judge: {said.directive}", **data)

    def _say_prediction(self, one: Prediction) -> None:
        came = f"it came to {times(one.gain.ratio)}" if one.gain else "no rewrite was right"
        data = {"after": one.after, "expected": one.expected, "confidence": one.confidence, "came": one.came}
        self._say(EventKind.JUDGE, f"the judge expected {times(one.expected)}: {came}", **data)

    def _say_candidate(self, id: str, state: str, **data: Any) -> None:
        origin = self.evaluations.candidate(id).origin
        self._say(EventKind.CANDIDATE, f"{id[:10]} {state}", candidate=id, origin=origin, state=state, **data)

    def _say_done(self, id: str) -> None:
        record = self.evaluations.record(id)
        figures = {name: record[name] for name in ("ratio", "low", "high", "metric") if record["ratio"] is not None}
        told = {name: record[name] for name in ("rung", "detail")}
        answer = {"answer": file} if (file := self._answer_file(id)) else {}
        self._say_candidate(id, "done", reason=record["reason"], **told, **answer, **figures)

    def _say_confirmed(self, id: str, confirmed: bool) -> None:
        """Tells what is left of the figure that was measured first."""
        verdict = self.evaluations.confirm(id)
        first, now = self.evaluations.measure(id).measurement, verdict.measurement
        figures = {"first": first.speedup.ratio if first else None, "ratio": now.speedup.ratio if now else None}
        fallen = verdict.failed
        why = "" if confirmed or fallen is None else f"{fallen.reason}: {fallen.detail}"
        self._say_candidate(id, "confirmed" if confirmed else "unconfirmed", why=why, **figures)

    def _answer_file(self, id: str) -> str:
        """Returns the file that a candidate was read from, where a person answers through files."""
        models = [self.coder, *([self.takeover] if self.takeover is not None else [])]
        return next((file for model in models for part in by_hand(model) if (file := part.file_of(id))), "")


@contextmanager
def _settled_heap() -> Iterator[None]:
    """Keeps the collector from walking, each time, through all the modules that are there before the loop begins."""
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


def _unless_ended(after: str) -> Callable[[LoopState], str]:
    return lambda state: "confirm" if state["ended"] else after


def _before_broken_round(state: Mapping[str, Any]) -> LoopState:
    """Returns what makes of the end of a loop whose model could not be asked the state before its last round."""
    return {"round": state["round"] - 1, "ended": "", "message": "", "confirming": [], "winner": ""}


def _beginning(baseline: str) -> LoopState:
    return {
        "round": 0,
        "mark": baseline,
        "stale": 0,
        "against": 0,
        "taken_over": 0,
        "ended": "",
        "message": "",
        "confirming": [],
        "winner": "",
    }
