"""Fresh secret inputs, edge cases first: the candidate's outcomes against the baseline's."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Any

from whet.core.verdict import Reason
from whet.evaluators import hidden_state
from whet.evaluators.compare import MALFORMED
from whet.evaluators.examination import Examination
from whet.evaluators.examiner import Step, raised
from whet.evaluators.finding import Fault
from whet.evaluators.hidden_state import Elsewhere
from whet.evaluators.inputs.counterexample import smallest
from whet.evaluators.inputs.source import Input, InputSource, derive
from whet.evaluators.inputs.target_text import Wanted
from whet.evaluators.live import Answer
from whet.evaluators.oracle import Oracle
from whet.evaluators.pairs import Met, Side
from whet.evaluators.subjects import Subject
from whet.sandbox.inside.codec import CodecError
from whet.sandbox.inside.decode import decode

WALL_SECONDS = 5.0
"""After which no edited input is begun, whoever takes so long."""
SHRINKABLE = frozenset({Reason.WRONG_OUTPUT, Reason.WRONG_EXCEPTION, Reason.MUTATED_INPUT, Reason.CRASH})
EXPLAINING_SECONDS = 0.5
"""What the candidate may take for an input that is only meant to explain."""
MOST_EXAMPLES = 40


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
    baseline: Subject,
    candidate: Subject,
    source: InputSource,
    oracle: Oracle,
    seed: int,
    hash_seed: int,
    seconds: float,
    explain: bool = True,
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
    """
    examination, theirs = Examination(baseline, source, seed, hash_seed, seconds), Side(candidate, hash_seed)
    with closing(examination), closing(theirs):
        return compare(examination, theirs, oracle, explain=explain)


def compare(
    examination: Examination, theirs: Side, oracle: Oracle, elsewhere: Elsewhere | None = None, explain: bool = True
) -> Compared:
    """Runs a candidate on fresh inputs until a difference, or until its time is spent.

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
    way = _Way(examination, theirs, oracle)
    fault = way.run(elsewhere or Elsewhere(derive(examination.seed, "elsewhere") % 2**31, worker=None))
    if fault is not None and explain:
        fault = way.explained(fault)
    return Compared(fault, way.evidence())


class _Way:
    """One candidate's way along an examination."""

    def __init__(self, examination: Examination, theirs: Side, oracle: Oracle) -> None:
        self.examination = examination
        self.theirs = theirs
        self.oracle = oracle
        self.seconds = examination.seconds
        self.last: Input | None = None
        self.met: list[Met] = []
        self.hashes: list[str] = []
        self.sources: Counter[str] = Counter()
        self.discarded = 0
        self.begun: dict[str, float] = {}

    def evidence(self) -> dict[str, Any]:
        """Returns from what this check can be repeated."""
        return {
            "inputs": len(self.hashes),
            "hashes": self.hashes,
            "seed": self.examination.seed,
            "sources": dict(self.sources),
            "discarded": self.discarded,
        }

    def run(self, elsewhere: Elsewhere) -> Fault | None:
        """Returns the first fault."""
        if fault := self.theirs.open():
            return fault
        for steps in self.examination.groups():
            if fault := self.meet([step for step in steps if not self.late(step)]):
                return fault
        if self.examination.failed is not None:
            return self.examination.failed
        self.discarded += self.examination.discarded
        return self.state(elsewhere)

    def late(self, step: Step) -> bool:
        """Whether the time for the inputs of a step's stage is spent."""
        if step.stage is None:
            return False
        now = time.perf_counter()
        return now > self.begun.setdefault(step.stage, now) + WALL_SECONDS

    def meet(self, steps: Sequence[Step]) -> Fault | None:
        """Lets the candidate meet inputs, those that are met twice in a row twice."""
        payloads = [step.item.payload for step in steps for _ in range(1 if step.again is None else 2)]
        with closing(self.theirs.calls(payloads, self.seconds)) as answers:
            for step in steps:
                if fault := self.met_one(step, answers):
                    return fault
        return None

    def met_one(self, step: Step, answers: Iterator[Answer]) -> Fault | None:
        """Judges what the candidate makes of one step."""
        self.discarded += step.discarded
        answer = next(answers)
        if step.asked is Wanted.RAISE and _raises(answer, step.expected):
            return None
        self.last = step.item
        self.hashes.append(step.hash)
        self.sources[step.item.source] += 1
        fault = self.judged(step.item, step.expected, answer)
        if fault is None and step.again is not None and (changed := self.judged(step.item, step.again, next(answers))):
            late = changed.reason is Reason.TIMEOUT  # slow is not stateful
            said = changed.detail if late else f"right, then wrong on the same input: {changed.detail}"
            fault = Fault(Reason.TIMEOUT if late else Reason.NONDETERMINISTIC, said)
        if fault is None:
            self.met.append(step)
        elif step.promised or self.sure(step):
            return fault
        else:
            self.discarded += 1
        return None

    def judged(self, item: Input, expected: bytes, answer: Answer) -> Fault | None:
        """Returns what is wrong with the candidate's answer to an input."""
        if isinstance(answer, Fault):
            return Fault(answer.reason, f"{answer.detail}\n{self.oracle.input_text(item)}")
        fault = self.oracle.judge(item, expected, answer[0])
        if fault is None:
            return None
        # Not a fork: in one, much lies where it lay in the first process.
        with closing(Side(self.theirs.subject, 1, worker=None)) as fresh:
            again = fresh.call(item.payload, self.seconds)
        if not isinstance(again, Fault) and self.oracle.judge(item, answer[0], again[0]) is not None:
            return Fault(Reason.NONDETERMINISTIC, f"two runs on one input differ; {fault.detail}")
        return fault

    def sure(self, step: Step) -> bool:
        """Whether the baseline's outcome is one that an honest candidate would have: the same anywhere, and valid."""
        if self.examination.source.check(step.item.payload, self.oracle.checkable(step.expected)):
            return False
        with closing(Side(self.examination.baseline, 1, worker=None)) as fresh:
            again = fresh.call(step.item.payload, self.seconds)
        return not isinstance(again, Fault) and self.oracle.compare(step.item, step.expected, again[0]) is None

    def state(self, elsewhere: Elsewhere) -> Fault | None:
        """Looks for state; see `whet.evaluators.hidden_state`."""
        examination = self.examination
        fault = hidden_state.repeated(self.theirs, self.oracle, self.met, self.seconds)
        if fault is None and not examination.program:
            fault = hidden_state.spoiled(examination, self.theirs, self.oracle, self.met)
        return fault or hidden_state.met_elsewhere(examination, self.theirs.subject, self.oracle, self.met, elsewhere)

    def explained(self, fault: Fault) -> Fault:
        """Returns a fault with the smallest input that shows it."""
        examination = self.examination
        if fault.reason not in SHRINKABLE or self.last is None or self.last.expected is not None:
            return fault
        examples = sorted((one.item.payload for one in self.met), key=len)[:MOST_EXAMPLES]
        with closing(Side(examination.baseline, examination.hash_seed)) as ours:

            def failing(item: Input) -> Fault | None:
                expected = ours.call(item.payload, EXPLAINING_SECONDS)
                if isinstance(expected, Fault) or examination.asked(expected[0]) is not Wanted.SAME:
                    return None
                answer = self.theirs.call(item.payload, EXPLAINING_SECONDS)
                if isinstance(answer, Fault):
                    return (
                        replace(answer, detail=f"{answer.detail}\n{self.oracle.input_text(item)}")
                        if answer.reason is fault.reason
                        else None
                    )
                found = self.oracle.judge(item, expected[0], answer[0])
                return found if found is not None and found.reason is fault.reason else None

            seed = derive(examination.seed, "smallest")
            return smallest(self.last, fault, failing, examination.source, seed, examples)


def _raises(answer: Answer, expected: bytes) -> bool:
    """Whether a function's answer is any exception, as the baseline's outcome is."""
    if isinstance(answer, Fault):
        return False
    if answer[0] == expected:
        return True
    try:
        return bool(raised(decode(answer[0]), program=False))
    except (CodecError, *MALFORMED):  # the answer is hostile
        return False
