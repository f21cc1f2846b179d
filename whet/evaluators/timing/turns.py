"""What turns measured: their passes, and the figures of each side that count."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from whet.core.plain import from_plain
from whet.core.verdict import Reason
from whet.evaluators.finding import Fault
from whet.evaluators.processes import Pass
from whet.evaluators.timing.device_clock import disagreement
from whet.sandbox.gpu_gauge import GpuReading

SIDES = ("baseline", "candidate", "again")

EXCESS_SECONDS = 0.001
"""By how much more than the baseline's a window may be longer than its calls, at the least: the kernel interrupts it. A
clock that lies by less gains nothing: what it leaves out counts all the same (`agreed`)."""
EXCESS_OF_WINDOW = 0.1
"""The same, of the window: what disturbs it grows with it."""
EXCESS_OF_HANDOVER = 0.25
"""The same, of what the baseline needs to hand its outcomes over: those of a candidate may be larger or harder to
write."""
RENEWED = 1.15
"""How many times as long as one that comes again a call on a new input may take, beyond what the baseline's does,
before each counts as long as on a new one: caches make some per cent."""


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A process whose passes count nowhere, since the machine disturbed them and those of no other in the turn.

    Attributes:
        side: whose it was; its passes were taken anew.
        share: the largest share of a window in the turn for which anybody waited for a processor, or that was stolen.
        uneven: how many times as long the same work took beside one window of the turn as beside another.
    """

    side: str
    share: float
    uneven: float


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
        scale: how many times as many calls as the baseline's the candidate's pass has, on further inputs or in further
            rounds, by workload; 1 where nothing is said.
        left_out: processes that were run anew.
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
    left_out: tuple[LeftOut, ...] = ()


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
    ours, theirs = [*sides["baseline"], *sides["again"]], sides["candidate"]
    if fault := contradicted(name, ours, theirs):
        return fault
    if fault := contradicted_on_new_inputs(name, ours, theirs):
        return fault
    handovers = [(p.outside - p.inside) / p.windows for p in ours]
    handover, spread = max(0.0, statistics.median(handovers)), spread_of(handovers)
    told = {side: [(p.inside, p.outside, p.windows) for p in found] for side, found in sides.items()}
    seconds = {side: agreed(found, handover, spread) for side, found in told.items()}
    if fault := disagreement(name, sides, seconds):
        return fault
    return Series.of(as_counted(turns, name, seconds), slack_of(turns, name, spread))


def agreed(told: Sequence[tuple[float, float, int]], handover: float, spread: float) -> list[float]:
    """Returns the seconds of a side's passes: those in its calls as far as the account out here agrees.

    What handing over costs differs from window to window, by more than short calls take. So what a side's windows hold
    beyond its calls and a usual handover is added as it is at the median of its turns: whoever hides the same in more
    than half of them has it counted in all. What a single one holds beyond that spread is its own.

    Args:
        told: of each turn, the seconds in the calls that the process tells, those of its windows, and their number.
        handover: seconds that the baseline takes in a window beside its calls, usually.
        spread: by how much that is more now and then.
    """
    beyond = [(whole - calls) / windows - handover for calls, whole, windows in told]
    usual = max(0.0, statistics.median(beyond))
    return [
        max(calls + max(usual, over - spread) * windows, 1e-9)
        for (calls, _, windows), over in zip(told, beyond, strict=True)
    ]


def contradicted(
    name: str, ours: Sequence[Pass], theirs: Sequence[Pass], by: str = "the clock outside"
) -> Fault | None:
    """Returns the fault of a candidate whose own clock disagrees with the one out here; None where it does not."""
    handovers = [(p.outside - p.inside) / p.windows for p in ours]
    handover = max(0.0, statistics.median(handovers))
    # On a busy machine the baseline's own windows run over now and then: no more than that is held against anybody.
    spread, windows = spread_of(handovers), statistics.median(p.windows for p in theirs)
    beside = statistics.median(p.outside - p.inside for p in theirs)
    window = statistics.median(p.outside for p in theirs)
    allowed = EXCESS_SECONDS + EXCESS_OF_WINDOW * window + (EXCESS_OF_HANDOVER * handover + spread) * windows
    allowed += statistics.median(p.waited or 0.0 for p in theirs)
    if 0 <= beside <= handover * windows + allowed:
        return None
    return Fault(
        Reason.CHEATING,
        f"{name}: its process says {(window - beside) * 1e3:.3g} ms in the calls, {by} "
        f"{(window - handover * windows) * 1e3:.3g} ms",
    )


def contradicted_on_new_inputs(
    name: str, ours: Sequence[Pass], theirs: Sequence[Pass], by_cpu: bool = False
) -> Fault | None:
    """As `contradicted`, of the rounds on new inputs; by CPU seconds, of what the kernel and what the process says."""
    windows: list[list[Pass]] = [[], []]
    for found, passes in zip(windows, (ours, theirs), strict=True):
        for one in passes:
            if one.new is None or (by_cpu and one.new.ran is None):
                return None
            outside, inside = (one.new.ran or 0.0, one.new.cpu) if by_cpu else (one.new.outside, one.new.inside)
            waited = None if by_cpu else one.new.waited
            found.append(replace(one, outside=outside, inside=inside, windows=1, waited=waited))
    return contradicted(
        f"{name}, on new inputs", windows[0], windows[1], by="the kernel" if by_cpu else "the clock outside"
    )


def as_counted(
    turns: Sequence[Turn], name: str, seconds: Mapping[str, Sequence[float]], by_cpu: bool = False
) -> Mapping[str, Sequence[float]]:
    """Returns seconds of each side as they are compared.

    Where the candidate has more rounds, the first, which finds the caches cold, weighs less on its side; so what it
    took longer weighs as much less on the baseline's. What the candidate says of its own is not asked.
    """
    ours = {
        side: [
            max(one - _cold(turn.passes[name][side], by_cpu) * (1.0 - 1.0 / turn.scale.get(name, 1.0)), 1e-9)
            for one, turn in zip(seconds[side], turns, strict=True)
        ]
        for side in ("baseline", "again")
    }
    return {**ours, "candidate": per_pass(turns, name, seconds["candidate"], by_cpu)}


def _cold(one: Pass, by_cpu: bool) -> float:
    return one.cold_cpu if by_cpu else one.cold


def spread_of(handovers: Sequence[float]) -> float:
    """Returns by how much handing over may cost more than usual: from the median to the ninth decile."""
    return statistics.quantiles(handovers, n=10)[-1] - statistics.median(handovers) if len(handovers) > 1 else 0.0


def slack_of(turns: Sequence[Turn], name: str, spread: float) -> tuple[float, float]:
    """Returns what of a pass of either side is unsure where so many seconds of each window are; see `Series`."""
    ours, theirs = (
        statistics.median(turn.passes[name][side].windows for turn in turns) for side in ("baseline", "candidate")
    )
    return spread * ours, spread * theirs / statistics.median(turn.scale.get(name, 1.0) for turn in turns)


def per_pass(turns: Sequence[Turn], name: str, seconds: Sequence[float], by_cpu: bool = False) -> list[float]:
    """Returns seconds of the candidate for as many inputs as the baseline's, all of them new, with what is charged."""
    factors = as_if_new(turns, name, by_cpu)
    return [
        one * factor / turn.scale.get(name, 1.0) + turn.charged
        for one, factor, turn in zip(seconds, factors, turns, strict=True)
    ]


def as_if_new(turns: Sequence[Turn], name: str, by_cpu: bool = False) -> list[float]:
    """Returns how many times as long as it took each pass of the candidate would have taken with new inputs alone.

    A pass that repeats its inputs stands for one that does not: no program is run for answers that it has. Whether a
    function keeps them depends on whatever it chooses to look at, chance included, so each process is held against
    itself, and the baseline's beside it. What counts then is how many times as long as the candidate's the baseline's
    calls on new inputs take.

    Args:
        turns: those that count.
        name: of the workload.
        by_cpu: whether CPU seconds are compared: on a machine that is never quiet, whether another process has the
            processor in so short a round is chance.
    """
    logs = [found for turn in turns if (found := _saved(turn.passes[name], by_cpu)) is not None]
    if len(logs) < len(turns) or not logs:
        return [1.0] * len(turns)
    # Calls on new inputs are few: one that was disturbed makes the mean of some turns larger, and as unsure.
    error = statistics.stdev(logs) / math.sqrt(len(logs)) if len(logs) > 1 else 0.0
    shown = statistics.fmean(logs) - error > math.log(RENEWED)
    return [math.exp(max(0.0, one)) if shown else 1.0 for one in logs]


def _saved(passes: Mapping[str, Pass], by_cpu: bool) -> float | None:
    """Returns the log of what new inputs cost the candidate over those that come again, less that of the baseline."""
    logs: dict[str, float] = {}
    for side in SIDES:
        one = passes[side]
        if one.renewed is None:
            return None
        renewed, usual = one.renewed, one.inside
        if by_cpu and one.new is not None:
            renewed, usual = one.new.cpu * one.new.times, one.cpu
        logs[side] = math.log(max(renewed, 1e-9) / max(usual, 1e-9))
    return logs["candidate"] - (logs["baseline"] + logs["again"]) / 2


def amounts(turns: Sequence[Turn], name: str) -> Series:
    """Returns the amounts that a meter found on one workload."""
    passes = [turn.passes[name] for turn in turns]
    return Series.of({side: [max(each[side].amount or 0.0, 1e-9) for each in passes] for side in SIDES})


def raw(turns: Sequence[Turn]) -> list[dict[str, Any]]:
    """Returns turns as plain data for the evidence, without the outcomes."""
    rows = []
    for turn in turns:
        passes = {
            name: {
                side: {k: v for k, v in asdict(p).items() if k not in ("outcomes", "renewed_outcomes")}
                for side, p in sides.items()
            }
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
