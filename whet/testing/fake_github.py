"""A GitHub on the loopback interface: a real server with a memory, real repositories, planned faults.

It answers the requests that the bot makes, checks the App's signature and the installations' tokens, serves git over
HTTP, and sends signed webhooks:

    with FakeGitHub(folder) as hub:
        hub.add_repository("ada/tools", source)
        number = hub.open_pull("ada/tools", "quick")
        hub.deliver(address, "pull_request", hub.pull_event("ada/tools", number, "opened"))
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import re
import secrets
import subprocess
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Self

import jwt
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from whet.testing.fake_github_state import BOT, SLUG, WORKFLOW, ApiError, Json, Repository, State, run_git

APP = "4242"
SECRET = "a secret of the webhook, for tests"
INSTALLATION = 77
JWT_LONGEST = 600
"""Seconds that GitHub lets an App's token live."""


@dataclass(slots=True)
class FailureRule:
    """Something that goes wrong with the next requests that match.

    Attributes:
        request: a pattern for ``METHOD /path``.
        status: answered instead; 0 closes the connection without an answer; None leaves the answer as it is.
        headers: that come with it.
        message: of the answer.
        after: do what was asked first, and fail then: the answer is lost.
        times: how often.
        call: is called then.
    """

    request: str
    status: int | None = 0
    headers: tuple[tuple[str, str], ...] = ()
    message: str = "planned"
    after: bool = False
    times: int = 1
    call: Callable[[], None] | None = None


class FakeGitHub:
    """The server; a context manager.

    Attributes:
        state: what it knows.
        key: the App's private key, in PEM.
        requests: ``METHOD /path`` of each request to the API so far, those that failed included.
        tokens: all that it ever gave out, and the installation of each.
        workflows: those of them that were given to workflows.
    """

    def __init__(self, folder: Path) -> None:
        self.state = State()
        self.requests: list[str] = []
        self.tokens: dict[str, int] = {}
        self.workflows: set[str] = set()
        self._folder = folder
        self._faults: list[FailureRule] = []
        self._key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        self.key = self._key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.TraditionalOpenSSL, serialization.NoEncryption()
        ).decode()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    # what a test arranges

    def add_repository(
        self, name: str, source: Path, *, installation: int | None = INSTALLATION, **people: str
    ) -> Repository:
        """Takes a repository over from a folder.

        Args:
            name: ``owner/name``.
            source: a git repository.
            installation: of the App there; None where it is not installed.
            **people: permissions by login.
        """
        folder = self._folder / f"{name}.git"
        folder.parent.mkdir(parents=True, exist_ok=True)
        run_git(source, "clone", "--quiet", "--bare", str(source), str(folder))
        run_git(folder, "config", "http.receivepack", "true")
        repository = Repository(name, folder, installation, people)
        self.state.repositories[name] = repository
        return repository

    def open_pull(self, name: str, branch: str, base: str = "main", **more: Any) -> int:
        """Opens a pull request from a branch; returns its number."""
        return self.state.open(self.state.repositories[name], branch, base, **more)

    def move_head(self, name: str, number: int, commit: str) -> None:
        """Moves a head, as a push does, forced or not."""
        run_git(self.state.repositories[name].folder, "update-ref", f"refs/pull/{number}/head", commit)

    def workflow_token(self, name: str) -> str:
        """Returns a token as the jobs of a repository's workflows get it."""
        installation = self.state.repositories[name].installation
        assert installation is not None
        token = f"ghs_{secrets.token_hex(20)}"
        self.tokens[token] = installation
        self.workflows.add(token)
        return token

    def plan(self, *faults: FailureRule) -> None:
        """Plans what goes wrong."""
        self._faults += faults

    # events

    def event(self, name: str, sender: str = "ada", **more: Json) -> dict[str, Json]:
        """Returns what every payload holds, with more."""
        kind = "Bot" if sender.endswith("[bot]") else "User"
        return {
            "repository": {"full_name": name},
            "installation": {"id": self.state.repositories[name].installation},
            "sender": {"login": sender, "type": kind},
            **more,
        }

    def pull_event(self, name: str, number: int, action: str, sender: str = "ada", **more: Json) -> dict[str, Json]:
        """Returns the payload of ``pull_request``."""
        repository = self.state.repositories[name]
        described = self.state.describe(repository, repository.pulls[number])
        return self.event(name, sender, action=action, number=number, pull_request=described, **more)

    def comment_event(self, name: str, number: int, body: str, sender: str = "ada") -> dict[str, Json]:
        """Writes a comment and returns the payload of ``issue_comment``."""
        repository = self.state.repositories[name]
        id = self.state.comment(repository, number, sender, body)
        issue = {"number": number, "state": repository.pulls[number].state, "pull_request": {}}
        return self.event(name, sender, action="created", issue=issue, comment=repository.comments[id])

    def deliver(self, url: str, event: str, payload: Json, *, id: str | None = None, secret: str = SECRET) -> int:
        """Sends a signed webhook and returns the status of the answer."""
        body = json.dumps(payload).encode()
        signature = hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
        request = urllib.request.Request(
            url,
            body,
            {
                "Content-Type": "application/json",
                "X-GitHub-Event": event,
                "X-GitHub-Delivery": id or str(uuid.uuid4()),
                "X-Hub-Signature-256": f"sha256={signature}",
            },
        )
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                return int(answer.status)
        except urllib.error.HTTPError as error:
            return error.code

    # what it answers

    def answer(self, method: str, target: str, authorization: str, given: Json) -> tuple[int, Json]:
        """Answers a request to the API.

        Raises:
            Answer: it is not allowed, unknown or malformed.
        """
        path, _, query = target.partition("?")
        asked = urllib.parse.parse_qs(query)
        parts = path.strip("/").split("/")
        if parts[0] == "app":
            return self._app(method, parts, authorization)
        installation = self.tokens.get(_token(authorization))
        repository = self.state.repositories.get("/".join(parts[1:3]))
        # A repository without the App looks like one that is not there.
        if installation is None or repository is None or repository.installation != installation:
            raise ApiError(
                401 if installation is None else 404, "Bad credentials" if installation is None else "Not Found"
            )
        with self.state.lock:
            login = WORKFLOW if _token(authorization) in self.workflows else BOT
            return self._of_repository(repository, method, parts[3:], asked, given, login)

    def _app(self, method: str, parts: list[str], authorization: str) -> tuple[int, Json]:
        try:
            claims = jwt.decode(_token(authorization), self._key.public_key(), algorithms=["RS256"])
        except jwt.PyJWTError as error:
            raise ApiError(401, f"A JSON web token could not be decoded: {error}") from None
        if claims["iss"] != APP or claims["exp"] - claims["iat"] > JWT_LONGEST:
            raise ApiError(401, "the token is of another App, or lives too long")
        if len(parts) == 1:
            return 200, {"id": int(APP), "slug": SLUG, "name": SLUG}
        installation = int(parts[2])
        if all(one.installation != installation for one in self.state.repositories.values()):
            raise ApiError(404, "Not Found")
        token = f"ghs_{secrets.token_hex(20)}"
        self.tokens[token] = installation
        until = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + 3600))
        return 201, {"token": token, "expires_at": until, "permissions": {}}

    def _of_repository(
        self,
        repository: Repository,
        method: str,
        parts: list[str],
        asked: dict[str, list[str]],
        given: Json,
        login: str,
    ) -> tuple[int, Json]:
        state = self.state
        match [method, *parts]:
            case ["GET", "collaborators", login, "permission"]:
                return 200, state.permission(repository, urllib.parse.unquote(login))
            case ["GET", "pulls", number]:
                return 200, state.describe(repository, _known(repository.pulls, number))
            case ["GET", "pulls"]:
                return 200, _page([state.describe(repository, one) for one in repository.pulls.values()], asked)
            case ["POST", "pulls"]:
                return 201, state.post_pull(repository, given, login)
            case ["GET", "issues", number, "comments"]:
                found = [one for one in repository.comments.values() if one["issue"] == int(number)]
                return 200, _page(found, asked)
            case ["POST", "issues", number, "comments"]:
                _known(repository.pulls, number)
                return 201, state.post_comment(repository, int(number), given, login)
            case ["PATCH", "issues", "comments", id]:
                return 200, state.edit_comment(repository, int(id), given, login)
            case ["POST", "issues", "comments", id, "reactions"]:
                return 201, state.react(repository, int(id), given)
            case ["POST", "check-runs"]:
                return 201, state.post_check(repository, given)
            case ["PATCH", "check-runs", id]:
                return 200, state.edit_check(repository, int(id), given)
            case ["GET", "commits", sha, "check-runs"]:
                found = [one for one in repository.checks.values() if one["head_sha"] == sha]
                return 200, {"total_count": len(found), "check_runs": _page(found, asked)}
            case ["GET", "pulls", number, "reviews"]:
                return 200, _page([one for one in repository.reviews.values() if one["pull"] == int(number)], asked)
            case ["POST", "pulls", number, "reviews"]:
                return 200, state.post_review(repository, int(number), given, login)
        raise ApiError(404, f"the fake does not know {method} {'/'.join(parts)}")

    def fault(self, method: str, target: str) -> FailureRule | None:
        """Takes the fault that is planned for a request, if any."""
        self.requests.append(f"{method} {target.partition('?')[0]}")
        for fault in self._faults:
            if re.search(fault.request, f"{method} {target}"):
                fault.times -= 1
                if fault.times == 0:
                    self._faults.remove(fault)
                return fault
        return None

    def may_git(self, name: str, authorization: str) -> bool:
        """Whether the token of a request of git's is one of the repository's installation."""
        repository = self.state.repositories.get(name)
        try:
            token = base64.b64decode(authorization.removeprefix("Basic ")).decode().partition(":")[2]
        except ValueError:
            return False
        return repository is not None and self.tokens.get(token) == repository.installation is not None

    def git(self, handler: BaseHTTPRequestHandler, name: str, body: bytes) -> tuple[int, dict[str, str], bytes]:
        """Lets git answer for a repository."""
        path, _, query = handler.path.partition("?")
        environment = {
            "GIT_PROJECT_ROOT": str(self._folder),
            "GIT_HTTP_EXPORT_ALL": "1",
            "PATH_INFO": path,
            "QUERY_STRING": query,
            "REQUEST_METHOD": handler.command,
            "CONTENT_TYPE": handler.headers.get("content-type", ""),
            "CONTENT_LENGTH": str(len(body)),
            "HTTP_CONTENT_ENCODING": handler.headers.get("content-encoding", ""),
            "GIT_PROTOCOL": handler.headers.get("git-protocol", ""),
            "REMOTE_USER": BOT,
            "GIT_CONFIG_COUNT": "1",
            "GIT_CONFIG_KEY_0": "safe.directory",
            "GIT_CONFIG_VALUE_0": "*",
            "PATH": "/usr/bin:/bin:/usr/local/bin",
        }
        done = subprocess.run(["git", "http-backend"], input=body, capture_output=True, env=environment, check=True)
        head, _, content = done.stdout.partition(b"\r\n\r\n")
        headers = dict(line.split(": ", 1) for line in head.decode().split("\r\n"))
        return int(headers.pop("Status", "200").split()[0]), headers, content


def _known(pulls: dict[int, Any], number: str) -> Any:
    if int(number) not in pulls:
        raise ApiError(404, "Not Found")
    return pulls[int(number)]


def _page(found: list[Json], asked: dict[str, list[str]]) -> list[Json]:
    size, page = int(asked.get("per_page", ["30"])[0]), int(asked.get("page", ["1"])[0])
    return found[(page - 1) * size : page * size]


def _token(authorization: str) -> str:
    return authorization.partition(" ")[2]


def _handler(hub: FakeGitHub) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True
        wbufsize = -1

        def handle_all(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length", 0)))
            if self.headers.get("transfer-encoding") == "chunked":
                body = self._chunks()
            if match := re.match(r"/([\w.-]+/[\w.-]+)\.git/", self.path):
                self._git(match[1], body)
            else:
                self._api(body)

        def _api(self, body: bytes) -> None:
            fault = hub.fault(self.command, self.path)
            headers: dict[str, str] = {}
            try:
                if fault is not None and fault.call is not None and not fault.after:
                    fault.call()
                if fault is None or fault.after or fault.status is None:
                    given = json.loads(body) if body else None
                    status, answer = hub.answer(self.command, self.path, self.headers.get("authorization", ""), given)
                if fault is not None and fault.call is not None and fault.after:
                    fault.call()
                if fault is not None and fault.status is not None:
                    raise ApiError(fault.status, fault.message, dict(fault.headers))
            except ApiError as other:
                status, answer, headers = other.status, {"message": other.message}, other.headers
            if status == 0:
                self.close_connection = True
                return
            self._send(status, {"Content-Type": "application/json", **headers}, json.dumps(answer).encode())

        def _git(self, name: str, body: bytes) -> None:
            if not hub.may_git(name, self.headers.get("authorization", "")):
                self._send(404, {}, b"")
                return
            self._send(*hub.git(self, name, body))

        def _chunks(self) -> bytes:
            parts = []
            while size := int(self.rfile.readline(), 16):
                parts.append(self.rfile.read(size))
                self.rfile.readline()
            self.rfile.readline()
            return b"".join(parts)

        def _send(self, status: int, headers: dict[str, str], body: bytes) -> None:
            self.send_response(status)
            for name, value in {**headers, "Content-Length": str(len(body))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)
            self.wfile.flush()

        do_GET = do_POST = do_PATCH = handle_all

        def log_message(self, format: str, *args: Any) -> None:
            pass

    return Handler
