"""The lines of training data: one frozen dataclass for each form, a line of JSON each.

The columns that trainers read stand under the names that they document: ``prompt`` and ``completion``, ``prompt``,
``chosen`` and ``rejected`` as lists of messages for TRL; ``query``, ``responses`` and ``scores`` for RRHF. All others
tell what the line rests on.
"""

from __future__ import annotations

from dataclasses import dataclass

from whet.core.profile import HotLine, MemoryLine


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a conversation, as chat templates take it."""

    role: str
    content: str


Messages = tuple[Message, ...]


@dataclass(frozen=True, slots=True)
class Subject:
    """The task that a line is about.

    Attributes:
        name: for people.
        language: of the target's file.
        filename: of the target, without a folder of this machine.
        symbol: the function, if it is one.
        metric: what counts.
        baseline: SHA-256 of the text to improve.
    """

    name: str
    language: str
    filename: str
    symbol: str | None
    metric: str
    baseline: str


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a run found of one text.

    Attributes:
        id: SHA-256 of the text's exact bytes.
        origin: who wrote it: a model's name, ``catalogue:EDIT``, ``file:NAME``, ``baseline``.
        labels: what kind of change it was found or claimed to be.
        outcome: faster, not_shown, slower, untimed or rejected.
        rung: that it fell from, if it was wrong.
        reason: why, as a code.
        reward: from -1 to 1; see `whet.agents.learning.rewards`.
        ratio: baseline / candidate; None where it was not timed, or is wrong.
        low: lower end of the interval.
        high: upper end of the interval.
        confirmed: whether it was shown faster a second time, on unseen inputs.
        run: where it was found.
    """

    id: str
    origin: str
    labels: tuple[str, ...]
    outcome: str
    rung: str | None
    reason: str | None
    reward: float
    ratio: float | None
    low: float | None
    high: float | None
    confirmed: bool
    run: str


@dataclass(frozen=True, slots=True)
class Overhead:
    """Where one text spends its time and memory.

    Attributes:
        source: what measured it.
        unit: what the shares are shares of.
        lines: hot lines, hottest first.
        peak_bytes: the most that was allocated at a time; None where it was not measured.
        memory: lines that hold most of it.
    """

    source: str
    unit: str
    lines: tuple[HotLine, ...]
    peak_bytes: int | None
    memory: tuple[MemoryLine, ...]


@dataclass(frozen=True, slots=True)
class Overheads:
    """What a solution takes, beside what the original takes.

    Attributes:
        baseline: profile of the original; None where the run has none.
        solution: profile of the solution; None where it was never built upon, nor the winner.
        cpu_seconds: of the original and of the solution in one pass over each timed input; None where not taken.
    """

    baseline: Overhead | None
    solution: Overhead | None
    cpu_seconds: tuple[float, float] | None


@dataclass(frozen=True, slots=True)
class RunTold:
    """A run that a line rests on: its id, the command, and when it began, in ISO 8601."""

    run: str
    command: str
    started: str


@dataclass(frozen=True, slots=True)
class Provenance:
    """Where a line comes from: the program that wrote it, and the runs that it rests on."""

    tool: str
    runs: tuple[RunTold, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """What all lines tell.

    Attributes:
        schema: the form's name and number.
        task: what was to be improved.
        licence: of the code in it, as stated by whoever exported it; ``unknown`` where nobody did.
        provenance: where it comes from.
    """

    schema: str
    task: Subject
    licence: str
    provenance: Provenance


@dataclass(frozen=True, slots=True, kw_only=True)
class SftLine(Line):
    """An efficient solution: shown to be faster, and nothing found wrong."""

    prompt: Messages
    completion: Messages
    solution: Judgement
    overhead: Overheads


@dataclass(frozen=True, slots=True, kw_only=True)
class RrhfLine(Line):
    """All candidates of one task, best first: ``responses``, ``scores`` and ``candidates`` are in one order."""

    query: str
    responses: tuple[str, ...]
    scores: tuple[float, ...]
    candidates: tuple[Judgement, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class DpoLine(Line):
    """A better answer and a worse one."""

    prompt: Messages
    chosen: Messages
    rejected: Messages
    better: Judgement
    worse: Judgement


@dataclass(frozen=True, slots=True)
class Segment:
    """A stretch of two texts: the same in both, or what stands at one place in each."""

    differs: bool
    correct: str
    incorrect: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FaultLine(Line):
    """A right text and a wrong one that are nearly equal.

    Attributes:
        prompt: the task, as in the other forms.
        chosen: the right one, as an answer.
        rejected: the wrong one, as an answer.
        correct: what was found of the right one.
        incorrect: what was found of the wrong one.
        segments: both texts in parts; ``correct`` and ``incorrect`` of all parts joined are the two files.
        similarity: twice the equal tokens over all tokens, 0 to 1.
    """

    prompt: Messages
    chosen: Messages
    rejected: Messages
    correct: Judgement
    incorrect: Judgement
    segments: tuple[Segment, ...]
    similarity: float
