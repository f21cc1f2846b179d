"""Times a candidate beside the baseline, under the same flags on both sides, and what its calls have left unpaid."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial
from typing import Any

from whet.core.candidate import Candidate
from whet.core.errors import BaselineError
from whet.core.events import Event, Listener, unheard
from whet.core.events import Kind as EventKind
from whet.core.measurement import OF_TIME, Measurement
from whet.core.options import Options
from whet.core.plain import to_plain
from whet.core.task import Kind
from whet.core.verdict import Reason, Rung
from whet.evaluators.baseline import Baseline
from whet.evaluators.finding import BaselineLost, Fault
from whet.evaluators.inputs.source import Input, InputSource, derive
from whet.evaluators.kernels.compiled import STAGES, Versions, can_be_compiled, compiled
from whet.evaluators.languages.registry import language_of_task
from whet.evaluators.meters.base import Meter
from whet.evaluators.oracle import Oracle
from whet.evaluators.pairs import Side
from whet.evaluators.rungs import ended, measured
from whet.evaluators.subjects import Subject, Workshop
from whet.evaluators.timing.decision import Rule, described, least, sequential
from whet.evaluators.timing.further import more_rounds
from whet.evaluators.timing.hidden_costs import PASSES, HiddenCosts
from whet.evaluators.timing.instruments import Instruments
from whet.evaluators.timing.on_gpu import Sides, gauge_for, held_up
from whet.evaluators.timing.statistics import Stage
from whet.evaluators.timing.turns import Bench, Judge, TimedWorkload, Turn, from_raw
from whet.evaluators.timing.zygotes import Zygotes
from whet.sandbox.cores import measuring_cores
from whet.sandbox.toolchains import native

CHARGED = (*OF_TIME, "cpu")
"""Metrics of which work outside the timed calls is a part."""


class Measuring:
    """Measures the candidates of one task."""

    def __init__(
        self,
        workshop: Workshop,
        source: InputSource,
        oracle: Oracle,
        options: Options,
        meter: Meter,
        instruments: Instruments,
        listener: Listener = unheard,
    ) -> None:
        self._listener = listener
        self._workshop = workshop
        self._source = source
        self._oracle = oracle
        self._options = options
        self._meter = meter
        self._instruments = instruments
        self._zygotes = Zygotes()
        self._versions: Versions | None = None

    def climb(
        self,
        name: str,
        candidate: Candidate,
        baseline: Baseline,
        stages: tuple[Stage, ...],
        seed: int,
        begun: Measurement | None = None,
        looks: int | None = None,
    ) -> tuple[Rung, Measurement | None]:
        """Measures a candidate that was found right.

        Args:
            name: of the rung: ``measure``, or ``confirm``, which takes sizes that nobody listed and all flags.
            candidate: to measure.
            baseline: beside it.
            stages: when to look, and how much error each look may spend.
            seed: of the inputs and of the order.
            begun: what fewer looks found with the same seed, to be gone on with; under the first flags only.
            looks: the most to be taken; None for as many as it needs.

        Returns:
            the rung, and the weakest measurement where there is one.
        """
        confirming = name == "confirm"
        workloads = baseline.workloads(self._source, seed if confirming else None)
        variants = self._meter.variants(self._workshop.task)[: None if confirming else 1]
        start = time.perf_counter()
        found: list[tuple[dict[str, Any], Measurement | Fault]] = []
        refused: list[dict[str, Any]] = []
        with measuring_cores(self._options.cores, self._listener) as cores:
            for number, extra in enumerate(variants):
                if said := refused_by_clang(self._workshop, extra):
                    refused.append({"flags": extra, "said": said})
                    continue
                works = [work for work in workloads if work.counts or not number]
                tell = partial(self._told, name, candidate, stages)
                one = self._under(extra, candidate, baseline, works, seed, stages, cores, begun, looks, tell)
                if isinstance(one, BaselineLost):
                    again = derive(seed, "again")
                    one = self._under(extra, candidate, baseline, works, again, stages, cores, None, looks, tell)
                found.append(({"flags": extra}, one))
            alike = all(isinstance(one, Measurement) and one.faster for _, one in found)
            if confirming and alike and self._meter.name in OF_TIME and can_be_compiled(self._workshop.task):
                found += self._against_compiled(candidate, baseline, workloads, seed, cores)
        spent = time.perf_counter() - start
        kept: list[Measurement] = []
        for _, one in found:
            if isinstance(one, Fault):
                return ended(name, one, spent), None
            kept.append(one)
        weakest = least(kept)
        rung = measured(name, weakest, spent)
        facts = [{**what, **to_plain(one)} for (what, _), one in zip(found, kept, strict=True)]
        evidence = {**rung.evidence, "measurements": facts}
        if self._versions is not None and self._versions.failed:
            evidence["not_compiled"] = dict(self._versions.failed)
        if short := baseline.too_short(self._source):
            evidence["too_short_to_time"] = short
        if refused:
            evidence["not_built"] = refused
        return replace(rung, evidence=evidence), weakest

    def _told(self, rung: str, candidate: Candidate, stages: Sequence[Stage], number: int) -> None:
        """Tells that a turn begins; the first one, which is thrown away, has number 0."""
        last = stages[-1].turns
        turns = next((stage.turns for stage in stages if stage.turns >= number), 2 * last)
        text = f"{candidate.id[:10]} {rung}: turn {number} of {turns}"
        data = {"candidate": candidate.id, "rung": rung, "turn": number, "turns": turns}
        self._listener(Event(EventKind.TURN, text, data))

    def _under(
        self,
        extra: tuple[str, ...],
        candidate: Candidate,
        baseline: Baseline,
        workloads: Sequence[TimedWorkload],
        seed: int,
        stages: tuple[Stage, ...],
        cores: tuple[int, ...],
        begun: Measurement | None,
        looks: int | None,
        tell: Callable[[int], None],
    ) -> Measurement | Fault:
        """Measures with the same flags on both sides; tells of each turn."""
        task = self._workshop.task
        text = task.source if native.STANDING in extra else task.original[0]
        ours, theirs = (self._workshop.build(source, extra) for source in (text, candidate.source))
        if isinstance(ours, Fault):
            raise BaselineError(f"{task.path} does not compile with {' '.join(extra)}", ours.reason.value)
        if isinstance(theirs, Fault):
            return theirs
        fresh = self._bench(ours, theirs, workloads, self._oracle.judge, baseline, cores)
        kept = begun.raw["workloads"] if begun is not None else None
        lasting = with_rounds(fresh, derive(seed, extra, "rounds"), kept)
        if isinstance(lasting, Fault):
            return lasting
        fresh, workloads = lasting, lasting.workloads
        # Another process of ours may have found passes of another length right.
        known = begun.raw if begun is not None and begun.raw["workloads"] == described(workloads) else None
        bench, processes = (
            self._zygotes.settle(
                fresh, self._options.confidence, derive(seed, extra, "zygotes"), known and known["processes"]
            )
            if self._meter.forks
            else (fresh, {"kind": "fresh"})
        )
        rule = self._rule(self._baseline_name(extra))
        turns = from_raw(known["turns"]) if known is not None else ()

        def take(number: int) -> Turn | Fault:
            nonlocal bench
            tell(number)
            turn = bench.turn(derive(seed, extra, number))
            if number == 0 and isinstance(turn, Turn):
                bench = bench.lengthened(turn)
            return turn

        found = sequential(take, workloads, stages, rule, turns, looks)
        costs: Mapping[str, Any] = {}
        if not isinstance(found, Fault) and found.faster and task.kind is Kind.FUNCTION:
            hidden = self._hidden(ours, theirs, workloads[0], baseline, seed)
            if isinstance(hidden, Fault):
                return hidden
            repeats = self._instruments.repeat_costs(ours, theirs, workloads, seed, baseline.limit)
            if isinstance(repeats, Fault):
                return repeats
            costs = {**hidden.evidence, "by_repeats": repeats.evidence} if repeats.evidence else hidden.evidence
            unpaid = hidden.seconds + repeats.seconds
            if unpaid and self._meter.name in CHARGED:
                charged = replace(bench, charged=unpaid)
                found = sequential(
                    lambda turn: charged.turn(derive(seed, extra, "charged", turn)), workloads, stages, rule
                )
        if not isinstance(found, Fault):
            found = held_up(found, Sides(ours, theirs, baseline.limit, derive(seed, extra)), workloads)
        if isinstance(found, Fault):
            return found
        return replace(found, raw={**found.raw, "processes": processes, "hidden_costs": costs})

    def _against_compiled(
        self,
        candidate: Candidate,
        baseline: Baseline,
        workloads: Sequence[TimedWorkload],
        seed: int,
        cores: tuple[int, ...],
    ) -> list[tuple[dict[str, Any], Measurement | Fault]]:
        """Measures against what torch.compile makes of the problem.

        What is right is what the problem itself gives: it is asked for each outcome, outside the clock.
        """
        theirs = self._workshop.build(candidate.source)
        assert isinstance(theirs, Subject), "it was measured before"
        works = [work for work in workloads if work.counts]
        found: list[tuple[dict[str, Any], Measurement | Fault]] = []
        with closing(Side(baseline.subject, hash_seed=0, worker=None)) as eager:

            def judge(item: Input, expected: bytes, actual: bytes) -> Fault | None:
                answer = eager.call(item.payload, baseline.limit)
                if isinstance(answer, Fault):
                    return BaselineLost(Reason.NONDETERMINISTIC, f"the problem itself: {answer.detail}")
                return self._oracle.judge(item, answer[0], actual)

            if self._versions is None:
                inputs = works[0].draw(derive(seed, "compiled"), 2)
                self._versions = compiled(self._workshop, len(cores), inputs, partial(judge, expected=b""))
            for version in self._versions.made:
                fresh = self._bench(version.subject, theirs, works, judge, baseline, cores)
                one = self._drawn(fresh, derive(seed, version.name, "rounds"), seed, version.name)
                if isinstance(one, BaselineLost):
                    self._versions = self._versions.without(version, one.detail)
                    continue
                if isinstance(one, Measurement):
                    one = replace(one, raw={**one.raw, "processes": {"kind": "fresh"}, "hidden_costs": {}})
                found.append(({"flags": (), "compiled": version.modes}, one))
        return found

    def _drawn(self, fresh: Bench, rounds: int, seed: int, name: str) -> Measurement | Fault:
        """Measures against a version that torch.compile made."""
        bench = with_rounds(fresh, rounds, None)
        if isinstance(bench, Fault):
            return bench
        return sequential(partial(_drawn_turn, bench, seed, name), bench.workloads, STAGES, self._rule(name))

    def _bench(
        self,
        ours: Subject,
        theirs: Subject,
        workloads: Sequence[TimedWorkload],
        judge: Judge,
        baseline: Baseline,
        cores: tuple[int, ...],
    ) -> Bench:
        gauge = gauge_for(self._workshop.task)
        return Bench(ours, theirs, workloads, judge, baseline.limit, cores, self._meter, gauge=gauge)

    def _rule(self, baseline: str) -> Rule:
        return Rule(self._options.min_speedup, self._options.confidence, baseline, self._meter)

    def _hidden(
        self, ours: Subject, theirs: Subject, work: TimedWorkload, baseline: Baseline, seed: int
    ) -> HiddenCosts | Fault:
        count = PASSES * work.count + 2
        payloads = [item.payload for item in work.draw(derive(seed, "hidden"), count)]
        return self._instruments.hidden_costs(ours, theirs, payloads, work.count, baseline.limit)

    def _baseline_name(self, extra: tuple[str, ...]) -> str:
        task = self._workshop.task
        return language_of_task(task).baseline(task, extra, self._workshop.interpreter.version)


def _drawn_turn(bench: Bench, seed: int, name: str, number: int) -> Turn | Fault:
    return bench.turn(derive(seed, name, number))


def with_rounds(bench: Bench, seed: int, begun: Sequence[Mapping[str, Any]] | None) -> Bench | Fault:
    """Returns a bench with as many rounds of what repeats its inputs as a turn shows that it needs.

    Args:
        bench: to measure on.
        seed: of the turn.
        begun: the workloads, described, of turns that are gone on with; None measures a turn.

    Returns:
        the bench, or a fault of the turn.
    """
    repeating = [work for work in bench.workloads if work.repeats]
    if not repeating or not bench.meter.lengthens:
        return bench
    if begun is not None:
        rounds = {work["name"]: work["repeats"] for work in begun}
    else:
        turn = bench.turn(seed)
        if isinstance(turn, Fault):
            return turn
        rounds = {work.name: more_rounds(turn.passes[work.name], work.repeats) for work in repeating}
    works = [replace(work, repeats=rounds.get(work.name, work.repeats)) for work in bench.workloads]
    return replace(bench, workloads=works)


def refused_by_clang(workshop: Workshop, extra: tuple[str, ...]) -> str:
    """Returns in a line what clang has against a baseline, or its flags, that gcc takes; empty for nothing."""
    if native.BY_CLANG not in extra:
        return ""
    built = workshop.build(workshop.task.original[0], extra)
    return " ".join(built.detail.split())[:400] if isinstance(built, Fault) else ""
