"""From turns to one of three answers: faster, not shown, slower (law 3)."""

from __future__ import annotations

import math
import statistics
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from whet.core.measurement import CPU, OF_TIME, BaselineRatio, Measurement, Outcome, Speedup, WorkloadRatio
from whet.evaluators.finding import sound
from whet.evaluators.meters.base import Meter
from whet.evaluators.meters.time import TIME
from whet.evaluators.timing.quiet import (
    MOST_TURNS,
    disturbance,
    in_cpu_seconds,
    least_disturbed,
    quiet,
    steadiest,
    unevenness,
    unwaited,
)
from whet.evaluators.timing.statistics import Stage, apart, interval, p_faster, p_slower, widened
from whet.evaluators.timing.turns import Series, Turn, as_if_new, from_raw, raw
from whet.evaluators.timing.workloads import TimedWorkload

PARALLEL = 1.2
"""CPU seconds a second from which on a candidate is called parallel, where the baseline stays below."""

WIDEST = 1.25
"""How far apart the ends of a gain's interval may lie for no further look to be taken: that of few turns reaches from
the least to the greatest, so a single one, slowed by a neighbour on the same processor, would take its use away. What
is unsure of handing over is left out of this: further turns do not make it less."""


@dataclass(frozen=True, slots=True)
class Rule:
    """What "faster" asks for."""

    min_speedup: float
    confidence: float
    baseline: str
    meter: Meter = TIME


@dataclass(frozen=True, slots=True)
class InterimLook:
    """What some turns show.

    Attributes:
        measurement: the answer, and its figures.
        apart: the upper end of the interval over the lower, by what further turns may make less.
    """

    measurement: Measurement
    apart: float

    def settles(self, stage: Stage) -> bool:
        """Whether it is the last: a loser goes, and a gain is told by an interval of use."""
        found = self.measurement
        if found.outcome is Outcome.NOT_SHOWN:
            return stage.share == 0 and found.speedup.high < 1.0 and not found.disturbed
        return found.outcome is Outcome.SLOWER or self.apart <= WIDEST


def sequential(
    measure: Callable[[int], Turn],
    workloads: Sequence[TimedWorkload],
    stages: Sequence[Stage],
    rule: Rule,
    begun: Sequence[Turn] = (),
    looks: int | None = None,
    over: Callable[[InterimLook, Stage], bool] = InterimLook.settles,
) -> Measurement:
    """Measures turn after turn until a look decides.

    Args:
        measure: makes the turn with this number.
        workloads: those that are timed; some count for the headline.
        stages: when to look, and how much error each look may spend.
        rule: what "faster" asks for.
        begun: all turns of an earlier call with the same stages, which was to take fewer looks; its looks are taken
            once more, and find what they found.
        looks: the most to be taken here; None for as many as it needs.
        over: whether a look is the last one.

    Raises:
        RungEndedError: a turn, or a figure of the candidate's, ends the rung.
    """
    measure(0)  # thrown away: page cache, file system and frequency settle
    turns: list[Turn] = list(begun)
    result: Measurement | None = None
    for taken, stage in enumerate(stages):
        if result is not None and taken == looks:
            if result.outcome is Outcome.NOT_SHOWN:
                result = replace(result, undecided=taken)
            break
        while (enough := _enough(turns, workloads, stage, rule)) is None:
            turns.append(measure(len(turns) + 1))
        look = _looked_at(turns[:enough], workloads, stage, rule)
        result = look.measurement
        if over(look, stage):
            break
    assert result is not None
    return replace(result, raw={**result.raw, "stages": [asdict(stage) for stage in stages]})


def _kept(turns: Sequence[Turn], names: Sequence[str], rule: Rule) -> list[int]:
    """Returns the places of those turns that may count: for metrics of time, what the machine left alone."""
    return quiet(turns, names) if rule.meter.name in OF_TIME else list(range(len(turns)))


def _enough(turns: Sequence[Turn], workloads: Sequence[TimedWorkload], stage: Stage, rule: Rule) -> int | None:
    """Returns how many of some turns serve a look, the fewest that do; None where more have to be measured."""
    for count in range(stage.turns, len(turns) + 1):
        if _serve(turns[:count], workloads, stage, rule):
            return count
    return None


def _serve(turns: Sequence[Turn], workloads: Sequence[TimedWorkload], stage: Stage, rule: Rule) -> bool:
    names = counted(workloads)
    if len(_kept(turns, names, rule)) >= stage.turns or len(turns) >= MOST_TURNS * stage.turns:
        return True
    if rule.meter.name not in OF_TIME or 2 * len(unwaited(turns, names)) >= len(turns):
        return False
    # Of so many turns again, too few would be quiet.
    return not any(isinstance(in_cpu_seconds(turns, work.name), str) for work in workloads)


def _looked_at(turns: Sequence[Turn], workloads: Sequence[TimedWorkload], stage: Stage, rule: Rule) -> InterimLook:
    """Returns what the turns of a look show: the quiet ones, else all in CPU seconds, else the least disturbed.

    Of turns in which nobody waited and the processor was faster now and slower then, the steadiest count by the clock:
    CPU seconds are as long as it was slow.
    """
    names = counted(workloads)
    calm = _kept(turns, names, rule)[: stage.turns]
    if len(calm) == stage.turns:
        return _without_others(turns[: calm[-1] + 1], calm, workloads, stage, rule)
    steady = steadiest(turns, names, stage.turns)
    if len(steady) == stage.turns:
        return _without_others(turns, steady, workloads, stage, rule)
    noisy = f"the machine was never quiet ({len(turns) - len(calm)} of {len(turns)} turns were disturbed)"
    told = {work.name: in_cpu_seconds(turns, work.name) for work in workloads}
    unfair = next((why for why in told.values() if isinstance(why, str)), None)
    if unfair is None:
        look = _without_others(turns, range(len(turns)), workloads, stage, rule, told)
        found = look.measurement
        speedup = replace(found.speedup, clock=CPU)
        return replace(look, measurement=replace(found, speedup=speedup, note=f"{found.note}; in CPU seconds: {noisy}"))
    kept = least_disturbed(turns, names, stage.turns)
    if len(kept) == stage.turns:
        return _without_others(turns, kept, workloads, stage, rule)
    look = _without_others(turns, range(len(turns)), workloads, stage, rule)
    note = f"{noisy}, and CPU seconds cannot stand in: {unfair}"
    lost = replace(look.measurement, outcome=Outcome.NOT_SHOWN, disturbed=True, note=note)
    return replace(look, measurement=lost)


def _without_others(
    turns: Sequence[Turn],
    kept: Sequence[int],
    workloads: Sequence[TimedWorkload],
    stage: Stage,
    rule: Rule,
    told: Mapping[str, Series | str] | None = None,
) -> InterimLook:
    """Returns what those turns show whose places are given; the record has them all."""
    names = counted(workloads)
    left = sorted(set(range(len(turns))) - set(kept))
    dropped = [
        {"turn": place, "share": disturbance(turns[place], names), "uneven": unevenness(turns[place], names)}
        for place in left
    ]
    look = judge([turns[place] for place in kept], workloads, stage, rule, told)
    facts = {"workloads": described(workloads), "turns": raw(turns), "dropped": dropped}
    return replace(look, measurement=replace(look.measurement, raw=facts))


def counted(workloads: Sequence[TimedWorkload]) -> list[str]:
    """Returns the names of those that count for the headline."""
    return [work.name for work in workloads if work.counts]


def least(measured: Sequence[Measurement]) -> Measurement:
    """Returns the measurement that a verdict rests on: of those against several baselines, the one that shows least."""
    weakest = min(measured, key=lambda one: (one.faster, one.speedup.ratio))
    if len(measured) == 1:
        return weakest
    all = [one.speedup for one in measured]
    shown = tuple(BaselineRatio(one.baseline, one.ratio, one.low, one.high) for one in all)
    return replace(weakest, speedup=replace(weakest.speedup, baselines=shown))


def rejudge(recorded: Mapping[str, Any], stages: Sequence[Stage], rule: Rule) -> Measurement:
    """Decides once more from recorded turns, look by look, as `sequential` did from fresh ones.

    A record may have further looks than this version would take, as those of earlier ones have: each look spends its
    own share of the error, so that more of them make no false gain likelier.

    Args:
        recorded: the ``raw`` of a measurement.
        stages: when to look.
        rule: what "faster" asks for.

    Raises:
        RungEndedError: the turns show a fault of the candidate.
        ValueError: there are more turns than these looks take, or fewer, or they have another form.
    """
    turns = from_raw(recorded["turns"])
    workloads = [
        TimedWorkload(w["name"], w["count"], _undrawn, w["counts"], repeats=w.get("repeats", 0))
        for w in recorded["workloads"]
    ]
    left = deque([turns[0], *turns] if turns else [])
    enough = False

    def over(look: InterimLook, stage: Stage) -> bool:
        nonlocal enough
        settled = look.settles(stage)
        enough = enough or settled
        return settled and not left

    try:
        result = sequential(lambda number: left.popleft(), workloads, stages, rule, over=over)
    except LookupError as error:
        amiss = "there are more turns than the looks take" if enough else "turns are missing"
        raise ValueError(f"{amiss} ({len(turns)})") from error
    if left:
        raise ValueError(f"there are more turns than the looks take ({len(turns)})")
    return result


def _undrawn(seed: int, count: int) -> Sequence[Any]:
    raise AssertionError("recorded turns draw no inputs")


def judge(
    turns: Sequence[Turn],
    workloads: Sequence[TimedWorkload],
    stage: Stage,
    rule: Rule,
    told: Mapping[str, Series | str] | None = None,
) -> InterimLook:
    """Returns what turns show.

    Args:
        turns: all of them count.
        workloads: those that are timed.
        stage: the look.
        rule: what "faster" asks for.
        told: the figures of each workload, where those of the meter do not count.

    Raises:
        RungEndedError: a clock of the candidate disagrees with ours.
    """
    measured: dict[str, Series] = {}
    for work in workloads:
        one = sound(rule.meter.series(turns, work.name))
        other = told[work.name] if told is not None else one
        measured[work.name] = one if isinstance(other, str) else other
    timed = counted(workloads)
    ratios = {name: _ratio(name, measured[name], rule) for name in measured}
    columns = [measured[name].logs for name in timed]
    logs = _mean_logs(columns)
    aa_ratio, aa_low, aa_high = interval([measured[name].aa_logs for name in timed], rule.confidence)
    differing = apart(aa_ratio, aa_low, aa_high)
    unsure = statistics.fmean(measured[name].slack_log for name in timed)
    ratio, low, high = widened(interval(columns, rule.confidence), differing + unsure)
    alpha = (1.0 - rule.confidence) * stage.share
    faster, slower = p_faster(logs), p_slower(logs)
    losing = [r for name, r in ratios.items() if name in timed and r.high < 1.0]
    outcome, note = Outcome.NOT_SHOWN, ""
    if slower <= alpha and high < 1.0:
        outcome, note = Outcome.SLOWER, f"{ratio:.3f}x, p = {slower:.2g}"
    elif faster > alpha:
        note = f"{ratio:.3f}x, p = {faster:.2g}, not below {alpha:.2g}"
    elif ratio < rule.min_speedup:
        note = f"{ratio:.3f}x is below the {rule.min_speedup:g}x asked for"
    elif low <= 1.0:
        note = f"{ratio:.3f}x, but its interval reaches down to {low:.3f}x"
    elif losing:
        note = f"slower on {losing[0].name}: {losing[0].ratio:.3f}x"
    else:
        outcome, note = Outcome.FASTER, f"{ratio:.3f}x, p = {faster:.2g}"
    speedup = Speedup(
        ratio=ratio,
        low=low,
        high=high,
        confidence=rule.confidence,
        metric=rule.meter.name,
        processes=len(turns),
        samples=len(turns) * sum(work.count for work in workloads if work.counts),
        aa_ratio=(aa_low, aa_high),
        baseline=rule.baseline,
        workloads=tuple(ratios[name] for name in timed),
        cpu_seconds=(_cpu_seconds(turns, timed, "baseline"), _cpu_seconds(turns, timed, "candidate")),
        rates=_rates(workloads, measured) if rule.meter.name == "throughput" else None,
    )
    resolution = max(high / ratio, ratio / low, aa_high / aa_ratio, aa_ratio / aa_low)
    if turns[0].charged:
        note += f"; {turns[0].charged * 1e3:.3g} ms of work outside its calls are added to each pass"
    if (longer := max(statistics.fmean(as_if_new(turns, name, told is not None)) for name in timed)) > 1.0:
        note += f"; its calls on new inputs, {longer:.3g} times as long as on those that come again, count"
    if differing and stage.share > 0:
        note += f"; the baseline against itself gave {aa_low:.3f} to {aa_high:.3f}, by which the interval is wider"
    if outcome is Outcome.NOT_SHOWN:
        note += f"; here and now, less than {resolution:.3f}x cannot be told from nothing"
    found = Measurement(
        outcome=outcome,
        speedup=speedup,
        p_value=faster,
        note=note,
        resolution=resolution,
        widened=math.exp(differing),
        labels=("parallelism",) if _parallel(speedup, [measured[name] for name in timed]) else (),
        untimed=tuple(r for name, r in ratios.items() if name not in timed),
    )
    return InterimLook(found, high / low * math.exp(-2 * unsure))


def described(workloads: Sequence[TimedWorkload]) -> list[dict[str, Any]]:
    """Returns workloads as plain data, without what draws them."""
    return [
        {"name": work.name, "count": work.count, "counts": work.counts, "repeats": work.repeats} for work in workloads
    ]


def _ratio(name: str, measured: Series, rule: Rule) -> WorkloadRatio:
    differing = apart(*interval([measured.aa_logs], rule.confidence))
    return WorkloadRatio(name, *widened(interval([measured.logs], rule.confidence), differing + measured.slack_log))


def _cpu_seconds(turns: Sequence[Turn], names: Sequence[str], side: str) -> float:
    return sum(statistics.median(_cpu(turn, name, side) for turn in turns) for name in names)


def _cpu(turn: Turn, name: str, side: str) -> float:
    return turn.passes[name][side].cpu / (turn.scale.get(name, 1.0) if side == "candidate" else 1.0)


def _rates(workloads: Sequence[TimedWorkload], measured: Mapping[str, Series]) -> tuple[float, float]:
    """Returns calls a second of both sides in a pass over the timed workloads."""
    timed = [work for work in workloads if work.counts]
    calls = sum(work.count * max(1, work.repeats) for work in timed)
    sides = [[getattr(measured[work.name], side) for work in timed] for side in ("baseline", "candidate")]
    before, after = (calls / sum(map(statistics.median, seconds)) for seconds in sides)
    return before, after


def _parallel(speedup: Speedup, measured: Sequence[Series]) -> bool:
    """Whether the candidate had several processors at work at once, and the baseline had not."""
    assert speedup.cpu_seconds is not None
    ours, theirs = speedup.cpu_seconds
    baseline = sum(statistics.median(one.baseline) for one in measured)
    candidate = sum(statistics.median(one.candidate) for one in measured)
    return theirs / candidate >= PARALLEL > ours / baseline


def _mean_logs(columns: Sequence[Sequence[float]]) -> list[float]:
    """Returns a turn's mean over workloads: the log of their geometric mean."""
    return [sum(row) / len(row) for row in zip(*columns, strict=True)]
