"""What is read of webhooks and of comments: commands by whole lines, the few fields that count, nothing of the rest."""

from __future__ import annotations

import json

import pytest
from pydantic import ValidationError

from whet.bot.commands import BotCommand, find_command
from whet.bot.redact import engine_environment
from whet.bot.request import TARGET, DeliveryPlan, RequestKind
from whet.bot.webhook import read_event, signed
from whet.core.redaction import redacted

SHA, OLD = "a" * 40, "b" * 40


@pytest.mark.parametrize(
    ("body", "command"),
    [
        ("/whet optimize", BotCommand(RequestKind.OPTIMIZE)),
        ("Thanks!\r\n/whet status  \r\n", BotCommand(RequestKind.STATUS)),
        ("/whet optimize src/a.py::A.f --budget-usd 0.5", BotCommand(RequestKind.OPTIMIZE, "src/a.py::A.f", 0.5)),
        ("/whet optimize --budget-usd 2 src/a.py", BotCommand(RequestKind.OPTIMIZE, "src/a.py", 2.0)),
        ("```\ncode\n```\n/whet cancel", BotCommand(RequestKind.CANCEL)),
        ("/whet optimize the parser\n/whet verify", BotCommand(RequestKind.VERIFY)),
        ("please /whet optimize", None),
        ("> /whet optimize", None),
        ("    /whet optimize", None),
        ("```\n/whet optimize\n```", None),
        ("~~~~\n/whet optimize\n~~~\n/whet optimize", None),
        ("/whet optimize a.py b.py", None),
        ("/whet optimize --model openai:x", None),
        ("/whet optimize ../../etc/passwd", None),
        ("/whet optimize /etc/passwd", None),
        ("/whet optimize -x", None),
        ("/whet optimize --budget-usd -1", None),
        ("/whet optimize --budget-usd nan", None),
        ("/whet cancel now", None),
        ("/whet change", None),
        ("/whet", None),
        ('/whet optimize "', None),
        ("/whetstone optimize", None),
    ],
)
def test_a_command_fills_its_line(body, command):
    assert find_command(body) == command


@pytest.mark.parametrize(
    "text", ["a/../b.py", "..", "./a.py", "a/.git/./x", "a b.py", "a.py::", "a.py::f;x", ":a", "-a"]
)
def test_no_target_leaves_the_repository(text):
    assert TARGET.fullmatch(text) is None


def payload(action, **more):
    common = {
        "action": action,
        "repository": {"full_name": "ada/tools"},
        "installation": {"id": 7},
        "sender": {"login": "ada", "type": "User"},
    }
    return json.dumps({**common, **more})


def pull(**more):
    return {"number": 3, "head": {"sha": SHA}, **more}


def test_a_new_head_is_a_request_and_ends_the_old_ones():
    order = read_event("pull_request", payload("synchronize", before=OLD, pull_request=pull()))
    assert (order.request.kind, order.request.head, order.request.installation) == (RequestKind.CHANGE, SHA, 7)
    assert [one.head for one in order.withdrawals] == [OLD]


BOT = {"login": "x[bot]", "type": "Bot"}


@pytest.mark.parametrize(
    ("event", "body"),
    [
        ("push", "not even JSON"),
        ("pull_request", payload("labeled", pull_request=pull())),
        ("pull_request", payload("opened", pull_request=pull(draft=True))),
        ("pull_request", payload("opened", pull_request=pull(), sender=BOT)),
        ("pull_request", "{}"),
        ("check_run", payload("rerequested", check_run={"id": 1, "external_id": "somebody else's"})),
        ("check_run", payload("completed", check_run={"id": 1, "external_id": f"whet/3/{SHA}"})),
        ("installation", payload("created")),
    ],
)
def test_what_is_not_for_the_bot_is_nothing(event, body):
    assert read_event(event, body) == DeliveryPlan()


def comment(action="created", body="/whet optimize", issue=None, **more):
    issue = issue or {"number": 3, "pull_request": {}}
    return payload(action, issue=issue, comment={"id": 5, "body": body}, **more)


def test_a_command_in_a_new_comment_is_a_request():
    request = read_event("issue_comment", comment()).request
    assert (request.kind, request.comment, request.sender, request.origin) == (
        RequestKind.OPTIMIZE,
        5,
        "ada",
        "comment/ada/tools/5",
    )


@pytest.mark.parametrize(
    "body",
    [
        comment("edited"),
        comment("deleted"),
        comment(sender=BOT),
        comment(issue={"number": 3}),
        comment(issue={"number": 3, "pull_request": {}, "state": "closed"}),
        comment(body=None),
    ],
)
def test_other_comments_are_nothing(body):
    assert read_event("issue_comment", body) == DeliveryPlan()


def test_a_check_run_of_the_bots_own_is_done_again():
    check = {"id": 1, "external_id": f"whet/3/{SHA}", "completed_at": "2026-01-01T00:00:00Z"}
    request = read_event("check_run", payload("rerequested", check_run=check)).request
    assert (request.kind, request.number) == (RequestKind.OPTIMIZE, 3)


@pytest.mark.parametrize(
    "body",
    [
        "",
        "[]",
        "null",
        "{",
        '{"repository": {"full_name": "../x"}}',
        payload("opened", pull_request=pull(head={"sha": "x"})),
        payload("opened", pull_request=pull(number=1 << 63)),
        payload("opened", pull_request=pull(), installation={"id": 1e300}),
        payload("opened", pull_request=pull(number=-3)),
        '{"action": "\\ud800"}',
        pytest.param('{"sender": ' + "[" * 100_000, id="nested deeply"),
    ],
)
def test_malformed_payloads_are_refused(body):
    with pytest.raises(ValidationError):
        read_event("pull_request", body)


@pytest.mark.parametrize("header", ["", "sha256=", "sha1=0", "sha256=" + "0" * 64, "é", "\ud800"])
def test_other_signatures_are_none(header):
    assert not signed(b"secret", b"body", header)


@pytest.mark.parametrize(
    "secret",
    [
        "ghs_" + "a" * 36,
        "github_pat_" + "a" * 30,
        "sk-ant-" + "a" * 30,
        "eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiI0MiJ9.c2lnbmF0dXJl",
        "-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----",
    ],
)
def test_tokens_are_redacted(secret):
    assert secret not in redacted(f"fetch failed: https://x:{secret}@github.com\nAuthorization: Bearer {secret}")


def test_the_engine_inherits_no_credential_of_the_bots():
    given = {
        "PATH": "/bin",
        "GITHUB_TOKEN": "t",
        "WHET_APP_KEY_FILE": "k",
        "WHET_WEBHOOK_SECRET": "s",
        "ACTIONS_RUNTIME_TOKEN": "r",
        "AWS_SECRET_ACCESS_KEY": "a",
        "ANTHROPIC_API_KEY": "model",
    }
    assert engine_environment("/home", given) == {"PATH": "/bin", "ANTHROPIC_API_KEY": "model", "WHET_HOME": "/home"}
    hosts = {"WHET_STORE": "postgresql://u:p@h/d", "RAY_AUTH_MODE": "token"}
    assert engine_environment("/home", {**given, **hosts}) == engine_environment("/home", given)
    assert engine_environment("/home", {**given, **hosts}, cluster=True) == {
        **engine_environment("/home", given),
        **hosts,
    }
