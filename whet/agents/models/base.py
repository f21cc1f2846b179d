"""What answers a prompt: the protocol of models, and the plain data on both sides of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from whet.core.profile import HotLine
from whet.core.signature import Signature


@dataclass(frozen=True, slots=True)
class Message:
    """One part of a prompt.

    Attributes:
        role: system, user or assistant.
        text: what it says.
        stable: whether all that precedes its end recurs in later prompts, so that a provider may cache it.
    """

    role: str
    text: str
    stable: bool = False


@dataclass(frozen=True, slots=True)
class Attempt:
    """What became of a candidate.

    Attributes:
        origin: who made it, and by which edit.
        note: its author's reason.
        correct: whether it was right, as far as it was checked.
        low: the least speedup over the version that it was made from; None where it was not timed.
        high: the largest.
    """

    origin: str
    note: str
    correct: bool
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class Brief:
    """The facts of a prompt as plain data, for models that are programs.

    Attributes:
        language: python, c, cpp or asm.
        kind: function or program.
        symbol: the function or ``Class.method``, where the target is one.
        source: the parent's text.
        hot: the parent's hot lines, hottest first.
        tried: ids (SHA-256 of the text) of all candidates that this run has seen.
        attempts: what became of the last candidates, the newest first.
        verdicts: for the Judge: one plain record a candidate of the round.
        signature: the contract of a native function.
        open_flags: whether the task leaves the compiler's flags open.
        isa: instruction set that native code is for.
        features: what native code may use of the machine beyond the least; empty is all that it has.
    """

    language: str
    kind: str
    symbol: str | None
    source: str
    hot: tuple[HotLine, ...] = ()
    tried: tuple[str, ...] = ()
    attempts: tuple[Attempt, ...] = ()
    verdicts: tuple[Mapping[str, Any], ...] = ()
    signature: Signature | None = None
    open_flags: bool = False
    isa: str = "x86_64"
    features: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Request:
    """One question to a model.

    Attributes:
        role: coder or judge.
        messages: the prompt.
        sample: distinguishes several answers to one prompt.
        max_tokens: the longest answer.
        brief: the same facts as plain data.
        place: which of how many questions it is, for people: no part of what is asked.
    """

    role: str
    messages: tuple[Message, ...]
    sample: int
    max_tokens: int
    brief: Brief
    place: str = ""


@dataclass(frozen=True, slots=True)
class Usage:
    """Token counts, normalised: the four never overlap.

    Attributes:
        input: read afresh, at the full price.
        cache_write: read afresh and put into the provider's cache.
        cache_read: read from the provider's cache.
        output: written, reasoning included.
    """

    input: int = 0
    cache_write: int = 0
    cache_read: int = 0
    output: int = 0

    @property
    def total(self) -> int:
        """All tokens."""
        return self.input + self.cache_write + self.cache_read + self.output


@dataclass(frozen=True, slots=True)
class Reply:
    """A model's answer.

    Attributes:
        text: the answer; empty where a model has nothing (more) to propose.
        model: who answered.
        usage: tokens.
        stop: ``end``, ``length`` (cut off) or ``refusal``.
        raw: what the provider sent, as plain JSON data, for the ledger.
    """

    text: str
    model: str
    usage: Usage = Usage()
    stop: str = "end"
    raw: Mapping[str, Any] = field(default_factory=dict)


COUNTED = "manual:"
"""How the names of free models begin whose questions somebody answers: a cap on calls counts these too."""


def is_counted(name: str, free: bool) -> bool:
    """Returns whether a cap on calls counts the questions to a model: all but those to programs of ours."""
    return not free or name.startswith(COUNTED)


class ModelError(Exception):
    """A model gave no usable answer.

    Attributes:
        retry_after: seconds after which another attempt makes sense; None where none does.
        fatal: whether no further call of this run can succeed (wrong key, no quota).
        billed: whether the failed call may have cost something.
        unreached: whether no connection stood: where that lasts, it is fatal.
    """

    def __init__(
        self,
        message: str,
        *,
        retry_after: float | None = None,
        fatal: bool = False,
        billed: bool = False,
        unreached: bool = False,
    ) -> None:
        super().__init__(message)
        self.retry_after = retry_after
        self.fatal = fatal
        self.billed = billed
        self.unreached = unreached


class Model(Protocol):
    """Anything that answers prompts."""

    @property
    def name(self) -> str:
        """As the user writes it after ``--model``."""

    @property
    def free(self) -> bool:
        """Whether calls cost neither money nor tokens."""

    def complete(self, request: Request) -> Reply:
        """Answers one request.

        Raises:
            ModelError: there is no usable answer.
        """
