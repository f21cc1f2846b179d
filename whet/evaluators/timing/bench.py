"""The fresh-pair protocol: baseline, candidate and the baseline again, each in a fresh process, in random order.

All three of a turn get the same inputs, drawn for that turn alone and distinct within a pass. The clock stands
out here: a window opens with "go" and closes with the last byte of the outcomes, which are then compared. What
the baseline needs to hand its outcomes over (its window less its time in the calls) is subtracted from every
window; what a side's windows then still hold beyond its time in the calls counts with that (`turns.agreed`). So a
clock that lies, work left for later and results made while they are fetched all show up as time.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from whet.core.measurement import OF_TIME
from whet.core.task import Kind
from whet.core.verdict import Reason
from whet.evaluators.artifacts import Artifact
from whet.evaluators.buffers import as_in_memory
from whet.evaluators.finding import BaselineLost, Fault, RungEndedError, lost_with, sound
from whet.evaluators.inputs.source import Input
from whet.evaluators.meters.base import Meter, Setting, Starter
from whet.evaluators.processes import Pass, TargetProcess
from whet.evaluators.timing.ahead import Ahead, stepwise
from whet.evaluators.timing.further import Mixed, further_inputs, mix
from whet.evaluators.timing.quiet import disturbance, disturbed_alone, unevenness
from whet.evaluators.timing.turns import SIDES, LeftOut, Turn
from whet.evaluators.timing.workloads import TimedWorkload, draw_each, draw_renewing, hashes
from whet.sandbox.cores import megahertz
from whet.sandbox.gpu_gauge import GpuReading

Judge = Callable[[Input, bytes, bytes], Fault | None]
"""Compares the candidate's outcome (third) on an input with the baseline's (second)."""


MOST_ANEW = 2
"""How many processes of a turn are run anew at most, since the machine disturbed them: what stays disturbed beyond that
takes less time as another turn."""


@dataclass(frozen=True, slots=True)
class _Drawn:
    """What the sides of a turn are given.

    Attributes:
        seed: that all of it was drawn from.
        inputs: of the passes, by workload.
        warm: for a call before them.
        order: of the sides.
        hash_seed: PYTHONHASHSEED of all processes.
        layouts: by side, see `Turn`.
        mixed: the inputs among further ones, by those workloads that have some.
        renewing: new inputs for after a pass, by those workloads that repeat their own.
        renewed: those among further ones, likewise.
        handed: the inputs of the candidate's passes, further ones among them, as they are handed over.
        handed_new: its new ones, likewise.
    """

    seed: int
    inputs: Mapping[str, Sequence[Input]]
    warm: Input
    order: tuple[str, ...]
    hash_seed: int
    layouts: Mapping[str, int]
    mixed: Mapping[str, Mixed]
    renewing: Mapping[str, Sequence[Input]]
    renewed: Mapping[str, Mixed]
    handed: Mapping[str, Sequence[Input]]
    handed_new: Mapping[str, Sequence[Input]]


@dataclass(frozen=True, slots=True)
class _Taken:
    """What a process of one side gave.

    Attributes:
        passes: by workload, with the outcomes that are compared.
        gpu: what the GPU's driver said when they ended; None for the CPU.
    """

    passes: Mapping[str, Pass]
    gpu: GpuReading | None


@dataclass(frozen=True, slots=True)
class Bench:
    """Measures a candidate against a baseline on given cores.

    Attributes:
        start: where processes come from; fresh ones by default.
        charged: see `Turn`.
        gauge: reads the GPU beside each sample; None gives nothing.
        further: how many more inputs than the baseline's the candidate's pass has, by workload.
        rounds: how often the candidate's pass repeats its inputs, by workload, where not as often as the baseline's.
        renewing: on how many more new inputs than the baseline the candidate is called after its pass, by workload.
        ahead: draws what the next turn is given.
    """

    baseline: Artifact
    candidate: Artifact
    workloads: Sequence[TimedWorkload]
    judge: Judge
    seconds: float
    cores: tuple[int, ...]
    meter: Meter
    start: Starter = Artifact.start
    charged: float = 0.0
    gauge: Callable[[], GpuReading] | None = None
    further: Mapping[str, int] = field(default_factory=dict)
    rounds: Mapping[str, int] = field(default_factory=dict)
    renewing: Mapping[str, int] = field(default_factory=dict)
    ahead: Ahead[_Drawn] = field(default_factory=Ahead, compare=False)

    def turn(self, seed: int, following: int | None = None) -> Turn:
        """Measures one turn; a process that the machine disturbed, and no other of the turn, is run anew.

        Args:
            seed: of what its sides are given, and of their order.
            following: the seed of the next turn, which is drawn beside this one.

        Raises:
            RungEndedError: a process of either side failed, or their outcomes differ.
        """
        drawn = self.ahead.taken((seed, self), self._drawing(seed))
        if following is not None:
            self.ahead.begin((following, self), self._drawing(following))
        taken = {side: self._taken(side, drawn) for side in drawn.order}
        turn = self._turn(drawn, taken)
        counted = [work.name for work in self.workloads if work.counts]
        left_out: list[LeftOut] = []
        while self.meter.name in OF_TIME and len(left_out) < MOST_ANEW and (side := disturbed_alone(turn, counted)):
            left_out.append(LeftOut(side, disturbance(turn, counted), unevenness(turn, counted)))
            taken[side] = self._taken(side, drawn)
            turn = self._turn(drawn, taken)
        return replace(turn, left_out=tuple(left_out))

    def _drawing(self, seed: int) -> Generator[None, None, _Drawn]:
        rng = random.Random(seed)
        inputs = yield from stepwise(draw_each(self.workloads, rng))
        warm = self.workloads[0].draw(rng.getrandbits(63), 1)[0]
        order = [*SIDES, *self.meter.controls]
        rng.shuffle(order)
        hash_seed = rng.getrandbits(31)
        layouts = {side: rng.randrange(self._artifact(side).layouts) for side in order}
        mixed = yield from stepwise(self._mixed(inputs, self.further, rng))
        # A launch leaves nothing to the next one, and who keeps answers to what does not count gains nothing.
        repeating = [work for work in self.workloads if work.counts and not self.baseline.launched]
        renewing = yield from stepwise(draw_renewing(repeating, self.rounds, rng))
        renewed = yield from stepwise(self._mixed(renewing, self.renewing, rng))
        handed = yield from stepwise(self._handed(inputs, mixed))
        handed_new = yield from stepwise(self._handed(renewing, renewed))
        return _Drawn(
            seed, inputs, warm, tuple(order), hash_seed, layouts, mixed, renewing, renewed, handed, handed_new
        )

    def _handed(
        self, drawn: Mapping[str, Sequence[Input]], mixed: Mapping[str, Mixed]
    ) -> Iterator[tuple[str, Sequence[Input]]]:
        for name, items in drawn.items():
            yield name, as_in_memory(self.baseline.builder.task, mixed[name].items if name in mixed else items)

    def _taken(self, side: str, drawn: _Drawn) -> _Taken:
        """Returns what a fresh process of a side gives."""
        repeats = {work.name: work.repeats for work in self.workloads}
        # A program's runs are windows of their own: those of the candidate alone take further inputs.
        further = side == "candidate" or self.baseline.builder.task.kind is Kind.FUNCTION
        mixed, inputs = (drawn.mixed, drawn.handed) if further else ({}, drawn.inputs)
        called, new_called = (
            {name: one.checked for name, one in each.items() if side != "candidate"} for each in (mixed, drawn.renewed)
        )
        if side == "candidate":
            repeats |= self.rounds
        layout = drawn.layouts[side]
        setting = Setting(
            side,
            self.seconds,
            self.cores,
            drawn.hash_seed,
            layout,
            self._start,
            repeats,
            called,
            drawn.handed_new,
            new_called,
        )
        passes: dict[str, Pass] = {}
        for name, one in self._passes(side, inputs, drawn.warm, setting).items():
            taken = mixed[name].checked_of(one) if name in mixed else one
            passes[name] = drawn.renewed[name].checked_of_new(taken) if name in drawn.renewed else taken
        return _Taken(passes, None if self.gauge is None else self.gauge())

    def _start(self, artifact: Artifact, cores: tuple[int, ...], hash_seed: int, layout: int) -> TargetProcess | Fault:
        with self.ahead.beside():
            return self.start(artifact, cores, hash_seed, layout)

    def _turn(self, drawn: _Drawn, taken: Mapping[str, _Taken]) -> Turn:
        """Returns what the processes of all sides gave.

        Raises:
            RungEndedError: their outcomes differ.
        """
        passes = {work.name: {side: one.passes[work.name] for side, one in taken.items()} for work in self.workloads}
        self._expect_alike(drawn.inputs, drawn.renewing, passes)
        return Turn(
            drawn.order,
            os.getloadavg()[0],
            passes,
            drawn.layouts,
            self.cores,
            megahertz(self.cores),
            self.charged,
            drawn.seed,
            hashes(drawn.inputs),
            {side: one.gpu for side, one in taken.items() if one.gpu is not None},
            self._scale(drawn.inputs, drawn.mixed),
        )

    def lengthened(self, turn: Turn) -> Bench:
        """Returns a bench whose candidate has as many further inputs as a turn shows that it needs.

        Inputs that come again in a pass are not added to: they could be known again.
        """
        task = self.baseline.builder.task
        if not self.meter.lengthens or task.module is not None or task.signature is not None:
            return self
        works = [work for work in self.workloads if work.rounds == 1]
        sizes = {work.name: len(work.draw(turn.seed, 1)[0].payload) for work in works}
        wanted = {}
        for work in works:
            taken = round(work.count * turn.scale.get(work.name, 1.0))
            wanted[work.name] = further_inputs(turn.passes[work.name], work.count, sizes[work.name], taken)
        return replace(self, further=wanted)

    def _mixed(
        self, drawn: Mapping[str, Sequence[Input]], further: Mapping[str, int], rng: random.Random
    ) -> Iterator[tuple[str, Mixed]]:
        """Draws further inputs of those workloads that have some, and returns all of each, these among the others."""
        for work in self.workloads:
            if work.name in drawn and further.get(work.name):
                more = work.draw(rng.getrandbits(63), further[work.name])
                yield work.name, mix(drawn[work.name], more, rng)

    def _scale(self, inputs: Mapping[str, Sequence[Input]], mixed: Mapping[str, Mixed]) -> Mapping[str, float]:
        """Returns how many times as many calls as the baseline's the candidate's pass has, by workload."""
        repeats = {work.name: work.repeats for work in self.workloads}
        longer = {name: rounds / repeats[name] for name, rounds in self.rounds.items()}
        return {**longer, **{name: len(one.items) / len(inputs[name]) for name, one in mixed.items()}}

    def _artifact(self, side: str) -> Artifact:
        return self.candidate if side == "candidate" else self.baseline

    def _passes(
        self, side: str, drawn: Mapping[str, Sequence[Input]], warm: Input, setting: Setting
    ) -> Mapping[str, Pass]:
        if side == "candidate":
            return sound(self.meter.take(self.candidate, drawn, warm, setting))
        # The baseline passed validation, so this is the machine's or the limits' doing: no verdict.
        with lost_with("the baseline failed while it was timed"):
            return sound(self.meter.take(self.baseline, drawn, warm, setting))

    def _expect_alike(
        self,
        inputs: Mapping[str, Sequence[Input]],
        renewing: Mapping[str, Sequence[Input]],
        passes: Mapping[str, Mapping[str, Pass]],
    ) -> None:
        for name, drawn in inputs.items():
            again = len(passes[name]["baseline"].outcomes) // len(drawn)  # a meter may run the inputs several times
            self._expect_same(name, [*drawn] * again, {side: one.outcomes for side, one in passes[name].items()})
        for name, drawn in renewing.items():
            came = {side: one.renewed_outcomes for side, one in passes[name].items() if one.renewed is not None}
            if came:
                self._expect_same(name, drawn, came)

    def _expect_same(self, name: str, items: Sequence[Input], came: Mapping[str, Sequence[bytes]]) -> None:
        ours, theirs = came["baseline"], came["candidate"]
        if len(theirs) != len(ours):
            raise RungEndedError(Fault(Reason.CHEATING, f"{name}: {len(ours)} calls gave {len(theirs)} outcomes"))
        for item, expected, actual, once_more in zip(items, ours, theirs, came["again"], strict=True):
            if fault := self.judge(item, expected, actual):
                differs = self.judge(item, expected, once_more)
                raise RungEndedError(fault if differs is None else _differs_from_itself(differs))


def _differs_from_itself(found: Fault) -> BaselineLost:
    return BaselineLost(Reason.NONDETERMINISTIC, f"two processes of the baseline differ: {found.detail}")
