"""What providers say when they refuse a request, in their own words: what is read from it, and what follows."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from whet.agents.models.faults import Complaint

SENT = ("max_tokens", "temperature", "stream", "stream_options")
"""Parameters of a request."""


def openai(message: str, kind: str = "invalid_request_error", code: str = "", param: str = "") -> dict[str, object]:
    return {"error": {"message": message, "type": kind, "param": param or None, "code": code or None}}


def anthropic(message: str, kind: str = "invalid_request_error") -> dict[str, object]:
    return {"type": "error", "error": {"type": kind, "message": message}}


def read(status: int, body: object, **headers: str) -> Complaint:
    return Complaint.read(status, body, {name.replace("_", "-"): value for name, value in headers.items()}, "")


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (
            400,
            openai(
                "This model's maximum context length is 128000 tokens, and your messages resulted in 150011.",
                code="context_length_exceeded",
                param="messages",
            ),
        ),
        (400, openai("Your input exceeds the limit of this model.", code="context_length_exceeded")),
        (400, anthropic("prompt is too long: 210032 tokens > 200000 maximum")),
        (400, anthropic("input length and `max_tokens` exceed context limit: 195000 + 8192 > 200000")),
        (413, anthropic("Request exceeds the maximum size", "request_too_large")),
        (400, {"error": "the request exceeds the available context size, try increasing it"}),
    ],
)
def test_a_prompt_that_does_not_fit_costs_one_sample_and_no_parameter(status: int, body: object) -> None:
    said = read(status, body)
    assert said.refused_of(SENT) is None
    error = said.error("m")
    assert "the prompt is too long" in str(error)
    assert (error.fatal, error.billed, error.retry_after) == (False, False, None)


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (
            429,
            openai("You exceeded your current quota.", "insufficient_quota", "insufficient_quota"),
        ),
        (400, anthropic("Your credit balance is too low to access the Anthropic API.")),
        (402, anthropic("Payment required", "billing_error")),
    ],
)
def test_no_quota_is_not_tried_again_whatever_its_status(status: int, body: object) -> None:
    error = read(status, body, retry_after="1").error("m")
    assert "quota or credit is spent" in str(error)
    assert (error.fatal, error.retry_after) == (True, None)


@pytest.mark.parametrize(
    ("status", "body", "refused"),
    [
        (
            400,
            openai(
                "Unsupported parameter: 'max_tokens'; use 'max_completion_tokens' instead.",
                code="unsupported_parameter",
                param="max_tokens",
            ),
            "max_tokens",
        ),
        (
            400,
            openai(
                "Unsupported value: 'temperature' does not support 0.7 with this model.",
                code="unsupported_value",
                param="temperature",
            ),
            "temperature",
        ),
        (400, openai("[{'type': 'extra_forbidden', 'loc': ('body', 'stream_options')}]"), "stream_options"),
        (422, {"message": "Unknown field: stream_options"}, "stream_options"),
        (400, openai("Unknown parameter: 'max_completion_tokens'", param="max_completion_tokens"), None),
        (400, openai("temperature: must be at most 2", param="temperature"), None),
        (401, openai("max_tokens is not supported for this key"), None),
    ],
)
def test_a_parameter_counts_as_refused_where_it_was_sent_and_is_unknown(
    status: int, body: object, refused: str | None
) -> None:
    assert read(status, body).refused_of(SENT) == refused


@pytest.mark.parametrize(
    ("header", "seconds"),
    [("7", 7.0), ("0.25", 0.25), ("soon", 0.0), ("-3", 0.0), ("nan", 0.0), ("9" * 400, 0.0), ("", 0.0)],
)
def test_seconds_to_wait_are_read_and_nothing_else_is(header: str, seconds: float) -> None:
    assert read(429, anthropic("slow down", "rate_limit_error"), retry_after=header).error("m").retry_after == seconds


def test_a_date_to_wait_for_is_a_wait_and_one_that_has_passed_is_none() -> None:
    for hours, least, most in ((1, 3500.0, 3600.0), (-1, 0.0, 0.0)):
        date = format_datetime(datetime.now(UTC) + timedelta(hours=hours), usegmt=True)
        wait = read(503, openai("try later"), retry_after=date).error("m").retry_after
        assert wait is not None
        assert least <= wait <= most


@pytest.mark.parametrize("body", [None, "<html>", 7, [], {"error": None}, {"error": [1]}, {"error": {"message": 3}}])
def test_an_error_of_any_shape_is_one_line(body: object) -> None:
    for status, fatal in ((400, False), (401, True), (500, False)):
        error = read(status, body).error("m")
        assert "\n" not in str(error)
        assert error.fatal is fatal
