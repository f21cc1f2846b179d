"""Counts what a source text does on some inputs, in runs of their own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from whet.core.counter import Counter, counted, missing
from whet.core.task import Kind
from whet.core.verdict import Reason
from whet.evaluators.artifacts import Artifact, Builder, furnished
from whet.evaluators.finding import Fault
from whet.evaluators.inputs.source import Input
from whet.evaluators.languages.registry import language_of_task
from whet.evaluators.meters.base import Setting
from whet.evaluators.processes import START_SECONDS, fault
from whet.sandbox.counters import perf, rusage, valgrind
from whet.sandbox.inside.codec import CodecError, encode
from whet.sandbox.inside.decode import decode
from whet.sandbox.protocol import Incident, Job, Session
from whet.sandbox.staging import boot
from whet.sandbox.toolchains import native
from whet.sandbox.toolchains.bare import bare_program, is_called_bare, packed

REPORT = "/work/counts"
BARE = "bare"
"""The program that calls a native function, in the tree of its library."""
SLOWED = 60.0
"""How many times slower a program may be while it is counted; it takes a second to start."""


CountedRun = tuple[float, int, bytes, bytes]
"""The instructions of one run, its exit code, stdout and stderr."""


@dataclass(frozen=True, slots=True)
class Counted:
    """What one source text did on some inputs.

    Attributes:
        instructions: in user mode, in all runs together.
        outcomes: one an input.
    """

    instructions: float
    outcomes: tuple[bytes, ...]


Count = Callable[..., Counted | Fault]
"""See `count`."""


def count(artifact: Artifact, payloads: Sequence[bytes], setting: Setting, calling: bool = True) -> Counted | Fault:
    """Counts instructions by cachegrind inside the sandbox.

    Args:
        artifact: what to run.
        payloads: distinct inputs.
        setting: how to run it.
        calling: whether a function is called at all; else its process does all but that.
    """
    return _counted("count_instructions", _simulated_run, artifact, payloads, setting, calling)


def count_events(event: str) -> Count:
    """Returns what counts an event of perf, such as ``instructions:u``, from outside the sandbox."""

    def run(session: Session, argv: list[str], stdin: bytes, seconds: float) -> CountedRun | Fault:
        session.ask("prepare", argv, stdin, seconds=START_SECONDS)
        answers: list[tuple[Any, ...]] = []
        work = lambda: answers.append(session.ask("go", seconds=seconds)[0])  # noqa: E731
        (counter,) = perf.count_others(session.pids(), work, (event,))
        (answer,) = answers
        if answer[0] == "error":
            return Fault(Reason.CRASH, f"it could not be started: {answer[2]}")
        (_, stdout, stderr), _ = session.ask("output", seconds=START_SECONDS)
        if answer[1] < 0:
            return Fault(Reason.CRASH, f"ended by signal {-answer[1]} while it was counted")
        if counter.value is None:
            return Fault(Reason.TOOL_MISSING, f"{event}: {counter.reason}")
        return counter.value, answer[1], stdout, stderr

    def counting(
        artifact: Artifact, payloads: Sequence[bytes], setting: Setting, calling: bool = True
    ) -> Counted | Fault:
        return _counted("programs", run, artifact, payloads, setting, calling)

    return counting


def _counted(
    program: str,
    once: Callable[[Session, list[str], bytes, float], CountedRun | Fault],
    artifact: Artifact,
    payloads: Sequence[bytes],
    setting: Setting,
    calling: bool,
) -> Counted | Fault:
    builder = artifact.builder
    limits, threads = builder.task.limits, max(1, len(setting.cores))
    job = Job(program, builder.interpreter, artifact.tree, limits, setting.cores, setting.hash_seed, threads)
    job = furnished(job, builder.task)
    session = builder.sandbox.open(job)
    try:
        runs = [
            once(session, argv, stdin, setting.seconds * SLOWED)
            for argv, stdin in commands(artifact, session.tree, payloads, setting.layout, calling)
        ]
    except Incident as incident:
        return fault(incident, setting.seconds * SLOWED)
    finally:
        session.close()
    total = 0.0
    outcomes: tuple[bytes, ...] = ()
    for run in runs:
        if isinstance(run, Fault):
            return run
        number, code, stdout, stderr = run
        total += number
        if builder.task.kind is Kind.PROGRAM:
            outcomes += (encode((code, stdout, stderr[-2000:])),)
        elif isinstance(answered := batch_outcomes(code, stdout, stderr), Fault):
            return answered
        else:
            outcomes += answered
    return Counted(total, outcomes)


def commands(
    artifact: Artifact, tree: str, payloads: Sequence[bytes], layout: int = 0, calling: bool = True
) -> list[tuple[list[str], bytes]]:
    """Returns the command and the stdin of each run: one an input for a program, one in all for a function."""
    task = artifact.builder.task
    if task.kind is Kind.PROGRAM:
        return [(artifact.builder.argv(tree, layout), payload) for payload in payloads]
    message = (tree, artifact.builder.target(layout), task.limits.output, calling, list(payloads))
    return [(boot(artifact.builder.interpreter, "batch"), encode(message))]


def batch_outcomes(code: int, stdout: bytes, stderr: bytes) -> tuple[bytes, ...] | Fault:
    """Returns what `whet.sandbox.inside.batch` wrote. The candidate shares its process, so it is hostile."""
    if code != 0:
        said = stderr.decode("utf-8", "replace").strip()[-300:]
        return Fault(Reason.CRASH, f"exit code {code} while it was counted{': ' + said if said else ''}")
    try:
        outcomes = decode(stdout)
    except CodecError:
        outcomes = None
    if type(outcomes) is not tuple or not all(type(outcome) is bytes for outcome in outcomes):
        return Fault(Reason.CHEATING, "the process forged its answer while it was counted")
    return outcomes


def _simulated_run(session: Session, argv: list[str], stdin: bytes, seconds: float) -> CountedRun | Fault:
    """Returns what cachegrind counts of one run."""
    session.ask("prepare", [*valgrind.INSTRUCTIONS, *argv], stdin, seconds=START_SECONDS)
    answer, _ = session.ask("go", seconds=seconds)
    if answer[0] == "error":
        return Fault(Reason.CRASH, f"it could not be started: {answer[2]}")
    code, *_, processes, said = answer[1:]
    (_, stdout, stderr), _ = session.ask("output", seconds=START_SECONDS)
    if code < 0:
        return Fault(Reason.CRASH, f"ended by signal {-code} while it was counted")
    number = valgrind.instructions(said)
    if processes != 1 or number is None:
        return Fault(
            Reason.FORBIDDEN_CONSTRUCT,
            "its instructions cannot be counted as a whole: it started other processes, threads or programs",
        )
    return number, code, stdout, stderr


def counters(builder: Builder, source: str, inputs: Sequence[Input]) -> tuple[Counter, ...]:
    """Returns all that can be counted of a source text on some inputs: information for people and for the Judge.

    Args:
        builder: builds it.
        source: was found right before.
        inputs: a program is run on the first one.
    """
    artifact = builder.build(source)
    if isinstance(artifact, Fault):
        return (missing("cpu-seconds", "s", rusage.SOURCE, artifact.detail),)
    payloads = [item.payload for item in inputs][: 1 if builder.task.kind is Kind.PROGRAM else None]
    run = _run_of(artifact, payloads)
    found = _from_outside(builder, run)
    return (*found, *_simulated(builder, run)) if language_of_task(builder.task).simulated else found


@dataclass(frozen=True, slots=True)
class _Run:
    """What is counted.

    Attributes:
        tree: that its process sees.
        command: returns the command and its stdin, where that tree is seen at a path.
        called: whether a function is called.
    """

    tree: Path
    command: Callable[[str], tuple[list[str], bytes]]
    called: bool

    def whole(self, code: int) -> bool:
        """Whether all was done that is to be counted: a program may end with any code, what calls a function with 0."""
        return code == 0 or (code > 0 and not self.called)


def _run_of(artifact: Artifact, payloads: Sequence[bytes]) -> _Run:
    """Returns a run of a program, or of what calls a function: of a native one, a program that does nothing else."""
    builder = artifact.builder
    called = builder.task.kind is Kind.FUNCTION
    if not is_called_bare(builder.task):
        return _Run(artifact.tree, lambda tree: commands(artifact, tree, payloads)[0], called)
    library = native.PROGRAM.format(layout=0)
    files = {library: (artifact.tree / library).read_bytes(), BARE: bare_program(builder.sandbox, builder.interpreter)}
    tree = builder.sandbox.stage(f"bare-{artifact.source_id}", files, executable=True)
    assert builder.task.signature is not None
    calls = packed(builder.task.signature, [decode(payload) for payload in payloads])
    return _Run(tree, lambda seen: ([f"{seen}/{BARE}", f"{seen}/{library}"], calls), called)


def _from_outside(builder: Builder, run: _Run) -> tuple[Counter, ...]:
    """Returns the events of a run by perf, its CPU seconds by its launcher, and its memory by the control group."""
    job = Job("programs", builder.interpreter, run.tree, builder.task.limits, gauged=True)
    session = builder.sandbox.open(furnished(job, builder.task))
    answer: Any = ()

    def go() -> None:
        nonlocal answer
        answer, _ = session.ask("go", seconds=builder.task.limits.seconds)

    try:
        argv, stdin = run.command(session.tree)
        session.ask("prepare", argv, stdin, seconds=START_SECONDS)
        session.reset()
        events = perf.count_others(session.pids(), go)
        peak = session.peak()
    except Incident as incident:
        return (missing("cpu-seconds", "s", rusage.SOURCE, str(incident)),)
    finally:
        session.close()
    if answer[0] == "error":
        return (missing("cpu-seconds", "s", rusage.SOURCE, str(answer[2])),)
    if not run.whole(answer[1]):
        return (missing("cpu-seconds", "s", rusage.SOURCE, f"its run ended with exit code {answer[1]}"),)
    return (
        *events,
        counted("cpu-seconds", answer[3] / 1e9, "s", rusage.SOURCE),
        counted("peak-memory", answer[4], "bytes", rusage.SOURCE)
        if peak is None
        else counted("peak-memory", peak, "bytes", "cgroup"),
    )


def _simulated(builder: Builder, run: _Run) -> tuple[Counter, ...]:
    """Returns what cachegrind counts of a program; it shares the program's processes."""
    session = builder.sandbox.open(Job("programs", builder.interpreter, run.tree, builder.task.limits))
    try:
        argv, stdin = run.command(session.tree)
        session.ask("prepare", valgrind.command(argv, REPORT), stdin, seconds=START_SECONDS)
        answer, _ = session.ask("go", seconds=builder.task.limits.seconds * SLOWED)
        (_, report), _ = session.ask("read", REPORT, seconds=START_SECONDS)
        if answer[0] == "error" or not run.whole(answer[1]):
            report = b""
    except Incident:
        report = b""
    finally:
        session.close()
    return valgrind.parse(report.decode("utf-8", "replace"))


def trial(builder: Builder) -> str:
    """Returns why instructions cannot be counted in this sandbox, and the mend; empty where they can."""
    if builder.sandbox.name == "none":
        return "without a sandbox, other processes cannot be told from a program's own; leave --sandbox to auto"
    session = builder.sandbox.open(Job("count_instructions", builder.interpreter))
    try:
        found: Any = _simulated_run(session, ["/usr/bin/true"], b"", START_SECONDS)
    except Incident as incident:
        found = Fault(Reason.TOOL_MISSING, str(incident))
    finally:
        session.close()
    if isinstance(found, Fault):
        return (
            f"{valgrind.TOOL} does not count inside {builder.sandbox.name} ({found.detail}); apt-get install "
            "valgrind, in the image too where WHET_DOCKER_IMAGE names one"
        )
    return ""
