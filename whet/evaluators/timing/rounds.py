"""Rounds of passes that repeat their inputs: as many as make both sides' windows long beside handing over.

A native function or a torch module is called on the inputs of a pass round after round, where they lie. Both sides have
the same rounds, or a native function that is far faster has more than its baseline: where no call changes its inputs
there is nothing between rounds, so that they cost both sides the same beside their calls.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from whet.core.signature import Role
from whet.core.task import Task
from whet.evaluators.artifacts import on_the_cpu
from whet.evaluators.processes import Pass
from whet.evaluators.timing.bench import Bench
from whet.evaluators.timing.further import WINDOW_OF_HANDOVERS, baselines, handover, in_calls
from whet.evaluators.timing.turns import EXCESS_SECONDS, Turn, from_raw
from whet.evaluators.timing.workloads import LOOK_SECONDS, ROUND_BYTES, ROUND_INPUTS, ROUND_SECONDS, TimedWorkload

LONGEST_SECONDS = 0.1
"""Of a side's calls in a pass that gets more rounds: four times as long as others. A turn has three passes, and a
verdict at least 17 turns. Of a size that the headline does not rest on, `LOOK_SECONDS`."""
MOST_SECONDS = 2.0
"""Of a candidate's calls in a pass, by the clock out here, however few they are by its own."""
CONTRADICTED_SECONDS = 4 * EXCESS_SECONDS
"""That the baseline would take for the new inputs which the candidate meets: what a clock says too little of it is then
more than windows may be longer than their calls. Fewer hide a lie; more are drawn and handed over in each turn."""
APART = 1.5
"""How many times as fast as the baseline a candidate is that has rounds of its own number. Up to that the same rounds
are long enough for both, and the first, which finds the caches cold, then weighs the same on both sides."""
SHORT = 1.5
"""How many times as many rounds as were known a turn may ask for, and those still be enough: its windows are short by a
third at the most, and what that leaves unsure stands in their interval."""
Rounds = Mapping[str, tuple[int, int]]
"""How many the baseline has, and how many the candidate, by workload."""


def with_rounds(
    bench: Bench, task: Task, seed: int, begun: Mapping[str, Any] | None, alike: Mapping[str, Any] | None = None
) -> tuple[Bench, tuple[Turn, ...]]:
    """Returns a bench with as many rounds of what repeats its inputs as a turn shows that it needs, and that turn.

    The machine has settled in it, so it serves as the one that is thrown away before the first that counts; where all
    rounds were known before, and are enough, as the first that counts too.

    Args:
        bench: to measure on.
        task: whose candidate is measured.
        seed: of the turn.
        begun: the raw data of turns that are gone on with; None measures a turn.
        alike: of turns of the same sides under other flags, which may need as many rounds.

    Returns:
        the bench, and the first of its turns, from number 0 on.

    Raises:
        RungEndedError: the turn shows a fault.
    """
    repeating = {work.name: work for work in bench.workloads if work.repeats}
    if not repeating or not bench.meter.lengthens:
        return bench, ()
    if begun is not None:
        known, turn = _as_in(begun, repeating)
        return _of_rounds(bench, task, known, turn, known), ()
    had: Rounds = {name: (work.repeats, work.repeats) for name, work in repeating.items()}
    if alike is not None:
        had, before = _as_in(alike, repeating)
        bench = _of_rounds(bench, task, had, before, had)
    turn = bench.turn(seed)
    apart = on_the_cpu(task) and unchanging(task)
    wanted = {name: more_rounds(turn.passes[name], work, apart, had[name]) for name, work in repeating.items()}
    if alike is not None and all(
        asked <= SHORT * each for name in wanted for asked, each in zip(wanted[name], had[name], strict=True)
    ):
        return bench, (turn, turn)
    return _of_rounds(bench, task, wanted, turn, had), (turn,)


def _as_in(recorded: Mapping[str, Any], names: Iterable[str]) -> tuple[Rounds, Turn]:
    """Returns the rounds that recorded turns had, and the first of those."""
    (turn,) = from_raw(recorded["turns"][:1])
    before = {work["name"]: work["repeats"] for work in recorded["workloads"]}
    return {name: (before[name], round(before[name] * turn.scale.get(name, 1.0))) for name in names}, turn


def _of_rounds(bench: Bench, task: Task, rounds: Rounds, turn: Turn, had: Rounds) -> Bench:
    """Returns a bench with some rounds, and with as many new inputs as a turn that had others shows that it needs."""
    new = {}
    # A clock that lies on what the headline does not rest on gains nothing.
    for work in (work for work in bench.workloads if work.repeats and work.counts and on_the_cpu(task)):
        size = len(work.draw(turn.seed, 1)[0].payload)
        new[work.name] = new_inputs(turn.passes[work.name], had[work.name], work.count, size)
    works = [replace(work, repeats=rounds[work.name][0]) if work.repeats else work for work in bench.workloads]
    theirs = {name: theirs for name, (ours, theirs) in rounds.items() if ours != theirs}
    return replace(bench, workloads=works, rounds=theirs, renewing=new)


def unchanging(task: Task) -> bool:
    """Whether no call changes what it is given, so that nothing is done between rounds."""
    return task.signature is not None and all(one.role is not Role.INOUT for one in task.signature.arguments)


def more_rounds(
    passes: Mapping[str, Pass], work: TimedWorkload, apart: bool = False, had: tuple[int, int] | None = None
) -> tuple[int, int]:
    """Returns how many rounds of the same inputs make both windows long beside handing over.

    Args:
        passes: of each side in a turn.
        work: what they are of; no fewer rounds are returned than it has.
        apart: whether a candidate that is far faster may have others than the baseline.
        had: the rounds of the baseline, and of the candidate, in that turn; None where both had those of ``work``.

    Returns:
        those of the baseline, and those of the candidate.
    """
    over, rounds = handover(passes), work.repeats
    longest = LONGEST_SECONDS if work.counts else LOOK_SECONDS
    of_ours, of_theirs = had or (rounds, rounds)
    ours = max(in_calls(one, over) for one in baselines(passes)) / of_ours
    theirs = in_calls(passes["candidate"], over) / of_theirs
    if not apart or ours < APART * theirs:
        enough = math.ceil(WINDOW_OF_HANDOVERS * over / min(ours, theirs))
        same = max(rounds, min(enough, int(longest / max(ours, theirs))))
        return same, same
    # A pass that is short beside handing over tells how long its calls take by its own clock alone. One that lies has
    # a longer pass.
    told = max(passes["candidate"].inside, 1e-9) / of_theirs
    wanted = min(WINDOW_OF_HANDOVERS * over, longest)
    bearable = int(MOST_SECONDS / theirs)
    return _lasting(wanted, ours, rounds), max(rounds, min(_lasting(wanted, told, rounds), bearable))


def _lasting(wanted: float, seconds: float, rounds: int) -> int:
    """Returns how many rounds of so many seconds last as long as wanted; ``rounds`` at the least."""
    return max(rounds, math.ceil(wanted / seconds))


def new_inputs(passes: Mapping[str, Pass], rounds: tuple[int, int], count: int, size: int) -> int:
    """Returns on how many further new inputs a candidate is called after its pass.

    Its calls on them last as long as a round shall, by its own clock. They would contradict that clock if it had
    computed as long as the baseline does, and said less.

    Args:
        passes: of each side in a turn.
        rounds: that the baseline had, and that the candidate had.
        count: of the inputs of a round; both sides are called on as many new ones.
        size: bytes of one.
    """
    seconds = (
        max(passes[side].inside, 1e-9) / each for side, each in zip(("baseline", "candidate"), rounds, strict=True)
    )
    ours, theirs = (one / count for one in seconds)
    wanted = max(math.ceil(ROUND_SECONDS / theirs), math.ceil(CONTRADICTED_SECONDS / ours))
    return max(0, min(wanted, ROUND_INPUTS, ROUND_BYTES // max(size, 1)) - count)
