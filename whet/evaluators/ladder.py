"""The ladder: checks in order of cost, stopping at the first that fails."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from whet.core.candidate import Candidate
from whet.core.config import Options
from whet.core.errors import BaselineError, UsageError
from whet.core.evidence import Provenance
from whet.core.events import Event, Listener, unheard
from whet.core.events import Kind as EventKind
from whet.core.measurement import Measurement, Outcome
from whet.core.plain import to_plain
from whet.core.profile import Profile
from whet.core.task import Kind, Task
from whet.core.verdict import NO_GAIN, RUNGS, Reason, Rung, RungStatus, Verdict
from whet.evaluators.baseline import Baseline, Drawer, examine, expect_fit
from whet.evaluators.counting import counters
from whet.evaluators.decision import Rule, least, sequential
from whet.evaluators.differential import compare_all
from whet.evaluators.hidden_costs import hidden_costs
from whet.evaluators.hints.registry import hints
from whet.evaluators.inputs import InputSource, derive
from whet.evaluators.labels.registry import labels, shown
from whet.evaluators.labels.registry import evidence as label_evidence
from whet.evaluators.meters.base import Meter
from whet.evaluators.meters.registry import open_meter
from whet.evaluators.oracle import Oracle
from whet.evaluators.own_tests import OwnTests
from whet.evaluators.plan import input_hash, plan
from whet.evaluators.preloads import preloads
from whet.evaluators.profiling import PROFILED, profile
from whet.evaluators.provenance import gather
from whet.evaluators.screen import parse, screen
from whet.evaluators.statistics import Looks, Stage
from whet.evaluators.finding import Fault, Finding, Passed, Skipped
from whet.evaluators.hazard import check_hazards
from whet.evaluators.subjects import Subject, Workshop
from whet.evaluators.timing import Bench, TimedWorkload, draw_all, hashes
from whet.evaluators.zygotes import Zygotes
from whet.sandbox.backends import open_sandbox
from whet.sandbox.cores import measuring_cores
from whet.sandbox.interpreter import find_interpreter
from whet.sandbox.toolchains import native

HASH_SEEDS = 2
"""How many hash seeds the candidates of a run are checked under; each needs warm workers of its own."""


def open_ladder(
    task: Task, options: Options, seed: int, listener: Listener = unheard, explain: bool = True
) -> Ladder:
    """Returns the ladder of a task, with its sandbox open.

    Args:
        task: whose candidates are to be judged.
        options: as the user gave them.
        seed: of all inputs; no candidate ever sees it.
        listener: hears what is done about the baseline.
        explain: whether the smallest input that shows a fault is looked for.

    Raises:
        UsageError: the sandbox, the interpreter, the workload or an option cannot be used.
    """
    if options.device == "cuda":
        raise UsageError(f"--device cuda is for kernels; {task.name} runs on the CPU")
    interpreter = find_interpreter(options.python)
    sandbox = open_sandbox(options.sandbox, options.unsafe)
    timed = options.until is None or RUNGS.index(options.until) >= RUNGS.index("measure")
    workshop = Workshop(task, sandbox, interpreter, preloads(task), native.LAYOUTS if timed else 1)
    try:
        meter = open_meter(options.metric, workshop)
        source = InputSource(task, sandbox, interpreter)
        if timed:
            source.expect_timeable()
        return Ladder(workshop, source, options, seed, meter, listener, explain)
    except BaseException:
        sandbox.close()
        raise


class Ladder:
    """Judges the candidates of one task. See `whet.evaluators.protocol.Evaluator`."""

    def __init__(
        self,
        workshop: Workshop,
        source: InputSource,
        options: Options,
        seed: int,
        meter: Meter,
        listener: Listener = unheard,
        explain: bool = True,
    ) -> None:
        self.task = workshop.task
        self._workshop = workshop
        self._source = source
        self._options = options
        self._seed = seed
        self._meter = meter
        self._listener = listener
        self._explain = explain
        self._oracle = Oracle(self.task, source, workshop)
        self._zygotes = Zygotes()
        self._tests: OwnTests | None = None
        self._baseline: Baseline | None = None

    @property
    def workshop(self) -> Workshop:
        """Where its candidates are built."""
        return self._workshop

    @property
    def source(self) -> InputSource:
        """Draws its inputs."""
        return self._source

    def validate(self) -> None:
        """See `whet.evaluators.protocol.Evaluator.validate`."""
        self.examine()
        expect_fit(self.task, self.baseline, self._source)

    def examine(self, shortest_limit: float | None = None) -> None:
        """Runs the baseline and its own tests, whether or not an oracle made from it is worth anything.

        Args:
            shortest_limit: see `whet.evaluators.baseline.examine`.

        Raises:
            BaselineError: no candidate could be compared with it.
        """
        task = self.task
        if task.language == "python" and isinstance(fault := parse(task.source), Fault):
            raise BaselineError(f"{task.path} does not parse: {fault.detail}", fault.reason.value)
        subject = self._workshop.build(task.source)
        if isinstance(subject, Fault):
            raise BaselineError(f"{task.path} does not compile: {first_line(subject.detail)}", subject.reason.value)
        seed = derive(self._seed, "validate")
        self._baseline = examine(task, subject, self._source, self._oracle, seed, self._meter, shortest_limit)
        if self._baseline.strengthened:
            self._listener(Event(EventKind.STAGE, f"inputs: {self._baseline.strengthened}"))
        if task.tests is not None:
            workshop = self._workshop
            tests = OwnTests.of(task, workshop.interpreter).validated(
                workshop.sandbox, workshop.interpreter, task.source
            )
            if isinstance(tests, Fault):
                detail = first_line(tests.detail.replace("\n", " ", 1))
                raise BaselineError(f"{task.path} fails its own tests before any change: {detail}", "own_tests")
            self._tests = tests

    @property
    def baseline(self) -> Baseline:
        """The validated baseline."""
        if self._baseline is None:
            raise AssertionError("validate() comes first")
        return self._baseline

    @property
    def looks(self) -> Looks:
        """When the metric is looked at."""
        return self._meter.looks

    def provenance(self, keep: Callable[[str], str]) -> Provenance:
        """See `whet.evaluators.protocol.Evaluator.provenance`."""
        return gather(self._workshop, self._seed, self._tests, keep)

    def profile(self, candidate: Candidate) -> Profile:
        """See `whet.evaluators.protocol.Evaluator.profile`."""
        self._source.expect_timeable()
        work = self.baseline.workloads(self._source)[-1]
        return profile(
            self._workshop,
            candidate.source,
            work.draw(derive(self._seed, "profile", candidate.id), min(work.count, PROFILED)),
        )

    def check(self, candidate: Candidate) -> Verdict:
        """See `whet.evaluators.protocol.Evaluator.check`."""
        checks: tuple[tuple[str, Callable[[Candidate], Finding | None]], ...] = (
            ("screen", self._screen),
            ("build", self._build),
            ("test", self._test),
            ("differential", self._differential),
            ("hazard", self._hazard),
            ("prove", lambda candidate: None),
        )
        rungs: list[Rung] = []
        for name, check in checks:
            if self._beyond(name):
                rungs.append(Rung(name, RungStatus.SKIPPED, Reason.NOT_ASKED, f"--until {self._options.until}"))
                continue
            start = time.perf_counter()
            found = check(candidate)
            rungs.append(_rung(name, found, time.perf_counter() - start))
            if isinstance(found, Fault):
                break
        return Verdict(candidate.id, tuple(rungs))

    def measure(self, candidate: Candidate, verdict: Verdict, stages: tuple[Stage, ...] | None = None) -> Verdict:
        """See `whet.evaluators.protocol.Evaluator.measure`.

        Args:
            candidate: was found right.
            verdict: so far.
            stages: when to look, and how much error each look may spend; None for those of a search.
        """
        return self._timed(candidate, verdict, "measure", stages or self.looks.search)

    def confirm(self, candidate: Candidate, verdict: Verdict) -> Verdict:
        """See `whet.evaluators.protocol.Evaluator.confirm`."""
        fresh = self._differential(candidate, "confirm")
        if isinstance(fresh, Fault):
            return _extended(verdict, _rung("confirm", fresh, 0.0), None)
        confirmed = self._timed(candidate, verdict, "confirm", self.looks.confirm)
        confirmed = _with_evidence(confirmed, differential=fresh.evidence)
        return self._with_labels(candidate, self._with_counters(candidate, confirmed)) if confirmed.confirmed else confirmed

    def close(self) -> None:
        """See `whet.evaluators.protocol.Evaluator.close`."""
        self._oracle.close()
        self._source.close()
        self._workshop.sandbox.close()

    def _beyond(self, name: str) -> bool:
        return self._options.until is not None and RUNGS.index(name) > RUNGS.index(self._options.until)

    def _screen(self, candidate: Candidate) -> Finding:
        detail = "nothing to parse before the compiler does"
        if self.task.language == "python":
            if fault := screen(candidate.source, self.task.source, self.task.symbol):
                return fault
            detail = "parses, and takes the same arguments"
        found = hints(self.task.language, candidate.source, self.task.source)
        return Passed(detail, {"hints": [to_plain(hint) for hint in found]})

    def _build(self, candidate: Candidate) -> Finding:
        subject = self._workshop.build(candidate.source)
        if isinstance(subject, Fault):
            return subject
        live = subject.start(hash_seed=self._hash_seed(candidate), worker=0)
        if isinstance(live, Fault):
            return live
        live.close()
        return Passed("loads" if self.task.language == "python" else "compiles")

    def _test(self, candidate: Candidate) -> Finding | None:
        cases = [case for case in self._source.cases if case.expected is not None]
        if self._tests is None and not cases:
            return None
        tested = Passed("")
        if self._tests is not None:
            found = self._tests.check(self._workshop.sandbox, self._workshop.interpreter, candidate.source)
            if not isinstance(found, Passed):
                return found
            tested = found
        live = self._subject(candidate).start(hash_seed=self._hash_seed(candidate), worker=0)
        if isinstance(live, Fault):
            return live
        try:
            for case in cases:
                answer = live.call(case.payload, self.baseline.limit)
                if isinstance(answer, Fault):
                    return Fault(answer.reason, f"{answer.detail}\n{self._oracle.input_text(case)}")
                if fault := self._oracle.judge(case, answer[0], answer[0]):
                    return fault
        finally:
            live.close()
        detail = "; ".join(filter(None, (tested.detail, f"{len(cases)} cases pass" if cases else "")))
        return Passed(detail, tested.evidence)

    def _differential(self, candidate: Candidate, purpose: str = "differential") -> Fault | Passed:
        return self.compare(candidate, derive(self._seed, purpose, candidate.id), self._hash_seed(candidate, purpose))

    def compare(self, candidate: Candidate, seed: int, hash_seed: int) -> Fault | Passed:
        """Compares a candidate that builds with the baseline, on the inputs that follow from a seed."""
        ours, theirs = self.baseline.subject, self._subject(candidate)
        limit, explain = self.baseline.limit, self._explain
        compared = compare_all(ours, theirs, self._source, self._oracle, seed, hash_seed, limit, explain)
        evidence = {**compared.evidence, "seed": seed, "hash_seed": hash_seed}
        if floats := self._oracle.float_evidence():
            evidence["floats"] = floats
        if compared.fault is not None:
            return replace(compared.fault, evidence=evidence)
        evidence["strengthened"] = self.baseline.strengthened
        count, recorded = compared.evidence["inputs"], set(compared.evidence["sources"]) == {"case"}
        agreed = "inputs agree: only recorded cases, which are public" if recorded else "fresh inputs agree"
        return Passed(f"{count} {agreed}", evidence)

    def planned(self, seed: int) -> set[str]:
        """Returns the hashes of all inputs that generators and cases may give the differential rung from a seed."""
        return {input_hash(item) for item in plan(self._source, seed)}

    def redraw(self, workloads: Sequence[tuple[str, int]], seed: int) -> dict[str, str]:
        """Returns the hashes of a turn's inputs, by workload, drawn from its seed.

        Args:
            workloads: name and inputs a pass of each, in their order.
            seed: of the turn.

        Raises:
            UsageError: the workload has no such size, or its generator failed.
        """
        timed = [TimedWorkload(name, count, Drawer(name, self._source)) for name, count in workloads]
        return hashes(draw_all(timed, random.Random(seed)))

    def _hazard(self, candidate: Candidate) -> Finding | None:
        seed = derive(self._seed, "hazard", candidate.id)
        return check_hazards(self._workshop, candidate.source, self._source, seed, self.baseline.limit)

    def _hash_seed(self, candidate: Candidate, purpose: str = "differential") -> int:
        """Returns one of a few that no candidate can foresee."""
        which = derive(self._seed, purpose, candidate.id, "hash") % HASH_SEEDS
        return derive(self._seed, "hash", which) % 2**31

    def _subject(self, candidate: Candidate) -> Subject:
        subject = self._workshop.build(candidate.source)
        assert isinstance(subject, Subject), "a candidate that does not build is not run"
        return subject

    def _timed(self, candidate: Candidate, verdict: Verdict, name: str, stages: tuple[Stage, ...]) -> Verdict:
        if self._beyond(name):
            rung = Rung(name, RungStatus.SKIPPED, Reason.NOT_ASKED, f"--until {self._options.until}")
            return _extended(verdict, rung, None)
        seed = derive(self._seed, name, candidate.id)
        workloads = self.baseline.workloads(self._source, seed if name == "confirm" else None)
        variants = self._meter.variants(self.task)[: None if name == "confirm" else 1]
        start = time.perf_counter()
        with measuring_cores(self._options.cores) as cores:
            found = [
                self._under(
                    extra, candidate, [w for w in workloads if w.counts or extra == variants[0]], seed, stages, cores
                )
                for extra in variants
            ]
        spent = time.perf_counter() - start
        measured: list[Measurement] = []
        for one in found:
            if isinstance(one, Fault):
                return _extended(verdict, _rung(name, one, spent), None)
            measured.append(one)
        weakest = least(measured)
        rung = _measured(name, weakest, spent)
        kept = [{"flags": extra, **to_plain(one)} for extra, one in zip(variants, measured, strict=True)]
        return _extended(verdict, replace(rung, evidence={**rung.evidence, "measurements": kept}), weakest)

    def _with_counters(self, candidate: Candidate, verdict: Verdict) -> Verdict:
        """Adds to the evidence of the last rung what is counted of both sides on the same inputs."""
        work = self.baseline.workloads(self._source)[-1]
        inputs = work.draw(derive(self._seed, "counters", candidate.id), min(work.count, PROFILED))
        sides = {"baseline": self.task.source, "candidate": candidate.source}
        found = {
            side: [to_plain(counter) for counter in counters(self._workshop, source, inputs)]
            for side, source in sides.items()
        }
        return _with_evidence(verdict, counters=found)

    def _with_labels(self, candidate: Candidate, verdict: Verdict) -> Verdict:
        """Adds what kind of win it is, from the change and from the figures, to the evidence of the last rung."""
        assert verdict.measurement is not None
        found = (*labels(self.task.language, candidate.source, self.task.source), *shown(verdict.measurement))
        kinds = label_evidence(found, lambda: self.profile(candidate))
        measurement = replace(verdict.measurement, labels=tuple(one.label.value for one in found))
        return replace(_with_evidence(verdict, labels=kinds), measurement=measurement)

    def _under(
        self,
        extra: tuple[str, ...],
        candidate: Candidate,
        workloads: Sequence[TimedWorkload],
        seed: int,
        stages: tuple[Stage, ...],
        cores: tuple[int, ...],
    ) -> Measurement | Fault:
        """Measures with the same flags on both sides."""
        ours, theirs = (self._workshop.build(text, extra) for text in (self.task.source, candidate.source))
        if isinstance(ours, Fault):
            raise BaselineError(f"{self.task.path} does not compile with {' '.join(extra)}", ours.reason.value)
        if isinstance(theirs, Fault):
            return theirs
        fresh = Bench(ours, theirs, workloads, self._oracle.judge, self.baseline.limit, cores, self._meter)
        bench, processes = (
            self._zygotes.settle(fresh, self._options.confidence, derive(seed, extra, "zygotes"))
            if self._meter.forks
            else (fresh, {"kind": "fresh"})
        )
        rule = Rule(self._options.min_speedup, self._options.confidence, self._baseline_name(extra), self._meter)
        found = sequential(lambda turn: bench.turn(derive(seed, extra, turn)), workloads, stages, rule)
        costs: Mapping[str, Any] = {}
        if not isinstance(found, Fault) and found.faster and self.task.kind is Kind.FUNCTION:
            payloads = [item.payload for item in workloads[0].draw(derive(seed, "hidden"), max(2, workloads[0].count))]
            hidden = hidden_costs(ours, theirs, payloads, self.baseline.limit)
            if isinstance(hidden, Fault):
                return hidden
            costs = hidden.evidence
            if hidden.seconds and self._options.metric == "time":
                charged = replace(bench, charged=hidden.seconds)
                found = sequential(
                    lambda turn: charged.turn(derive(seed, extra, "charged", turn)), workloads, stages, rule
                )
        if isinstance(found, Fault):
            return found
        return replace(found, raw={**found.raw, "processes": processes, "hidden_costs": costs})

    def _baseline_name(self, extra: tuple[str, ...]) -> str:
        if self.task.language == "python":
            return f"the original on CPython {self._workshop.interpreter.version}"
        return f"the original with {' '.join((*self.task.flags, *extra))}"


def _rung(name: str, found: Finding | None, seconds: float) -> Rung:
    if found is None:
        return Rung(name, RungStatus.SKIPPED, Reason.NOT_ASKED, "nothing to check with", seconds)
    if isinstance(found, Skipped):
        return Rung(name, RungStatus.SKIPPED, found.reason, found.detail, seconds)
    if isinstance(found, Fault):
        return Rung(name, RungStatus.FAILED, found.reason, found.detail, seconds, found.evidence)
    return Rung(name, RungStatus.PASSED, None, found.detail, seconds, found.evidence)


def _measured(name: str, found: Measurement, seconds: float) -> Rung:
    evidence = {"p_value": found.p_value, "outcome": found.outcome.value}
    detail = found.note
    losing = [ratio for ratio in found.untimed if ratio.high < 1.0]
    if losing:
        detail += "; slower at " + ", ".join(f"{r.name} ({r.low:.3f}x to {r.high:.3f}x)" for r in losing)
    if found.faster:
        return Rung(name, RungStatus.PASSED, None, detail, seconds, evidence)
    reason = Reason.SLOWER if found.outcome is Outcome.SLOWER else Reason.NOT_FASTER
    assert reason in NO_GAIN
    return Rung(name, RungStatus.FAILED, reason, detail, seconds, evidence)


def _extended(verdict: Verdict, rung: Rung, measurement: Measurement | None) -> Verdict:
    return Verdict(verdict.candidate, (*verdict.rungs, rung), measurement or verdict.measurement)


def _with_evidence(verdict: Verdict, **more: Any) -> Verdict:
    """Returns a verdict whose last rung has more evidence."""
    *rungs, last = verdict.rungs
    last = replace(last, evidence={**last.evidence, **more})
    return Verdict(verdict.candidate, (*rungs, last), verdict.measurement)


def first_line(text: str) -> str:
    """Returns the first line that says something."""
    return next((line.strip() for line in text.splitlines() if line.strip()), "")[:400]
