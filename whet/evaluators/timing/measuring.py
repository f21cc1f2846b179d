"""Times a candidate beside the baseline, under the same flags on both sides, and what its calls have left unpaid."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from whet.core.candidate import Candidate
from whet.core.config import Options
from whet.core.errors import BaselineError
from whet.core.measurement import Measurement
from whet.core.plain import to_plain
from whet.core.task import Kind
from whet.core.verdict import Rung
from whet.evaluators.baseline import Baseline
from whet.evaluators.finding import Fault
from whet.evaluators.inputs.source import InputSource, derive
from whet.evaluators.meters.base import Meter
from whet.evaluators.oracle import Oracle
from whet.evaluators.rungs import ended, measured
from whet.evaluators.subjects import Subject, Workshop
from whet.evaluators.timing.decision import Rule, least, sequential
from whet.evaluators.timing.hidden_costs import PASSES, hidden_costs
from whet.evaluators.timing.statistics import Stage
from whet.evaluators.timing.turns import Bench, TimedWorkload
from whet.evaluators.timing.zygotes import Zygotes
from whet.sandbox.cores import measuring_cores


class Measuring:
    """Measures the candidates of one task."""

    def __init__(self, workshop: Workshop, source: InputSource, oracle: Oracle, options: Options, meter: Meter) -> None:
        self._workshop = workshop
        self._source = source
        self._oracle = oracle
        self._options = options
        self._meter = meter
        self._zygotes = Zygotes()

    def climb(
        self, name: str, candidate: Candidate, baseline: Baseline, stages: tuple[Stage, ...], seed: int
    ) -> tuple[Rung, Measurement | None]:
        """Measures a candidate that was found right.

        Args:
            name: of the rung: ``measure``, or ``confirm``, which takes sizes that nobody listed and all flags.
            candidate: to measure.
            baseline: beside it.
            stages: when to look, and how much error each look may spend.
            seed: of the inputs and of the order.

        Returns:
            the rung, and the weakest measurement where there is one.
        """
        confirming = name == "confirm"
        workloads = baseline.workloads(self._source, seed if confirming else None)
        variants = self._meter.variants(self._workshop.task)[: None if confirming else 1]
        start = time.perf_counter()
        with measuring_cores(self._options.cores) as cores:
            found = [
                self._under(
                    extra, candidate, baseline, [w for w in workloads if w.counts or not number], seed, stages, cores
                )
                for number, extra in enumerate(variants)
            ]
        spent = time.perf_counter() - start
        kept: list[Measurement] = []
        for one in found:
            if isinstance(one, Fault):
                return ended(name, one, spent), None
            kept.append(one)
        weakest = least(kept)
        rung = measured(name, weakest, spent)
        facts = [{"flags": extra, **to_plain(one)} for extra, one in zip(variants, kept, strict=True)]
        return replace(rung, evidence={**rung.evidence, "measurements": facts}), weakest

    def _under(
        self,
        extra: tuple[str, ...],
        candidate: Candidate,
        baseline: Baseline,
        workloads: Sequence[TimedWorkload],
        seed: int,
        stages: tuple[Stage, ...],
        cores: tuple[int, ...],
    ) -> Measurement | Fault:
        """Measures with the same flags on both sides."""
        task = self._workshop.task
        ours, theirs = (self._workshop.build(text, extra) for text in (task.source, candidate.source))
        if isinstance(ours, Fault):
            raise BaselineError(f"{task.path} does not compile with {' '.join(extra)}", ours.reason.value)
        if isinstance(theirs, Fault):
            return theirs
        fresh = Bench(ours, theirs, workloads, self._oracle.judge, baseline.limit, cores, self._meter)
        bench, processes = (
            self._zygotes.settle(fresh, self._options.confidence, derive(seed, extra, "zygotes"))
            if self._meter.forks
            else (fresh, {"kind": "fresh"})
        )
        rule = Rule(self._options.min_speedup, self._options.confidence, self._baseline_name(extra), self._meter)
        found = sequential(lambda turn: bench.turn(derive(seed, extra, turn)), workloads, stages, rule)
        costs: Mapping[str, Any] = {}
        if not isinstance(found, Fault) and found.faster and task.kind is Kind.FUNCTION:
            hidden = self._hidden(ours, theirs, workloads[0], baseline, seed)
            if isinstance(hidden, Fault):
                return hidden
            seconds, costs = hidden
            if seconds and self._options.metric == "time":
                charged = replace(bench, charged=seconds)
                found = sequential(
                    lambda turn: charged.turn(derive(seed, extra, "charged", turn)), workloads, stages, rule
                )
        if isinstance(found, Fault):
            return found
        return replace(found, raw={**found.raw, "processes": processes, "hidden_costs": costs})

    def _hidden(
        self, ours: Subject, theirs: Subject, work: TimedWorkload, baseline: Baseline, seed: int
    ) -> tuple[float, Mapping[str, Any]] | Fault:
        """Returns the seconds to charge to each pass, and what was seen."""
        count = PASSES * work.count + 2
        payloads = [item.payload for item in work.draw(derive(seed, "hidden"), count)]
        found = hidden_costs(ours, theirs, payloads, work.count, baseline.limit)
        return found if isinstance(found, Fault) else (found.seconds, found.evidence)

    def _baseline_name(self, extra: tuple[str, ...]) -> str:
        task = self._workshop.task
        if task.language == "python":
            return f"the original on CPython {self._workshop.interpreter.version}"
        return f"the original with {' '.join((*task.flags, *extra))}"
