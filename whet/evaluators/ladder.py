"""The ladder: checks in order of cost, stopping at the first that fails."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence
from dataclasses import replace

from whet.core.candidate import Candidate
from whet.core.config import Options
from whet.core.errors import BaselineError, UsageError
from whet.core.events import Event, Listener, unheard
from whet.core.events import Kind as EventKind
from whet.core.evidence import Provenance
from whet.core.plain import to_plain
from whet.core.profile import Profile
from whet.core.task import Task
from whet.core.verdict import RUNGS, Rung, Verdict
from whet.evaluators.baseline import Baseline, Drawer, examine, expect_fit
from whet.evaluators.counting import counters
from whet.evaluators.differential import compare_all
from whet.evaluators.evidence.provenance import gather
from whet.evaluators.finding import Fault, Finding, Passed
from whet.evaluators.hazard import check_hazards
from whet.evaluators.hints.registry import hints
from whet.evaluators.inputs.plan import input_hash, plan
from whet.evaluators.inputs.source import InputSource, derive
from whet.evaluators.labels.registry import evidence as label_evidence
from whet.evaluators.labels.registry import labels, shown
from whet.evaluators.meters.base import Meter
from whet.evaluators.meters.registry import open_meter
from whet.evaluators.oracle import Oracle
from whet.evaluators.own_tests import OwnTests
from whet.evaluators.preloads import preloads
from whet.evaluators.profilers.hot_spots import PROFILED, profile
from whet.evaluators.rungs import ended, extended, unasked, with_evidence
from whet.evaluators.screen import parse, screen
from whet.evaluators.subjects import Subject, Workshop
from whet.evaluators.timing.measuring import Measuring
from whet.evaluators.timing.statistics import Looks, Stage
from whet.evaluators.timing.turns import TimedWorkload, draw_all, hashes
from whet.sandbox.backends import open_sandbox
from whet.sandbox.interpreter import find_interpreter
from whet.sandbox.toolchains import native

HASH_SEEDS = 2
"""How many hash seeds the candidates of a run are checked under; each needs warm workers of its own."""


def open_ladder(task: Task, options: Options, seed: int, listener: Listener = unheard, explain: bool = True) -> Ladder:
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
        self._measuring = Measuring(workshop, source, self._oracle, options, meter)
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
                rungs.append(unasked(name, self._options.until))
                continue
            start = time.perf_counter()
            found = check(candidate)
            rungs.append(ended(name, found, time.perf_counter() - start))
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
            return extended(verdict, ended("confirm", fresh, 0.0))
        confirmed = self._timed(candidate, verdict, "confirm", self.looks.confirm)
        confirmed = with_evidence(confirmed, differential=fresh.evidence)
        if not confirmed.confirmed:
            return confirmed
        return self._with_labels(candidate, self._with_counters(candidate, confirmed))

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
            return extended(verdict, unasked(name, self._options.until))
        seed = derive(self._seed, name, candidate.id)
        return extended(verdict, *self._measuring.climb(name, candidate, self.baseline, stages, seed))

    def _with_counters(self, candidate: Candidate, verdict: Verdict) -> Verdict:
        """Adds to the evidence of the last rung what is counted of both sides on the same inputs."""
        work = self.baseline.workloads(self._source)[-1]
        inputs = work.draw(derive(self._seed, "counters", candidate.id), min(work.count, PROFILED))
        sides = {"baseline": self.task.source, "candidate": candidate.source}
        found = {
            side: [to_plain(counter) for counter in counters(self._workshop, source, inputs)]
            for side, source in sides.items()
        }
        return with_evidence(verdict, counters=found)

    def _with_labels(self, candidate: Candidate, verdict: Verdict) -> Verdict:
        """Adds what kind of win it is, from the change and from the figures, to the evidence of the last rung."""
        assert verdict.measurement is not None
        found = (*labels(self.task.language, candidate.source, self.task.source), *shown(verdict.measurement))
        kinds = label_evidence(found, lambda: self.profile(candidate))
        measurement = replace(verdict.measurement, labels=tuple(one.label.value for one in found))
        return replace(with_evidence(verdict, labels=kinds), measurement=measurement)


def first_line(text: str) -> str:
    """Returns the first line that says something."""
    return next((line.strip() for line in text.splitlines() if line.strip()), "")[:400]
