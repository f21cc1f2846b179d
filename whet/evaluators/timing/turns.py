"""The fresh-pair protocol: baseline, candidate and the baseline again, each in a fresh process, in random order.

All three of a turn get the same inputs, drawn for that turn alone and distinct within a pass. The clock stands
out here: a window opens with "go" and closes with the last byte of the outcomes, which are then compared. What
the baseline needs to hand its outcomes over (its window less its time in the calls) is subtracted from every
window; the time inside counts only where it is the larger of the two. So a clock that lies, work left for later
and results made while they are fetched all show up as time.
"""

from __future__ import annotations

import hashlib
import math
import os
import random
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from whet.core.plain import from_plain
from whet.core.task import Kind
from whet.core.verdict import Reason
from whet.evaluators.artifacts import Artifact
from whet.evaluators.finding import BaselineLost, Fault, RungEndedError, lost_with, sound
from whet.evaluators.inputs.source import Input
from whet.evaluators.meters.base import Meter, Setting, Starter
from whet.evaluators.processes import Pass
from whet.evaluators.timing.device_clock import disagreement
from whet.evaluators.timing.further import further_inputs, mix
from whet.sandbox.cores import megahertz
from whet.sandbox.gpu_gauge import GpuReading

PASS_SECONDS = 0.025
LOOK_SECONDS = 0.006
SHORTEST_PASS = 0.005
MOST_BYTES = 64 << 20
MOST_INPUTS = 2000
ROUND_SECONDS, ROUND_INPUTS = 0.001, 256
"""Of the distinct inputs of a native function, which are then repeated: each lies in pages of its own, and more of them
would time the look-up of pages."""
MOST_REPEATS = 5000
SIDES = ("baseline", "candidate", "again")

# A window that is longer than its calls by more than the baseline's is by: what honest code may show.
EXCESS_SECONDS = 0.001
EXCESS_OF_WINDOW = 0.1
EXCESS_OF_HANDOVER = 0.25


@dataclass(frozen=True, slots=True)
class TimedWorkload:
    """Inputs of one size, or one case, and how many make a pass.

    Attributes:
        name: for people.
        count: distinct inputs a pass.
        draw: makes inputs from a seed, as many as asked for.
        counts: whether it counts for the headline.
        rounds: how often a pass repeats its inputs: 1 where all are distinct.
        repeats: how often a process runs the inputs of a native function one round after the other, without them
            being handed over again; 0 for others.
    """

    name: str
    count: int
    draw: Callable[[int, int], Sequence[Input]]
    counts: bool = True
    rounds: int = 1
    repeats: int = 0


@dataclass(frozen=True, slots=True)
class Turn:
    """What one turn measured.

    Attributes:
        order: in which the sides came.
        load: of the machine when it ended, as the kernel averages it over a minute.
        passes: for each workload and side, a pass.
        layouts: which layout in memory each side had, where it has several.
        cores: processors that every process was pinned to; OMP_NUM_THREADS and its kin are their number.
        megahertz: clock of the first of them when the turn ended; None where the kernel does not tell.
        charged: seconds that are added to each pass of the candidate: what it does outside its calls.
        seed: that all of its inputs were drawn from.
        inputs: for each workload, the hash of its inputs.
        gpu: what the GPU's driver said when each side's passes ended; empty for the CPU.
        scale: how many times as many inputs as the baseline's the candidate's pass has, by workload; 1 where nothing is
            said.
    """

    order: tuple[str, ...]
    load: float
    passes: Mapping[str, Mapping[str, Pass]]
    layouts: Mapping[str, int] = field(default_factory=dict)
    cores: tuple[int, ...] = ()
    megahertz: float | None = None
    charged: float = 0.0
    seed: int = 0
    inputs: Mapping[str, str] = field(default_factory=dict)
    gpu: Mapping[str, GpuReading] = field(default_factory=dict)
    scale: Mapping[str, float] = field(default_factory=dict)


Judge = Callable[[Input, bytes, bytes], Fault | None]
"""Compares the candidate's outcome (third) on an input with the baseline's (second)."""


def pass_count(seconds: float, size: int, counts: bool = True, whole: float = PASS_SECONDS) -> int:
    """Returns how many inputs of a kind make a pass.

    Args:
        seconds: the baseline's time for one.
        size: bytes of one.
        counts: whether the headline rests on it; else a pass may be shorter.
        whole: seconds that a pass shall last.
    """
    wanted = math.ceil((whole if counts else min(whole, LOOK_SECONDS)) / max(seconds, 1e-7))
    return max(1, min(wanted, MOST_INPUTS, MOST_BYTES // max(size, 1)))


def repeated_count(seconds: float, size: int, counts: bool = True, whole: float = PASS_SECONDS) -> tuple[int, int]:
    """Returns how many inputs of a native function make a round, and how many rounds a pass; see `pass_count`."""
    count = min(ROUND_INPUTS, pass_count(seconds, size, counts, ROUND_SECONDS))
    wanted = (whole if counts else min(whole, LOOK_SECONDS)) / (count * max(seconds, 1e-9))
    return count, max(1, min(math.ceil(wanted), MOST_REPEATS))


@dataclass(frozen=True, slots=True)
class Bench:
    """Measures a candidate against a baseline on given cores.

    Attributes:
        start: where processes come from; fresh ones by default.
        charged: see `Turn`.
        gauge: reads the GPU beside each sample; None gives nothing.
        further: how many more inputs than the baseline's the candidate's pass has, by workload.
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

    def turn(self, seed: int) -> Turn:
        """Measures one turn.

        Raises:
            RungEndedError: a process of either side failed, or their outcomes differ.
        """
        rng = random.Random(seed)
        inputs = draw_all(self.workloads, rng)
        warm = self.workloads[0].draw(rng.getrandbits(63), 1)[0]
        order = [*SIDES, *self.meter.controls]
        rng.shuffle(order)
        hash_seed = rng.getrandbits(31)
        layouts = {side: rng.randrange(self._artifact(side).layouts) for side in order}
        mixed = {
            work.name: mix(inputs[work.name], work.draw(rng.getrandbits(63), self.further[work.name]), rng)
            for work in self.workloads
            if self.further.get(work.name)
        }
        passes: dict[str, dict[str, Pass]] = {work.name: {} for work in self.workloads}
        readings: dict[str, GpuReading] = {}
        for side in order:
            repeats = {work.name: work.repeats for work in self.workloads}
            # A program's runs are windows of their own: those of the candidate alone take further inputs.
            taking = mixed if side == "candidate" or self.baseline.builder.task.kind is Kind.FUNCTION else {}
            drawn = {**inputs, **{name: one.items for name, one in taking.items()}}
            called = {name: one.checked for name, one in taking.items() if side != "candidate"}
            setting = Setting(side, self.seconds, self.cores, hash_seed, layouts[side], self.start, repeats, called)
            for name, one in self._taken(side, drawn, warm, setting).items():
                passes[name][side] = taking[name].checked_of(one) if name in taking else one
            if self.gauge is not None:
                readings[side] = self.gauge()
        self._expect_alike(inputs, passes)
        return Turn(
            tuple(order),
            os.getloadavg()[0],
            passes,
            layouts,
            self.cores,
            megahertz(self.cores),
            self.charged,
            seed,
            hashes(inputs),
            readings,
            {name: len(one.items) / len(inputs[name]) for name, one in mixed.items()},
        )

    def lengthened(self, turn: Turn) -> Bench:
        """Returns a bench whose candidate has as many further inputs as a first turn shows that it needs.

        Inputs that come again in a pass are not added to: they could be known again.
        """
        task = self.baseline.builder.task
        if not self.meter.lengthens or task.module is not None or task.signature is not None:
            return self
        works = [work for work in self.workloads if work.rounds == 1]
        sizes = {work.name: len(work.draw(turn.seed, 1)[0].payload) for work in works}
        wanted = {w.name: further_inputs(turn.passes[w.name], w.count, sizes[w.name]) for w in works}
        return replace(self, further=wanted)

    def _artifact(self, side: str) -> Artifact:
        return self.candidate if side == "candidate" else self.baseline

    def _taken(
        self, side: str, drawn: Mapping[str, Sequence[Input]], warm: Input, setting: Setting
    ) -> Mapping[str, Pass]:
        if side == "candidate":
            return sound(self.meter.take(self.candidate, drawn, warm, setting))
        # The baseline passed validation, so this is the machine's or the limits' doing: no verdict.
        with lost_with("the baseline failed while it was timed"):
            return sound(self.meter.take(self.baseline, drawn, warm, setting))

    def _expect_alike(self, inputs: Mapping[str, Sequence[Input]], passes: Mapping[str, Mapping[str, Pass]]) -> None:
        for name, drawn in inputs.items():
            ours, theirs = passes[name]["baseline"].outcomes, passes[name]["candidate"].outcomes
            if len(theirs) != len(ours):
                raise RungEndedError(Fault(Reason.CHEATING, f"{name}: {len(ours)} calls gave {len(theirs)} outcomes"))
            again = len(ours) // len(drawn)  # a meter may run the inputs several times, in a process each
            more = passes[name]["again"].outcomes
            for item, expected, actual, once_more in zip([*drawn] * again, ours, theirs, more, strict=True):
                if fault := self.judge(item, expected, actual):
                    differs = self.judge(item, expected, once_more)
                    raise RungEndedError(fault if differs is None else _differs_from_itself(differs))


def _differs_from_itself(found: Fault) -> BaselineLost:
    return BaselineLost(Reason.NONDETERMINISTIC, f"two processes of the baseline differ: {found.detail}")


def draw_all(workloads: Sequence[TimedWorkload], rng: random.Random) -> dict[str, Sequence[Input]]:
    """Draws the inputs of a turn, which are the first that its generator is asked for."""
    return {work.name: work.draw(rng.getrandbits(63), work.count) for work in workloads}


def hashes(drawn: Mapping[str, Sequence[Input]]) -> dict[str, str]:
    """Returns a SHA-256 over the inputs of each workload, by which they are known again."""
    found = {}
    for name, items in drawn.items():
        parts = (hashlib.sha256(item.payload).digest() for item in items)
        found[name] = hashlib.sha256(b"".join(parts)).hexdigest()
    return found


@dataclass(frozen=True, slots=True)
class Series:
    """Seconds, or what else is measured, of each side, a turn each, on one workload.

    Attributes:
        baseline: of the baseline.
        candidate: of the candidate, for as many inputs as the baseline's.
        again: of the baseline's second process.
        slack: by how much all figures of the baseline, and of the candidate, may be off alike: how far the time that it
            takes to hand outcomes over differs from process to process.
    """

    baseline: tuple[float, ...]
    candidate: tuple[float, ...]
    again: tuple[float, ...]
    slack: tuple[float, float] = (0.0, 0.0)

    @classmethod
    def of(cls, figures: Mapping[str, Sequence[float]], slack: tuple[float, float] = (0.0, 0.0)) -> Series:
        """Returns the figures of each of `SIDES` as a series."""
        baseline, candidate, again = (tuple(figures[side]) for side in SIDES)
        return cls(baseline, candidate, again, slack)

    @property
    def logs(self) -> list[float]:
        """log(baseline / candidate) of each turn."""
        return [math.log(a / b) for a, b in zip(self.baseline, self.candidate, strict=True)]

    @property
    def aa_logs(self) -> list[float]:
        """log(baseline / baseline again) of each turn."""
        return [math.log(a / b) for a, b in zip(self.baseline, self.again, strict=True)]

    @property
    def slack_log(self) -> float:
        """By how much the log of the ratio may be off since all figures may be; 0 where both sides last as long."""
        ours, theirs = map(statistics.median, (self.baseline, self.candidate))
        return abs(math.log1p(self.slack[1] / theirs) - math.log1p(self.slack[0] / ours))


def series(turns: Sequence[Turn], name: str) -> Series | Fault:
    """Returns the seconds that count on one workload, or the fault of a process whose clock disagrees."""
    passes = [turn.passes[name] for turn in turns]
    sides = {side: [each[side] for each in passes] for side in SIDES}
    handovers = [(p.outside - p.inside) / p.windows for side in ("baseline", "again") for p in sides[side]]
    handover = max(0.0, statistics.median(handovers))
    # On a busy machine the baseline's own windows run over now and then: no more than that is held against anybody.
    spread, windows = spread_of(handovers), statistics.median(p.windows for p in sides["candidate"])
    theirs = statistics.median(p.outside - p.inside for p in sides["candidate"])
    window = statistics.median(p.outside for p in sides["candidate"])
    allowed = EXCESS_SECONDS + EXCESS_OF_WINDOW * window + (EXCESS_OF_HANDOVER * handover + spread) * windows
    allowed += statistics.median(p.waited or 0.0 for p in sides["candidate"])
    if theirs - handover * windows > allowed or theirs < 0:
        return Fault(
            Reason.CHEATING,
            f"{name}: its process says {(window - theirs) * 1e3:.3g} ms in the calls, the clock outside "
            f"{(window - handover * windows) * 1e3:.3g} ms",
        )
    seconds = {side: [max(p.inside, p.outside - handover * p.windows, 1e-9) for p in sides[side]] for side in SIDES}
    if fault := disagreement(name, sides, seconds):
        return fault
    seconds["candidate"] = per_pass(turns, name, seconds["candidate"])
    return Series.of(seconds, slack_of(turns, name, spread))


def spread_of(handovers: Sequence[float]) -> float:
    """Returns by how much handing over may cost more than usual: from the median to the ninth decile."""
    return statistics.quantiles(handovers, n=10)[-1] - statistics.median(handovers) if len(handovers) > 1 else 0.0


def slack_of(turns: Sequence[Turn], name: str, spread: float) -> tuple[float, float]:
    """Returns what of a pass of either side is unsure where so many seconds of each window are; see `Series`."""
    ours, theirs = (
        statistics.median(turn.passes[name][side].windows for turn in turns) for side in ("baseline", "candidate")
    )
    return spread * ours, spread * theirs / statistics.median(turn.scale.get(name, 1.0) for turn in turns)


def per_pass(turns: Sequence[Turn], name: str, seconds: Sequence[float]) -> list[float]:
    """Returns seconds of the candidate for as many inputs as the baseline's, with what is charged."""
    return [one / turn.scale.get(name, 1.0) + turn.charged for one, turn in zip(seconds, turns, strict=True)]


def amounts(turns: Sequence[Turn], name: str) -> Series:
    """Returns the amounts that a meter found on one workload."""
    passes = [turn.passes[name] for turn in turns]
    return Series.of({side: [max(each[side].amount or 0.0, 1e-9) for each in passes] for side in SIDES})


def raw(turns: Sequence[Turn]) -> list[dict[str, Any]]:
    """Returns turns as plain data for the evidence, without the outcomes."""
    rows = []
    for turn in turns:
        passes = {
            name: {side: {k: v for k, v in asdict(p).items() if k != "outcomes"} for side, p in sides.items()}
            for name, sides in turn.passes.items()
        }
        rows.append({**asdict(replace(turn, passes={})), "passes": passes})
    return rows


def used(recorded: Mapping[str, Any]) -> list[Turn]:
    """Returns the turns that a measurement rests on, from its ``raw``: all but those that were dropped."""
    dropped = {one["turn"] for one in recorded.get("dropped", ())}
    return [turn for place, turn in enumerate(from_raw(recorded["turns"])) if place not in dropped]


def from_raw(rows: Sequence[Mapping[str, Any]]) -> list[Turn]:
    """Returns the turns that `raw` was given, without the outcomes.

    Raises:
        pydantic.ValidationError: the rows have another form.
    """
    turns = []
    for row in rows:
        passes = {
            name: {side: {**one, "outcomes": ()} for side, one in sides.items()}
            for name, sides in row["passes"].items()
        }
        turns.append(from_plain(Turn, {**row, "passes": passes}))
    return turns
