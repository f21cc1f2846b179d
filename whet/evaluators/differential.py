"""Fresh secret inputs, edge cases first: the candidate's outcomes against the baseline's."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Any

from whet.core.verdict import Reason
from whet.evaluators import hidden_state
from whet.evaluators.artifacts import Artifact
from whet.evaluators.compare import MALFORMED
from whet.evaluators.costs import Costs, affordable
from whet.evaluators.examination import Examination
from whet.evaluators.examiner import Cut, Step
from whet.evaluators.finding import BaselineLost, Fault, Inconclusive, Passed, RungEndedError, found_by, sound
from whet.evaluators.hidden_state import Elsewhere
from whet.evaluators.inputs.counterexample import smallest
from whet.evaluators.inputs.plan import FEWEST_DRAWN
from whet.evaluators.inputs.source import Input, InputSource, derive
from whet.evaluators.inputs.target_text import RequiredOutcome
from whet.evaluators.oracle import Oracle
from whet.evaluators.outcomes import decode_call
from whet.evaluators.pairs import Side
from whet.evaluators.patience import Patience
from whet.evaluators.processes import CallResult
from whet.evaluators.sequences import SequenceCheck
from whet.sandbox.inside.codec import CodecError
from whet.sandbox.protocol import CpuLimit

SHRINKABLE = frozenset({Reason.WRONG_OUTPUT, Reason.WRONG_EXCEPTION, Reason.MUTATED_INPUT, Reason.CRASH})
EXPLAINING_SECONDS = 0.5
"""CPU seconds that either side may take for an input that is only meant to explain, unless the first took longer."""
EXPLAINING_BUDGET = 2.4
"""CPU seconds of the baseline, by its class, for all of those."""
FEWEST_TRIES, MOST_TRIES = 8, 200
"""Of those."""
MOST_LOST = 3
"""Processes that they may end."""
MOST_EXAMPLES = 40
"""Inputs on which both sides agree, the smallest ones, that tell what smaller inputs have to keep. More tell rules from
chance more surely, and each takes time to be read."""
FEW_INPUTS = 40
"""Below which the rung says how many were planned."""

WEAK_INPUTS = 20
"""Below which the rung says that it is weak."""


@dataclass(frozen=True, slots=True)
class Compared:
    """What the inputs showed.

    Attributes:
        fault: the first difference, if any.
        evidence: how many inputs from which source, their seed and hashes.
    """

    fault: Fault | None
    evidence: Mapping[str, Any]


def compare_all(
    baseline: Artifact,
    candidate: Artifact,
    source: InputSource,
    oracle: Oracle,
    seed: int,
    hash_seed: int,
    seconds: float,
    explain: bool = True,
    costs: Costs | None = None,
) -> Compared:
    """Compares one candidate with its baseline on inputs that nobody else meets; see `compare`.

    Args:
        baseline: the original.
        candidate: what is compared with it.
        source: draws the inputs.
        oracle: judges the outcomes.
        seed: of the inputs.
        hash_seed: of both processes, so that what follows from the order of a set is the same in both.
        seconds: that one call may take.
        explain: whether the smallest input is looked for.
        costs: of the baseline; None measures them first.
    """
    examination = Examination(baseline, source, seed, hash_seed, seconds, costs)
    theirs = Side(candidate, hash_seed)
    with closing(examination), closing(theirs):
        return compare(examination, theirs, oracle, explain=explain)


def compare(
    examination: Examination, theirs: Side, oracle: Oracle, elsewhere: Elsewhere | None = None, explain: bool = True
) -> Compared:
    """Runs a candidate on fresh inputs until a difference.

    Drawn inputs come first, each listed size at least once; then known calls, examples of type hints, and edits of
    what was drawn. Then the same inputs come again: in another order, in another process, and after their results
    were changed. An outcome that differs by then comes from state. Of a difference, the smallest input is looked for.

    Args:
        examination: the inputs, and what the baseline makes of them.
        theirs: the candidate, under the hash seed of the examination.
        oracle: judges the outcomes.
        elsewhere: in which other process the inputs come again; None is a fresh one that is no fork.
        explain: whether the smallest input is looked for; where only the verdict counts, that would be waste.
    """
    way = _CandidateExamination(examination, theirs, oracle, explain)
    place = elsewhere or Elsewhere(derive(examination.seed, "elsewhere") % 2**31, worker=None)
    found = found_by(lambda: way.run(place))
    fault = found if isinstance(found, Fault) else None
    if fault is not None and explain:
        fault = way.explained(fault)
    return Compared(fault, way.evidence())


class _CandidateExamination:
    """One candidate's way along an examination."""

    def __init__(self, examination: Examination, theirs: Side, oracle: Oracle, explain: bool) -> None:
        self.explain = explain
        self.examination = examination
        self.theirs = theirs
        self.oracle = oracle
        self.seconds = examination.seconds
        self.patience = Patience(examination.seconds)
        self.last: Step | None = None
        self.met: list[Step] = []
        self.hashes: list[str] = []
        self.sources: Counter[str] = Counter()
        self.discarded = 0
        self.cut: dict[str, Cut] = {}
        self.sequences = 0

    def evidence(self) -> dict[str, Any]:
        """Returns from what this check can be repeated."""
        return {
            "inputs": len(self.hashes),
            "hashes": self.hashes,
            "seed": self.examination.seed,
            "sources": dict(self.sources),
            "discarded": self.discarded,
            "sequences": self.sequences,
            "cut": {stage: _told(cut) for stage, cut in self.cut.items()},
        }

    def run(self, elsewhere: Elsewhere) -> None:
        """Goes to the end, or to the first fault.

        Raises:
            RungEndedError: there is one.
        """
        self.theirs.open()
        for steps in self.examination.groups():
            self.compare_group(steps)
        sound(self.examination.failed)
        self.discarded += self.examination.discarded
        self.cut |= self.examination.cut
        self.state(elsewhere)

    def compare_group(self, steps: Sequence[Step]) -> None:
        """Lets the candidate meet inputs, those that are met twice in a row twice."""
        payloads = [step.item.payload for step in steps for _ in range(1 if step.again is None else 2)]
        with closing(self.theirs.calls(payloads, self.seconds)) as answers:
            awaited = self.patience.over(answers)
            for step in steps:
                self.compare_step(step, awaited)

    def compare_step(self, step: Step, answers: Iterator[CallResult]) -> None:
        """Judges what the candidate makes of one step."""
        self.discarded += step.discarded
        answer = next(answers)
        if step.asked is RequiredOutcome.RAISE and _raises(answer, step.expected):
            return
        self.last = step
        self.hashes.append(step.hash)
        self.sources[step.item.source] += 1
        fault = self.judged(step.item, step.expected, answer)
        if fault is None and step.again is not None and (changed := self.judged(step.item, step.again, next(answers))):
            late = changed.reason is Reason.TIMEOUT  # slow is not stateful
            said = changed.detail if late else f"right, then wrong on the same input: {changed.detail}"
            fault = Fault(Reason.TIMEOUT if late else Reason.NONDETERMINISTIC, said)
        if fault is None:
            self.met.append(step)
        elif step.promised:
            raise RungEndedError(fault if isinstance(answer, Fault) else self.against(step, fault))
        elif self.sure(step):
            raise RungEndedError(fault)
        else:
            self.discarded += 1

    def judged(self, item: Input, expected: bytes, answer: CallResult) -> Fault | None:
        """Returns what is wrong with the candidate's answer to an input."""
        if isinstance(answer, Fault):
            return Fault(answer.reason, f"{answer.detail}\n{self.oracle.input_text(item)}")
        fault = self.oracle.judge(item, expected, answer[0])
        return fault and self._in_a_fresh_process(item, answer[0], fault)

    def _in_a_fresh_process(self, item: Input, outcome: bytes, fault: Fault) -> Fault:
        """Returns a difference from the baseline; where a fresh process gives yet another outcome, that."""
        # Not a fork: in one, much lies where it lay in the first process.
        with closing(Side(self.theirs.artifact, 1, worker=None)) as fresh:
            again = fresh.call(item.payload, self.seconds)
        if not isinstance(again, Fault) and self.oracle.judge(item, outcome, again[0]) is not None:
            return Fault(Reason.NONDETERMINISTIC, f"two runs on one input differ; {fault.detail}")
        return fault

    def against(self, step: Step, fault: Fault) -> Fault:
        """Returns a difference from the baseline; where a fresh process of that differs from the first, this."""
        expected = [step.expected] if step.again is None else [step.expected, step.again]
        with closing(Side(self.examination.baseline, 1, worker=None)) as fresh:
            for outcome in expected:
                answer = fresh.call(step.item.payload, self.seconds)
                if isinstance(answer, Fault):
                    return BaselineLost(Reason.NONDETERMINISTIC, f"the baseline: {answer.detail}")
                if found := self.oracle.compare(step.item, outcome, answer[0]):
                    said = f"two processes of the baseline differ: {found.detail}\n{self.oracle.input_text(step.item)}"
                    return BaselineLost(Reason.NONDETERMINISTIC, said)
        return fault

    def sure(self, step: Step) -> bool:
        """Whether the baseline's outcome is one that an honest candidate would have: the same anywhere, and valid."""
        if self.examination.source.check(step.item.payload, self.oracle.checkable(step.expected)):
            return False
        with closing(Side(self.examination.baseline, 1, worker=None)) as fresh:
            again = fresh.call(step.item.payload, self.seconds)
        return not isinstance(again, Fault) and self.oracle.compare(step.item, step.expected, again[0]) is None

    def state(self, elsewhere: Elsewhere) -> None:
        """Looks for state; see `whet.evaluators.hidden_state`."""
        examination = self.examination
        rehearsal = examination.rehearsal
        self.sequences = len(rehearsal.expected)
        try:
            SequenceCheck(rehearsal, self.theirs.artifact, self.patience, self.explain).expect_alike()
        except RungEndedError:
            self.last = None  # it is explained already
            raise
        again = hidden_state.Again(examination, self.oracle, self.patience)
        again.repeated(self.theirs, self.met)
        if not examination.program:
            again.after_mutation(self.theirs, self.met)
        order = again.order(self.met)
        if len(order) < len(self.met):
            self.cut["elsewhere"] = Cut(len(order), len(self.met))
        again.compare_elsewhere(self.theirs.artifact, order, elsewhere)

    def explained(self, fault: Fault) -> Fault:
        """Returns a fault with the smallest input that shows it."""
        examination, last = self.examination, self.last
        if fault.reason not in SHRINKABLE or last is None or last.item.expected is not None:
            return fault
        examples = sorted((one.item.payload for one in self.met), key=len)[:MOST_EXAMPLES]
        limit = CpuLimit(max(EXPLAINING_SECONDS, last.cost))
        lost = 0
        with closing(Side(examination.baseline, examination.hash_seed)) as ours:

            def failing(item: Input) -> Fault | None:
                nonlocal lost
                if lost >= MOST_LOST:
                    return None
                expected = ours.call(item.payload, limit)
                if isinstance(expected, Fault):
                    lost += 1
                    return None
                if examination.asked(expected[0]) is not RequiredOutcome.SAME:
                    return None
                answer = self.theirs.call(item.payload, limit)
                if isinstance(answer, Fault):
                    if answer.reason is not fault.reason:
                        lost += 1
                        return None
                    return replace(answer, detail=f"{answer.detail}\n{self.oracle.input_text(item)}")
                found = self.oracle.judge(item, expected[0], answer[0])
                return found if found is not None and found.reason is fault.reason else None

            seed = derive(examination.seed, "smallest")
            tries = affordable(last.cost, EXPLAINING_BUDGET, FEWEST_TRIES, MOST_TRIES)
            return smallest(last.item, fault, failing, examination.source, seed, examples, tries)


def concluded(compared: Compared, notes: Sequence[str]) -> Passed | Inconclusive:
    """Returns what the rung found where no difference showed: nothing, where the inputs are too few to say so.

    Recorded cases alone are all that there is to know of some programs, and so they are enough; the detail says it.

    Args:
        compared: without a fault.
        notes: what else there is to say of the inputs; empty ones say nothing.
    """
    count, recorded = compared.evidence["inputs"], set(compared.evidence["sources"]) == {"case"}
    agreed = "inputs agree: only recorded cases, which are public" if recorded else "fresh inputs agree"
    said = [f"{count} {agreed}", shortened(compared), *notes]
    if count < FEWEST_DRAWN and not recorded:
        said = [f"too few inputs to tell: {said[0]}, and {FEWEST_DRAWN} are needed", *said[1:]]
    elif count < WEAK_INPUTS:
        said = [f"weak: only {said[0]}", *said[1:]]
    conclusion = Inconclusive if count < FEWEST_DRAWN and not recorded else Passed
    return conclusion("; ".join(filter(None, said)), compared.evidence)


def shortened(compared: Compared) -> str:
    """Returns in a few words that few of the planned inputs were tried; empty where they were not few."""
    cut = [one for stage, one in compared.evidence["cut"].items() if stage != "elsewhere"]
    count = compared.evidence["inputs"]
    if count >= FEW_INPUTS or not cut:
        return ""
    left_out = sum(one["planned"] - one["tried"] for one in cut)
    lost = sum(one.get("lost", 0) for one in cut)
    slow = ["calls of the baseline are slow"] if any("lost" not in one for one in cut) else []
    ended = [f"{lost} ended a process of the baseline"] if lost else []
    return f"{left_out} more were planned, but {' and '.join((*slow, *ended))}"


def _told(cut: Cut) -> dict[str, int]:
    told = {"tried": cut.tried, "planned": cut.planned}
    return {**told, "lost": cut.lost} if cut.lost else told


def _raises(answer: CallResult, expected: bytes) -> bool:
    """Whether a function's answer is any exception, as the baseline's outcome is."""
    if isinstance(answer, Fault):
        return False
    if answer[0] == expected:
        return True
    try:
        return bool(decode_call(answer[0]).error)
    except (CodecError, *MALFORMED):  # the answer is hostile
        return False
