"""What is said of a change between two revisions of a repository: the document ``whet.revision/1``."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from whet.core.errors import Exit
from whet.core.measurement import Measurement, Speedup
from whet.core.plain import to_plain
from whet.core.result import EXIT_OF, Status

SCHEMA = "whet.revision/1"


class RevisionAnswer(StrEnum):
    """What a change comes to, of one function or altogether."""

    FASTER = "faster"
    NOT_SHOWN = "not_shown"
    SLOWER = "slower"
    WRONG = "wrong"
    NOT_JUDGED = "not_judged"


@dataclass(frozen=True, slots=True)
class FunctionAnswer:
    """What is said of one changed function.

    Attributes:
        target: as `whet verify` takes it, from the repository's folder.
        answer: what its change comes to.
        why: one line.
        speedup: where it was timed.
        run: id of the run that judged it; None where there was none.
    """

    target: str
    answer: RevisionAnswer
    why: str
    speedup: Speedup | None = None
    run: str | None = None


@dataclass(frozen=True, slots=True)
class RevisionResult:
    """The outcome of `verify` on two revisions.

    Attributes:
        run: id of the run.
        root: the user's checkout.
        before: hash of the commit that is the baseline.
        after: hash of the commit that is judged.
        status: how it ended.
        answer: what the change comes to altogether.
        functions: that it changes.
        tests: how many tests that passed before pass after; None where there are no tests.
        failing: tests that passed before, and fail after.
        gone: tests that passed before, and are not there any more.
        command: that was measured; None where there is none but the tests.
        end_to_end: the command before and after; None where it was not measured.
        seconds: wall time.
        message: one line on why it ended so.
    """

    run: str
    root: str
    before: str
    after: str
    status: Status
    answer: RevisionAnswer
    functions: tuple[FunctionAnswer, ...]
    tests: int | None
    failing: tuple[str, ...]
    gone: tuple[str, ...]
    command: str | None
    end_to_end: Measurement | None
    seconds: float
    message: str

    @property
    def exit_code(self) -> Exit:
        """The exit code of a command that ends in this result."""
        return EXIT_OF[self.status]

    def to_json(self) -> dict[str, Any]:
        """Returns the document as plain JSON data."""
        return {"schema": SCHEMA, **to_plain(self)}
