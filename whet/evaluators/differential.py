"""Fresh secret inputs, edge cases first: the candidate's outcomes against the baseline's."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from whet.core.verdict import Reason
from whet.evaluators.inputs import Input, InputSource, derive
from whet.evaluators.oracle import Oracle
from whet.evaluators.finding import Fault
from whet.evaluators.subjects import Live, Subject

BUDGET_SECONDS = 2.0
AGAIN = 4
DRAWS_SMALLEST = 10
DRAWS = 3


@dataclass(frozen=True, slots=True)
class Compared:
    """What the inputs showed.

    Attributes:
        fault: the first difference, if any.
        evidence: how many inputs, and their hashes.
    """

    fault: Fault | None
    evidence: Mapping[str, Any]


def plan(source: InputSource, seed: int) -> Iterator[Input]:
    """Yields inputs for one candidate: small sizes, cases, listed sizes upwards, then sizes between and above.

    Args:
        source: draws them.
        seed: of this candidate alone, so that nobody can foresee an input or meet it again.
    """
    yield from source.cases
    if not source.sizes:
        return
    unlisted = list(source.unlisted_sizes(derive(seed, "unlisted")))
    small = [size for size in unlisted if size < source.sizes[0]]
    for size in small:
        yield from source.try_draw(size, _seeds(seed, size, DRAWS))
    for size in source.sizes:
        yield from source.draw(size, _seeds(seed, size, DRAWS_SMALLEST if size == source.sizes[0] else DRAWS))
    for size in unlisted:
        if size not in small:
            yield from source.try_draw(size, _seeds(seed, size, DRAWS))


def _seeds(seed: int, size: int, count: int) -> list[int]:
    return [derive(seed, size, i) for i in range(count)]


def compare_all(
    baseline: Subject,
    candidate: Subject,
    source: InputSource,
    oracle: Oracle,
    seed: int,
    hash_seed: int,
    seconds: float,
) -> Compared:
    """Runs both sides on fresh inputs until a difference, or until the baseline has spent its budget.

    Each listed size is met at least once. The first inputs are met again at the end, in reverse order: an
    outcome that has changed by then comes from state kept between calls.

    Args:
        baseline: the original.
        candidate: what is compared with it.
        source: draws the inputs.
        oracle: judges the outcomes.
        seed: of the inputs.
        hash_seed: of both processes, so that what follows from the order of a set is the same in both.
        seconds: that one call may take.
    """
    ours = baseline.start(hash_seed=hash_seed, worker=0)
    theirs = candidate.start(hash_seed=hash_seed, worker=0)
    if isinstance(theirs, Fault):
        if not isinstance(ours, Fault):
            ours.close()
        return Compared(theirs, {})
    assert not isinstance(ours, Fault)
    hashes: list[str] = []
    kept: list[tuple[Input, bytes]] = []
    met: set[int | None] = set()
    spent = 0.0
    try:
        for item in plan(source, seed):
            if spent > BUDGET_SECONDS and item.size in met:
                continue
            if spent > BUDGET_SECONDS and item.size not in source.sizes and item.size is not None:
                break
            expected = ours.call(item.payload, seconds)
            if isinstance(expected, Fault):
                if item.size in source.sizes or item.size is None:
                    return Compared(Fault(Reason.NONDETERMINISTIC, f"the baseline: {expected.detail}"), {})
                break  # a size that nobody listed and the baseline cannot do
            met.add(item.size)
            spent += expected[1]
            hashes.append(hashlib.sha256(item.payload).hexdigest()[:16])
            if fault := _judged(candidate, theirs, oracle, item, expected[0], seconds):
                return Compared(fault, {"inputs": len(hashes), "hashes": hashes})
            kept.append((item, expected[0]))
        for item, outcome in reversed(kept[:AGAIN]):
            fault = _judged(candidate, theirs, oracle, item, outcome, seconds)
            if fault is not None:
                detail = f"right at first, wrong when the same input came again: {fault.detail}"
                return Compared(Fault(Reason.NONDETERMINISTIC, detail), {"inputs": len(hashes), "hashes": hashes})
    finally:
        ours.close()
        theirs.close()
    return Compared(None, {"inputs": len(hashes), "hashes": hashes})


def _judged(
    candidate: Subject, live: Live, oracle: Oracle, item: Input, expected: bytes, seconds: float
) -> Fault | None:
    actual = live.call(item.payload, seconds)
    if isinstance(actual, Fault):
        return Fault(actual.reason, f"{actual.detail}\n{oracle.input_text(item)}")
    fault = oracle.judge(item, expected, actual[0])
    if fault is None:
        return None
    # Not a fork: in one, much lies where it lay in the first process.
    fresh = candidate.start(hash_seed=1)
    if isinstance(fresh, Fault):
        return fault
    try:
        again = fresh.call(item.payload, seconds)
    finally:
        fresh.close()
    if not isinstance(again, Fault) and oracle.judge(item, actual[0], again[0]) is not None:
        return Fault(Reason.NONDETERMINISTIC, f"two runs on one input differ; {fault.detail}")
    return fault
