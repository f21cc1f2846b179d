"""What a webhook or an event of an Action asks of the bot: plain values, checked once where they enter."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

TARGET = re.compile(r"(?![-/])(?!.*(?:^|/)\.\.?(?:/|::|$))[\w./+-]{1,300}(?:::[A-Za-z_][\w.]{0,200})?", re.ASCII)
"""A path within the repository, never an option and never above it, with a function's name. Others are left alone."""


class RequestKind(StrEnum):
    """What is to be done."""

    CHANGE = "change"
    OPTIMIZE = "optimize"
    VERIFY = "verify"
    STATUS = "status"
    CANCEL = "cancel"
    EXPLAIN = "explain"


WORK = (RequestKind.CHANGE, RequestKind.OPTIMIZE, RequestKind.VERIFY)
"""Those that run code; the others answer at once, beside a run on the same pull request."""


@dataclass(frozen=True, slots=True)
class Request:
    """Something to do on one pull request.

    Attributes:
        kind: what.
        origin: names what asked for it; of two requests with one origin the second is a replay.
        repository: ``owner/name``.
        number: of the pull request.
        installation: of the App in that repository; None under the Action.
        head: the commit it is about, where the event says so.
        sender: the login of who asked.
        comment: id of the comment that asked, for a command.
        target: ``path`` or ``path::symbol``; None takes what the pull request changes.
        budget_usd: cap on what models may cost, as asked for.
    """

    kind: RequestKind
    origin: str
    repository: str
    number: int
    installation: int | None = None
    head: str | None = None
    sender: str = ""
    comment: int | None = None
    target: str | None = None
    budget_usd: float | None = None

    @property
    def place(self) -> str:
        """Names the pull request."""
        return f"{self.repository}#{self.number}"


@dataclass(frozen=True, slots=True)
class Withdrawal:
    """Work that nobody waits for any longer; what is None matches everything.

    Attributes:
        why: one line.
        installation: of an App that was removed.
        repository: ``owner/name``.
        number: of a pull request.
        head: a commit that was the head before.
    """

    why: str
    installation: int | None = None
    repository: str | None = None
    number: int | None = None
    head: str | None = None


@dataclass(frozen=True, slots=True)
class DeliveryPlan:
    """All that one delivery comes to.

    Attributes:
        request: what is to be done, if anything.
        withdrawals: what is to be left.
    """

    request: Request | None = None
    withdrawals: tuple[Withdrawal, ...] = ()
