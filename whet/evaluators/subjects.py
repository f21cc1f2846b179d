"""Turns source texts of a task into processes that can be called, whatever the language."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

from whet.core.candidate import content_id
from whet.core.task import Kind, Task
from whet.core.verdict import Reason
from whet.evaluators.finding import Fault
from whet.sandbox.inside.codec import encode
from whet.sandbox.interpreter import Interpreter
from whet.sandbox.protocol import Incident, Job, Sandbox, Session
from whet.sandbox.toolchains import native

START_SECONDS = 30.0
PROGRAM = "program-{layout}"
"""What a native program is called in its tree."""
KEPT = 256
"""Subjects that a workshop keeps ready; far more than are in the work at once."""
LONGEST = 10**15
"""Nanoseconds that no call lasts: eleven days."""
FORGED = "the process forged its answer, or touched the clock"


@dataclass(frozen=True, slots=True)
class Pass:
    """One timed pass over distinct inputs.

    Attributes:
        outside: seconds between "go" and the last byte of the outcomes, by the clock out here.
        inside: seconds in the calls, as the process says.
        cpu: CPU seconds in the calls, of all their threads and of processes that have ended, as the process says.
        outcomes: one an input.
        peak: resident bytes at the peak, for programs; 0 where it is not known.
        waits: context switches at its own wish, as the process says.
        preemptions: context switches against its wish, as the process says.
        amount: what a metric other than time found: bytes, instructions or joules.
    """

    outside: float
    inside: float
    cpu: float
    outcomes: tuple[bytes, ...]
    peak: int = 0
    waits: int = 0
    preemptions: int = 0
    amount: float | None = None


class Live(Protocol):
    """A process that holds one source text and nothing else of ours."""

    def call(self, payload: bytes, seconds: float) -> tuple[bytes, float] | Fault:
        """Runs one input; returns its outcome and the seconds that it says it took."""

    def timed(self, payloads: Sequence[bytes], seconds: float) -> Pass | Fault:
        """Runs distinct inputs in one window."""

    def peak(self) -> int | None:
        """Returns the most bytes that it and all that it started used together, where that was asked for."""

    def close(self) -> None:
        """Ends it."""


REASON_OF = {
    "timeout": Reason.TIMEOUT,
    "crash": Reason.CRASH,
    "memory": Reason.OUT_OF_MEMORY,
    "output_flood": Reason.OUTPUT_FLOOD,
    "protocol": Reason.SANDBOX_VIOLATION,
}


def fault(incident: Incident, seconds: float) -> Fault:
    """Returns what an incident means for the candidate."""
    detail = f"no answer within {seconds:g} s" if incident.kind == "timeout" else str(incident)
    return Fault(REASON_OF[incident.kind], detail)


@dataclass(frozen=True, slots=True)
class Subject:
    """A source text made ready to run."""

    source_id: str
    source: str
    tree: Path
    workshop: Workshop
    layouts: int = 1

    def start(
        self,
        cores: tuple[int, ...] = (),
        hash_seed: int = 0,
        layout: int = 0,
        worker: int | None = None,
        gauged: bool = False,
        primed: Sequence[str] | None = None,
    ) -> Live | Fault:
        """Starts a process.

        Args:
            cores: processors that it may run on; empty for all.
            hash_seed: its PYTHONHASHSEED.
            layout: which of a native program's ``layouts`` it has in memory.
            worker: None is a fresh process in a sandbox of its own; a number, a fork of the warm worker with it,
                which has the task's imports done.
            gauged: whether its peak of memory will be asked for; a program's leaves out what starts it.
            primed: modules that a function's process imports, and has set up, before it loads the source.
        """
        workshop = self.workshop
        program = "calls" if workshop.task.kind is Kind.FUNCTION else "programs"
        threads = max(1, len(cores))
        limits = workshop.task.limits
        job = Job(program, workshop.interpreter, self.tree, limits, cores, hash_seed, threads, gauged=gauged)
        if worker is not None:
            job = replace(job, preload=workshop.preload, worker=worker)
        session = workshop.sandbox.open(job)
        if workshop.task.kind is Kind.PROGRAM:
            if gauged:
                # Answered when its launcher has all that it needs in memory.
                session.ask("prepare", ["/bin/true"], b"", seconds=START_SECONDS)
                session.ask("go", seconds=START_SECONDS)
                session.reset()
            return LiveProgram(session, workshop.argv(session.tree, layout))
        return _load(session, workshop.task, primed)


def _load(session: Session, task: Task, primed: Sequence[str] | None) -> Live | Fault:
    try:
        if primed is not None:
            session.ask("prime", list(primed), seconds=START_SECONDS)
        answer, spent = session.ask("load", task.filename, task.symbol, seconds=max(START_SECONDS, task.limits.seconds))
    except Incident as incident:
        return fault(incident, START_SECONDS)
    if answer == ("ok",):
        return LiveFunction(session, spent)
    session.close()
    if len(answer) != 3 or not all(isinstance(part, str) for part in answer):
        return Fault(Reason.CHEATING, FORGED)
    _, kind, text = answer
    if kind == "MemoryError":
        return Fault(Reason.OUT_OF_MEMORY, "MemoryError while loading")
    reason = Reason.SYNTAX_ERROR if kind in ("SyntaxError", "IndentationError", "TabError") else Reason.CRASH
    return Fault(reason, f"loading raised {kind}: {text}")


def _outcome(value: Any) -> bytes:
    if type(value) is not bytes:
        raise ValueError("an outcome that is no bytes")
    return value


def _count(number: Any) -> int:
    # Only whole numbers: one NaN from inside would make every comparison out here false.
    if type(number) is not int or not 0 <= number < LONGEST:
        raise ValueError("a number that counts nothing")
    return number


def _seconds(nanoseconds: Any) -> float:
    return _count(nanoseconds) / 1e9


class LiveFunction:
    """A `Live` Python function. The candidate shares its process, so its answers are hostile.

    Attributes:
        loading: seconds that its module took to load, by the clock out here.
    """

    def __init__(self, session: Session, loading: float) -> None:
        self._session = session
        self.loading = loading

    @property
    def session(self) -> Session:
        """What it talks through."""
        return self._session

    def call(self, payload: bytes, seconds: float) -> tuple[bytes, float] | Fault:
        """See `Live.call`."""
        return self._called("call", payload, seconds)

    def call_after_spoiling(self, payload: bytes, seconds: float) -> tuple[bytes, float] | Fault:
        """Calls twice with one input, the second time after the first result was changed as a caller may."""
        return self._called("spoil", payload, seconds)

    def _called(self, operation: str, payload: bytes, seconds: float) -> tuple[bytes, float] | Fault:
        try:
            (_, outcome, spent), _ = self._session.ask(operation, payload, seconds=seconds)
            return _outcome(outcome), _seconds(spent)
        except Incident as incident:
            return fault(incident, seconds)
        except (ValueError, TypeError):
            return Fault(Reason.CHEATING, FORGED)

    def timed(self, payloads: Sequence[bytes], seconds: float) -> Pass | Fault:
        """See `Live.timed`."""
        try:
            # The inputs come with "go": before it there is nothing that a thread could begin to work on.
            (_, inside, cpu, waits, preemptions, outcomes), outside = self._session.ask(
                "go", list(payloads), seconds=seconds
            )
            return Pass(
                outside,
                _seconds(inside),
                _seconds(cpu),
                tuple(map(_outcome, outcomes)),
                waits=_count(waits),
                preemptions=_count(preemptions),
            )
        except Incident as incident:
            return fault(incident, seconds)
        except (ValueError, TypeError):
            return Fault(Reason.CHEATING, FORGED)

    def hot_lines(self, payloads: Sequence[bytes], seconds: float) -> list[tuple[int, int]]:
        """Returns (line, nanoseconds) of the target's file from running inputs for ``seconds``.

        Raises:
            Incident: the process is gone.
        """
        (_, hits), _ = self._session.ask("profile", list(payloads), seconds, seconds=seconds * 3 + START_SECONDS)
        return [(int(line), int(count)) for line, count in hits]

    def peak(self) -> int | None:
        """See `Live.peak`."""
        return self._session.peak()

    def close(self) -> None:
        """See `Live.close`."""
        self._session.close()


class LiveProgram:
    """A `Live` program: a new process of it for every input."""

    def __init__(self, session: Session, argv: list[str]) -> None:
        self._session = session
        self._argv = argv

    @property
    def session(self) -> Session:
        """What it talks through."""
        return self._session

    def call(self, payload: bytes, seconds: float) -> tuple[bytes, float] | Fault:
        """See `Live.call`."""
        result = self._run(payload, seconds)
        return result if isinstance(result, Fault) else (result.outcomes[0], result.inside)

    def timed(self, payloads: Sequence[bytes], seconds: float) -> Pass | Fault:
        """See `Live.timed`; the outcomes are fetched after each window, when nothing of it runs any more."""
        total = Pass(0.0, 0.0, 0.0, ())
        for payload in payloads:
            run = self._run(payload, seconds)
            if isinstance(run, Fault):
                return run
            total = Pass(
                total.outside + run.outside,
                total.inside + run.inside,
                total.cpu + run.cpu,
                total.outcomes + run.outcomes,
                max(total.peak, run.peak),
                total.waits + run.waits,
                total.preemptions + run.preemptions,
            )
        return total

    def _run(self, payload: bytes, seconds: float) -> Pass | Fault:
        try:
            # Else a run could read the result that an earlier one kept in a file.
            self._session.ask("clear", seconds=START_SECONDS)
            self._session.ask("prepare", self._argv, payload, seconds=START_SECONDS)
            answer, outside = self._session.ask("go", seconds=seconds)
            if answer[0] == "error":
                return Fault(Reason.CRASH, f"it could not be started: {answer[2]}")
            _, code, inside, cpu, peak, waits, preemptions = answer
            (_, stdout, stderr), _ = self._session.ask("output", seconds=START_SECONDS)
        except Incident as incident:
            return fault(incident, seconds)
        if code < 0:
            said = stderr.decode("utf-8", "replace").strip()[-300:]
            flooded = code == -25  # SIGXFSZ: a file over the limit
            reason = Reason.OUTPUT_FLOOD if flooded else Reason.CRASH
            return Fault(reason, f"ended by signal {-code}{': ' + said if said else ''}")
        outcome = encode((code, stdout, stderr[-2000:]))
        return Pass(outside, inside / 1e9, cpu / 1e9, (outcome,), peak, waits, preemptions)

    def peak(self) -> int | None:
        """See `Live.peak`."""
        return self._session.peak()

    def close(self) -> None:
        """See `Live.close`."""
        self._session.close()


class Workshop:
    """Builds the subjects of one task.

    Attributes:
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
        self.interpreter = interpreter
        self.preload = preload
        self.layouts = layouts
        self._built: dict[str, Subject | Fault] = {}
        self._lock = threading.Lock()

    def build(self, source: str, extra: tuple[str, ...] = (), layouts: int | None = None) -> Subject | Fault:
        """Stages a source text, compiled where its language needs that; the same text only once.

        Args:
            source: the text of the target's file.
            extra: compiler flags after the task's own.
            layouts: in how many layouts in memory to link it; None for the workshop's. The same flags, as many.
        """
        name = "-".join((content_id(source), *extra))
        if name not in self._built:
            self._built[name] = self._build(name, source, extra, layouts or self.layouts)
        with self._lock:
            built = self._built[name] = self._built.pop(name)  # what was used last is discarded last
            self._discard(content_id(self.task.source))
        return built

    def _discard(self, baseline: str) -> None:
        """Removes what was not used for long, but never the baseline."""
        spare = len(self._built) - KEPT
        for name in [name for name in self._built if not name.startswith(baseline)][: max(0, spare)]:
            if isinstance(old := self._built.pop(name), Subject):
                shutil.rmtree(old.tree)

    def _build(self, name: str, source: str, extra: tuple[str, ...], most: int) -> Subject | Fault:
        task = self.task
        if task.language == "python":
            files = {path: text.encode() for path, text in task.support.items()}
            tree = self.sandbox.stage(name, files | {task.filename: source.encode()})
            return Subject(name, source, tree, self)
        layouts = native.paddings(name)[:most]
        built = native.compile_program(self.sandbox, self.interpreter, task, source, extra, layouts)
        if isinstance(built, native.Diagnostics):
            return Fault(Reason.BUILD_ERROR, built.text)
        files = {PROGRAM.format(layout=number): binary for number, binary in enumerate(built)}
        return Subject(name, source, self.sandbox.stage(name, files, executable=True), self, len(layouts))

    def argv(self, tree: str, layout: int = 0) -> list[str]:
        """Returns how a program of this task is started where its tree is seen at ``tree``."""
        if self.task.language == "python":
            return [str(self.interpreter.executable), "-s", "-B", f"{tree}/{self.task.filename}"]
        return [f"{tree}/{PROGRAM.format(layout=layout)}"]
