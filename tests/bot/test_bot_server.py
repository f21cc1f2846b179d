"""The bot as it runs: a server and its workers as processes, killed at any moment, and the whole way of one webhook."""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest
from hub import BEFORE, GAIN, NAME, NONE, commit, git, make_source

from whet.bot.flow import FINDINGS
from whet.bot.queue import Queue
from whet.core.plain import to_plain
from whet.testing.fake_github import APP, SECRET, FailureRule, FakeGitHub
from whet.testing.fake_github_state import BOT


@pytest.fixture
def hub(tmp_path):
    with FakeGitHub(tmp_path / "hub") as hub:
        hub.add_repository(NAME, make_source(tmp_path / "source"), ada="admin")
        yield hub


@pytest.fixture
def number(hub):
    return hub.open_pull(NAME, "quick")


@pytest.fixture
def environment(tmp_path, hub):
    key = tmp_path / "key.pem"
    key.write_text(hub.key)
    kept = {name: value for name, value in os.environ.items() if not name.endswith("_API_KEY")}
    return {
        **kept,
        "WHET_HOME": str(tmp_path / "home"),
        "WHET_APP_ID": APP,
        "WHET_APP_KEY_FILE": str(key),
        "WHET_WEBHOOK_SECRET": SECRET,
        "GITHUB_API_URL": hub.url,
        "GITHUB_SERVER_URL": hub.url,
    }


@contextmanager
def serving(environment, processes=1, *more):
    """Starts the server; yields it and its address."""
    words = [sys.executable, "-m", "whet", "bot", "serve", "--port", "0", "--processes", str(processes), *more]
    server = subprocess.Popen(
        words, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    try:
        line = server.stdout.readline()
        found = re.match(r"(http://\S+/webhook) ", line)
        assert found, server.stderr.read() if server.poll() is not None else line
        yield server, found[1]
    finally:
        if server.poll() is None:
            server.send_signal(signal.SIGINT)
            server.wait(30)


@pytest.fixture
def queue(environment):
    return Queue(Path(environment["WHET_HOME"]) / "bot")


def settled(queue, states=("queued", "running"), seconds=60):
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        counts = queue.counts()["jobs"]
        if not any(counts[state] for state in states):
            return counts
        time.sleep(0.1)
    raise AssertionError(f"still under way: {queue.counts()}")


def children(pid):
    """Returns the processes below one."""
    below = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [one for child in map(int, below) for one in (child, *children(child))]


def kill_all(server):
    for pid in [server.pid, *children(server.pid)]:
        os.kill(pid, signal.SIGKILL)


# the server alone


def post(url, body=b"{}", **headers):
    given = {"Content-Type": "application/json", "X-GitHub-Event": "ping", "X-GitHub-Delivery": "12345678"}
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    request = urllib.request.Request(url, body, {**given, **named})
    try:
        with urllib.request.urlopen(request, timeout=10) as answer:
            return answer.status, json.loads(answer.read())
    except urllib.error.HTTPError as error:
        return error.code, json.loads(error.read())


def begun(url, header):
    """Sends the head of a request and one byte more, and returns the beginning of the answer."""
    host, port = url.split("/")[2].split(":")
    head = b"POST /webhook HTTP/1.1\r\nHost: x\r\nX-Hub-Signature-256: sha256=0\r\n%s\r\n\r\n{" % header
    with socket.create_connection((host, int(port)), timeout=30) as connection:
        connection.sendall(head)
        return connection.recv(100)


@pytest.mark.corpus
def test_only_signed_whole_and_bounded_deliveries_are_taken(hub, environment, number):
    def sign(body):
        return "sha256=" + hmac.new(SECRET.encode(), body, hashlib.sha256).hexdigest()

    opened = json.dumps(hub.pull_event(NAME, number, "opened")).encode()
    with serving(environment, 0) as (server, url):
        assert post(url)[0] == 401
        assert post(url, X_Hub_Signature_256="sha256=0")[0] == 401
        assert post(url, X_Hub_Signature_256="sha256=é")[0] == 401
        assert post(url, b'{"a": 1}', X_Hub_Signature_256=sign(b'{"a":1}'))[0] == 401
        assert post(url, b"{", X_Hub_Signature_256=sign(b"{")) == (202, {"status": "ignored"})
        assert post(url, b"{", X_Hub_Signature_256=sign(b"{"), X_GitHub_Event="pull_request")[0] == 400
        assert post(url, opened, X_Hub_Signature_256=sign(opened), X_GitHub_Delivery="no spaces")[0] == 400
        assert post(url, opened, X_Hub_Signature_256=sign(opened), Content_Type="text/plain")[0] == 415
        assert b" 413 " in begun(url, b"Content-Length: 6000000")
        assert b" 4" in begun(url, b"Content-Length: -1")
        taken = {"X_GitHub_Event": "pull_request", "X_Hub_Signature_256": sign(opened)}
        assert post(url, opened, **taken) == (202, {"status": "accepted"})
        assert post(url, opened, **taken) == (202, {"status": "accepted"})
        # A captured body under a new id: the id is not signed, what it is about is.
        assert post(url, opened, **taken, X_GitHub_Delivery="87654321") == (202, {"status": "accepted"})
        counted = subprocess.run(
            [sys.executable, "-m", "whet", "bot", "queue", "--json"],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
        assert json.loads(counted.stdout)["jobs"]["queued"] == 1
        other = subprocess.Popen(
            [sys.executable, "-m", "whet", "bot", "serve", "--port", "0"], env=environment, stderr=subprocess.PIPE
        )
        try:
            assert b"another whet bot works on the queue" in other.stderr.read()
        finally:
            other.wait(30)
        assert other.returncode == 2
        server.send_signal(signal.SIGINT)
        _, said = server.communicate(timeout=30)
        assert SECRET not in said


@pytest.mark.corpus
def test_a_body_that_never_ends_does_not_hold_the_others(hub, environment, number):
    with serving(environment, 0) as (_, url), ThreadPoolExecutor() as pool:
        slow = pool.submit(begun, url, b"Content-Length: 9")
        assert hub.deliver(url, "pull_request", hub.pull_event(NAME, number, "opened")) == 202
        assert not slow.done()
        assert b" 408 " in slow.result()


# killed


def accepted_with_findings(hub, environment, queue, number, findings):
    """Has the server accept a delivery, and ends it; what is found stands there already, so that posting is next."""
    with serving(environment, 0) as (server, url):
        assert hub.deliver(url, "pull_request", hub.pull_event(NAME, number, "opened")) == 202
        server.kill()
        server.wait()
    (job,) = queue.jobs_at(NAME, number)
    queue.set_fact(job.id, FINDINGS, to_plain(findings))
    return job


POINT = ("POST .*/reviews$", True)
MORE = [
    ("POST .*/issues/.*/comments$", False),
    ("POST .*/reviews$", False),
    ("POST .*/issues/.*/comments$", True),
    ("POST .*/check-runs$", False),
    ("POST .*/check-runs$", True),
    ("PATCH .*/check-runs/", False),
    ("PATCH .*/check-runs/", True),
    ("GET .*/pulls/", False),
    ("POST /app/installations", True),
]


@pytest.mark.corpus
@pytest.mark.parametrize(
    ("request_", "after"),
    [POINT, *(pytest.param(*point, marks=pytest.mark.corpus) for point in MORE)],
    ids=str,
)
def test_killed_at_any_moment_it_posts_everything_once(hub, environment, queue, number, request_, after):
    job = accepted_with_findings(hub, environment, queue, number, [GAIN])
    with serving(environment) as (server, _):
        hub.plan(FailureRule(request_, 0, after=after, call=lambda: kill_all(server)))
        server.wait(60)
    assert queue.jobs_at(NAME, number)[0].state == "running"
    with serving(environment):
        assert settled(queue)["done"] == 1
    state = hub.state.snapshot(NAME)
    assert [len(state[kind]) for kind in ("checks", "comments", "reviews")] == [1, 1, 1]
    assert [one["conclusion"] for one in state["checks"].values()] == ["success"]
    assert queue.jobs_at(NAME, number)[0].id == job.id


@pytest.mark.corpus
def test_a_worker_that_is_killed_is_replaced(hub, environment, queue, number):
    accepted_with_findings(hub, environment, queue, number, [GAIN])
    with serving(environment) as (server, _):
        hub.plan(
            FailureRule(
                "POST .*/reviews$", 0, after=True, call=lambda: os.kill(children(server.pid)[0], signal.SIGKILL)
            )
        )
        assert settled(queue)["done"] == 1
    assert len(hub.state.snapshot(NAME)["reviews"]) == 1


# the whole way


@pytest.mark.corpus
@pytest.mark.usefixtures("figures")
def test_a_webhook_becomes_a_verified_suggestion(hub, environment, queue, number):
    with serving(environment, 1, "--rounds", "1") as (_, url):
        assert hub.deliver(url, "pull_request", hub.pull_event(NAME, number, "opened")) == 202
        counts = settled(queue, seconds=900)
    assert counts["done"] == 1, queue.jobs_at(NAME, number)
    state = hub.state.snapshot(NAME)
    (check,) = state["checks"].values()
    assert check["conclusion"] == "success", check["output"]["summary"]
    (review,) = state["reviews"].values()
    (suggestion,) = review["comments"]
    assert "```suggestion\n" in suggestion["body"]
    (comment,) = [one["body"] for one in state["comments"].values() if one["user"]["login"] == BOT]
    assert "1 verified rewrite" in comment
    assert re.search(
        r"`lists\.py::dedup` \| \*\*faster\*\* \| \d+(\.\d+)?x \[\d+(\.\d+)?x, \d+(\.\d+)?x\] at 99 %", comment
    )
    told = json.dumps(state)
    assert not any(token in told for token in hub.tokens)
    home = Path(environment["WHET_HOME"])
    written = b"".join(path.read_bytes() for path in home.rglob("*") if path.is_file())
    assert not any(secret.encode() in written for secret in [*hub.tokens, SECRET])


@pytest.mark.corpus
def test_work_that_runs_is_cancelled(hub, environment, queue, number):
    with serving(environment) as (server, url):
        assert hub.deliver(url, "pull_request", hub.pull_event(NAME, number, "opened")) == 202
        until = time.monotonic() + 60
        while not any(b"optimize" in Path(f"/proc/{pid}/cmdline").read_bytes() for pid in children(server.pid)):
            assert time.monotonic() < until
            time.sleep(0.1)
        assert hub.deliver(url, "issue_comment", hub.comment_event(NAME, number, "/whet cancel")) == 202
        counts = settled(queue, seconds=90)
        assert (counts["withdrawn"], counts["done"]) == (1, 1)
        assert len(children(server.pid)) == 2
    assert [one["conclusion"] for one in hub.state.snapshot(NAME)["checks"].values()] == ["cancelled"]


@pytest.mark.corpus
def test_a_function_is_judged_against_its_base(hub, environment, queue, number, tmp_path):
    source = tmp_path / "source"
    git(source, "checkout", "--quiet", "-b", "wrong", "main")
    commit(source, {"lists.py": BEFORE.replace("item >= 0", "item > 1")})
    git(source, "push", "--quiet", str(hub.state.repositories[NAME].folder), "wrong")
    number = hub.open_pull(NAME, "wrong")
    with serving(environment) as (_, url):
        assert hub.deliver(url, "issue_comment", hub.comment_event(NAME, number, "/whet verify")) == 202
        assert settled(queue, seconds=300)["done"] == 1
    (comment,) = [one["body"] for one in hub.state.snapshot(NAME)["comments"].values() if one["user"]["login"] == BOT]
    assert "`lists.py::total` | **not the same**" in comment, comment
    assert NONE.answer.value not in comment
