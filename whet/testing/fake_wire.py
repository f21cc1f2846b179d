"""The two providers' wire formats, as `fake_provider` writes them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from http.client import responses
from typing import Any, Protocol

from whet.agents.models.base import Usage

Plain = dict[str, Any]
MODEL = "fake-1"


@dataclass(frozen=True, slots=True)
class Response:
    """One HTTP response; a cut one promises more bytes than it holds.

    Attributes:
        endless: bytes that follow the rest again and again, for ever.
        pause: seconds between them.
        headless: the endless bytes come while the headers are not over.
    """

    status: int
    content_type: str
    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict)
    cut: bool = False
    endless: bytes = b""
    pause: float = 0.0
    headless: bool = False

    def encoded(self) -> bytes:
        """Returns the bytes for the socket, the endless ones aside."""
        phrase = responses.get(self.status, "Overloaded")
        headers = {"content-type": self.content_type, **self.headers}
        if not self.endless:
            headers["content-length"] = str(len(self.body) + (1000 if self.cut else 0))
        lines = [f"HTTP/1.1 {self.status} {phrase}", *(f"{name}: {value}" for name, value in headers.items())]
        if self.headless:
            return "\r\n".join([*lines, "x-more: "]).encode()
        return "\r\n".join([*lines, "", ""]).encode() + self.body


class Wire(Protocol):
    """A provider's format. `stop` is one of `whet.agents.models.base.Reply.stop`."""

    BEFORE_END: int
    """How many events of a stream come before the one that says why it stopped."""

    @staticmethod
    def error(kind: str, code: str, message: str, param: str | None) -> Plain:
        """Returns the body of an error."""

    @staticmethod
    def whole(text: str, stop: str, usage: Usage | None) -> Plain:
        """Returns the body of an answer that is not streamed."""

    @staticmethod
    def stream(text: str, stop: str, usage: Usage | None) -> list[bytes]:
        """Returns the events of a streamed answer."""

    @staticmethod
    def event(name: str, data: str) -> bytes:
        """Returns one event with any data."""


class OpenAI:
    """Chat completions."""

    BEFORE_END = 2

    @staticmethod
    def error(kind: str, code: str, message: str, param: str | None) -> Plain:
        """Returns the body of an error."""
        return {"error": {"message": message, "type": kind, "param": param, "code": code or None}}

    @staticmethod
    def whole(text: str, stop: str, usage: Usage | None) -> Plain:
        """Returns a chat completion."""
        said = _openai_said(text, stop)
        choice = {"index": 0, "message": {"role": "assistant", **said}, "finish_reason": _openai_stop(stop)}
        body = {"id": "c1", "object": "chat.completion", "created": 1, "model": MODEL, "choices": [choice]}
        return body | ({"usage": _openai_usage(usage)} if usage else {})

    @staticmethod
    def stream(text: str, stop: str, usage: Usage | None) -> list[bytes]:
        """Returns the chunks of a chat completion, its usage in one of its own."""
        said = _openai_said(text, stop)
        deltas: list[tuple[Plain, str | None]] = [
            ({"role": "assistant", "content": ""}, None),
            (said, None),
            ({}, _openai_stop(stop)),
        ]
        head = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": MODEL}
        chunks: list[Plain] = [
            head | {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]} for delta, finish in deltas
        ]
        if usage:
            chunks.append(head | {"choices": [], "usage": _openai_usage(usage)})
        return [OpenAI.event("", json.dumps(chunk)) for chunk in chunks] + [OpenAI.event("", "[DONE]")]

    @staticmethod
    def event(name: str, data: str) -> bytes:
        """Returns one event; they have no names here."""
        return f"data: {data}\n\n".encode()


def _openai_said(text: str, stop: str) -> Plain:
    return {"content": None, "refusal": text} if stop == "refusal" else {"content": text}


def _openai_stop(stop: str) -> str:
    return "length" if stop == "length" else "stop"


def _openai_usage(usage: Usage) -> Plain:
    prompt = usage.input + usage.cache_read + usage.cache_write
    details = {"cached_tokens": usage.cache_read, "cache_write_tokens": usage.cache_write}
    return {
        "prompt_tokens": prompt,
        "completion_tokens": usage.output,
        "total_tokens": usage.total,
        "prompt_tokens_details": details,
    }


class Anthropic:
    """Messages."""

    BEFORE_END = 4

    @staticmethod
    def error(kind: str, code: str, message: str, param: str | None) -> Plain:
        """Returns the body of an error."""
        return {"type": "error", "error": {"type": kind, "message": message}}

    @staticmethod
    def whole(text: str, stop: str, usage: Usage | None) -> Plain:
        """Returns a message."""
        return _anthropic_message(usage) | {
            "content": [{"type": "text", "text": text}],
            "stop_reason": _anthropic_stop(stop),
        }

    @staticmethod
    def stream(text: str, stop: str, usage: Usage | None) -> list[bytes]:
        """Returns the events of a message, a thinking block before the text."""
        ended: Plain = {"delta": {"stop_reason": _anthropic_stop(stop), "stop_sequence": None}}
        if usage:
            ended["usage"] = {"output_tokens": usage.output}
        events: list[Plain] = [
            {"type": "message_start", "message": _anthropic_message(usage)},
            {
                "type": "content_block_start",
                "index": 0,
                "content_block": {"type": "thinking", "thinking": ""},
            },
            {
                "type": "content_block_delta",
                "index": 0,
                "delta": {"type": "thinking_delta", "thinking": "hm"},
            },
            {"type": "content_block_delta", "index": 1, "delta": {"type": "text_delta", "text": text}},
            {"type": "message_delta", **ended},
            {"type": "message_stop"},
        ]
        return [Anthropic.event(event["type"], json.dumps(event)) for event in events]

    @staticmethod
    def event(name: str, data: str) -> bytes:
        """Returns one named event."""
        return f"event: {name}\ndata: {data}\n\n".encode()


def _anthropic_stop(stop: str) -> str:
    return {"length": "max_tokens", "refusal": "refusal"}.get(stop, "end_turn")


def _anthropic_message(usage: Usage | None) -> Plain:
    message: Plain = {
        "id": "m1",
        "type": "message",
        "role": "assistant",
        "model": MODEL,
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
    }
    if usage:
        message["usage"] = {
            "input_tokens": usage.input,
            "cache_creation_input_tokens": usage.cache_write,
            "cache_read_input_tokens": usage.cache_read,
            "output_tokens": 1,
        }
    return message
