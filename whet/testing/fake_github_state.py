"""What a GitHub of one's own knows: repositories, pull requests, comments, checks, reviews; and the rules between them.

The schemas are GitHub's business and are checked elsewhere; here stands what no schema says: who may do what, which
lines a review may point at, what a later request sees of an earlier one.
"""

from __future__ import annotations

import itertools
import re
import subprocess
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from whet.core.plain import to_plain

SLUG = "whet-test"
BOT = f"{SLUG}[bot]"
WORKFLOW = "github-actions[bot]"
LONGEST_BODY = 65_535  # characters of a comment, as GitHub takes; with more, texts that GitHub refuses would pass
CONCLUSIONS = ("success", "neutral", "failure", "cancelled", "skipped", "timed_out", "action_required")
HUNK = re.compile(r"^@@ -\d+(?:,\d+)? \+(\d+)(?:,(\d+))? @@", re.MULTILINE)

Json = Any


class ApiError(Exception):
    """An answer that is not the ordinary one."""

    def __init__(self, status: int, message: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.headers = dict(headers or {})


def run_git(folder: Path, *words: str) -> str:
    """Runs git on a repository of the fake's."""
    done = subprocess.run(
        ["git", "-c", "safe.directory=*", *words], cwd=folder, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


@dataclass(slots=True)
class PullRequest:
    """A pull request: its head is where the branch is, in the bare repository."""

    number: int
    branch: str
    base: str
    fork: str | None = None
    state: str = "open"
    title: str = ""
    body: str = ""
    user: str = "ada"


@dataclass(slots=True)
class Repository:
    """A repository and all that stands in it.

    Attributes:
        name: ``owner/name``.
        folder: the bare repository.
        installation: of the App; None where it is not installed.
        people: permissions by login.
    """

    name: str
    folder: Path
    installation: int | None
    people: dict[str, str] = field(default_factory=dict)
    pulls: dict[int, PullRequest] = field(default_factory=dict)
    comments: dict[int, dict[str, Json]] = field(default_factory=dict)
    checks: dict[int, dict[str, Json]] = field(default_factory=dict)
    reviews: dict[int, dict[str, Json]] = field(default_factory=dict)
    reactions: list[tuple[int, str]] = field(default_factory=list)


class State:
    """Everything; one thread at a time.

    Attributes:
        repositories: by name.
        lock: to be held while anything is read or changed.
    """

    def __init__(self) -> None:
        self.repositories: dict[str, Repository] = {}
        self.lock = threading.RLock()
        self._ids = itertools.count(1001)

    def comment(self, repository: Repository, number: int, user: str, body: str) -> int:
        """Writes a comment as somebody; returns its id."""
        with self.lock:
            id = next(self._ids)
            kind = "Bot" if user.endswith("[bot]") else "User"
            repository.comments[id] = {
                "id": id,
                "body": body,
                "issue": number,
                "user": {"login": user, "type": kind, "id": 1},
            }
            return id

    def heads(self, repository: Repository, pull: PullRequest) -> tuple[str, str]:
        """Returns the commits of head and base."""
        head = run_git(repository.folder, "rev-parse", f"refs/pull/{pull.number}/head")
        return head, run_git(repository.folder, "rev-parse", f"refs/heads/{pull.base}")

    def describe(self, repository: Repository, pull: PullRequest) -> dict[str, Json]:
        """Returns a pull request as GitHub writes it, with the fields that anybody reads here."""
        head, base = self.heads(repository, pull)
        source = {"full_name": pull.fork or repository.name}
        return {
            "number": pull.number,
            "state": pull.state,
            "draft": False,
            "title": pull.title,
            "body": pull.body,
            "user": {"login": pull.user, "type": "User", "id": 2},
            "head": {"sha": head, "ref": pull.branch, "repo": source},
            "base": {"sha": base, "ref": pull.base, "repo": {"full_name": repository.name}},
        }

    # what the API does; each returns status and body

    def permission(self, repository: Repository, login: str) -> Json:
        """Answers what somebody may do."""
        if login not in repository.people:
            raise ApiError(404, "Not Found")
        return {"permission": repository.people[login], "user": {"login": login}}

    def post_comment(self, repository: Repository, number: int, given: Json, login: str) -> Json:
        """Writes a comment."""
        return repository.comments[self.comment(repository, number, login, _body(given))]

    def edit_comment(self, repository: Repository, id: int, given: Json, login: str) -> Json:
        """Edits a comment of one's own."""
        comment = repository.comments.get(id)
        if comment is None:
            raise ApiError(404, "Not Found")
        if comment["user"]["login"] != login:
            raise ApiError(403, "Resource not accessible by integration")
        comment["body"] = _body(given)
        return comment

    def react(self, repository: Repository, id: int, given: Json) -> Json:
        """Adds a reaction; a second one like it changes nothing."""
        if id not in repository.comments:
            raise ApiError(404, "Not Found")
        if (id, given["content"]) not in repository.reactions:
            repository.reactions.append((id, given["content"]))
        return {"id": 1, "content": given["content"]}

    def post_check(self, repository: Repository, given: Json) -> Json:
        """Makes a check run."""
        id = next(self._ids)
        repository.checks[id] = {"id": id, "conclusion": None, **_check(given)}
        return repository.checks[id]

    def edit_check(self, repository: Repository, id: int, given: Json) -> Json:
        """Changes a check run."""
        if id not in repository.checks:
            raise ApiError(404, "Not Found")
        before = repository.checks[id]
        repository.checks[id] = {**before, "conclusion": None, **_check({**given, "head_sha": before["head_sha"]})}
        return repository.checks[id]

    def post_review(self, repository: Repository, number: int, given: Json, login: str) -> Json:
        """Writes a review; its comments lie on lines that the diff shows."""
        pull = repository.pulls[number]
        head, base = self.heads(repository, pull)
        if given.get("commit_id") != head:
            raise ApiError(422, "commit_id is not part of the pull request")
        for one in given.get("comments", []):
            diff = run_git(repository.folder, "diff", f"{base}...{head}", "--", one["path"])
            shown = [(int(start), int(start) + int(count or 1) - 1) for start, count in HUNK.findall(diff)]
            first, last = one.get("start_line", one["line"]), one["line"]
            if first > last or not any(low <= first and last <= high for low, high in shown):
                raise ApiError(422, "pull_request_review_thread.line must be part of the diff")
            _body(one)
        id = next(self._ids)
        repository.reviews[id] = {"id": id, "pull": number, "user": {"login": login, "type": "Bot", "id": 1}, **given}
        return repository.reviews[id]

    def post_pull(self, repository: Repository, given: Json, login: str) -> Json:
        """Opens a pull request between branches that there are."""
        branches = run_git(repository.folder, "for-each-ref", "--format=%(refname:short)", "refs/heads").split()
        if not {given["head"], given["base"]} <= set(branches):
            raise ApiError(422, "Validation Failed: no such branch")
        if any(one.branch == given["head"] and one.state == "open" for one in repository.pulls.values()):
            raise ApiError(422, "Validation Failed: a pull request already exists")
        number = self.open(repository, given["head"], given["base"], user=login)
        pull = repository.pulls[number]
        pull.title, pull.body = given["title"], _body(given)
        return self.describe(repository, pull)

    def open(self, repository: Repository, branch: str, base: str = "main", **more: Any) -> int:
        """Opens a pull request from a branch; returns its number."""
        with self.lock:
            number = next(self._ids)
            repository.pulls[number] = PullRequest(number, branch, base, **more)
            run_git(repository.folder, "update-ref", f"refs/pull/{number}/head", f"refs/heads/{branch}")
            return number

    def snapshot(self, name: str) -> dict[str, Json]:
        """Returns a repository as plain data."""
        with self.lock:
            plain: dict[str, Json] = to_plain(self.repositories[name])
            return plain


def _body(given: Json) -> str:
    body = given.get("body")
    if not isinstance(body, str) or not body.strip():
        raise ApiError(422, "Validation Failed: body is missing")
    if len(body) > LONGEST_BODY:
        raise ApiError(422, f"Validation Failed: body is longer than {LONGEST_BODY} characters")
    return body


def _check(given: Json) -> Json:
    if given.get("status") == "completed" and given.get("conclusion") not in CONCLUSIONS:
        raise ApiError(422, "Validation Failed: a completed check run takes a conclusion")
    if not given.get("head_sha"):
        raise ApiError(422, "Validation Failed: head_sha is missing")
    return given
