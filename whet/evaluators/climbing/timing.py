"""The rungs ``measure`` and ``confirm``: how much faster a candidate is that was found right."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from whet.core.candidate import Candidate
from whet.core.options import Options
from whet.core.rungs import beyond
from whet.core.task import Task
from whet.core.verdict import Reason, Rung, Verdict
from whet.evaluators.apart import Apart
from whet.evaluators.baseline import Baseline
from whet.evaluators.batches import hash_seeds
from whet.evaluators.climbing.comparing import Comparing
from whet.evaluators.finding import Inconclusive, Passed
from whet.evaluators.inputs.source import derive
from whet.evaluators.rungs import (
    Timed,
    climb_rung,
    extended,
    lengthened,
    noted,
    unasked,
    unrunnable,
    with_evidence,
    with_the_baseline,
)
from whet.evaluators.timing.metrics import Metrics, piloted
from whet.evaluators.timing.plan import TimingPlan, enough, pilot, worth_confirming
from whet.evaluators.timing.statistics import Stage


class Timing:
    """Measures the candidates of a task beside its validated baseline. What is not timed needs none."""

    def __init__(
        self,
        task: Task,
        options: Options,
        seed: int,
        metrics: Metrics,
        apart: Apart | None,
        baseline: Callable[[], Baseline],
        comparing: Callable[[], Comparing],
    ) -> None:
        """Measures nothing yet.

        Args:
            task: whose candidates are measured.
            options: as the user gave them.
            seed: of the run.
            metrics: measure them.
            apart: judges those that cannot run here as they are; None where all can.
            baseline: returns the validated one.
            comparing: returns what compares candidates with it.
        """
        self._task = task
        self._until = options.until
        self._confidence = options.confidence
        self._seed = seed
        self._metrics = metrics
        self._apart = apart
        self._baseline = baseline
        self._comparing = comparing

    def measure(self, candidate: Candidate, verdict: Verdict, stages: tuple[Stage, ...], looks: int | None) -> Verdict:
        """Returns a verdict with the rung ``measure``; one that was begun is gone on with.

        Args:
            candidate: was found right.
            verdict: so far.
            stages: when to look, and how much error each look may spend.
            looks: the most to be taken; None for all.
        """
        begun, checked = verdict.rung("measure"), verdict.until("measure")
        timed = self._timed("measure", candidate, checked, TimingPlan(stages, verdict.measurement, looks))
        return timed if begun is None else lengthened(timed, begun.seconds)

    def measure_alone(self, candidate: Candidate, verdict: Verdict, stages: tuple[Stage, ...]) -> Verdict:
        """Returns a verdict with the rung ``measure`` on a rewrite that is confirmed at once where it is faster.

        A pilot that shows a gain is enough then: confirming measures anew whether it is faster and how much, on other
        inputs, and judges what its calls leave unpaid. Where the pilot shows no gain, and where nothing follows, all
        looks are taken. So they are where a pilot finds that a clock was touched: in one turn, a process that waited
        for a processor looks like that.

        Args:
            candidate: was found right.
            verdict: so far.
            stages: see `measure`.
        """
        if self._untimed("confirm", candidate, verdict) is None and piloted(self._metrics.names):
            plan = TimingPlan(pilot(self._confidence), provisional=True, over=worth_confirming)
            piloted_verdict = self._timed("measure", candidate, verdict, plan)
            if (failed := piloted_verdict.failed) is not None and failed.reason is Reason.CHEATING:
                taken = self.measure(candidate, verdict, stages, None)
                return lengthened(taken, piloted_verdict.rungs[-1].seconds)
            verdict = piloted_verdict
            if (found := verdict.measurement) is None:
                return verdict
            if enough(found):
                turns = "one turn" if found.speedup.processes == 1 else f"{found.speedup.processes} turns"
                return noted(verdict, f"a pilot of {turns}: the confirm rung decides")
        return self.measure(candidate, verdict, stages, None)

    def confirm(
        self,
        candidate: Candidate,
        verdict: Verdict,
        stages: tuple[Stage, ...],
        described: Callable[[Verdict], Verdict],
    ) -> Verdict:
        """Returns a verdict with the rung ``confirm``: compared once more on fresh inputs, and measured on other sizes.

        Args:
            candidate: was measured.
            verdict: so far.
            stages: see `measure`.
            described: adds to a confirmed verdict what is said beside it.
        """
        if rung := self._untimed("confirm", candidate, verdict):
            return extended(verdict, rung)
        seed = derive(self._seed, "confirm", candidate.id)
        hash_seed = hash_seeds(self._seed, "confirm", candidate.id)[0]
        with ThreadPoolExecutor(1) as beside:  # compilers have done their work before anything is timed
            beside.submit(self._metrics.build, candidate)
            rung, fresh = climb_rung(
                "confirm",
                lambda: with_the_baseline(seed, lambda own: self._comparing().alone(candidate, own, hash_seed)),
                self._until,
            )
        if not isinstance(fresh, Passed | Inconclusive):
            return extended(verdict, rung)
        timed = self._timed("confirm", candidate, verdict, TimingPlan(stages))
        confirmed = with_evidence(timed, differential=fresh.evidence)
        return described(confirmed) if confirmed.confirmed else confirmed

    def _timed(self, name: str, candidate: Candidate, verdict: Verdict, plan: TimingPlan) -> Verdict:
        if rung := self._untimed(name, candidate, verdict):
            return extended(verdict, rung)
        seed = derive(self._seed, name, candidate.id)
        check = partial(self._metrics.timed, name, candidate, self._baseline(), plan, seed)
        rung, found = climb_rung(name, check, self._until)
        return extended(verdict, rung, found.measurement if isinstance(found, Timed) else None)

    def _untimed(self, name: str, candidate: Candidate, verdict: Verdict) -> Rung | None:
        """Returns the rung of what is not timed; None of all else."""
        if beyond(name, self._until):
            return unasked(name, self._until)
        if self._apart is not None and self._apart.judges(candidate):
            return self._apart.untimed(name)
        return unrunnable(self._task, verdict, name)
