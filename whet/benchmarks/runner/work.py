"""One answer to one problem: had, judged by the suite's own rule and by whet, and made a row."""

from __future__ import annotations

import hashlib
import tempfile
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from whet.agents.checkpoints import unasked
from whet.agents.judges import Elsewhere, Here, Judges
from whet.agents.optimize import optimize, resume
from whet.agents.outcome import recorded
from whet.benchmarks.lab.base import Lab
from whet.benchmarks.results import Machine, Own, Row
from whet.benchmarks.runner.answers import AnswerSources
from whet.benchmarks.runner.journal import Runs
from whet.benchmarks.runner.request import BenchRequest, LoopSettings, ProblemSample
from whet.benchmarks.runner.rows import Key
from whet.benchmarks.suites.base import ByVerdict, NoTarget, Unusable
from whet.core.candidate import Candidate, content_id
from whet.core.errors import BaselineError, UsageError, WhetError
from whet.core.events import Event, null_listener
from whet.core.result import Cost, Result, Status
from whet.core.store import Store
from whet.core.task import Task
from whet.evaluators.evidence.bundle import write_bundle
from whet.evaluators.evidence.record import bundle_of, without_paths
from whet.evaluators.judged import drawn, judged
from whet.evaluators.remote.placing import class_of
from whet.evaluators.targets import read_task
from whet.sandbox.workers.base import Executor
from whet.sandbox.workers.labels import labels_here

FREE = Cost()


@dataclass(frozen=True, slots=True)
class _JobResult:
    """What came of a job.

    Attributes:
        answer: its text; empty without one.
        own: what the suite's rule says.
        result: whet's verdict.
        excluded: why the problem does not count here.
        cost: of the model.
    """

    answer: str = ""
    own: Own | None = None
    result: Mapping[str, Any] | None = None
    excluded: str = ""
    cost: Cost = FREE


@dataclass(frozen=True, slots=True)
class JobRunner:
    """Where jobs are done. Safe for several threads.

    Attributes:
        asked: of the run.
        lab: where suites' own rules run answers.
        store: where whet's runs are recorded.
        journal: which of them belongs to which row.
        machine: that all of this is on.
        targets: a folder for the problems under way; near the rows, so that the configuration found from there counts.
        evidence: a folder for bundles, named by their SHA-256.
        executor: does the work of whet's verdicts; None where this process does.
    """

    asked: BenchRequest
    lab: Lab
    store: Store
    journal: Runs
    machine: Machine
    targets: Path
    evidence: Path
    executor: Executor | None = None

    @property
    def judges(self) -> Judges:
        """Opens what gives whet's verdicts."""
        # A row tells of one machine, on which the suite's own rule judges too.
        return Here() if self.executor is None else Elsewhere(self.store, self.executor, class_of(labels_here()))

    def work(self, job: ProblemSample) -> Row:
        """Does a job.

        Raises:
            WhetError: it could not be done, which says nothing about the answer.
        """
        start = time.perf_counter()
        with tempfile.TemporaryDirectory(dir=self.targets) as folder:
            found = self._found(job, Path(folder))
        model, strategy, budget = self.asked.labels
        return Row(
            suite=self.asked.suite.name,
            data=job.problem.digest,
            problem=job.problem.id,
            sample=job.sample,
            model=model,
            strategy=strategy,
            budget=budget,
            language=job.problem.language,
            answer=found.answer,
            own=found.own,
            result=found.result,
            evidence=self.exported(found.result),
            excluded=found.excluded,
            machine=self.machine,
            cost=found.cost,
            seconds=time.perf_counter() - start,
            when=datetime.now(UTC).isoformat(timespec="seconds"),
        )

    def _found(self, job: ProblemSample, folder: Path) -> _JobResult:
        try:
            target = self.asked.suite.write_target(job.problem, folder)
            task = read_task(target, self.asked.options)
        except NoTarget as error:
            return self._untargeted(job, str(error))
        except BaselineError as error:
            return _JobResult(excluded=str(error))
        if isinstance(self.asked.answers, LoopSettings):
            return self._proposed(job, target, task, self.asked.answers)
        return self._given(job, target, task, self.asked.answers)

    def _untargeted(self, job: ProblemSample, why: str) -> _JobResult:
        """Returns what the suite's own rule says alone, where whet's ladder does not take the problem."""
        if isinstance(self.asked.answers, LoopSettings):
            return _JobResult(excluded=f"no model can be asked: {why}")
        answer = self.asked.answers.answer(job.problem, job.sample, job.problem.unchanged)
        return _JobResult() if answer is None else self._by_own_rule(job, answer, None, FREE)

    def _given(self, job: ProblemSample, target: str, task: Task, given: AnswerSources) -> _JobResult:
        answer = given.answer(job.problem, job.sample, task.source)
        if answer is None:
            return _JobResult()
        result = self._verdict(job, target, task, answer, given.name) if self.asked.verdict else None
        return self._by_own_rule(job, answer, None if result is None else plain(result, task), FREE)

    def _proposed(self, job: ProblemSample, target: str, task: Task, loop: LoopSettings) -> _JobResult:
        result = self._optimized(job, target, task, loop)
        if result.status is not Status.IMPROVED and unasked(self.store, result.run):
            raise WhetError(result.message)
        document = plain(result, task)
        if result.status is Status.BASELINE_INVALID:
            return _JobResult(result=document, excluded=result.message, cost=result.cost)
        if result.candidate is None:
            return _JobResult(result=document, cost=result.cost)
        return self._by_own_rule(job, result.candidate.source, document, result.cost)

    def _by_own_rule(self, job: ProblemSample, answer: str, result: Mapping[str, Any] | None, cost: Cost) -> _JobResult:
        suite = self.asked.suite
        try:
            if isinstance(suite, ByVerdict) and result is not None:
                own = suite.own_of(result)
            else:
                own = suite.judge(job.problem, answer, self.lab)
        except Unusable as error:
            return _JobResult(answer, None, result, str(error), cost)
        return _JobResult(answer, own, result, "", cost)

    def _verdict(self, job: ProblemSample, target: str, task: Task, answer: str, origin: str) -> Result:
        """Returns whet's verdict on a given answer; one that was found before a kill is not sought again."""
        key = job.key(self.asked)
        if (run := self._begun(key)) is not None and (record := self.store.run(run)).result is not None:
            return recorded(self.store, record)
        start, options = time.perf_counter(), self.asked.options
        seed = drawn(options)
        ladder = self.judges.opened(task, options, seed, explain=False)
        candidate = Candidate(answer, content_id(task.source), origin)
        result = judged(self.store, target, candidate, ladder, options, seed, start, null_listener)
        self.journal.note(key, result.run)
        return result

    def _optimized(self, job: ProblemSample, target: str, task: Task, loop: LoopSettings) -> Result:
        """Returns what a model came to: the run that was begun before a kill goes on."""
        key = job.key(self.asked)

        def hear(event: Event) -> None:
            if (run := event.data.get("run")) is not None and run != self.journal.run_of(key):
                self.journal.note(key, run)

        if (run := self._begun(key)) is not None:
            # Models that no spec names are not recorded with the run.
            coder, judge = (None if isinstance(one, str) else one for one in (loop.model, loop.judge_model))
            return resume(
                run,
                model=coder,
                judge_model=judge,
                home=self.store.home,
                executor=self.executor,
                cluster="",
                listener=hear,
            )
        options = self.asked.options
        seed = drawn(options)
        return optimize(
            target,
            model=loop.model,
            judge_model=loop.judge_model,
            strategy=loop.strategy,
            rounds=loop.rounds,
            candidates=loop.candidates,
            **{f"budget_{name}": cap for name, cap in asdict(loop.budget).items()},
            # Else a figure would hang on what ran before it.
            remember=False,
            shared_limits=self.asked.join is not None,
            home=self.store.home,
            evaluator=self.judges.opened(task, options, seed),
            executor=self.executor,
            listener=hear,
            **{**{one.name: getattr(options, one.name) for one in fields(options)}, "seed": seed},
        )

    def _begun(self, key: Key) -> str | None:
        """Returns the run of a row that was begun before; one that the store has lost counts for nothing."""
        run = self.journal.run_of(key)
        try:
            return None if run is None else self.store.run(run).id
        except UsageError:
            return None

    def exported(self, result: Mapping[str, Any] | None) -> str:
        """Writes the evidence of a verdict beside the rows and returns its name; empty where there is none."""
        if result is None or result["candidate"] is None:
            return ""
        bundle = bundle_of(self.store, result["run"])
        place = self.evidence / f".{result['run']}"
        write_bundle(bundle, place)
        digest = hashlib.sha256(place.read_bytes()).hexdigest()
        place.rename(self.evidence / f"{digest}.zip")
        return digest


def plain(result: Result, task: Task) -> dict[str, Any]:
    """Returns a result's document without a word on where files of the user lie."""
    document: dict[str, Any] = without_paths(result.to_json(), task)
    return document
