"""The bot's requests against GitHub's own description of its API, and its reader against GitHub's own examples."""

from __future__ import annotations

import hashlib
import hmac
import json

import pytest
from openapi import mocked, packages

from whet.bot.github import App, Repo, Workflow
from whet.bot.port import Refused, Suggestion
from whet.bot.request import DeliveryPlan, RequestKind
from whet.bot.webhook import EVENTS, LOOKED_AT, Payload, read_event, signed
from whet.testing.fake_github import FakeGitHub

pytestmark = pytest.mark.corpus
SHA = "a" * 40
SUGGESTIONS = [Suggestion("a.py", 3, 3, "```suggestion\nx\n```"), Suggestion("a.py", 5, 7, "```suggestion\ny\n```")]


@pytest.fixture(scope="module")
def mock(tmp_path_factory):
    with mocked(tmp_path_factory.mktemp("openapi")) as mock:
        yield mock


@pytest.fixture(scope="module")
def key(tmp_path_factory):
    return FakeGitHub(tmp_path_factory.mktemp("key")).key


@pytest.fixture(params=["app", "workflow"])
def repository(request, mock, key) -> Repo:
    if request.param == "workflow":
        return Workflow("ghs_0123456789abcdef", mock.url, 0.0).repository("ada/tools", None)
    return App("42", key, mock.url, 0.0).repository("ada/tools", 7)


REQUESTS = {
    "pull": lambda it: it.pull(3),
    "may_write": lambda it: it.may_write("ada"),
    "react": lambda it: it.react(5, "eyes"),
    "find_comment": lambda it: it.find_comment(3, "<!-- x -->"),
    "comment": lambda it: it.comment(3, "text"),
    "edit_comment": lambda it: it.edit_comment(3, "5", "text"),
    "find_check": lambda it: it.find_check(SHA, "whet/3"),
    "start_check": lambda it: it.start_check(SHA, "whet/3", "text"),
    "restart_check": lambda it: it.restart_check("5", "text"),
    "end_check": lambda it: it.end_check("5", "neutral", "title", "text"),
    "find_review": lambda it: it.find_review(3, "<!-- x -->"),
    "review": lambda it: it.review(3, SHA, "text", SUGGESTIONS),
    "find_pull_from": lambda it: it.find_pull_from("whet/pr-3"),
    "open_pull": lambda it: it.open_pull("quick", "whet/pr-3", "title", "text"),
    "reading_token": lambda it: it.reading_token(),
    "writing_token": lambda it: it.writing_token(),
}


@pytest.mark.parametrize("name", REQUESTS)
def test_a_request_is_as_github_describes_it(mock, repository, name):
    before = len(mock.violations())
    REQUESTS[name](repository)
    assert mock.violations()[before:] == []


def test_every_request_of_the_port_is_tried():
    methods = {name for name in vars(Repo) if not name.startswith("_")}
    assert methods == set(REQUESTS)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda it: it.end_check("5", "faster", "title", "text"),
        lambda it: it.react(5, "applause"),
        lambda it: it.review(3, SHA, "text", [Suggestion("a.py", 3, "7", "x")]),
    ],
)
def test_a_wrong_request_is_noticed(mock, repository, wrong):
    before = len(mock.violations())
    with pytest.raises(Refused):
        wrong(repository)
    assert mock.violations()[before:] != []


# what GitHub sends


@pytest.fixture(scope="module")
def examples():
    """The payloads of GitHub's examples, by event."""
    path = packages() / "@octokit/webhooks-examples/api.github.com/index.json"
    return {one["name"]: one["examples"] for one in json.loads(path.read_text(encoding="utf-8"))}


@pytest.mark.parametrize("event", EVENTS)
def test_every_example_is_read(examples, event):
    assert examples[event]
    for payload in examples[event]:
        body = json.dumps(payload).encode()
        signature = hmac.new(b"secret", body, hashlib.sha256).hexdigest()
        assert signed(b"secret", body, f"sha256={signature}")
        assert not signed(b"secret", body + b" ", f"sha256={signature}")
        order, read = read_event(event, body), Payload.model_validate(payload)
        assert read.action == payload["action"]
        if "repository" in payload:
            assert read.repository.full_name == payload["repository"]["full_name"]
        if order.request is not None:
            assert order.request.repository == payload["repository"]["full_name"]
            assert not read.by_a_program


def test_the_examples_mean_what_they_say(examples):
    pulls = [read_event("pull_request", json.dumps(one)) for one in examples["pull_request"]]
    looked_at = [one for one in pulls if one.request is not None]
    assert {one.request.kind for one in looked_at} == {RequestKind.CHANGE}
    wanted = [
        one
        for one in examples["pull_request"]
        if one["action"] in LOOKED_AT and not one["pull_request"]["draft"] and one["sender"]["type"] != "Bot"
    ]
    assert len(looked_at) == len(wanted) > 3
    assert [one for one in pulls if one.withdrawals]
    # None of the examples' comments is a command.
    assert all(read_event("issue_comment", json.dumps(one)) == DeliveryPlan() for one in examples["issue_comment"])
    removed = [
        read_event("installation", json.dumps(one)) for one in examples["installation"] if one["action"] == "deleted"
    ]
    assert all(one.withdrawals for one in removed)


def test_a_command_in_an_example_is_found(examples):
    for payload in examples["issue_comment"]:
        asked = {**payload, "comment": {**payload["comment"], "body": "Please:\n/whet optimize a.py::f"}}
        asked["issue"] = {**payload["issue"], "pull_request": {}, "state": "open"}
        request = read_event("issue_comment", json.dumps(asked)).request
        people = payload["sender"]["type"] != "Bot" and payload["comment"]["user"]["type"] != "Bot"
        assert (request is not None) == (payload["action"] == "created" and people)


def test_events_that_are_not_used_are_ignored(examples):
    others = [name for name in examples if name not in EVENTS]
    assert len(others) > 40
    assert all(read_event(name, json.dumps(one)) == DeliveryPlan() for name in others for one in examples[name])
