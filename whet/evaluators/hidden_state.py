"""Whether an outcome depends on anything but its input: on earlier calls, on their results, on the process."""

from __future__ import annotations

import random
import time
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass

from whet.core.verdict import Reason
from whet.evaluators.examination import Examination
from whet.evaluators.finding import Fault
from whet.evaluators.inputs.source import derive
from whet.evaluators.live import Answer
from whet.evaluators.oracle import Oracle
from whet.evaluators.pairs import Met, Side
from whet.evaluators.subjects import Subject

AGAIN = 12
"""Inputs that are met again at the end, in reverse order."""
SPOILED = 12
CHEAP_SECONDS = 0.02
MOST_REPLAYED = 200
REPLAY_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """Another process than those of an examination.

    Attributes:
        hash_seed: its PYTHONHASHSEED.
        worker: of which warm worker it is a fork; None for a process in a sandbox of its own.
    """

    hash_seed: int
    worker: int | None

    def side(self, subject: Subject) -> Side:
        """Returns the way to call a subject there."""
        return Side(subject, self.hash_seed, self.worker)


def repeated(theirs: Side, oracle: Oracle, met: Sequence[Met], seconds: float) -> Fault | None:
    """Meets the first inputs again in the same process, in reverse order."""
    with closing(theirs.outcomes(reversed(met[:AGAIN]), seconds)) as outcomes:
        for one, answer in outcomes:
            if fault := _different(oracle, one, answer):
                return _stateful("right at first, wrong when the same input came again", fault)
    return None


def spoiled(examination: Examination, theirs: Side, oracle: Oracle, met: Sequence[Met]) -> Fault | None:
    """Changes a result as a caller may, and calls again with the same input.

    What the baseline does so counts as right: it may share results itself.
    """
    cheap = [one for one in met if one.seconds < CHEAP_SECONDS][-SPOILED:]
    wanted = examination.spoiled(cheap)
    with closing(theirs.outcomes(cheap, examination.seconds, "spoil")) as outcomes:
        for (one, actual), expected in zip(outcomes, wanted, strict=True):
            if isinstance(expected, Fault):
                return None
            if isinstance(actual, Fault):
                return actual
            if oracle.judge(one.item, one.expected, expected[0]) is not None:
                continue
            if fault := oracle.judge(one.item, expected[0], actual[0]):
                return _stateful(
                    "a result is kept: wrong once the caller has changed what an earlier call returned", fault
                )
    return None


def met_elsewhere(
    examination: Examination, candidate: Subject, oracle: Oracle, met: Sequence[Met], elsewhere: Elsewhere
) -> Fault | None:
    """Meets the inputs in another process, in another order and under another hash seed.

    Args:
        examination: of the baseline, which is asked for the same where the candidate differs: what it does counts as
            right.
        candidate: gets a process of its own.
        oracle: judges the outcomes.
        met: inputs with the outcomes of the first processes.
        elsewhere: that process.
    """
    order = [one for one in met if one.seconds < CHEAP_SECONDS]
    random.Random(derive(examination.seed, "elsewhere")).shuffle(order)
    order = order[:MOST_REPLAYED]
    end = time.perf_counter() + REPLAY_SECONDS
    with closing(elsewhere.side(candidate)) as theirs:
        if fault := theirs.open():
            return fault
        with closing(theirs.outcomes(order, examination.seconds)) as outcomes:
            for number, (one, answer) in enumerate(outcomes):
                if fault := _different(oracle, one, answer):
                    if _baseline_differs(examination, oracle, order[: number + 1], elsewhere):
                        return None
                    return _stateful("right in one process, wrong in another that met other inputs before", fault)
                if time.perf_counter() > end:
                    return None
    return None


def _baseline_differs(examination: Examination, oracle: Oracle, order: Sequence[Met], elsewhere: Elsewhere) -> bool:
    """Whether the baseline itself gives other outcomes in such a process."""
    ours = elsewhere.side(examination.baseline)
    with closing(ours), closing(ours.outcomes(order, examination.seconds)) as outcomes:
        return any(_different(oracle, one, answer) is not None for one, answer in outcomes)


def _different(oracle: Oracle, one: Met, answer: Answer) -> Fault | None:
    if isinstance(answer, Fault):
        return Fault(answer.reason, f"{answer.detail}\n{oracle.input_text(one.item)}")
    return oracle.judge(one.item, one.expected, answer[0])


def _stateful(what: str, fault: Fault) -> Fault:
    if fault.reason is Reason.TIMEOUT:  # slow is not stateful
        return fault
    return Fault(Reason.NONDETERMINISTIC, f"{what}: {fault.detail}")
