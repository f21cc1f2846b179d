"""What a candidate saves when calls come again in one process: that is no gain, for a program makes each once.

Recorded calls are few, and a native function takes so little, that a pass which is long enough to be timed repeats its
inputs. One round after another is timed in fresh processes of both sides. Where later rounds of the candidate are
cheaper than its first by more than those of the original are, the difference is added to every round that comes again.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing

from whet.evaluators.finding import Fault
from whet.evaluators.inputs.source import derive
from whet.evaluators.live import LiveFunction
from whet.evaluators.subjects import Subject
from whet.evaluators.timing.hidden_costs import DECLINE, PROCESSES, HiddenCosts, cpu_seconds
from whet.evaluators.timing.turns import MOST_BYTES, TimedWorkload

ROUNDS = 3
NATIVE_INPUTS, SETS = 500, 4
"""Distinct inputs of a native function in a round at most, and such sets of inputs."""
OF_A_PASS = 2
"""A round has so many times the distinct inputs of a pass: what is large takes long to draw, and to run."""


def repeat_costs(
    baseline: Subject, candidate: Subject, workloads: Sequence[TimedWorkload], seed: int, seconds: float
) -> HiddenCosts | Fault:
    """Returns what is to be added to a pass of the candidate: the most that any workload asks for.

    Looks twice where the first look shows anything: only what both show counts.

    Args:
        baseline: the original, a Python function.
        candidate: what is compared with it.
        workloads: those that are timed; only what repeats its inputs is looked at.
        seed: of the order of the calls.
        seconds: that one call may take.
    """
    first = _look(baseline, candidate, workloads, seed, seconds)
    if isinstance(first, Fault) or not first.seconds:
        return first
    second = _look(baseline, candidate, workloads, seed, seconds)
    return second if isinstance(second, Fault) else min(first, second, key=lambda look: look.seconds)


def _look(
    baseline: Subject, candidate: Subject, workloads: Sequence[TimedWorkload], seed: int, seconds: float
) -> HiddenCosts | Fault:
    charged = 0.0
    evidence: dict[str, object] = {}
    for work in workloads:
        if (work.rounds == 1 and work.repeats < 2) or baseline.launched:  # a launch leaves nothing to the next one
            continue
        if work.repeats:
            found = _of_native(baseline, candidate, work, seed, seconds)
            if isinstance(found, Fault):
                return found
            charged = max(charged, found.seconds)
            evidence |= found.evidence
            continue
        sides: dict[str, list[list[float]]] = {"baseline": [], "candidate": []}
        payloads = [item.payload for item in work.draw(derive(seed, "repeats"), work.count // work.rounds)]
        for _ in range(PROCESSES):
            for name, subject in (("baseline", baseline), ("candidate", candidate)):
                rounds = _rounds(subject, payloads, seconds)
                if isinstance(rounds, Fault):
                    return rounds
                sides[name].append(rounds)
        ours, theirs = (_first_and_later(rounds) for rounds in sides.values())
        cost = saved(ours, theirs) * (work.rounds - 1)
        charged = max(charged, cost)
        evidence[work.name] = {"rounds": work.rounds, "seconds_of_rounds": sides, "charged_seconds": cost}
    return HiddenCosts(charged, evidence)


def _of_native(
    baseline: Subject, candidate: Subject, work: TimedWorkload, seed: int, seconds: float
) -> HiddenCosts | Fault:
    """Looks at a native function, whose process repeats inputs where they lie.

    Rounds on new contents of the same memory stand beside rounds on contents that were there before: what the caches
    of the processor do is the same in both.
    """
    (one,) = work.draw(derive(seed, "renewed"), 1)
    calls = max(1, min(NATIVE_INPUTS, OF_A_PASS * work.count, MOST_BYTES // (SETS * max(1, len(one.payload)))))
    drawn = [item.payload for item in work.draw(derive(seed, "repeats"), SETS * calls)]
    sets = [drawn[number * calls : (number + 1) * calls] for number in range(SETS)]
    rounds: dict[str, list[list[float]]] = {"baseline": [], "candidate": []}
    for _ in range(PROCESSES):
        for name, subject in (("baseline", baseline), ("candidate", candidate)):
            live = subject.start()
            if isinstance(live, Fault):
                return live
            assert isinstance(live, LiveFunction)
            with closing(live):
                times = live.renewed(sets, seconds * SETS * calls)
            if isinstance(times, Fault):
                return times
            rounds[name].append(times[2:])  # the first set finds everything cold
    ours, theirs = map(_new_and_known, rounds.values())
    cost = saved(ours, theirs) / calls * work.count * (work.repeats - 1)
    facts = {"rounds": work.repeats, "inputs": calls, "seconds_of_rounds": rounds, "charged_seconds": cost}
    return HiddenCosts(cost, {work.name: facts})


def saved(ours: tuple[float, float], theirs: tuple[float, float]) -> float:
    """Returns the seconds that a round of the candidate saves, beyond what one of the original does; 0 for a few.

    Where the original's seem to save less than nothing, that is chance: one that is many times as slow as the candidate
    would have it charged for its own noise.

    Args:
        ours: seconds of the original's round, of the first kind and of the one that may be cheaper.
        theirs: the candidate's.
    """
    excess = (theirs[0] - theirs[1]) - max(0.0, ours[0] - ours[1])
    return excess if excess > (DECLINE - 1) * theirs[1] else 0.0


def _new_and_known(processes: Sequence[Sequence[float]]) -> tuple[float, float]:
    """Returns the seconds of a round on new contents, and on contents met before: the least, for others disturb."""
    return min(min(rounds[::2]) for rounds in processes), min(min(rounds[1::2]) for rounds in processes)


def _first_and_later(processes: Sequence[Sequence[float]]) -> tuple[float, float]:
    """Returns the seconds of the first round and of any later one: the least of all processes, for others disturb."""
    return min(rounds[0] for rounds in processes), min(min(rounds[1:]) for rounds in processes)


def _rounds(subject: Subject, payloads: Sequence[bytes], seconds: float) -> list[float] | Fault:
    """Returns the CPU seconds of some rounds of the same calls in one process, else seconds by the clock out here."""
    live = subject.start()
    if isinstance(live, Fault):
        return live
    assert isinstance(live, LiveFunction)
    found: list[float] = []
    try:
        for part in (payloads[:1], *[payloads] * ROUNDS):
            before = cpu_seconds(live)
            one = live.timed(part, seconds * len(part))
            if isinstance(one, Fault):
                return one
            after = cpu_seconds(live)
            found.append(one.outside if before is None or after is None else after - before)
    finally:
        live.close()
    return found[1:]
