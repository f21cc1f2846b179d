"""Times a candidate beside the baseline, under the same flags on both sides, and what its calls have left unpaid."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from whet.core.candidate import Candidate
from whet.core.errors import BaselineError
from whet.core.events import Event, EventKind, Listener, null_listener
from whet.core.measurement import OF_TIME, Measurement
from whet.core.options import Options
from whet.core.plain import to_plain
from whet.core.task import Kind, Task
from whet.core.verdict import Reason
from whet.evaluators.artifacts import Artifact, Builder, task_on_gpu
from whet.evaluators.baseline import Baseline
from whet.evaluators.buffers import as_in_memory
from whet.evaluators.finding import BaselineLost, Fault, RungEndedError, sound
from whet.evaluators.inputs.source import Input, InputSource, derive
from whet.evaluators.kernels.compiled import STAGES, Versions, can_be_compiled, compiled
from whet.evaluators.languages.registry import language_of_task
from whet.evaluators.meters.base import Meter
from whet.evaluators.oracle import Oracle
from whet.evaluators.pairs import Side
from whet.evaluators.rungs import Timed, with_the_baseline
from whet.evaluators.timing.bench import Bench, Judge
from whet.evaluators.timing.decision import Rule, described, least, sequential
from whet.evaluators.timing.hidden_costs import PASSES, HiddenCosts
from whet.evaluators.timing.instruments import Instruments
from whet.evaluators.timing.on_gpu import Sides, gauge_for, held_up
from whet.evaluators.timing.plan import TimingPlan, enough
from whet.evaluators.timing.process_observation import Calls
from whet.evaluators.timing.quiet import quiet
from whet.evaluators.timing.rounds import with_rounds
from whet.evaluators.timing.starts import without_start
from whet.evaluators.timing.turns import Turn, from_raw
from whet.evaluators.timing.workloads import TimedWorkload
from whet.evaluators.timing.zygotes import Zygotes
from whet.sandbox.cores import measuring_cores
from whet.sandbox.toolchains import native

CHARGED = (*OF_TIME, "cpu")
"""Metrics of which work outside the timed calls is a part."""


@dataclass(frozen=True, slots=True)
class _MeasurementRequest:
    """One measuring of a candidate; see `Measuring.timed`."""

    rung: str
    candidate: Candidate
    baseline: Baseline
    workloads: Sequence[TimedWorkload]
    plan: TimingPlan
    seed: int

    @property
    def confirming(self) -> bool:
        """Whether all flags are taken, and what torch.compile makes of the problem."""
        return self.rung == "confirm"


@dataclass(slots=True)
class _Measurements:
    """What was measured of a candidate: each time what against, and the flags that the original does not build with."""

    measurements: list[tuple[Mapping[str, Any], Measurement]] = field(default_factory=list)
    refused: list[Mapping[str, Any]] = field(default_factory=list)


class Measuring:
    """Measures the candidates of one task."""

    def __init__(
        self,
        builder: Builder,
        source: InputSource,
        oracle: Oracle,
        options: Options,
        meter: Meter,
        instruments: Instruments,
        listener: Listener = null_listener,
    ) -> None:
        self._listener = listener
        self._builder = builder
        self._source = source
        self._oracle = oracle
        self._options = options
        self._meter = meter
        self._instruments = instruments
        self._zygotes = Zygotes()
        self._versions: Versions | None = None

    def timed(self, name: str, candidate: Candidate, baseline: Baseline, plan: TimingPlan, seed: int) -> Timed:
        """Measures a candidate that was found right; of several measurements, the weakest decides.

        Args:
            name: of the rung: ``measure``, or ``confirm``, which takes sizes that nobody listed and all flags.
            candidate: to measure.
            baseline: beside it.
            plan: how long.
            seed: of the inputs and of the order.

        Raises:
            RungEndedError: it shows a fault, or the baseline was lost.
        """
        workloads = baseline.workloads(self._source, seed if name == "confirm" else None)
        found = self._taken(_MeasurementRequest(name, candidate, baseline, workloads, plan, seed))
        evidence: dict[str, Any] = {"measurements": [{**what, **to_plain(one)} for what, one in found.measurements]}
        if self._versions is not None and self._versions.failed:
            evidence["not_compiled"] = dict(self._versions.failed)
        if short := baseline.too_short(self._source):
            evidence["too_short_to_time"] = short
        if found.refused:
            evidence["not_built"] = found.refused
        return Timed(least([one for _, one in found.measurements]), evidence)

    def build(self, candidate: Candidate) -> None:
        """Builds both sides under all flags, as `timed` will; what does not build is told there."""
        task = self._builder.task
        for extra in self._meter.variants(task, candidate.source):
            for text in (_original_under(extra, task), candidate.source):
                self._builder.build(text, extra)

    def _taken(self, request: _MeasurementRequest) -> _Measurements:
        """Measures under one flag after the other, and against what torch.compile makes of a problem."""
        variants = self._meter.variants(self._builder.task, request.candidate.source)
        variants = variants[: None if request.confirming else 1]
        taken = _Measurements()
        with measuring_cores(self._options.cores, self._listener) as cores:
            for number, extra in enumerate(variants):
                if said := refused_by_clang(self._builder, extra):
                    taken.refused.append({"flags": extra, "said": said})
                    continue
                works = [work for work in request.workloads if work.counts or not number]
                before = taken.measurements[-1][1].raw if taken.measurements else None
                under = partial(self._under, extra, replace(request, workloads=works), cores, before)
                taken.measurements.append(({"flags": extra}, with_the_baseline(request.seed, under)))
            alike = all(one.faster for _, one in taken.measurements)
            if request.confirming and alike and self._meter.name in OF_TIME and can_be_compiled(self._builder.task):
                taken.measurements += self._against_compiled(request, cores)
        return taken

    def _told(self, request: _MeasurementRequest, number: int) -> None:
        """Tells that a turn begins; the first one, which is thrown away, has number 0."""
        stages = request.plan.stages
        last = stages[-1].turns
        turns = next((stage.turns for stage in stages if stage.turns >= number), 2 * last)
        identity, rung = request.candidate.id, request.rung
        data = {"candidate": identity, "rung": rung, "turn": number, "turns": turns}
        self._listener(Event(EventKind.TURN, f"{identity[:10]} {rung}: turn {number} of {turns}", data))

    def _under(
        self,
        extra: tuple[str, ...],
        request: _MeasurementRequest,
        cores: tuple[int, ...],
        before: Mapping[str, Any] | None,
        seed: int,
    ) -> Measurement:
        """Measures with the same flags on both sides; tells of each turn.

        Args:
            extra: the flags.
            request: what is measured.
            cores: to measure on.
            before: the raw data of what was measured under other flags; None where nothing was.
            seed: of the inputs and of the order; another than what is asked where that lost the baseline.

        Raises:
            BaselineError: the original does not compile with them.
            RungEndedError: the candidate shows a fault.
        """
        if seed != request.seed:
            request = replace(request, seed=seed, plan=replace(request.plan, begun=None))
        task, baseline, plan = self._builder.task, request.baseline, request.plan
        with ThreadPoolExecutor(1) as beside:
            built = beside.submit(self._builder.build, request.candidate.source, extra)
            ours = self._builder.build(_original_under(extra, task), extra)
        if isinstance(ours, Fault):
            raise BaselineError(f"{task.path} does not compile with {' '.join(extra)}", ours.reason.value)
        theirs = sound(built.result())
        fresh = self._bench(ours, theirs, request.workloads, self._oracle.judge, baseline, cores)
        begun = plan.begun
        fresh, had = with_rounds(fresh, task, derive(seed, extra, "rounds"), begun.raw if begun else None, before)
        rule = self._rule(self._baseline_name(extra))
        if plan.provisional and had and (at_once := shown_at_once(had[0], request.workloads, plan, rule)):
            return replace(at_once, raw={**at_once.raw, "processes": {"kind": "fresh"}, "hidden_costs": {}})
        workloads = fresh.workloads
        # Another process of ours may have found passes of another length right.
        known = begun.raw if begun is not None and begun.raw["workloads"] == described(workloads) else None
        bench, processes = (
            self._zygotes.settle(
                fresh, self._options.confidence, derive(seed, extra, "zygotes"), known and known["processes"]
            )
            if self._meter.forks
            else (fresh, {"kind": "fresh"})
        )
        turns = from_raw(known["turns"]) if known is not None else ()

        def take(number: int) -> Turn:
            nonlocal bench
            self._told(request, number)
            if number < len(had):
                return had[number]
            # What the first turn shows may change what the sides of all others are given.
            turn = bench.turn(derive(seed, extra, number), derive(seed, extra, number + 1) if number else None)
            if number == 0:
                bench = bench.lengthened(turn)
                if any(bench.further.values()):
                    # What an input costs to hand over is seen once there are more of them: a window costs its own.
                    bench = bench.lengthened(bench.turn(derive(seed, extra, "lengthened")))
            return turn

        found = sequential(take, workloads, plan.stages, rule, turns, plan.looks, plan.over)
        costs: Mapping[str, Any] = {}
        # With each set of flags: a text can ask which it is built with, and the least of all their ratios is told.
        if found.faster and task.kind is Kind.FUNCTION and not plan.provisional:
            hidden = self._hidden(bench, baseline.limit, seed)
            repeats = self._instruments.repeat_costs(ours, theirs, workloads, seed, baseline.limit)
            costs = {**hidden.evidence, "by_repeats": repeats.evidence} if repeats.evidence else hidden.evidence
            unpaid = hidden.seconds + repeats.seconds
            if unpaid and self._meter.name in CHARGED:
                bench = replace(bench, charged=unpaid)
                found = sequential(
                    lambda number: bench.turn(derive(seed, extra, "charged", number)), workloads, plan.stages, rule
                )
        found = held_up(found, Sides(ours, theirs, baseline.limit, derive(seed, extra)), workloads)
        return replace(found, raw={**found.raw, "processes": processes, "hidden_costs": costs})

    def _against_compiled(
        self, request: _MeasurementRequest, cores: tuple[int, ...]
    ) -> list[tuple[Mapping[str, Any], Measurement]]:
        """Measures against what torch.compile makes of the problem.

        What is right is what the problem itself gives: it is asked for each outcome, outside the clock.
        """
        baseline, seed = request.baseline, request.seed
        theirs = self._builder.built(request.candidate.source)
        works = [work for work in request.workloads if work.counts]
        found: list[tuple[Mapping[str, Any], Measurement]] = []
        with closing(Side(baseline.artifact, hash_seed=0, worker=None)) as eager:

            def judge(item: Input, expected: bytes, actual: bytes) -> Fault | None:
                answer = eager.call(item.payload, baseline.limit)
                if isinstance(answer, Fault):
                    return BaselineLost(Reason.NONDETERMINISTIC, f"the problem itself: {answer.detail}")
                return self._oracle.judge(item, answer[0], actual)

            if self._versions is None:
                inputs = works[0].draw(derive(seed, "compiled"), 2)
                self._versions = compiled(self._builder, len(cores), inputs, partial(judge, expected=b""))
            for version in self._versions.made:
                fresh = self._bench(version.artifact, theirs, works, judge, baseline, cores)
                try:
                    one = self._drawn(fresh, derive(seed, version.name, "rounds"), seed, version.name)
                except RungEndedError as ended_by:
                    if not isinstance(ended_by.finding, BaselineLost):
                        raise
                    self._versions = self._versions.without(version, ended_by.finding.detail)
                    continue
                one = replace(one, raw={**one.raw, "processes": {"kind": "fresh"}, "hidden_costs": {}})
                found.append(({"flags": (), "compiled": version.modes}, one))
        return found

    def _drawn(self, fresh: Bench, rounds: int, seed: int, name: str) -> Measurement:
        """Measures against a version that torch.compile made."""
        bench, had = with_rounds(fresh, self._builder.task, rounds, None)

        def take(number: int) -> Turn:
            return had[number] if number < len(had) else bench.turn(derive(seed, name, number))

        return sequential(take, bench.workloads, STAGES, self._rule(name))

    def _bench(
        self,
        ours: Artifact,
        theirs: Artifact,
        workloads: Sequence[TimedWorkload],
        judge: Judge,
        baseline: Baseline,
        cores: tuple[int, ...],
    ) -> Bench:
        gauge = gauge_for(self._builder.task)
        return Bench(ours, theirs, workloads, judge, baseline.limit, cores, self._meter, gauge=gauge)

    def _rule(self, baseline: str) -> Rule:
        return Rule(self._options.min_speedup, self._options.confidence, baseline, self._meter)

    def _hidden(self, bench: Bench, limit: float, seed: int) -> HiddenCosts:
        work = bench.workloads[0]
        # As many calls are looked at as the candidate makes in a process, which has a pass of each workload.
        passes = sum(1 + bench.further.get(one.name, 0) / one.count for one in bench.workloads)
        longer = math.ceil(passes / PASSES)
        task = self._builder.task
        items = as_in_memory(task, work.draw(derive(seed, "hidden"), PASSES * work.count * longer + 2))
        calls = Calls([item.payload for item in items], work.count, limit, longer)
        found = self._instruments.hidden_costs(bench.baseline, bench.candidate, calls)
        return without_start(found) if task_on_gpu(task) else found

    def _baseline_name(self, extra: tuple[str, ...]) -> str:
        task = self._builder.task
        return language_of_task(task).baseline(task, extra, self._builder.interpreter.version)


def shown_at_once(first: Turn, workloads: Sequence[TimedWorkload], plan: TimingPlan, rule: Rule) -> Measurement | None:
    """Returns the large gain that the turn shows which is thrown away elsewhere; None where it shows less.

    Whether a gain is worth confirming is all that is asked here, and a large one needs no longer passes for that.

    Raises:
        RungEndedError: a clock was touched, as it seems.
    """
    if not quiet([first], [work.name for work in workloads if work.counts]):
        return None
    found = sequential(lambda _: first, workloads, plan.stages, rule, over=lambda *_: True)
    return found if enough(found) else None


def _original_under(extra: tuple[str, ...], task: Task) -> str:
    """Returns what a candidate is held against under some flags."""
    return task.source if native.STANDING in extra else task.original[0]


def refused_by_clang(builder: Builder, extra: tuple[str, ...]) -> str:
    """Returns in a line what clang has against a baseline, or its flags, that gcc takes; empty for nothing."""
    if native.BY_CLANG not in extra:
        return ""
    built = builder.build(builder.task.original[0], extra)
    return " ".join(built.detail.split())[:400] if isinstance(built, Fault) else ""
