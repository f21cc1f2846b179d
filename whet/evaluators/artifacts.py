"""Turns source texts of a task into processes that can be called, whatever the language."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from whet.core.candidate import content_id
from whet.core.errors import UsageError
from whet.core.task import PTX, Kind, Task
from whet.core.verdict import Reason
from whet.evaluators.finding import Fault
from whet.evaluators.kernels.libraries import Answers
from whet.evaluators.languages.base import BuildRequest
from whet.evaluators.languages.registry import language_of_answer
from whet.evaluators.package import Surroundings
from whet.evaluators.processes import FORGED, START_SECONDS, FunctionProcess, TargetProcess, fault
from whet.evaluators.program_process import ProgramProcess
from whet.evaluators.stopwatch import Stopwatch
from whet.sandbox.interpreter import Interpreter
from whet.sandbox.protocol import Incident, Job, Sandbox, Session
from whet.sandbox.toolchains import native

KEPT = 256
"""Artifacts that a builder keeps ready; far more than are in the work at once."""


@dataclass(frozen=True, slots=True)
class Artifact:
    """A source text made ready to run."""

    source_id: str
    source: str
    tree: Path
    builder: Builder
    layouts: int = 1

    def start(
        self,
        cores: tuple[int, ...] = (),
        hash_seed: int = 0,
        layout: int = 0,
        worker: int | None = None,
        gauged: bool = False,
        primed: Sequence[str] | None = None,
    ) -> TargetProcess | Fault:
        """Starts a process.

        Args:
            cores: processors that it may run on; empty for all.
            hash_seed: its PYTHONHASHSEED.
            layout: which of a native program's ``layouts`` it has in memory.
            worker: None is a fresh process in a sandbox of its own; a number, a fork of the warm worker with it,
                which has the task's imports done.
            gauged: whether its peak of memory will be asked for; a program's leaves out what starts it.
            primed: modules that a function's process imports, and names that it looks up in them, before it loads the
                source; its loading is then told in CPU seconds.
        """
        builder = self.builder
        program = "calls" if builder.task.kind is Kind.FUNCTION else "programs"
        threads = max(1, len(cores))
        limits = builder.task.limits
        packages = builder.task.kind is Kind.FUNCTION and not on_the_cpu(builder.task)
        job = Job(program, builder.interpreter, self.tree, limits, cores, hash_seed, threads, gauged=gauged)
        job = furnished(replace(job, gpu=self.on_gpu, packages=packages), builder.task)
        if worker is not None:
            job = replace(job, preload=builder.preload, worker=worker)
        session = builder.sandbox.open(job)
        if builder.task.kind is Kind.PROGRAM:
            if gauged:
                # Answered when its launcher has all that it needs in memory.
                session.ask("prepare", ["/bin/true"], b"", seconds=START_SECONDS)
                session.ask("go", seconds=START_SECONDS)
                session.reset()
            return ProgramProcess(session, builder.argv(session.tree, layout, self.source))
        target = builder.target(layout, self.source)
        return _load(session, builder.task, target, primed, self.on_gpu)

    @property
    def launched(self) -> bool:
        """Whether it is a kernel in PTX."""
        return native.language_of(self.builder.task, self.source) == PTX

    @property
    def on_gpu(self) -> bool:
        """Whether its process needs to see the GPU; that of the reference of a kernel in PTX does not."""
        return task_on_gpu(self.builder.task) and (self.builder.task.launch is None or self.launched)


def task_on_gpu(task: Task) -> bool:
    """Whether what a task is about runs on the GPU."""
    where = task.launch or task.module
    return where is not None and where.device == "cuda"


def on_the_cpu(task: Task) -> bool:
    """Whether the target is a native function that this processor calls."""
    return task.signature is not None and task.launch is None


def furnished(job: Job, task: Task) -> Job:
    """Returns a job that runs a program as one of a language that whet knows nothing of, where the task's is such."""
    foreign = task.commands is not None
    return replace(job, reserves=foreign, within=foreign)


def _load(
    session: Session, task: Task, target: tuple[Any, ...], primed: Sequence[str] | None, on_gpu: bool
) -> TargetProcess | Fault:
    try:
        if primed is not None:
            session.ask("prime", list(primed), seconds=START_SECONDS)
        loading = Stopwatch(session, wall=on_gpu or primed is None)
        answer, _ = session.ask("load", *target, seconds=max(START_SECONDS, task.limits.seconds))
    except Incident as incident:
        return fault(incident, START_SECONDS)
    if answer == ("ok",):
        return FunctionProcess(session, loading.seconds(), on_gpu)
    session.close()
    return _not_loaded(answer)


def _not_loaded(answer: tuple[Any, ...]) -> Fault:
    """Returns what a process says that could not load its source."""
    if len(answer) != 3 or not all(isinstance(part, str) for part in answer):
        return Fault(Reason.CHEATING, FORGED)
    _, kind, text = answer
    if kind == "MemoryError":
        return Fault(Reason.OUT_OF_MEMORY, "MemoryError while loading")
    reason = Reason.SYNTAX_ERROR if kind in ("SyntaxError", "IndentationError", "TabError") else Reason.CRASH
    return Fault(reason, f"loading raised {kind}: {text}")


class Builder:
    """Builds the artifacts of one task.

    Attributes:
        links: of each tree, to what the target's package holds besides.
        preload: modules that warm workers have imported.
        layouts: in how many layouts in memory native programs are linked unless `build` is told; what is timed needs
            all.
    """

    def __init__(
        self,
        task: Task,
        sandbox: Sandbox,
        interpreter: Interpreter,
        preload: tuple[str, ...] = (),
        layouts: int = native.LAYOUTS,
    ) -> None:
        self.task = task
        self.sandbox = sandbox
        around = Surroundings.of(task, sandbox, interpreter)
        self.interpreter = around.interpreter
        self.links = around.links
        self.preload = preload
        self.layouts = layouts
        self._built: dict[str, Artifact | Fault] = {}
        self._lock = threading.Lock()
        self._answers = Answers(sandbox, interpreter, preload, task.limits, self.target, task_on_gpu(task))

    def build(self, source: str, extra: tuple[str, ...] = (), layouts: int | None = None) -> Artifact | Fault:
        """Stages a source text, compiled where its language needs that; the same text only once.

        Args:
            source: the text of the target's file.
            extra: compiler flags after the task's own.
            layouts: in how many layouts in memory to link it; None for the builder's. The same flags, as many.
        """
        name = "-".join((content_id(source), *extra))
        with self._lock:
            if (known := self._built.pop(name, None)) is not None:
                self._built[name] = known  # what was used last is discarded last
                return known
        built = self._build(name, source, extra, layouts or self.layouts)
        with self._lock:
            self._built[name] = built
            self._discard(content_id(self.task.source))
        return built

    def built(self, source: str) -> Artifact:
        """Stages a source text that was built before without a fault; see `build`."""
        artifact = self.build(source)
        assert isinstance(artifact, Artifact), "what does not build is not run"
        return artifact

    def _discard(self, baseline: str) -> None:
        """Removes what was not used for long, but never the baseline."""
        spare = len(self._built) - KEPT
        for name in [name for name in self._built if not name.startswith(baseline)][: max(0, spare)]:
            if isinstance(old := self._built.pop(name), Artifact):
                shutil.rmtree(old.tree)

    def _build(self, name: str, source: str, extra: tuple[str, ...], most: int) -> Artifact | Fault:
        order = BuildRequest(self.sandbox, self.interpreter, self.task, source, name, extra, most)
        made = language_of_answer(self.task, source).build(order)
        if isinstance(made, Fault):
            return made
        tree = self.sandbox.stage(name, made.files, executable=made.executable, links=self.links)
        if self.task.module is not None and (fault := self._answers.complete(tree, source)):
            return fault
        return Artifact(name, source, tree, self, made.layouts)

    def target(self, layout: int = 0, source: str | None = None) -> tuple[Any, ...]:
        """Returns what a function's process loads from its tree; see `whet.sandbox.inside.calls.open_target`.

        Args:
            layout: which of its layouts in memory.
            source: the text that it was built from; None is that of the original.

        Raises:
            UsageError: functions of that language cannot be called.
        """
        task = self.task
        found = language_of_answer(task, task.original[0] if source is None else source)
        if found.target is None:
            raise UsageError(f"functions in {found.name} cannot be called: give a program, without ::{task.symbol}")
        return found.target(task, layout)

    def argv(self, tree: str, layout: int = 0, source: str | None = None) -> list[str]:
        """Returns how a program of this task is started where its tree is seen at ``tree``; see `target`."""
        task = self.task
        found = language_of_answer(task, task.original[0] if source is None else source)
        return found.argv(task, self.interpreter, tree, layout)
