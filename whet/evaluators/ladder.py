"""The ladder: checks in order of cost, stopping at the first that fails."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial

from whet.core.candidate import Candidate
from whet.core.circumstances import Circumstances
from whet.core.errors import UsageError
from whet.core.events import Event, EventKind, Listener, null_listener
from whet.core.evidence import Provenance
from whet.core.helpers import Helpers
from whet.core.options import Options
from whet.core.profile import Profile
from whet.core.rungs import beyond
from whet.core.store import Store
from whet.core.task import HINTS, Task
from whet.core.verdict import Verdict
from whet.evaluators.apart import Apart
from whet.evaluators.artifacts import Artifact, Builder
from whet.evaluators.assembly.routines import Routines
from whet.evaluators.baseline import Baseline, examine, expect_fit
from whet.evaluators.batches import Batches, hash_seeds
from whet.evaluators.circumstances import circumstances
from whet.evaluators.climbing.chosen import Rungs
from whet.evaluators.climbing.comparing import Comparing
from whet.evaluators.climbing.rung import Climber, RungCheck, checks_of
from whet.evaluators.climbing.timing import Timing
from whet.evaluators.evidence.provenance import gather
from whet.evaluators.examination import Examination
from whet.evaluators.finding import Finding
from whet.evaluators.helpers import HelperComparison, comparable, inputs_for
from whet.evaluators.inputs.calibration import calibrated
from whet.evaluators.inputs.source import Input, InputSource, derive
from whet.evaluators.judging_apart import judging_apart
from whet.evaluators.kernels import protocol
from whet.evaluators.kernels.device import placed
from whet.evaluators.known_baselines import KnownBaselines, keepable
from whet.evaluators.languages.registry import language_of_answer, language_of_task
from whet.evaluators.loading import expect_built, expect_loadable, expect_parsed, own_tests
from whet.evaluators.meters.base import Meter
from whet.evaluators.oracle import Oracle
from whet.evaluators.own_tests import OwnTests
from whet.evaluators.package import described
from whet.evaluators.preloads import preloads
from whet.evaluators.profilers.hot_spots import PROFILED, profile
from whet.evaluators.profilers.memory import memory
from whet.evaluators.ptx.judging import PtxKernels
from whet.evaluators.ptx.running import on_device
from whet.evaluators.rungs import climbed
from whet.evaluators.timing.instruments import Instruments, default_instruments
from whet.evaluators.timing.metrics import Metrics, looks_at
from whet.evaluators.timing.statistics import QUICK, Stage, StoppingPlan
from whet.evaluators.winner import with_counters, with_labels
from whet.sandbox.backends import open_sandbox
from whet.sandbox.interpreter import find_interpreter
from whet.sandbox.toolchains import native


def open_ladder(
    task: Task,
    options: Options,
    seed: int,
    listener: Listener = null_listener,
    explain: bool = True,
    instruments: Instruments | None = None,
    store: Store | None = None,
) -> Ladder:
    """Returns the ladder of a task, with its sandbox open.

    Args:
        task: whose candidates are to be judged.
        options: as the user gave them.
        seed: of all inputs; no candidate ever sees it.
        listener: hears what is done about the baseline.
        explain: whether the smallest input that shows a fault is looked for.
        instruments: that figures come from; None for those of this machine.
        store: holds what earlier runs found of the baseline; None has it found anew.

    Raises:
        UsageError: the sandbox, the interpreter, the workload or an option cannot be used.
    """
    if options.protocol is not None:
        protocol.expect_applicable(task)
    if options.quick and (least := 0.5 ** QUICK.verdict[0].turns) > 1.0 - options.confidence:
        raise UsageError(f"--quick decides at {1.0 - least:.2%} at most; leave it out, or lower --confidence")
    interpreter = find_interpreter(options.python)
    task = placed(task, options, interpreter)
    sandbox = open_sandbox(options.sandbox, options.unsafe)
    timed = options.times and not task.untimed
    read = instruments or default_instruments()
    try:
        if task.package is not None:
            listener(Event(EventKind.STAGE, described(task.package)))
        given = task.workload
        bare = Builder(task, sandbox, interpreter, layouts=1)
        trial, paced = derive(seed, "calibrate"), read.call_seconds
        task = (
            calibrated(bare, trial, timed, paced)
            if store is None
            else KnownBaselines(store, bare).sized(trial, timed, paced)
        )
        if task.workload != given:
            told = "type hints" if task.workload.origin == HINTS else "the workload file"
            sizes = ", ".join(map(str, task.workload.sizes))
            listener(Event(EventKind.STAGE, f"inputs: from {told}, of sizes {sizes}"))
        builder = Builder(task, sandbox, interpreter, preloads(task), native.LAYOUTS if timed else 1)
        meters = [read.meter(name, builder) for name in (options.metrics[0], *options.beside)]
        source = InputSource(task, sandbox, interpreter)
        if timed:
            source.expect_timeable()
        known = None if store is None or not keepable(task) else KnownBaselines(store, builder)
        return Ladder(builder, source, options, seed, meters, read, listener, explain, known)
    except BaseException:
        sandbox.close()
        raise


class Ladder:
    """Judges the candidates of one task. See `whet.evaluators.protocol.Evaluator`."""

    def __init__(
        self,
        builder: Builder,
        source: InputSource,
        options: Options,
        seed: int,
        meters: Sequence[Meter],
        instruments: Instruments,
        listener: Listener,
        explain: bool,
        known: KnownBaselines | None,
    ) -> None:
        self.task = builder.task
        self._builder = builder
        self._source = source
        self._options = options
        self._seed = seed
        self._meters = tuple(meters)
        self._meter = self._meters[0]
        self._instruments = instruments
        self._listener = listener
        self._known = known
        self._explain = explain and builder.task.module is None  # a module takes the shapes that it has
        self._oracle = Oracle(self.task, source, builder)
        self._metrics = Metrics(builder, source, self._oracle, options, self._meters, instruments, listener)
        self._batches = Batches(seed, self._examination)
        routine = self.task.signature is not None and self.task.launch is None
        self._routines = Routines(builder, source, self._oracle) if routine else None
        self._kernels = PtxKernels(builder, options) if self.task.launch is not None else None
        judges = (self._routines, self._kernels)
        self._apart = judging_apart(
            builder, source, self._oracle, options, seed, *judges, self._compared_alone, open_ladder
        )
        self._rungs = Rungs(builder, source, self._oracle, options, seed, *judges)
        self._timing = Timing(
            self.task, options, seed, self._metrics, self._apart, lambda: self.baseline, lambda: self.comparing
        )
        self._later: tuple[RungCheck, ...] = ()
        self._tests: OwnTests | None = None
        self._baseline: Baseline | None = None

    def _elsewhere(self, candidate: Candidate) -> Apart | None:
        """Returns what judges a candidate that cannot run here as it is."""
        return self._apart if self._apart is not None and self._apart.judges(candidate) else None

    @property
    def builder(self) -> Builder:
        """Where its candidates are built."""
        return self._builder

    @property
    def source(self) -> InputSource:
        """Draws its inputs."""
        return self._source

    def validate(self) -> None:
        """See `whet.evaluators.protocol.Evaluator.validate`."""
        self.examine()
        untimed = self.task.untimed or (self._kernels is not None and self._apart is not None)
        timed = not (beyond("measure", self._options.until) or untimed)
        for meter in self._meters:
            baseline = replace(self.baseline, meter=meter)
            expect_fit(self.task, baseline, self._source, timed)
        for name in self.baseline.too_short(self._source) if timed else ():
            self._listener(Event(EventKind.STAGE, f"{name} is too short to time: it serves correctness only"))

    def examine(self, shortest_limit: float | None = None) -> None:
        """Runs the baseline and its own tests, whether or not an oracle made from it is worth anything.

        Args:
            shortest_limit: see `whet.evaluators.baseline.examine`.

        Raises:
            BaselineError: no candidate could be compared with it.
        """
        task = self.task
        if self._kernels is not None:
            self._kernels.expect_assembled()
        artifact = expect_built(task, self._builder)
        if language_of_task(task).interpreted:
            self._listener(Event(EventKind.STAGE, self._builder.interpreter.said, {"stage": "python"}))
        self._baseline = self._instruments.paced(self._examined(artifact, shortest_limit))
        if self._kernels is not None and self._apart is None:
            seed = derive(self._seed, "standing")
            self._baseline = on_device(self._builder, self._baseline, self._source, self._oracle, seed)
        if task.module is not None and task.module.scaled:
            self._listener(Event(EventKind.STAGE, f"scaled to this machine: {task.module.scaled}"))
        if self._baseline.strengthened:
            self._listener(Event(EventKind.STAGE, f"inputs: {self._baseline.strengthened}"))
        self._tests = own_tests(task, self._builder)
        self._later = self._rungs.later(self._baseline, self.comparing, self._tests)

    def _examined(self, artifact: Artifact, shortest_limit: float | None) -> Baseline:
        """Returns what an earlier run found of the baseline, or finds it."""
        seed = derive(self._seed, "validate")
        known = self._known if shortest_limit is None else None
        if known is not None and (found := known.recalled(artifact, self._source, self._meter, seed)) is not None:
            self._listener(Event(EventKind.STAGE, f"the baseline is as it was validated at {found.validated}"))
            return found
        found = examine(self.task, artifact, self._source, self._oracle, seed, self._meter, shortest_limit)
        if known is not None:
            known.keep(found)
        return found

    @property
    def baseline(self) -> Baseline:
        """The validated baseline."""
        if self._baseline is None:
            raise AssertionError("validate() comes first")
        return self._baseline

    @property
    def comparing(self) -> Comparing:
        """Compares candidates with the validated baseline."""
        return Comparing(self._builder, self._source, self._oracle, self.baseline, self._explain)

    @property
    def looks(self) -> StoppingPlan:
        """When the metric is looked at."""
        return looks_at(self._meter, self._options)

    def provenance(self, keep: Callable[[str], str]) -> Provenance:
        """See `whet.evaluators.protocol.Evaluator.provenance`."""
        validated = "" if self._baseline is None else self._baseline.validated
        return gather(self._builder, self._seed, self._tests, keep, validated)

    def circumstances(self) -> Circumstances:
        """See `whet.evaluators.protocol.Evaluator.circumstances`."""
        return circumstances(self.baseline, self._source)

    def profile(self, candidate: Candidate) -> Profile:
        """See `whet.evaluators.protocol.Evaluator.profile`."""
        if absent := self._elsewhere(candidate):
            return absent.profile(candidate)
        if self._kernels is not None:
            return self._kernels.profile(candidate)
        self._source.expect_timeable()
        inputs = self._looked_at(candidate, "profile")
        found = profile(self._builder, candidate.source, inputs)
        if advice := language_of_answer(self.task, candidate.source).advice:
            found = replace(found, model=advice(self._builder.sandbox, self._builder.interpreter, candidate.source))
        if not language_of_task(self.task).memory_beside:
            return found
        return replace(found, memory=memory(self._builder, candidate.source, inputs))

    def _looked_at(self, candidate: Candidate, purpose: str) -> Sequence[Input]:
        """Draws a few of the largest inputs."""
        work = self.baseline.workloads(self._source)[-1]
        return work.draw(derive(self._seed, purpose, candidate.id), min(work.count, PROFILED))

    def announce(self, candidates: Sequence[Candidate]) -> None:
        """See `whet.evaluators.protocol.Evaluator.announce`."""
        self._batches.announce(candidate.id for candidate in candidates)

    def screen(self, candidate: Candidate) -> Verdict:
        """See `whet.evaluators.protocol.Verifier.screen`."""
        if self._kernels is not None or self.task.module is not None or self._elsewhere(candidate):
            return Verdict(candidate.id, ())  # a process that imports torch is no cheap look
        expect_parsed(self.task)
        batch = self._batches.alone(candidate.id)
        with closing(Climber(candidate, batch)) as climber:
            found = climbed(candidate.id, checks_of(self._rungs.early(), climber), self._options.until).until("test")
        if found.failed:
            expect_loadable(self.task, self._builder)  # what is wrong with both is not the candidate's fault
        elif self._routines is not None and not beyond("differential", self._options.until):
            self._routines.deal_ahead(batch.seed)
        return found

    def check(self, candidate: Candidate) -> Verdict:
        """See `whet.evaluators.protocol.Evaluator.check`."""
        absent = self._elsewhere(candidate)
        with self._batches.joined(candidate.id) as batch, closing(Climber(candidate, batch)) as climber:
            checks = absent.checks(candidate, batch.seed) if absent else checks_of(self._all_rungs(), climber)
            return climbed(candidate.id, checks, self._options.until)

    def _all_rungs(self) -> tuple[RungCheck, ...]:
        if not self._later:
            raise AssertionError("validate() comes first")
        return (*self._rungs.early(), *self._later)

    def helpers(self, candidate: Candidate, verdict: Verdict) -> Helpers:
        """See `whet.evaluators.protocol.Evaluator.helpers`."""
        if not comparable(self.task, verdict):
            return Helpers()
        seed = derive(self._seed, "helpers", candidate.id)
        asked = HelperComparison(self._builder, self._source, self.baseline.limit, hash_seeds(seed, "helpers")[0])
        return asked.lowest(candidate.source, inputs_for(self._source, verdict, seed))

    def measure(
        self, candidate: Candidate, verdict: Verdict, stages: tuple[Stage, ...] = (), *, looks: int | None = None
    ) -> Verdict:
        """See `whet.evaluators.protocol.Evaluator.measure`.

        Args:
            candidate: was found right.
            verdict: so far.
            stages: when to look, and how much error each look may spend; none are those of a search.
            looks: the most to be taken; None for all.
        """
        return self._timing.measure(candidate, verdict, stages or self.looks.search, looks)

    def measure_alone(self, candidate: Candidate, verdict: Verdict) -> Verdict:
        """See `whet.evaluators.protocol.Verifier.measure_alone`."""
        return self._timing.measure_alone(candidate, verdict, self.looks.verdict)

    def confirm(self, candidate: Candidate, verdict: Verdict) -> Verdict:
        """See `whet.evaluators.protocol.Evaluator.confirm`."""
        return self._timing.confirm(candidate, verdict, self.looks.confirm, partial(self._described, candidate))

    def _described(self, candidate: Candidate, confirmed: Verdict) -> Verdict:
        if self._kernels is None:
            confirmed = with_counters(self._builder, candidate, confirmed, self._looked_at(candidate, "counters"))
        return with_labels(self.task, candidate, confirmed, lambda: self.profile(candidate))

    def close(self) -> None:
        """See `whet.evaluators.protocol.Evaluator.close`."""
        self._batches.close()
        if self._apart is not None:
            self._apart.close()
        if self._routines is not None:
            self._routines.close()
        self._oracle.close()
        self._source.close()
        self._builder.sandbox.close()

    def _examination(self, seed: int, hash_seed: int) -> Examination:
        return self.comparing.examination(seed, hash_seed)

    def _compared_alone(self, candidate: Candidate, seed: int) -> Finding:
        return self.comparing.alone(candidate, seed, hash_seeds(seed, "program", candidate.id)[0])
