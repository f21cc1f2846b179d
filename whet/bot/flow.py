"""What the bot does about one request. Each step's outcome is stored before the next, so that a kill costs one step."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from whet.bot import report
from whet.bot.checkout import Checkout, check_out, fetch, git
from whet.bot.engine import Engine, Work
from whet.bot.findings import FunctionFinding, FunctionStatus
from whet.bot.outcome import Stopped
from whet.bot.port import GitHub, Gone, Later, Pull, Reaction, Refused
from whet.bot.project import FILES, Project, read_project
from whet.bot.publish import Publisher
from whet.bot.queue import JobState, Queue, QueuedJob
from whet.bot.request import WORK, Request, RequestKind, Withdrawal
from whet.bot.settings import JobLimits, Places
from whet.bot.touched import Function, functions, named, that_matter, touched
from whet.core.plain import from_plain, to_plain

FINDINGS, ADMITTED = "findings", "admitted"
WATCH = 0.5
"""Seconds between looks at whether a job is still wanted."""
ASKED = {
    RequestKind.CHANGE: "What this pull request changes",
    RequestKind.OPTIMIZE: "As asked with `/whet optimize`",
    RequestKind.VERIFY: "As asked with `/whet verify`",
}
Open = Callable[[str, int | None], GitHub]


class Flow:
    """Carries out requests.

    Args:
        queue: remembers each step.
        open_repository: gives a repository, as an installation.
        engine: makes functions faster.
        places: where things are.
        limits: of one job.
        trusts_project: whether the repository's own configuration may name the model: where its keys pay.
    """

    def __init__(
        self,
        queue: Queue,
        open_repository: Open,
        engine: Engine,
        places: Places,
        limits: JobLimits,
        *,
        trusts_project: bool = False,
    ) -> None:
        self._queue = queue
        self._open = open_repository
        self._engine = engine
        self._places = places
        self._limits = limits
        self._trusts_project = trusts_project

    def run(self, job: QueuedJob) -> str:
        """Does a job, or what is left of it, and says what was done.

        Raises:
            Stopped: it is no longer wanted.
            Later: GitHub could not answer now.
            Gone: the pull request or the installation is no longer there.
            UsageError: what was asked for does not exist, or the configuration cannot be used.
        """
        request = job.request
        github = self._open(request.repository, request.installation)
        if not self.admits(job, github):
            return f"{request.sender} may not write to the repository"
        pull = github.pull(request.number)
        publisher = Publisher(self._queue, github, request.repository, pull)
        if request.kind not in WORK:
            said = self._answer(job, publisher)
        else:
            _expect_wanted(request, pull)
            publisher.begin()
            checkout = self.check_out(job, github, pull)
            findings = self.investigate(job, checkout, pull)
            said = self.tell(request, publisher, checkout, findings)
            shutil.rmtree(self._folder(job), ignore_errors=True)
        _react(github, request, "rocket")
        return said

    def give_up(self, job: QueuedJob, why: str) -> None:
        """Completes what would look as if it were still under way."""
        request = job.request
        github = self._open(request.repository, request.installation)
        head = self._queue.fact(job.id, "head")
        if request.kind in WORK and head is not None:
            pull = Pull(request.number, False, head, "", "", "", False)
            Publisher(self._queue, github, request.repository, pull).leave(why)
        _react(github, request, "confused")
        shutil.rmtree(self._folder(job), ignore_errors=True)

    def admits(self, job: QueuedJob, github: GitHub) -> bool:
        """Whether who wrote a command may write to the repository; the rest was checked by GitHub."""
        request = job.request
        if request.comment is None:
            return True
        if self._queue.fact(job.id, ADMITTED) is None:
            admitted = github.may_write(request.sender)
            github.react(request.comment, "eyes" if admitted else "confused")
            self._queue.set_fact(job.id, ADMITTED, admitted)
        return bool(self._queue.fact(job.id, ADMITTED))

    def check_out(self, job: QueuedJob, github: GitHub, pull: Pull) -> Checkout:
        """Fetches the pull request and writes both of its sides.

        Raises:
            Stopped: the head is another by now.
        """
        self._queue.set_fact(job.id, "head", pull.head)
        return self.copy(job.request, str(job.id), github, pull)

    def copy(self, request: Request, name: str, github: GitHub, pull: Pull) -> Checkout:
        """Fetches a pull request and writes both of its sides into a folder of that name."""
        store = self._places.folder / "repositories" / f"{request.repository}.git"
        head, trusted = fetch(store, self.url(request), pull.number, pull.base, github.reading_token())
        if head != pull.head:
            raise Stopped(f"the head moved on to {head[:10]}")
        return check_out(store, self._places.folder / "jobs" / name, head, trusted)

    def investigate(self, job: QueuedJob, checkout: Checkout, pull: Pull) -> list[FunctionFinding]:
        """Finds out what there is to say, or recalls it.

        Raises:
            Stopped: it is no longer wanted.
        """
        stored = self._queue.fact(job.id, FINDINGS)
        if stored is not None:
            return from_plain(list[FunctionFinding], stored)
        request = job.request
        project = read_project(_files(checkout))
        work = Work(
            checkout.tree, checkout.base_tree, checkout.head, checkout.base, self._folder(job) / "runs", project
        )
        with self._watched(job.id) as cancel:
            chosen = self._chosen(request, checkout, work, cancel)
            found: list[FunctionFinding] = []
            if request.kind is not RequestKind.OPTIMIZE:
                found += self._engine.verify(work, _in_both(checkout, chosen), cancel)
            if request.kind is not RequestKind.VERIFY:
                budget = min(self._limits.budget_usd, request.budget_usd or self._limits.budget_usd)
                found += self._engine.optimize(work, chosen, self._model(request, project, pull), budget, cancel)
            if cancel.is_set():
                raise Stopped(self._queue.cancelled(job.id) or "it was told to end")
        self._queue.set_fact(job.id, FINDINGS, to_plain(found))
        return found

    def tell(self, request: Request, publisher: Publisher, checkout: Checkout, findings: list[FunctionFinding]) -> str:
        """Posts what was found.

        Raises:
            Stopped: the head is another by now.
        """
        publisher.expect_head()
        also = publisher.propose(checkout, findings, self.url(request))
        text = report.summary(findings, checkout.head, ASKED[request.kind], also=also)
        worth = any(one.answer in (FunctionStatus.FASTER, FunctionStatus.SLOWER) for one in findings)
        # Nobody is bothered with a comment that says nothing; one that stands is kept true.
        publisher.summarise(text, anew=worth or request.comment is not None)
        publisher.end(findings, text)
        return report.headline(findings)

    def _answer(self, job: QueuedJob, publisher: Publisher) -> str:
        request = job.request
        others = [one for one in self._queue.jobs_at(request.repository, request.number) if one.request.kind in WORK]
        if request.kind is RequestKind.CANCEL:
            why = f"cancelled by {request.sender}"
            withdrawal = Withdrawal(why, repository=request.repository, number=request.number)
            return f"{self._queue.withdraw(withdrawal, besides=job.id)} cancelled"
        if request.kind is RequestKind.STATUS:
            publisher.reply(str(request.comment), report.status(others))
        else:
            done = next((one for one in others if one.state is JobState.DONE), None)
            findings = from_plain(list[FunctionFinding], (done and self._queue.fact(done.id, FINDINGS)) or [])
            head = (done and self._queue.fact(done.id, "head")) or publisher.pull.head
            publisher.reply(str(request.comment), report.explanation(findings, head))
        return "answered"

    def _chosen(self, request: Request, checkout: Checkout, work: Work, cancel: threading.Event) -> list[Function]:
        project = work.project
        if request.target is not None:
            chosen = named(checkout, request.target)
        elif chosen := touched(checkout, project.ignore):
            chosen = that_matter(chosen, self._engine.shares(work, cancel), project.min_share)
        top = self._limits.top if project.top is None else min(project.top, self._limits.top)
        return chosen[:top]

    def _model(self, request: Request, project: Project, pull: Pull) -> str:
        # A stranger's pull request spends nobody's money unless somebody who may write asks.
        if request.kind is RequestKind.CHANGE and pull.fork:
            return "catalogue"
        return (project.model if self._trusts_project else None) or self._limits.model

    def _folder(self, job: QueuedJob) -> Path:
        return self._places.folder / "jobs" / str(job.id)

    def url(self, request: Request) -> str:
        """Returns where a repository's code is."""
        return self._places.code.format(repository=request.repository)

    @contextmanager
    def _watched(self, job: int) -> Iterator[threading.Event]:
        """Gives an event that is set once the job is no longer wanted."""
        cancel, over = threading.Event(), threading.Event()

        def watch() -> None:
            while not over.wait(WATCH):
                if self._queue.cancelled(job) is not None:
                    cancel.set()

        watcher = threading.Thread(target=watch, daemon=True)
        watcher.start()
        try:
            yield cancel
        except Stopped:
            raise Stopped(self._queue.cancelled(job) or "it was told to end") from None
        finally:
            over.set()
            watcher.join()


def _expect_wanted(request: Request, pull: Pull) -> None:
    if not pull.open:
        raise Stopped("the pull request was closed")
    if request.head is not None and request.head != pull.head:
        raise Stopped(f"the head moved on to {pull.head[:10]}")


def _files(checkout: Checkout) -> dict[str, str]:
    """Returns the configuration as it stands on the base branch."""
    names = git(checkout.store, "ls-tree", "--name-only", checkout.trusted).splitlines()
    return {name: git(checkout.store, "show", f"{checkout.trusted}:{name}") for name in FILES if name in names}


def _in_both(checkout: Checkout, chosen: list[Function]) -> list[Function]:
    """Returns the functions that the base has too, and whose text differs there."""

    def text(tree: Path, one: Function) -> str:
        lines = (tree / one.path).read_text(encoding="utf-8", errors="replace").splitlines()
        return "\n".join(lines[one.start - 1 : one.end])

    before = {
        path: {one.symbol: one for one in functions(checkout.base_tree, path)} for path in {one.path for one in chosen}
    }
    return [
        one
        for one in chosen
        if (old := before[one.path].get(one.symbol)) is not None
        and text(checkout.base_tree, old) != text(checkout.tree, one)
    ]


def _react(github: GitHub, request: Request, reaction: Reaction) -> None:
    """Marks a command; a comment that was deleted meanwhile is no reason to fail."""
    if request.comment is not None:
        with suppress(Gone, Refused, Later):
            github.react(request.comment, reaction)
