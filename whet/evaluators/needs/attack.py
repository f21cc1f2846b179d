"""Finds what a rewrite needs of its arguments and the original does not: both meet inputs that break one need each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict
from typing import Any

from whet.core.condition import CONDITIONS, Condition, under
from whet.core.task import Kind, Task
from whet.core.text import first_line
from whet.core.verdict import Reason
from whet.evaluators.compare import MALFORMED, describe
from whet.evaluators.costs import MODERATE, SLOWEST, affordable
from whet.evaluators.examination import Examination
from whet.evaluators.examiner import VALUE, Step
from whet.evaluators.finding import Fault, Passed
from whet.evaluators.inputs.plain_data import read, write
from whet.evaluators.inputs.plan import input_hash
from whet.evaluators.inputs.target_text import Wanted
from whet.evaluators.live import Answer
from whet.evaluators.needs.trials import Trial, Trials
from whet.evaluators.needs.vocabulary import VOCABULARY, Need
from whet.evaluators.oracle import Oracle
from whet.evaluators.pairs import Side
from whet.evaluators.python_text import session_text
from whet.evaluators.subjects import Subject
from whet.sandbox.inside.codec import CodecError
from whet.sandbox.inside.decode import Node, decode
from whet.sandbox.protocol import CpuLimit

PER_PLACE = 18
"""Edited inputs that one need meets at one place, where none shows a difference."""
SECONDS = 1.2
"""CPU seconds of the baseline, by its class, for all of them."""
FEWEST, MOST = 40, 320
"""Of all of them; with fewer than the first, most needs would not be attacked at all."""
BASELINE_SECONDS, CANDIDATE_SECONDS = 0.2, 2.0
"""CPU seconds that the two may take for one. What lets the baseline run longer is no input that it takes."""
WAIT = 0.5
"""Seconds by the clock after which an input is met again, with CPU time counted: counting it takes some ms a call."""
MOST_LOST = 4
"""Processes of the baseline that they may end."""


def applicable(task: Task) -> bool:
    """Whether needs of a task's rewrites are looked for: of Python functions alone."""
    return task.language == "python" and task.kind is Kind.FUNCTION and task.module is None and task.symbol is not None


def attacked(
    task: Task, examination: Examination, candidate: Subject, oracle: Oracle, needs: Sequence[Need] = VOCABULARY
) -> Mapping[str, Any]:
    """Returns what a candidate that agrees on the inputs of an examination needs beyond what the original does.

    Args:
        task: a Python function.
        examination: whose inputs are edited; all of them were met.
        candidate: gets a process of its own.
        oracle: compares outcomes.
        needs: to attack.

    Returns:
        Evidence: ``conditions``, the needs that nothing rules out; in ``needs`` how many inputs the original took,
        by need, their hashes, and what ruled needs out.
    """
    return _Attack(task, examination, candidate, oracle).evidence(needs)


def with_conditions(found: Passed, task: Task, examination: Examination, candidate: Subject, oracle: Oracle) -> Passed:
    """Returns what a comparison found with the conditions that it holds under; see `attacked`."""
    if not applicable(task):
        return found
    evidence = {**found.evidence, **attacked(task, examination, candidate, oracle)}
    return Passed(f"{found.detail}{under(evidence[CONDITIONS])}", evidence)


class _Attack:
    """One candidate's attack."""

    def __init__(self, task: Task, examination: Examination, candidate: Subject, oracle: Oracle) -> None:
        self.task = task
        self.examination = examination
        self.candidate = candidate
        self.oracle = oracle
        self.made = Trials(task)
        self.tried: Counter[str] = Counter()
        self.hashes: list[str] = []
        self.found: dict[tuple[str, str], Condition] = {}
        self.settled: set[tuple[str, str]] = set()
        self.lost = 0

    def evidence(self, needs: Sequence[Need]) -> Mapping[str, Any]:
        """Makes the attack."""
        steps = [step for steps in self.examination.groups() for step in steps if _usable(step)]
        if steps:
            ours = Side(self.examination.baseline, self.examination.hash_seed)
            theirs = Side(self.candidate, self.examination.hash_seed)
            with closing(ours), closing(theirs):
                for trials in self.batches(list(self.made.of(steps, needs))):
                    self.meet(trials, ours, theirs)
        self.oracle.float_evidence()  # what it counted here is about no input that both had to meet
        return {
            CONDITIONS: [asdict(condition) for condition in self.found.values()],
            "needs": {
                "tried": dict(self.tried),
                "hashes": self.hashes,
                "ruled_out": [asdict(one) for one in self.made.ruled_out],
            },
        }

    def batches(self, trials: Sequence[Trial]) -> Iterator[list[Trial]]:
        """Yields inputs together of which each need has at most one at a place; later ones only where that is open."""
        waiting: dict[tuple[str, str], list[Trial]] = {}
        for trial in trials:
            waiting.setdefault(trial.key, []).append(trial)
        most = affordable(max((trial.base.cost for trial in trials), default=SLOWEST), SECONDS, FEWEST, MOST)
        made = 0
        for turn in range(PER_PLACE):
            batch = [them[turn] for key, them in waiting.items() if turn < len(them) and key not in self.settled]
            batch = batch[: most - made]
            made += len(batch)
            if not batch or self.lost >= MOST_LOST:
                return
            yield batch

    def meet(self, trials: Sequence[Trial], ours: Side, theirs: Side) -> None:
        """Has both meet some inputs, and keeps what they differ on."""
        valid = self.examination.source.valid([trial.item.payload for trial in trials])
        kept = []
        for trial, held in zip(trials, valid, strict=True):
            if held:
                kept.append(trial)
            else:
                self.made.rule_out(trial.need, trial.spot, "valid")
        taken: list[tuple[Trial, bytes]] = []
        payloads = [trial.item.payload for trial in kept]
        with closing(_answers(ours, payloads, BASELINE_SECONDS)) as answers:
            for trial, answer in zip(kept, answers, strict=True):
                if isinstance(answer, Fault):
                    self.lost += 1
                    self.settled.add(trial.key)
                elif self.takes(trial, answer[0]):
                    taken.append((trial, answer[0]))
                if self.lost >= MOST_LOST:
                    break
        payloads = [trial.item.payload for trial, _ in taken]
        with closing(_answers(theirs, payloads, CANDIDATE_SECONDS)) as answers:
            for (trial, expected), answer in zip(taken, answers, strict=True):
                self.tried[trial.need.name] += 1
                self.hashes.append(input_hash(trial.item))
                self.judge(trial, expected, answer)

    def takes(self, trial: Trial, outcome: bytes) -> bool:
        """Whether the original takes an input: it returns, and what it should where that is known."""
        if not outcome.startswith(VALUE):
            return False
        if not trial.need.supported:
            return True
        try:
            before, now = _without_arguments(trial.base.expected), _without_arguments(outcome)
        except CodecError:  # arrays that share memory
            return False
        return self.oracle.compare(trial.item, before, now) is None

    def judge(self, trial: Trial, expected: bytes, answer: Answer) -> None:
        """Keeps a condition where a candidate's answer differs, and does so again."""
        key = (trial.need.name, trial.spot.parameter)
        difference = "" if key in self.found else self.differs(trial, expected, answer)
        if not difference or not self.again(trial, expected):
            return
        self.settled.add(trial.key)
        self.found[key] = Condition(
            trial.need.name,
            trial.spot.parameter,
            trial.need.said(trial.spot),
            session_text(self.task.symbol or "", trial.value),
            difference,
        )

    def differs(self, trial: Trial, expected: bytes, answer: Answer) -> str:
        """Returns how an answer differs from the baseline's outcome; empty where it does not."""
        if isinstance(answer, Fault):
            return "" if trial.need.rest else first_line(answer.detail)
        if expected == answer[0]:
            return ""
        if not answer[0].startswith(VALUE):
            return "" if trial.need.rest else _raised(expected, answer[0])
        if not trial.need.supported:
            return self.compared(trial, expected, answer[0])
        # What is left of an iterator is a need of its own.
        found = self.compared(trial, _without_iterators(expected), _without_iterators(answer[0]))
        if trial.need.rest:
            return "" if found else self.compared(trial, expected, answer[0])
        return found

    def compared(self, trial: Trial, expected: bytes, actual: bytes) -> str:
        """Returns how two outcomes differ; empty where they do not."""
        found = self.oracle.compare(trial.item, expected, actual)
        return "" if found is None else first_line(found.detail)

    def again(self, trial: Trial, expected: bytes) -> bool:
        """Whether fresh processes show the same difference, so that it is the input's."""
        limits = ((self.examination.baseline, BASELINE_SECONDS), (self.candidate, CANDIDATE_SECONDS))
        answers = []
        for subject, seconds in limits:
            with closing(Side(subject, 1, worker=None)) as fresh:
                answers.append(fresh.call(trial.item.payload, CpuLimit(seconds)))
        ours, theirs = answers
        return not self.differs(trial, expected, ours) and bool(self.differs(trial, expected, theirs))


def _answers(side: Side, payloads: Sequence[bytes], seconds: float) -> Generator[Answer]:
    """Yields an answer for each input, which may take so much CPU time, however busy the machine is."""
    with closing(side.calls(payloads, WAIT)) as answers:
        for payload, answer in zip(payloads, answers, strict=True):
            if isinstance(answer, Fault) and answer.reason is Reason.TIMEOUT:
                with closing(side.another()) as other:
                    yield other.call(payload, CpuLimit(seconds))
            else:
                yield answer


def _usable(step: Step) -> bool:
    return step.asked is Wanted.SAME and step.cost <= MODERATE and step.expected.startswith(VALUE)


def _raised(expected: bytes, actual: bytes) -> str:
    """Tells of an outcome that is no value, in the place of one that is."""
    try:
        return f"expected {describe(read(expected))}, got {describe(decode(actual))}"
    except MALFORMED:  # a candidate's is hostile
        return "the outcome is not in the form that the harness writes"


def _without_arguments(outcome: bytes) -> bytes:
    """Returns an outcome without what the arguments are after the call."""
    kind, _, instance, value, stdout = read(outcome)
    return write((kind, None, instance, value, stdout))


def _without_iterators(outcome: bytes) -> bytes:
    """Returns an outcome without what is left of iterators that were passed."""
    try:
        kind, after, instance, value, stdout = read(outcome)
        args, kwargs = after
        args = tuple(None if isinstance(one, Node) and one.kind == "lazy" else one for one in args)
        return write((kind, (args, kwargs), instance, value, stdout))
    except MALFORMED:  # a candidate's is hostile
        return outcome
