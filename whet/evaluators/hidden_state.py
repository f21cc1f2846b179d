"""Whether an outcome depends on anything but its input: on earlier calls, on their results, on the process."""

from __future__ import annotations

import random
import time
from collections.abc import Iterable, Sequence

from whet.core.verdict import Reason
from whet.evaluators.finding import Fault
from whet.evaluators.oracle import Oracle
from whet.evaluators.pairs import Met, Side
from whet.evaluators.subjects import Subject

AGAIN = 12
"""Inputs that are met again at the end, in reverse order."""
SPOILED = 12
CHEAP_SECONDS = 0.02
MOST_REPLAYED = 200
REPLAY_SECONDS = 2.0


def repeated(theirs: Side, oracle: Oracle, met: Sequence[Met], seconds: float) -> Fault | None:
    """Meets the first inputs again in the same process, in reverse order."""
    for one in reversed(met[:AGAIN]):
        if fault := _different(theirs, oracle, one, seconds):
            return _stateful("right at first, wrong when the same input came again", fault)
    return None


def spoiled(ours: Side, theirs: Side, oracle: Oracle, met: Sequence[Met], seconds: float) -> Fault | None:
    """Changes a result as a caller may, and calls again with the same input.

    What the baseline does so counts as right: it may share results itself.
    """
    for one in [one for one in met if one.seconds < CHEAP_SECONDS][-SPOILED:]:
        expected = ours.call_after_spoiling(one.item.payload, seconds)
        actual = theirs.call_after_spoiling(one.item.payload, seconds)
        if isinstance(expected, Fault):
            return None
        if isinstance(actual, Fault):
            return actual
        if oracle.judge(one.item, one.expected, expected[0]) is not None:
            continue
        if fault := oracle.judge(one.item, expected[0], actual[0]):
            return _stateful("a result is kept: wrong once the caller has changed what an earlier call returned", fault)
    return None


def elsewhere(
    baseline: Subject, candidate: Subject, oracle: Oracle, met: Sequence[Met], seed: int, seconds: float
) -> Fault | None:
    """Meets the inputs in a fresh process that is no fork, in another order and under another hash seed.

    Args:
        baseline: is asked for the same where the candidate differs: what it does counts as right.
        candidate: gets a process of its own.
        oracle: judges the outcomes.
        met: inputs with the outcomes of the first processes.
        seed: of the order, and of the hashes.
        seconds: that one call may take.
    """
    order = [one for one in met if one.seconds < CHEAP_SECONDS]
    random.Random(seed).shuffle(order)
    hash_seed = seed % 2**31
    theirs = Side(candidate, hash_seed, worker=None)
    end = time.perf_counter() + REPLAY_SECONDS
    try:
        if fault := theirs.open():
            return fault
        for number, one in enumerate(order[:MOST_REPLAYED]):
            if fault := _different(theirs, oracle, one, seconds):
                if _baseline_differs(baseline, oracle, order[: number + 1], hash_seed, seconds):
                    return None
                return _stateful("right in one process, wrong in a fresh one that met other inputs before", fault)
            if time.perf_counter() > end:
                return None
    finally:
        theirs.close()
    return None


def _baseline_differs(baseline: Subject, oracle: Oracle, order: Iterable[Met], hash_seed: int, seconds: float) -> bool:
    """Whether the baseline itself gives other outcomes in a fresh process."""
    ours = Side(baseline, hash_seed, worker=None)
    try:
        return any(_different(ours, oracle, one, seconds) is not None for one in order)
    finally:
        ours.close()


def _different(side: Side, oracle: Oracle, one: Met, seconds: float) -> Fault | None:
    answer = side.call(one.item.payload, seconds)
    if isinstance(answer, Fault):
        return Fault(answer.reason, f"{answer.detail}\n{oracle.input_text(one.item)}")
    return oracle.judge(one.item, one.expected, answer[0])


def _stateful(what: str, fault: Fault) -> Fault:
    return Fault(Reason.NONDETERMINISTIC, f"{what}: {fault.detail}")
