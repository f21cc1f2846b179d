"""GitHub through PyGithub: one try a request; what failed for now becomes `Later`, and the queue tries again."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

import requests
from github import Auth, Github, GithubException, GithubIntegration

from whet.bot.port import Conclusion, Gone, Later, Pull, Reaction, Refused, Suggestion

if TYPE_CHECKING:
    from github.Repository import Repository

CHECK = "whet"
ACTIONS_LOGIN = "github-actions[bot]"
"""Whose name stands on what the token of a workflow posts."""
TIMEOUT = 30
"""Seconds that GitHub may take to accept a connection, or to send more of an answer; the job is tried again later then.
A smaller value gives up on slow answers, a larger one lets a lost connection hold a worker for longer."""
SECONDARY = 60.0
"""Seconds to wait after a secondary rate limit that names none, as GitHub asks for."""
READ, WRITE = {"contents": "read"}, {"contents": "write"}


@contextmanager
def translated() -> Iterator[None]:
    """Turns PyGithub's errors into those of the port. Their texts hold no header, and so no token."""
    try:
        yield
    except GithubException as error:
        raise _meaning(error) from None
    except requests.RequestException as error:
        raise Later(f"GitHub could not be reached: {type(error).__name__}") from None


def _meaning(error: GithubException) -> Exception:
    headers = {name.lower(): value for name, value in (error.headers or {}).items()}
    said = str(error.data.get("message", "")) if isinstance(error.data, dict) else ""
    line = f"GitHub answered {error.status}: {said or 'nothing more'}"
    wait = _seconds(headers)
    limited = error.status == 429 or (
        error.status == 403
        and (wait is not None or headers.get("x-ratelimit-remaining") == "0" or "rate limit" in said)
    )
    if limited:
        return Later(line, SECONDARY if wait is None else wait, limited=True)
    if error.status in (408, 409) or error.status >= 500:
        return Later(line, wait)
    if error.status in (401, 403, 404, 410, 451):
        return Gone(line)
    return Refused(line)


def _seconds(headers: dict[str, str]) -> float | None:
    """Returns how long GitHub asks to wait, if it does."""
    try:
        if "retry-after" in headers:
            return max(1.0, float(headers["retry-after"]))
        if headers.get("x-ratelimit-remaining") == "0":
            return max(1.0, float(headers["x-ratelimit-reset"]) - time.time())
    except (KeyError, ValueError):
        return None
    return None


class Repo:
    """One repository; see `whet.bot.port.GitHub`.

    Args:
        client: is authenticated.
        name: ``owner/name``.
        login: whose name stands on what the client posts.
        token: gives a token with the permissions asked for.
    """

    def __init__(self, client: Github, name: str, login: str, token: Callable[[dict[str, str]], str | None]) -> None:
        self._client = client
        self._repository: Repository = client.get_repo(name)
        self._name = name
        self._login = login
        self._token = token

    def pull(self, number: int) -> Pull:
        """Returns a pull request."""
        with translated():
            pull = self._repository.get_pull(number)
            head = pull.head.repo
            return Pull(
                number=number,
                open=pull.state == "open",
                head=pull.head.sha,
                branch=pull.head.ref,
                base=pull.base.ref,
                base_sha=pull.base.sha,
                fork=head is None or head.full_name != pull.base.repo.full_name,
            )

    def may_write(self, login: str) -> bool:
        """Whether somebody may write; who maintains is told as ``write``."""
        try:
            with translated():
                return self._repository.get_collaborator_permission(login) in ("admin", "write")
        except Gone:
            return False

    def react(self, comment: int, reaction: Reaction) -> None:
        """Adds a reaction to a comment."""
        with translated():
            self._client.requester.requestJsonAndCheck(
                "POST", f"/repos/{self._name}/issues/comments/{comment}/reactions", input={"content": reaction}
            )

    def find_comment(self, number: int, marker: str) -> str | None:
        """Returns the id of the bot's comment that holds a marker."""
        with translated():
            for comment in self._repository.get_issue(number).get_comments():
                if comment.user.login == self._login and marker in (comment.body or ""):
                    return str(comment.id)
        return None

    def comment(self, number: int, body: str) -> str:
        """Writes a comment and returns its id."""
        with translated():
            return str(self._repository.get_issue(number).create_comment(body).id)

    def edit_comment(self, number: int, id: str, body: str) -> None:
        """Replaces a comment's text."""
        with translated():
            self._client.requester.requestJsonAndCheck(
                "PATCH", f"/repos/{self._name}/issues/comments/{int(id)}", input={"body": body}
            )

    def find_check(self, head: str, external_id: str) -> str | None:
        """Returns the id of the bot's check run of a commit."""
        with translated():
            for check in self._repository.get_commit(head).get_check_runs(check_name=CHECK):
                if check.external_id == external_id:
                    return str(check.id)
        return None

    def start_check(self, head: str, external_id: str, summary: str) -> str:
        """Makes a check run that is in progress and returns its id."""
        with translated():
            check = self._repository.create_check_run(
                CHECK,
                head,
                external_id=external_id,
                status="in_progress",
                output={"title": "whet is at work", "summary": summary},
            )
            return str(check.id)

    def restart_check(self, id: str, summary: str) -> None:
        """Sets a check run to in progress."""
        output = {"title": "whet is at work", "summary": summary}
        self._edit_check(id, {"status": "in_progress", "output": output})

    def end_check(self, id: str, conclusion: Conclusion, title: str, summary: str) -> None:
        """Completes a check run."""
        output = {"title": title, "summary": summary}
        self._edit_check(id, {"status": "completed", "conclusion": conclusion, "output": output})

    def _edit_check(self, id: str, change: dict[str, object]) -> None:
        with translated():
            self._client.requester.requestJsonAndCheck(
                "PATCH", f"/repos/{self._name}/check-runs/{int(id)}", input=change
            )

    def find_review(self, number: int, marker: str) -> str | None:
        """Returns the id of the bot's review that holds a marker."""
        with translated():
            for review in self._repository.get_pull(number).get_reviews():
                if review.user is not None and review.user.login == self._login and marker in (review.body or ""):
                    return str(review.id)
        return None

    def review(self, number: int, head: str, body: str, suggestions: Sequence[Suggestion]) -> str:
        """Writes a review of a commit and returns its id."""
        comments = [_comment(one) for one in suggestions]
        with translated():
            _, review = self._client.requester.requestJsonAndCheck(
                "POST",
                f"/repos/{self._name}/pulls/{number}/reviews",
                input={"commit_id": head, "event": "COMMENT", "body": body, "comments": comments},
            )
            return str(review["id"])

    def find_pull_from(self, branch: str) -> str | None:
        """Returns the number of a pull request from a branch of the repository."""
        owner = self._name.partition("/")[0]
        with translated():
            for pull in self._repository.get_pulls(state="all", head=f"{owner}:{branch}"):
                if pull.head.ref == branch:
                    return str(pull.number)
        return None

    def open_pull(self, base: str, branch: str, title: str, body: str) -> str:
        """Opens a pull request and returns its number."""
        with translated():
            return str(self._repository.create_pull(base=base, head=branch, title=title, body=body).number)

    def reading_token(self) -> str | None:
        """Returns a token that may read the code, and no more where the App asks for one."""
        return self._token(READ)

    def writing_token(self) -> str | None:
        """Returns a token that may push branches, and no more where the App asks for one."""
        return self._token(WRITE)


def _comment(one: Suggestion) -> dict[str, object]:
    place: dict[str, object] = {"path": one.path, "line": one.end, "side": "RIGHT", "body": one.body}
    return place if one.start == one.end else {**place, "start_line": one.start, "start_side": "RIGHT"}


def _client(auth: Auth.Auth, api: str, writes_apart: float) -> Github:
    return Github(
        auth=auth,
        base_url=api,
        timeout=TIMEOUT,
        retry=None,
        lazy=True,
        seconds_between_requests=0.0,
        seconds_between_writes=writes_apart,
    )


class App:
    """A GitHub App: signs as itself, works as its installations. Tokens live in this process alone.

    Args:
        id: of the App, or its client id.
        key: its private key in PEM.
        api: where GitHub's API is.
        writes_apart: seconds between writes; less than a second against servers of tests only.
    """

    def __init__(self, id: str, key: str, api: str, writes_apart: float) -> None:
        self._api = api
        self._writes_apart = writes_apart
        self._auth = Auth.AppAuth(id, key)
        self._integration = GithubIntegration(
            auth=self._auth, base_url=api, timeout=TIMEOUT, retry=None, seconds_between_writes=writes_apart
        )
        self._login: str | None = None
        self._clients: dict[int, Github] = {}

    def repository(self, name: str, installation: int | None) -> Repo:
        """Opens a repository as the installation that a delivery named.

        Raises:
            Gone: there is none: nothing is ever posted where the App is not installed.
        """
        if installation is None:
            raise Gone("the delivery names no installation of the App")
        with translated():
            if self._login is None:
                self._login = f"{self._integration.get_app().slug}[bot]"
        if installation not in self._clients:
            auth = self._auth.get_installation_auth(installation)
            self._clients[installation] = _client(auth, self._api, self._writes_apart)

        def token(permissions: dict[str, str]) -> str:
            with translated():
                return self._integration.get_access_token(installation, permissions).token

        return Repo(self._clients[installation], name, self._login, token)


class Workflow:
    """The token of a workflow's job.

    Args:
        token: as GitHub gives it to the job.
        api: where GitHub's API is.
        writes_apart: seconds between writes.
    """

    def __init__(self, token: str, api: str, writes_apart: float) -> None:
        self._token = token
        self._client = _client(Auth.Token(token), api, writes_apart)

    def repository(self, name: str, installation: int | None) -> Repo:
        """Opens the repository of the workflow."""
        return Repo(self._client, name, ACTIONS_LOGIN, lambda permissions: self._token)
