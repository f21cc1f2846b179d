"""``whet bot action``: the same work as the server's, for the one event of a workflow run.

The stage ``work`` runs the pull request's code, in the sandbox, with a token that reads and no secret; the stage
``post`` runs none of it, and takes what the other wrote as data. ``all`` is both, for repositories that take no
strangers' pull requests.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from pydantic import BaseModel, ValidationError

from whet.bot import report
from whet.bot.checkout import Checkout
from whet.bot.engine import CommandEngine
from whet.bot.exchange import read_findings, write_findings
from whet.bot.findings import FunctionFinding, FunctionStatus
from whet.bot.flow import ASKED, Flow
from whet.bot.github import Workflow
from whet.bot.outcome import Stopped
from whet.bot.port import GitHub, Gone, Later, Pull, Refused
from whet.bot.publish import Publisher
from whet.bot.queue import Queue, QueuedJob
from whet.bot.request import WORK, DeliveryPlan, Request, RequestKind
from whet.bot.settings import JobLimits, Places
from whet.bot.webhook import Named, Sha, read_event
from whet.core.errors import UsageError, WhetError

LARGEST = 25 << 20
"""Bytes of an event, as GitHub writes them."""


class RunOfWorkflow(BaseModel):
    """The run that ended."""

    head_sha: Sha


class RunEvent(BaseModel):
    """What is used of the event ``workflow_run``."""

    workflow_run: RunOfWorkflow
    repository: Named


class GitHubError(WhetError):
    """GitHub did not do what an Action asked of it."""


def act(stage: str, file: Path, limits: JobLimits, environment: Mapping[str, str] = os.environ) -> str:
    """Does a stage of the work, and says what was done in one line.

    Args:
        stage: ``work``, ``post`` or ``all``.
        file: of the findings, between the stages.
        limits: of the job.
        environment: as GitHub sets it.

    Raises:
        UsageError: the environment, the event or the file of findings cannot be used.
        GitHubError: GitHub refused, or could not answer.
    """
    event, body = _event(environment)
    places = Places.read(environment)
    token = environment.get("GITHUB_TOKEN")
    if not token:
        raise UsageError("set GITHUB_TOKEN: ${{ github.token }}")
    with tempfile.TemporaryDirectory(prefix="whet-bot-", dir=environment.get("RUNNER_TEMP")) as folder:
        here = replace(places, folder=Path(folder))
        desk = _Desk(here, Workflow(token, here.api, here.writes_apart), limits)
        try:
            return desk.post(event, body, file) if stage == "post" else desk.work(event, body, file, stage == "all")
        except Stopped as stopped:
            return f"nothing posted: {stopped}"
        except (Gone, Refused, Later) as error:
            raise GitHubError(str(error)) from None
        finally:
            desk.queue.close()


class _Desk:
    """What both stages need."""

    def __init__(self, places: Places, workflow: Workflow, limits: JobLimits) -> None:
        self.queue = Queue(places.folder)
        self.workflow = workflow
        self.flow = Flow(self.queue, workflow.repository, CommandEngine(limits), places, limits, trusts_project=True)

    def work(self, event: str, body: bytes, file: Path, whole: bool) -> str:
        """Finds out what there is to say, and writes it to a file, or posts it at once."""
        order = _order(event, body)
        if order.request is None:
            return "nothing to do for this event"
        self.queue.accept([("the-event", order)])
        job = self.queue.claim(os.getpid())
        assert job is not None, "what was accepted waits"
        if job.request.kind not in WORK:
            return f"/whet {job.request.kind} is for the App: a workflow's runs are listed and cancelled by GitHub"
        if whole:
            return self.flow.run(job)
        return self._found_out(job, file)

    def _found_out(self, job: QueuedJob, file: Path) -> str:
        github = self.workflow.repository(job.request.repository, None)
        if job.request.comment is not None and not github.may_write(job.request.sender):
            return f"{job.request.sender} may not write to the repository"
        pull = github.pull(job.request.number)
        checkout = self.flow.check_out(job, github, pull)
        findings = self.flow.investigate(job, checkout, pull)
        write_findings(file, pull.number, checkout.head, job.request.kind, findings)
        return f"{report.headline(findings)}: {file}"

    def post(self, event: str, body: bytes, file: Path) -> str:
        """Posts what the stage ``work`` found, if it is about the pull request of this event as it stands now."""
        handed = read_findings(file)
        repository, number, head = _subject(event, body, handed.number)
        if number != handed.number or head not in (None, handed.head):
            raise UsageError("the findings are about another pull request than the event")
        github = self.workflow.repository(repository, None)
        pull = github.pull(handed.number)
        if not pull.open or pull.head != handed.head:
            raise Stopped("the head moved on, or the pull request was closed")
        findings = [one.finding() for one in handed.findings]
        vouched = event != "workflow_run"
        publisher = Publisher(self.queue, github, repository, pull)
        publisher.begin()
        text = report.summary(
            findings,
            pull.head,
            ASKED[handed.kind],
            vouched=vouched,
            also=self._offered(github, pull, publisher, findings),
        )
        worth = any(one.answer in (FunctionStatus.FASTER, FunctionStatus.SLOWER) for one in findings)
        publisher.summarise(text, anew=worth or handed.kind is not RequestKind.CHANGE)
        publisher.end(findings, text)
        return report.headline(findings)

    def _offered(self, github: GitHub, pull: Pull, publisher: Publisher, findings: list[FunctionFinding]) -> list[str]:
        """Offers the rewrites as suggestions; the code is only read, to see which lines the diff shows."""
        if not any(one.patch for one in findings):
            return []
        place = Request(RequestKind.OPTIMIZE, "", publisher.repository, pull.number)
        checkout: Checkout = self.flow.copy(place, "post", github, pull)
        return publisher.propose(checkout, findings, self.flow.url(place))


def _event(environment: Mapping[str, str]) -> tuple[str, bytes]:
    name, path = environment.get("GITHUB_EVENT_NAME", ""), environment.get("GITHUB_EVENT_PATH", "")
    if not name or not path:
        raise UsageError("GITHUB_EVENT_NAME and GITHUB_EVENT_PATH are not set: whet bot action runs in a workflow")
    try:
        with Path(path).open("rb") as file:
            body = file.read(LARGEST + 1)
    except OSError as error:
        raise UsageError(f"the event cannot be read: {error}") from None
    if len(body) > LARGEST:
        raise UsageError(f"the event is larger than {LARGEST} bytes")
    return name, body


def _order(event: str, body: bytes) -> DeliveryPlan:
    try:
        return read_event(event, body)
    except ValidationError as error:
        fault = error.errors()[0]
        raise UsageError(
            f"the event {event} is malformed: {'.'.join(map(str, fault['loc']))}: {fault['type']}"
        ) from None


def _subject(event: str, body: bytes, claimed: int) -> tuple[str, int, str | None]:
    """Returns repository, pull request and head that an event is about, as GitHub says.

    A ``workflow_run`` of a fork names no pull request: its head is GitHub's word, and the number is checked against it.
    """
    if event == "workflow_run":
        try:
            run = RunEvent.model_validate_json(body)
        except ValidationError as error:
            fault = error.errors()[0]
            raise UsageError(f"the event {event} is malformed: {'.'.join(map(str, fault['loc']))}") from None
        return run.repository.full_name, claimed, run.workflow_run.head_sha
    request = _order(event, body).request
    if request is None:
        raise UsageError(f"the event {event} asks for nothing")
    return request.repository, request.number, request.head
