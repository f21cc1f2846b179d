"""Forks of several fresh zygotes in the place of fresh processes: where imports are dear, and A/A shows that they may.

What differs between processes of one text (where its memory lies) differs between zygotes too, so each process of a
turn is forked off one that is drawn at random. Whether that is enough is not believed but measured: the baseline
against itself, before the candidate is timed.
"""

from __future__ import annotations

import itertools
import math
import random
import statistics
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from whet.evaluators.artifacts import Artifact
from whet.evaluators.finding import Fault, RungEndedError, sound
from whet.evaluators.inputs.source import derive
from whet.evaluators.meters.base import Starter
from whet.evaluators.processes import TargetProcess
from whet.evaluators.timing.bench import Bench
from whet.evaluators.timing.statistics import interval
from whet.evaluators.timing.turns import Turn, series

ZYGOTES = 4
"""Processes with their imports done off which those of turns are forked, each drawn at random. With fewer, the memory
layout of one weighs more; each more takes one import and its memory."""
DEAR_SECONDS = 0.3
"""Seconds that a fork starts sooner than a fresh process, above which forks are tried. A lower limit runs the A/A turns
where forks save little; a higher one repeats slower imports in every turn."""
AA_TURNS = 20
"""Turns of the baseline against itself that decide on forks, after one that is left out. With fewer the interval is
wider and lies within `AA_FLOOR` less often; each more delays the timing of the candidate."""
AA_EARLY = 8
"""Turns after which a machine that is far too noisy for forks is known."""
AA_FLOOR = math.log(1.02)
"""How far the interval of the baseline against itself may reach from 0, in logarithms, for forks to be used."""
STARTS = 2
"""Starts of each kind that are timed; the shortest counts. More are disturbed less by other load, and each fresh one
takes the imports again."""
FORKS = "forks"


class Zygotes:
    """Decides, for one task, where the processes of its timed turns come from."""

    def __init__(self) -> None:
        self._numbers = itertools.count(1)  # the worker 0 is for outcomes
        self._imports: float | None = None
        self._starters: dict[int, Starter] = {}
        self._refused: dict[tuple[str, str], Mapping[str, Any]] = {}

    def settle(
        self, bench: Bench, confidence: float, seed: int, known: Mapping[str, Any] | None = None
    ) -> tuple[Bench, Mapping[str, Any]]:
        """Returns a bench with its processes settled, and what was found, as plain data.

        Forks that were refused when a candidate was measured are not tried again when it is confirmed: A/A takes longer
        than the turns of a look, and fresh processes are always right.

        Args:
            bench: one with fresh processes.
            confidence: of the interval of A/A, 0 to 1.
            seed: of the draws.
            known: what was found for turns that these follow; A/A is not measured again.
        """
        if known is not None:
            return (self._forking(bench, seed) if known["kind"] == FORKS else bench), known
        if not bench.baseline.builder.preload:
            return bench, {"kind": "fresh"}
        sides = (bench.baseline.source_id, bench.candidate.source_id)
        if (refused := self._refused.get(sides)) is not None:
            return bench, refused
        if self._imports is None:
            self._imports = _import_seconds(bench, next(self._numbers))
        facts: dict[str, Any] = {"kind": "fresh", "import_seconds": self._imports}
        if self._imports <= DEAR_SECONDS:
            return bench, facts
        forking = self._forking(bench, seed)
        facts["zygotes"] = ZYGOTES
        try:
            facts["aa_ratio"] = low, high = _against_itself(forking, confidence, seed)
            if may(low, high):
                return forking, facts | {"kind": FORKS}
        except RungEndedError:  # forks that fail are not used
            facts["aa_ratio"] = None
        self._refused[sides] = facts
        return bench, facts

    def _forking(self, bench: Bench, seed: int) -> Bench:
        """Returns a bench that forks; of one seed, off the same zygotes."""
        if seed not in self._starters:
            self._starters[seed] = self._starter(seed)
        return replace(bench, start=self._starters[seed])

    def _starter(self, seed: int) -> Starter:
        numbers = [next(self._numbers) for _ in range(ZYGOTES)]
        draw = random.Random(derive(seed, "zygote"))
        # One for all: outcomes of both sides are compared, and may follow from it.
        own_seed = derive(seed, "hash") % 2**31

        def start(artifact: Artifact, cores: tuple[int, ...], hash_seed: int, layout: int) -> TargetProcess | Fault:
            return artifact.start(cores, own_seed, layout, draw.choice(numbers))

        return start


def may(low: float, high: float) -> bool:
    """Whether an interval of A/A allows forks: it holds 1, and lies within the floor."""
    return low <= 1.0 <= high and max(-math.log(low), math.log(high)) <= AA_FLOOR


def _import_seconds(bench: Bench, worker: int) -> float:
    """Returns by how much a fork, which has its imports done, starts sooner than a fresh process."""
    cold = min(_start_seconds(bench, None) for _ in range(STARTS))
    _start_seconds(bench, worker)  # makes the worker
    return cold - min(_start_seconds(bench, worker) for _ in range(STARTS))


def _start_seconds(bench: Bench, worker: int | None) -> float:
    start = time.perf_counter()
    process = bench.baseline.start(bench.cores, worker=worker)
    spent = time.perf_counter() - start
    if not isinstance(process, Fault):
        process.close()
    return spent


def _against_itself(bench: Bench, confidence: float, seed: int) -> tuple[float, float]:
    """Returns the interval of the ratio of the baseline to itself.

    Raises:
        RungEndedError: a process of it failed.
    """
    twice = replace(bench, candidate=bench.baseline)
    turns: list[Turn] = []
    columns: list[list[float]] = []
    for number in range(AA_TURNS + 1):
        turns.append(twice.turn(derive(seed, "aa", number)))
        if number not in (AA_EARLY, AA_TURNS):
            continue
        # The first turn lets the machine settle.
        measured = {work: sound(series(turns[1:], work.name)) for work in bench.workloads}
        columns = [one.logs for work, one in measured.items() if work.counts]
        if too_far(columns):
            break
    _, low, high = interval(columns, confidence)
    return low, high


def too_far(columns: Sequence[Sequence[float]]) -> bool:
    """Whether so few turns show that no twenty would allow forks: half of them differ by more than twice the floor.

    Args:
        columns: for each workload, the logarithm of the ratio of the baseline to itself in each turn.
    """
    rows = [abs(sum(row) / len(row)) for row in zip(*columns, strict=True)]
    return bool(statistics.median(rows) > 2 * AA_FLOOR)
