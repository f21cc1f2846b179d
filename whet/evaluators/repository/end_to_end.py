"""A command of a repository before and after a change: fresh processes in turn, and the clock out here.

The same protocol as for functions, with whole runs of the command for passes: each turn runs the unchanged copy, the
changed one and the unchanged one again in random order, each put in place anew, and the same rule decides.
"""

from __future__ import annotations

import random
import secrets
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from os import getloadavg
from typing import Any

from whet.core.measurement import Measurement
from whet.core.verdict import Reason
from whet.evaluators.finding import Fault, RungEndedError, found_by, sound
from whet.evaluators.processes import Pass
from whet.evaluators.repository.trees import SECONDS, Copy, Ground, Snapshot, copied
from whet.evaluators.shell import LineResult
from whet.evaluators.timing.decision import Rule, sequential
from whet.evaluators.timing.instruments import default_instruments
from whet.evaluators.timing.statistics import Stage
from whet.evaluators.timing.turns import SIDES, Turn
from whet.evaluators.timing.workloads import TimedWorkload
from whet.sandbox.cores import measuring_cores, megahertz

FEWEST, MOST = 8, 20
"""Turns: with fewer than eight, p cannot fall below a share of 1 %."""
WHOLE_SECONDS = 600.0
"""What all turns together are meant to take; a command that takes longer has the fewest."""
PATIENCE = 10.0
"""How many times the unchanged command's seconds the changed one may take."""
NAME = "the command"


@dataclass(frozen=True, slots=True)
class EndToEndRequest:
    """What is measured, and what counts as faster.

    Attributes:
        command: a line of the shell.
        min_speedup: the smallest ratio that counts.
        confidence: of intervals and decisions.
    """

    command: str
    min_speedup: float
    confidence: float


def end_to_end(ground: Ground, request: EndToEndRequest, before: Snapshot, after: Snapshot) -> Measurement | Fault:
    """Measures a command on two copies of a repository.

    Args:
        ground: where.
        request: the command, and what counts as faster.
        before: the unchanged copy.
        after: the changed one.

    Returns:
        the measurement, or what the changed copy does otherwise: its exit code, or what it prints where the unchanged
        one prints the same each time.
    """
    with ExitStack() as stack:
        cores = stack.enter_context(measuring_cores(ground.cores))
        sides = {
            side: stack.enter_context(copied(ground, after if side == "candidate" else before, cores)) for side in SIDES
        }
        first = sides["baseline"].run(request.command)
        if first.code is None:
            return Fault(Reason.TIMEOUT, f"'{request.command}' did not end: {first.why}")
        pairs = _Pairs(request.command, sides, cores, min(SECONDS, max(10.0, PATIENCE * first.seconds)))
        seconds = default_instruments().command_seconds("baseline", 0, first.seconds)
        turns = max(FEWEST, min(MOST, round(WHOLE_SECONDS / (len(SIDES) * max(seconds, 0.01)))))
        rule = Rule(request.min_speedup, request.confidence, "the commit before it")
        work = TimedWorkload(NAME, 1, _nothing_drawn)
        measured = found_by(lambda: sequential(pairs.turn, [work], [Stage(turns, 1.0)], rule))
    if isinstance(measured, Fault):
        return measured
    assert isinstance(measured, Measurement), "a turn skips nothing"
    return replace(measured, speedup=replace(measured.speedup, cpu_seconds=None))  # nothing counts them here


class _Pairs:
    """Takes the turns."""

    def __init__(self, command: str, sides: Mapping[str, Copy], cores: tuple[int, ...], seconds: float) -> None:
        self._command = command
        self._sides = sides
        self._cores = cores
        self._seconds = seconds

    def turn(self, number: int) -> Turn:
        """Runs the command once a side, in random order."""
        seed = secrets.randbits(63)
        rng = random.Random(seed)
        order = list(SIDES)
        rng.shuffle(order)
        hash_seed = rng.getrandbits(31)
        runs: dict[str, LineResult] = {}
        for side in order:
            sound(self._sides[side].renew())
            runs[side] = self._sides[side].run(self._command, self._seconds, hash_seed)
        _expect_alike(runs)
        read = default_instruments()
        seconds = {side: read.command_seconds(side, number, ran.seconds) for side, ran in runs.items()}
        passes = {side: Pass(spent, spent, 0.0, ()) for side, spent in seconds.items()}
        return Turn(
            tuple(order),
            getloadavg()[0],
            {NAME: passes},
            cores=self._cores,
            megahertz=megahertz(self._cores),
            seed=seed,
        )


def _expect_alike(runs: Mapping[str, LineResult]) -> None:
    """Raises RungEndedError with what the changed command did otherwise than the unchanged one did twice."""
    ours, again, theirs = runs["baseline"], runs["again"], runs["candidate"]
    if ours.code is None or ours.code != again.code:
        raise _ended(Reason.NONDETERMINISTIC, f"the unchanged command does not end alike each time: {again.why}")
    if theirs.code is None:
        raise _ended(Reason.TIMEOUT, f"the changed command did not end: {theirs.why}")
    if theirs.code != ours.code:
        raise _ended(Reason.WRONG_OUTPUT, f"the changed command ends otherwise: {theirs.why}; before: {ours.code}")
    if ours.stdout == again.stdout != theirs.stdout:
        raise _ended(Reason.WRONG_OUTPUT, "the changed command prints something else")


def _ended(reason: Reason, detail: str) -> RungEndedError:
    return RungEndedError(Fault(reason, detail))


def _nothing_drawn(seed: int, count: int) -> Sequence[Any]:
    raise AssertionError("a command draws no inputs")
