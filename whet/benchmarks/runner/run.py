"""Does the jobs of a plan, one after the other or side by side, and keeps each row before it tells of it."""

from __future__ import annotations

import queue
import shutil
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from whet.agents.judges import workers
from whet.benchmarks.lab.base import Lab
from whet.benchmarks.results import Row
from whet.benchmarks.runner.board import Board, Claim, OwnBoard
from whet.benchmarks.runner.joined import JoinedBoard
from whet.benchmarks.runner.joining import expect_name, plan_of
from whet.benchmarks.runner.journal import Journal
from whet.benchmarks.runner.machine import missing, this_machine
from whet.benchmarks.runner.plan import WorkList, jobs_of, planned
from whet.benchmarks.runner.request import BenchRequest, LoopSettings, ProblemSample
from whet.benchmarks.runner.rows import RowFile
from whet.benchmarks.runner.work import JobRunner
from whet.benchmarks.suites.base import ByVerdict, Problem
from whet.core.errors import BudgetError, UsageError, WhetError
from whet.core.store import Store
from whet.sandbox.workers.base import Executor

EVIDENCE, WORK = ".evidence", ".work"
"""Of the folders beside a file of rows: bundles of evidence, and what an interrupted model goes on from."""
LOOK = 0.3
"""Seconds between two looks at what other drivers are at work on."""


@dataclass(frozen=True, slots=True)
class Done:
    """One job that came to its end.

    Attributes:
        job: it.
        row: what came of it; None where it could not be done.
        error: why it could not be done; it is tried again by the next run.
        number: how many jobs of this run have come to their end.
        total: how many there are.
        left: seconds until the last one is done, as the ones before tell.
        usd: what all rows cost so far.
        elsewhere: whether another driver did it.
    """

    job: ProblemSample
    row: Row | None
    error: str
    number: int
    total: int
    left: float
    usd: float
    elsewhere: bool = False


@contextmanager
def opened(
    asked: BenchRequest, problems: Sequence[Problem], samples: int, output: Path, home: Path | None = None
) -> Iterator[JobExecution]:
    """Gives a run that is ready to begin.

    Args:
        asked: what is to be done.
        problems: to be worked on.
        samples: answers to each.
        output: the file of rows; what stands in it is not done again.
        home: the state directory of whet's runs; None is the default one.

    Raises:
        UsageError: the file, the sandbox or an option cannot be used.
    """
    _expect_sound(asked)
    if asked.join is not None:
        expect_name(asked.join)
    output = output.expanduser().absolute()
    with ExitStack() as stack:
        rows = stack.enter_context(closing(RowFile(output)))
        work, evidence = output.with_suffix(WORK), output.with_suffix(EVIDENCE)
        targets = work / "targets"
        shutil.rmtree(targets, ignore_errors=True)
        for folder in (targets, evidence):
            folder.mkdir(parents=True, exist_ok=True)
        lab = stack.enter_context(closing(Lab(asked.options)))
        store = stack.enter_context(closing(Store(home)))
        executor = stack.enter_context(workers(asked.options.cluster, store)) if asked.options.cluster else None
        if executor is not None:
            asked = replace(asked, workers=max(1, executor.slots))
        plan = planned(asked, problems, samples, rows.rows, lambda need: missing(need, lab))
        machine = this_machine(lab)
        if asked.join is not None:
            joined = JoinedBoard(store, asked.join, asked, machine.kind)
            joined.begin(plan_of(asked, problems, samples))
            mine = {job.key(asked) for problem in problems for job in jobs_of(problem, samples)}
            joined.expect_known([row for row in rows.rows if row.key in mine])
            yield JobExecution(
                JobRunner(asked, lab, store, joined, machine, targets, evidence, executor), plan, rows, joined
            )
            shutil.rmtree(work, ignore_errors=True)
            return
        journal = stack.enter_context(closing(Journal(work / "runs.jsonl", rows.keys)))
        bench = JobRunner(asked, lab, store, journal, machine, targets, evidence, executor)
        yield JobExecution(bench, plan, rows, OwnBoard(asked, plan.usd))
        shutil.rmtree(targets if journal.waits(rows.keys) else work, ignore_errors=True)


def _expect_sound(asked: BenchRequest) -> None:
    if asked.workers < 1:
        raise UsageError(f"--workers {asked.workers} is below 1")
    if isinstance(asked.suite, ByVerdict) and not asked.verdict:
        raise UsageError(f"the own rule of {asked.suite.name} is whet's verdict; leave out --no-verdict")
    if asked.total.usd is not None and not (
        isinstance(asked.answers, LoopSettings) and asked.answers.budget.usd is not None
    ):
        raise UsageError("--total-usd goes with --budget-usd, the most that one answer may cost")


class JobExecution:
    """The jobs of a plan under way.

    Attributes:
        plan: what was to be done when it began.
        stopped: which cap ended it; empty where none did.
        errors: jobs that could not be done.
    """

    def __init__(self, bench: JobRunner, plan: WorkList, rows: RowFile, board: Board) -> None:
        self.plan = plan
        self.stopped = ""
        self.errors = 0
        self._bench = bench
        self._rows = rows
        self._board = board
        self._waiting = [*plan.jobs, *plan.elsewhere]
        self._beyond = {job.key(bench.asked) for job in plan.elsewhere}
        self._lock = threading.Lock()
        self._number = 0
        self._began = time.monotonic()

    @property
    def executor(self) -> Executor | None:
        """Who evaluates, where this process does not."""
        return self._bench.executor

    def work(self) -> Iterator[Done]:
        """Does the jobs; yields each when its row is on the disk. Not for several threads."""
        self._began = time.monotonic()
        if self._bench.asked.workers == 1:
            while (turn := self._next()) is not None:
                yield self._kept(*turn)
            return
        found: queue.SimpleQueue[Done | Exception | None] = queue.SimpleQueue()
        serving = min(self._bench.asked.workers, len(self._waiting))
        for _ in range(serving):
            # Whoever is interrupted waits for none of them.
            threading.Thread(target=self._serve, args=(found,), daemon=True).start()
        while serving:
            done = found.get()
            if done is None:
                serving -= 1
            elif isinstance(done, Exception):
                raise done
            else:
                yield done

    def _serve(self, found: queue.SimpleQueue[Done | Exception | None]) -> None:
        # A row is on the disk before its worker takes another job: a kill costs no more than one job a worker.
        try:
            while (turn := self._next()) is not None:
                found.put(self._kept(*turn))
            found.put(None)
        except Exception as error:  # of the store or the disk: it ends the command
            found.put(error)

    def _next(self) -> tuple[ProblemSample, Row | None] | None:
        """Returns the next job, with its row where another driver did it; waits while others are at work on the rest.

        None where nothing is left that this driver can do, or could wait for.
        """
        while True:
            with self._lock:
                for job in tuple(self._waiting):
                    found = self._claimed(job)
                    if found is Claim.THEIRS:
                        continue
                    self._waiting.remove(job)
                    if isinstance(found, Row):
                        return job, found
                    if found is Claim.OURS:
                        return job, None
                if not self._waiting:
                    return None
            time.sleep(LOOK)

    def _claimed(self, job: ProblemSample) -> Row | Claim:
        try:
            return self._board.claim(job, not self.stopped and job.key(self._bench.asked) not in self._beyond)
        except BudgetError as error:
            self.stopped = str(error)
            return self._board.claim(job, False)

    def _kept(self, job: ProblemSample, known: Row | None) -> Done:
        """Does a job, unless its row is known; the row is on the disk when this returns."""
        found = self._tried(job) if known is None else self._fetched(known)
        row, error = (found, "") if isinstance(found, Row) else (None, found)
        if row is not None:
            try:
                self._rows.append(row)
            except ValueError as fault:
                row, error = None, f"internal: its row cannot be written: {fault}"
        with self._lock:
            self._number += 1
            self.errors += row is None
            number, usd = self._number, self._board.usd
        total = max(len(self.plan.jobs), number)
        left = (time.monotonic() - self._began) / number * (total - number)
        return Done(job, row, error, number, total, left, usd, known is not None)

    def _tried(self, job: ProblemSample) -> Row | str:
        """Does a job; returns why it cannot be done, whatever it is: no problem ends the work on the others."""
        try:
            return self._board.settle(job, self._bench.work(job))
        except WhetError as error:
            why = str(error)
        except Exception as error:
            why = f"internal: {type(error).__name__}: {error}"
        self._board.drop(job)
        return why

    def _fetched(self, row: Row) -> Row | str:
        """Writes the evidence of a row that another driver made."""
        try:
            if row.evidence:
                self._bench.exported(row.result)
            return row
        except WhetError as error:
            return str(error)
