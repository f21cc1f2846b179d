"""Reads what GitHub sends: the signature over the raw bytes first, then the few fields that are used."""

from __future__ import annotations

import hashlib
import hmac
import re
from typing import Annotated

from pydantic import BaseModel, Field, StringConstraints

from whet.bot.commands import find_command
from whet.bot.request import DeliveryPlan, Request, RequestKind, Withdrawal

EVENTS = ("pull_request", "issue_comment", "check_run", "installation", "installation_repositories")
LOOKED_AT = ("opened", "synchronize", "reopened", "ready_for_review")
CHECK_ID = re.compile(r"whet/(\d{1,10})/[0-9a-f]{40,64}")
"""What the bot's own check runs are named by: the pull request and its head."""

Id = Annotated[int, Field(gt=0, lt=1 << 63)]
"""A number that the queue can store."""
Sha = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{40,64}$")]
FullName = Annotated[
    str,
    StringConstraints(
        pattern=r"^[A-Za-z0-9_-][A-Za-z0-9_.-]*/[A-Za-z0-9_.-]*[A-Za-z0-9_-][A-Za-z0-9_.-]*$", max_length=200
    ),
]
"""Names folders too, and so is no way out of one."""


class User(BaseModel):
    """Who did something; the type tells people from programs."""

    login: str = ""
    type: str = ""


class Named(BaseModel):
    """A repository."""

    full_name: FullName


class Installed(BaseModel):
    """An installation of the App."""

    id: Id


class Commit(BaseModel):
    """One side of a pull request."""

    sha: Sha


class PullRequest(BaseModel):
    """A pull request, as events carry it."""

    number: Id
    head: Commit
    draft: bool = False


class Issue(BaseModel):
    """What a comment stands under: ``pull_request`` is there where it is one."""

    number: Id
    state: str = "open"
    pull_request: dict[str, object] | None = None


class Comment(BaseModel):
    """A comment."""

    id: Id
    body: str | None = None
    user: User | None = None


class CheckRun(BaseModel):
    """A check run."""

    id: Id
    external_id: str | None = None
    completed_at: str | None = None


class Payload(BaseModel):
    """The fields of all events that are used; what an event lacks is None, and the rest is not looked at."""

    action: str = ""
    before: str | None = None
    installation: Installed | None = None
    repository: Named | None = None
    sender: User = Field(default_factory=User)
    pull_request: PullRequest | None = None
    issue: Issue | None = None
    comment: Comment | None = None
    check_run: CheckRun | None = None
    repositories_removed: list[Named] = Field(default_factory=list)

    @property
    def by_a_program(self) -> bool:
        """Whether no person did it."""
        return self.sender.type == "Bot"


def signed(secret: bytes, body: bytes, header: str) -> bool:
    """Whether ``X-Hub-Signature-256`` is that of these bytes; takes the same time for every wrong one."""
    expected = f"sha256={hmac.new(secret, body, hashlib.sha256).hexdigest()}"
    return hmac.compare_digest(expected.encode(), header.encode("utf-8", "replace"))


def read_event(event: str, body: bytes | str) -> DeliveryPlan:
    """Returns what an event comes to: nothing for those that the bot does not answer.

    Raises:
        pydantic.ValidationError: the body is no JSON object, or a field that is used has another form.
    """
    if event not in EVENTS:
        return DeliveryPlan()
    payload = Payload.model_validate_json(body)
    readers = {"pull_request": _pull_request, "issue_comment": _comment, "check_run": _check_run}
    return readers.get(event, _installation)(payload)


def _pull_request(payload: Payload) -> DeliveryPlan:
    pull, repository = payload.pull_request, payload.repository
    if pull is None or repository is None:
        return DeliveryPlan()
    name, number = repository.full_name, pull.number
    gone: tuple[Withdrawal, ...] = ()
    if payload.action == "closed":
        return DeliveryPlan(withdrawals=(Withdrawal("the pull request was closed", repository=name, number=number),))
    if payload.action == "synchronize" and payload.before:
        gone = (Withdrawal("the head moved on", repository=name, number=number, head=payload.before),)
    if payload.action not in LOOKED_AT or pull.draft or payload.by_a_program:
        return DeliveryPlan(withdrawals=gone)
    origin = f"head/{name}/{number}/{pull.head.sha}"
    return DeliveryPlan(_request(payload, RequestKind.CHANGE, origin, pull.number, head=pull.head.sha), gone)


def _comment(payload: Payload) -> DeliveryPlan:
    comment, issue = payload.comment, payload.issue
    if payload.action != "created" or comment is None or issue is None or payload.repository is None:
        return DeliveryPlan()
    people = not payload.by_a_program and (comment.user is None or comment.user.type != "Bot")
    if issue.pull_request is None or issue.state != "open" or not people:
        return DeliveryPlan()
    command = find_command(comment.body or "")
    if command is None:
        return DeliveryPlan()
    origin = f"comment/{payload.repository.full_name}/{comment.id}"
    return DeliveryPlan(
        _request(
            payload,
            command.kind,
            origin,
            issue.number,
            comment=comment.id,
            target=command.target,
            budget_usd=command.budget_usd,
        )
    )


def _check_run(payload: Payload) -> DeliveryPlan:
    check = payload.check_run
    ours = CHECK_ID.fullmatch(check.external_id or "") if check is not None else None
    if payload.action != "rerequested" or check is None or ours is None or payload.repository is None:
        return DeliveryPlan()
    origin = f"again/{payload.repository.full_name}/{check.id}/{check.completed_at}"
    return DeliveryPlan(_request(payload, RequestKind.OPTIMIZE, origin, int(ours[1])))


def _installation(payload: Payload) -> DeliveryPlan:
    if payload.installation is None:
        return DeliveryPlan()
    id = payload.installation.id
    if payload.action in ("deleted", "suspend"):
        return DeliveryPlan(withdrawals=(Withdrawal("the App was removed", installation=id),))
    return DeliveryPlan(
        withdrawals=tuple(
            Withdrawal("the App was removed from the repository", installation=id, repository=removed.full_name)
            for removed in payload.repositories_removed
        )
    )


def _request(payload: Payload, kind: RequestKind, origin: str, number: int, **more: object) -> Request:
    assert payload.repository is not None
    installation = None if payload.installation is None else payload.installation.id
    return Request(
        kind,
        origin,
        payload.repository.full_name,
        number,
        installation,
        sender=payload.sender.login,
        **more,  # type: ignore[arg-type]
    )
