"""Finds what a rewrite needs of its arguments and the original does not: both meet inputs that break one need each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict
from hashlib import sha256
from itertools import chain
from typing import Any

from whet.core.condition import CONDITIONS, Condition, under
from whet.core.task import Task
from whet.core.text import first_line
from whet.evaluators.compare import MALFORMED, describe
from whet.evaluators.examination import Examination
from whet.evaluators.examiner import VALUE
from whet.evaluators.finding import Fault, Passed
from whet.evaluators.inputs.plain_data import read, write
from whet.evaluators.languages.registry import takes_objects
from whet.evaluators.needs.abilities import told_by
from whet.evaluators.needs.answers import BASELINE_SECONDS, CANDIDATE_SECONDS, answers_of
from whet.evaluators.needs.asking import ONLY_ASKED
from whet.evaluators.needs.broken_inputs import BreakingInput
from whet.evaluators.needs.naming import lacking, typed
from whet.evaluators.needs.trials import NeedTrial
from whet.evaluators.oracle import Oracle
from whet.evaluators.outcomes import CallOutcome, decode_call
from whet.evaluators.pairs import Side
from whet.evaluators.processes import CallResult
from whet.evaluators.python_text import session_text
from whet.sandbox.inside.decode import Node
from whet.sandbox.protocol import CpuLimit


def applicable(task: Task) -> bool:
    """Whether needs of a task's rewrites are looked for: of Python functions alone."""
    return takes_objects(task) and task.symbol is not None


def attacked(task: Task, examination: Examination, theirs: Side, oracle: Oracle) -> Mapping[str, Any]:
    """Returns what a candidate that agrees on the inputs of an examination needs beyond what the original does.

    Args:
        task: a Python function.
        examination: whose inputs are edited; all of them were met.
        theirs: the candidate's process.
        oracle: compares outcomes.

    Returns:
        Evidence: ``conditions``, the needs that nothing rules out; in ``needs`` how many inputs the original took,
        by need, the SHA-256 of them all in order, and what ruled needs out.
    """
    return _Attack(task, examination, theirs, oracle).evidence()


def with_conditions(found: Passed, task: Task, examination: Examination, theirs: Side, oracle: Oracle) -> Passed:
    """Returns what a comparison found with the conditions that it holds under; see `attacked`."""
    if not applicable(task):
        return found
    evidence = {**found.evidence, **attacked(task, examination, theirs, oracle)}
    return Passed(f"{found.detail}{under(evidence[CONDITIONS])}", evidence)


class _Attack:
    """One candidate's attack."""

    def __init__(self, task: Task, examination: Examination, theirs: Side, oracle: Oracle) -> None:
        self.task = task
        self.examination = examination
        self.theirs = theirs
        self.oracle = oracle
        self.tried: Counter[str] = Counter()
        self.digest = sha256()
        self.found: dict[tuple[str, str], Condition] = {}
        self.settled: set[tuple[str, str]] = set()
        self.unnamed: list[BreakingInput] = []

    def evidence(self) -> Mapping[str, Any]:
        """Makes the attack."""
        inputs = self.examination.broken_inputs(self.oracle)
        for taken in _more_and_more(inputs.turns):
            self.compare([one for one in taken if one.trial.key not in self.settled])
        for one in self.unnamed:
            self.name(one, inputs.asked[one.trial.spot.path])
        self.oracle.float_evidence()  # what it counted here is about no input that both had to meet
        return {
            CONDITIONS: [asdict(condition) for condition in self.found.values()],
            "needs": {
                "tried": dict(self.tried),
                "digest": self.digest.hexdigest(),
                "ruled_out": [asdict(one) for one in inputs.ruled_out],
            },
        }

    def compare(self, taken: Sequence[BreakingInput]) -> None:
        """Has the candidate meet some inputs, and keeps what it differs on."""
        payloads = [one.trial.item.payload for one in taken]
        with closing(answers_of(self.theirs, payloads, CANDIDATE_SECONDS)) as answers:
            for one, answer in zip(taken, answers, strict=True):
                if one.trial.key in self.settled:  # since a turn that came in the same exchange
                    continue
                self.tried[one.trial.need.name] += 1
                self.digest.update(one.trial.item.payload)
                self.judge(one.trial, one.expected, answer)

    def judge(self, trial: NeedTrial, expected: bytes, answer: CallResult) -> None:
        """Keeps a condition where a candidate's answer differs, and does so again."""
        key = (trial.need.name, trial.spot.parameter)
        difference = "" if key in self.found else self.differs(trial, expected, answer)
        if not difference or not self.again(trial, expected):
            return
        self.settled.add(trial.key)
        if trial.need.name == ONLY_ASKED:
            self.unnamed.append(BreakingInput(trial, expected))
            return
        self.found[key] = Condition(
            trial.need.name,
            trial.spot.parameter,
            trial.need.said(trial.spot),
            session_text(self.task.symbol or "", trial.value),
            difference,
        )

    def name(self, taken: BreakingInput, ours: frozenset[str]) -> None:
        """Finds what a candidate asks that the original does not, where it differs on an object that lacks all that."""
        place, parameter = str(taken.trial.spot), taken.trial.spot.parameter
        named = any(known == place and need != ONLY_ASKED for need, known in self.settled)
        for trial in lacking(taken, ours, self.theirs, self.oracle):
            if any((need, place) in self.settled for need in told_by(trial.need.name)):
                named = True
                continue
            with closing(answers_of(self.theirs, [trial.item.payload], CANDIDATE_SECONDS)) as answers:
                self.judge(trial, taken.expected, next(answers))
            named |= (trial.need.name, parameter) in self.found
        if not named:
            with closing(answers_of(self.theirs, [taken.trial.item.payload], CANDIDATE_SECONDS)) as answers:
                self.judge(typed(taken), taken.expected, next(answers))

    def differs(self, trial: NeedTrial, expected: bytes, answer: CallResult) -> str:
        """Returns how an answer differs from the baseline's outcome; empty where it does not."""
        if isinstance(answer, Fault):
            return "" if trial.need.rest else first_line(answer.detail)
        if expected == answer[0]:
            return ""
        if not answer[0].startswith(VALUE):
            return "" if trial.need.rest else _raised(expected, answer[0])
        if not trial.need.supported:
            return self.difference(trial, expected, answer[0])
        # What is left of an iterator is a need of its own.
        found = self.difference(trial, _without_iterators(expected), _without_iterators(answer[0]))
        if trial.need.rest:
            return "" if found else self.difference(trial, expected, answer[0])
        return found

    def difference(self, trial: NeedTrial, expected: bytes, actual: bytes) -> str:
        """Returns how two outcomes differ; empty where they do not."""
        found = self.oracle.compare(trial.item, expected, actual)
        return "" if found is None else first_line(found.detail)

    def again(self, trial: NeedTrial, expected: bytes) -> bool:
        """Whether fresh processes show the same difference, so that it is the input's."""
        limits = ((self.examination.baseline, BASELINE_SECONDS), (self.theirs.artifact, CANDIDATE_SECONDS))
        answers = []
        for artifact, seconds in limits:
            with closing(Side(artifact, 1, worker=None)) as fresh:
                answers.append(fresh.call(trial.item.payload, CpuLimit(seconds)))
        ours, theirs = answers
        return not self.differs(trial, expected, ours) and bool(self.differs(trial, expected, theirs))


def _more_and_more(turns: Sequence[Sequence[BreakingInput]]) -> Iterator[list[BreakingInput]]:
    """Yields turns, more and more of them at once: to a candidate without conditions an exchange a turn is waste."""
    first, count = 0, 1
    while first < len(turns):
        yield list(chain.from_iterable(turns[first : first + count]))
        first, count = first + count, 2 * count


def _raised(expected: bytes, actual: bytes) -> str:
    """Tells of an outcome that is no value, in the place of one that is."""
    try:
        return f"expected {describe(CallOutcome.of(read(expected)))}, got {describe(decode_call(actual))}"
    except MALFORMED:  # a candidate's is hostile
        return "the outcome is not in the form that the harness writes"


def _without_iterators(outcome: bytes) -> bytes:
    """Returns an outcome without what is left of iterators that were passed."""
    try:
        kind, after, instance, value, stdout = read(outcome)
        args, kwargs = after
        args = tuple(None if isinstance(one, Node) and one.kind == "lazy" else one for one in args)
        return write((kind, (args, kwargs), instance, value, stdout))
    except MALFORMED:  # a candidate's is hostile
        return outcome
