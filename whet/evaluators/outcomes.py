"""What came of one call of a function and of one run of a program, decoded where a process's answer is looked at."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from whet.sandbox.inside.decode import decode


@dataclass(frozen=True, slots=True)
class CallOutcome:
    """What came of one call, as `whet.sandbox.inside.invocation.stored` writes it; a candidate's is hostile.

    Attributes:
        kind: whether it returned, raised, ran out of memory, or gave what cannot be stored.
        after: the arguments after the call; None where they are as they came, for targets that say so.
        instance: the object after a call of its method; None for a function.
        value: what was returned; of an exception its class, text and place; else why there is none.
        stdout: what the call printed.
    """

    kind: Literal["value", "raise", "memory", "unstorable"]
    after: Any
    instance: Any
    value: Any
    stdout: str

    @classmethod
    def of(cls, parts: object) -> CallOutcome:
        """Returns what decoded parts come to; the values among them are looked at by whoever uses them.

        Raises:
            ValueError: the harness does not write such a thing.
        """
        if not isinstance(parts, tuple) or len(parts) != 5:
            raise ValueError("not in the form that the harness writes")
        return cls(*parts)

    @property
    def exception(self) -> str:
        """The name of the exception's class within its module; empty where none was raised."""
        if self.kind != "raise":
            return ""
        name: str = self.value[0].rpartition(":")[2]
        return name

    @property
    def error(self) -> str:
        """The last part of that name."""
        return self.exception.rpartition(".")[2]


@dataclass(frozen=True, slots=True)
class RunOutcome:
    """What came of one run of a program.

    Attributes:
        code: its exit code.
        stdout: what it printed.
        stderr: the end of what it printed there.
    """

    code: int
    stdout: bytes
    stderr: bytes


def decode_call(data: bytes) -> CallOutcome:
    """Returns the outcome of a call as plain data.

    Raises:
        CodecError: it cannot be decoded.
        ValueError: the harness does not write such a thing.
    """
    return CallOutcome.of(decode(data))


def decode_run(data: bytes) -> RunOutcome:
    """Returns the outcome of a run, which whet itself encoded."""
    return RunOutcome(*decode(data))
