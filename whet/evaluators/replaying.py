"""Recorded calls of a target, repeated: those on which the original does the same again become inputs of its task."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field, replace

from whet.core.errors import UsageError
from whet.core.events import Event, EventKind, Listener
from whet.core.options import Options
from whet.core.task import Task
from whet.evaluators.artifacts import Artifact, Builder
from whet.evaluators.compare import difference
from whet.evaluators.finding import Fault
from whet.evaluators.languages.registry import takes_objects
from whet.evaluators.outcomes import decode_call
from whet.evaluators.processes import CallResult, TargetProcess
from whet.evaluators.recording import ENDED, KILLED, SECONDS, UNKNOWN, RecordedCommand, Recording, chosen, record
from whet.sandbox.backends import open_sandbox
from whet.sandbox.interpreter import find_interpreter

MOST_LOST = 5
"""Calls that may cost the baseline its process."""
REPLAY_SECONDS = 60.0
"""Wall seconds after which no further recorded call is repeated. `whet.evaluators.recording.MOST_CALLS` calls in two
processes have 0.03 s each then; a smaller limit drops slow calls, a larger one delays the run."""


@dataclass(slots=True)
class Replayed:
    """What came of calls that were repeated.

    Attributes:
        values: (seconds, call) of those that returned.
        raised: those that raised.
        dropped: how many are of no use, by the reason.
    """

    values: list[tuple[float, bytes]] = field(default_factory=list)
    raised: list[bytes] = field(default_factory=list)
    dropped: Counter[str] = field(default_factory=Counter)


def with_recorded(task: Task, options: Options, listener: Listener, seconds: float = SECONDS) -> Task:
    """Returns a task with the calls that the command of ``--record`` makes as inputs.

    Args:
        task: whose target is recorded.
        options: as the user gave them.
        listener: hears how many calls were recorded and skipped, and why.
        seconds: that the command may take; never more than `SECONDS`.

    Raises:
        UsageError: the target is no Python function, or the command gave no call that could be repeated.
    """
    assert options.record is not None
    seconds = min(seconds, SECONDS)
    if not takes_objects(task):
        raise UsageError(f"--record is for Python functions and methods; {task.name} is a program: give --workload")
    interpreter = find_interpreter(options.python)
    command = RecordedCommand.of(options.record, task, interpreter, options.project and options.project.resolve())
    with closing(open_sandbox(options.sandbox, options.unsafe)) as sandbox:
        listener(Event(EventKind.STAGE, f"recording the calls of {task.name} in: {command.shown}"))
        found = record(task, command, sandbox, interpreter, seconds)
        _expect_calls(task, command, found, seconds)
        artifact = Builder(task, sandbox, interpreter).build(task.source)
        assert isinstance(artifact, Artifact), "Python needs no building"
        replayed = replay(artifact, chosen(found.payloads, found.seen))
    if not replayed.values and not replayed.raised:
        raise UsageError(
            f"--record {command.shown!r}: none of {found.seen} calls of {task.name} can be repeated: "
            f"{_reasons(replayed.dropped)}"
        )
    listener(Event(EventKind.RECORDED, summary(task, found, replayed, seconds)))
    values = tuple(payload for _, payload in sorted(replayed.values))
    workload = task.workload
    return replace(task, workload=replace(workload, recorded=values, calls=(*replayed.raised, *workload.calls)))


def replay(artifact: Artifact, payloads: Sequence[bytes]) -> Replayed:
    """Repeats calls in two processes of the baseline, which differ in what follows from the order of a set."""
    found = Replayed()
    lost = 0
    end = time.perf_counter() + REPLAY_SECONDS
    with ExitStack() as stack:
        lives: list[TargetProcess] = []
        for payload in payloads:
            if lost >= MOST_LOST or time.perf_counter() > end:
                found.dropped["not repeated, since others took too long or ended the process"] += 1
                continue
            lives = lives or [stack.enter_context(closing(_start(artifact, seed))) for seed in (1, 2)]
            answers = [process.call(payload, artifact.builder.task.limits.seconds) for process in lives]
            lost += _sort(artifact.builder.task, payload, answers, found)
            if any(isinstance(answer, Fault) for answer in answers):
                lives = []
    return found


def _sort(task: Task, payload: bytes, answers: Sequence[CallResult], found: Replayed) -> bool:
    """Says of a call what it is good for; returns whether it cost a process."""
    outcomes: list[bytes] = []
    for answer in answers:
        if isinstance(answer, Fault):
            found.dropped[" ".join(answer.detail.split())[:200]] += 1
            return True
        outcomes.append(answer[0])
    came = decode_call(outcomes[0])
    if came.kind == "unstorable":
        found.dropped[f"the outcome holds {came.value}"] += 1
    elif difference(outcomes[0], outcomes[1], task.oracle) is not None:
        found.dropped["the outcome is another each time"] += 1
    elif came.kind == "value":
        found.values.append((min(answer[1] for answer in answers if not isinstance(answer, Fault)), payload))
    else:
        found.raised.append(payload)
    return False


def _start(artifact: Artifact, hash_seed: int) -> TargetProcess:
    process = artifact.start(hash_seed=hash_seed)
    if isinstance(process, Fault):
        raise UsageError(f"{artifact.builder.task.target} does not load: {' '.join(process.detail.split())[:400]}")
    return process


def _expect_calls(task: Task, command: RecordedCommand, found: Recording, seconds: float) -> None:
    if found.payloads:
        return
    said = next((line.strip() for line in reversed(found.said.splitlines()) if line.strip()), "")[:200]
    start = f"--record {command.shown!r}"
    if found.code in UNKNOWN and not found.loaded:
        raise UsageError(f"{start}: no such command in the sandbox ({said}); give it as you would in {command.root}")
    if found.skipped:
        raise UsageError(f"{start}: none of {found.seen} calls of {task.name} can be stored: {_reasons(found.skipped)}")
    ended = _ended(found.code, seconds)
    if not found.loaded:
        other = f"; it loads {found.others[0]} instead" if found.others else ""
        what = f"never loads {task.path}{other}"
    else:
        what = f"loads {task.path.name} and never calls {task.symbol}"
    raise UsageError(f"{start} {ended} and {what}{f' (it said: {said})' if found.code else ''}")


def _ended(code: int, seconds: float) -> str:
    if code in (ENDED, KILLED):
        return f"did not end within {seconds:g} s"
    return f"ended with exit code {code}"


def summary(task: Task, found: Recording, replayed: Replayed, seconds: float) -> str:
    """Returns in one line what was recorded, and what was not, and why."""
    kept = len(replayed.values) + len(replayed.raised)
    parts = [f"recorded {found.seen} call{'s' if found.seen != 1 else ''} of {task.name}: {kept} distinct, as inputs"]
    if replayed.raised:
        parts[0] += f", on {len(replayed.raised)} of which it raises"
    if found.skipped:
        parts.append(f"{sum(found.skipped.values())} skipped: {_reasons(found.skipped)}")
    if replayed.dropped:
        parts.append(f"{replayed.dropped.total()} dropped: {_reasons(replayed.dropped)}")
    if found.code:
        parts.append(f"the command {_ended(found.code, seconds)}")
    return "; ".join(parts)


def _reasons(counts: Mapping[str, int]) -> str:
    usual = Counter(counts).most_common(3)
    return ", ".join(f"{reason} ({count})" for reason, count in usual)
