"""A model provider on the loopback interface: real HTTP, planned faults.

It answers OpenAI chat completions (under ``/v1``) and Anthropic messages, streamed and whole. Give its
address to an SDK as the base URL and plan what goes wrong:

    with FakeProvider("the answer") as provider:
        provider.plan(Fault.RATE_LIMIT, Fault.CUT)
        model = OpenAIModel("any", "key", provider.openai_url)
"""

from __future__ import annotations

import json
import threading
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

from whet.agents.models.base import Usage
from whet.testing import fake_wire

Body = Mapping[str, Any]
USAGE = Usage(input=12, output=5)


class ProviderFailure(StrEnum):
    """What may go wrong with one request."""

    RATE_LIMIT = "429 with retry-after"
    QUOTA = "no quota left"
    PAYMENT = "402"
    SERVER_ERROR = "500"
    OVERLOADED = "529"
    WRONG_KEY = "401, quoting the key"
    FORBIDDEN = "403"
    UNKNOWN_MODEL = "404"
    CONTEXT = "the prompt is too long"
    BAD_REQUEST = "400"
    TRUNCATED = "the answer is cut at its longest"
    REFUSAL = "the model refuses"
    NO_USAGE = "no token counts"
    HTML = "a web page with status 200"
    BAD_JSON = "not JSON, with status 200"
    ODD_SHAPE = "JSON of another shape"
    CUT = "the connection breaks in the answer"
    QUIET_END = "the answer ends early, without an error"
    ERROR_EVENT = "an error event within the stream"
    DROPPED = "the connection closes without an answer"
    SLOW = "no answer until the client gives up"
    ENDLESS_TEXT = "an answer that goes on for ever"
    ENDLESS_LINE = "bytes for ever, and no end of a line"
    DRIP = "a byte now and then, for ever"
    DRIPPING_HEAD = "the same before the headers are over"


STATUS: Mapping[ProviderFailure, tuple[int, str, str, str]] = {
    ProviderFailure.RATE_LIMIT: (429, "rate_limit_error", "rate_limit_exceeded", "too many requests"),
    ProviderFailure.QUOTA: (429, "insufficient_quota", "insufficient_quota", "nothing is left of the quota"),
    ProviderFailure.PAYMENT: (402, "billing_error", "", "payment required"),
    ProviderFailure.SERVER_ERROR: (500, "api_error", "", "internal error"),
    ProviderFailure.OVERLOADED: (529, "overloaded_error", "", "overloaded"),
    ProviderFailure.WRONG_KEY: (401, "authentication_error", "invalid_api_key", "wrong key: {key}"),
    ProviderFailure.FORBIDDEN: (403, "permission_error", "", "not from here"),
    ProviderFailure.UNKNOWN_MODEL: (404, "not_found_error", "model_not_found", "no such model"),
    ProviderFailure.CONTEXT: (400, "invalid_request_error", "", "prompt is too long: 300000 tokens > 200000 maximum"),
    ProviderFailure.BAD_REQUEST: (400, "invalid_request_error", "", "messages: at least one is required"),
}
"""HTTP status, error type, OpenAI's error code and message."""
ENDLESS: Mapping[ProviderFailure | None, tuple[bytes, float]] = {
    ProviderFailure.ENDLESS_TEXT: (b"", 0.0),
    ProviderFailure.ENDLESS_LINE: (b"x" * 65536, 0.0),
    ProviderFailure.DRIP: (b"x", 0.02),
    ProviderFailure.DRIPPING_HEAD: (b"x", 0.02),
}
"""What is sent again and again, the text of the answer where it is empty, and the seconds in between."""


@dataclass(frozen=True, slots=True)
class Seen:
    """A request as it arrived."""

    path: str
    headers: Mapping[str, str]
    body: Body


class FakeProvider:
    """The server; a context manager.

    Attributes:
        requests: all requests so far, in order of arrival.
        closed: set once the server ends.
        refuses: parameters that are refused by name with status 400, wherever in the body they stand.

    Args:
        answer: what right answers say; or a function of the request's body.
        usage: the counts that come with them.
        refuses: see above.
        retry_after: seconds to wait, as sent with `ProviderFailure.RATE_LIMIT`.
    """

    def __init__(
        self,
        answer: str | Callable[[Body], str] = "ok",
        *,
        usage: Usage = USAGE,
        refuses: tuple[str, ...] = (),
        retry_after: float = 0.05,
    ) -> None:
        self.requests: list[Seen] = []
        self._retry_after = retry_after
        self._answer = answer
        self._usage = usage
        self.refuses = refuses
        self._faults: deque[ProviderFailure] = deque()
        self._lock = threading.Lock()
        self.closed = threading.Event()
        handler = type("Handler", (_Handler,), {"provider": self})
        self._server = _Server(("127.0.0.1", 0), handler)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self.closed.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    @property
    def anthropic_url(self) -> str:
        """The base URL for Anthropic's SDK."""
        return f"http://127.0.0.1:{self._server.server_port}"

    @property
    def openai_url(self) -> str:
        """The base URL for OpenAI's SDK."""
        return f"{self.anthropic_url}/v1"

    def plan(self, *faults: ProviderFailure) -> None:
        """Appends faults for the next requests, one each; requests beyond them are answered rightly."""
        with self._lock:
            self._faults.extend(faults)

    def respond(self, seen: Seen) -> fake_wire.Response | None:
        """Returns the response to one request; None closes the connection."""
        with self._lock:
            self.requests.append(seen)
            fault = self._faults.popleft() if self._faults else None
        wire = fake_wire.Anthropic if seen.path.endswith("/messages") else fake_wire.OpenAI
        if fault is ProviderFailure.SLOW:
            self.closed.wait(60)
        if fault in (ProviderFailure.DROPPED, ProviderFailure.SLOW):
            return None
        if fault is ProviderFailure.HTML:
            return fake_wire.Response(200, "text/html", b"<!doctype html><title>Welcome</title>")
        if fault is not None and fault in STATUS:
            status, kind, code, message = STATUS[fault]
            key = seen.headers.get("x-api-key") or seen.headers.get("authorization", "")
            error = wire.error(kind, code, message.format(key=key.removeprefix("Bearer ")), None)
            after = {"retry-after": str(self._retry_after)} if fault is ProviderFailure.RATE_LIMIT else {}
            return fake_wire.Response(status, "application/json", json.dumps(error).encode(), after)
        for name in self.refuses:
            if f'"{name}":' in json.dumps(seen.body):
                error = wire.error("invalid_request_error", "unsupported_parameter", f"unsupported: {name}", name)
                return fake_wire.Response(400, "application/json", json.dumps(error).encode())
        text = self._answer if isinstance(self._answer, str) else self._answer(seen.body)
        return self._right_answer(wire, text, fault, streamed=bool(seen.body.get("stream")))

    def _right_answer(
        self, wire: type[fake_wire.Wire], text: str, fault: ProviderFailure | None, *, streamed: bool
    ) -> fake_wire.Response:
        stop = {ProviderFailure.TRUNCATED: "length", ProviderFailure.REFUSAL: "refusal"}.get(
            fault or ProviderFailure.SLOW, "end"
        )
        usage = None if fault is ProviderFailure.NO_USAGE else self._usage
        if not streamed:
            body = json.dumps(wire.whole(text, stop, usage)).encode()
            if fault is ProviderFailure.ODD_SHAPE:
                body = b'{"choices": "none", "content": 3}'
            body = body[: len(body) // 2] if fault in (ProviderFailure.BAD_JSON, ProviderFailure.CUT) else body
            return fake_wire.Response(200, "application/json", body, cut=fault is ProviderFailure.CUT)
        events = wire.stream(text, stop, usage)
        if fault in ENDLESS:
            more, pause = ENDLESS[fault]
            return fake_wire.Response(
                200,
                "text/event-stream",
                b"".join(events[: wire.BEFORE_END]),
                endless=more or events[wire.BEFORE_END - 1],
                pause=pause,
                headless=fault is ProviderFailure.DRIPPING_HEAD,
            )
        if fault in (
            ProviderFailure.CUT,
            ProviderFailure.QUIET_END,
            ProviderFailure.BAD_JSON,
            ProviderFailure.ERROR_EVENT,
            ProviderFailure.ODD_SHAPE,
        ):
            events = events[: wire.BEFORE_END]
        if fault is ProviderFailure.BAD_JSON:
            events.append(wire.event("content_block_delta", '{"type": "content_'))
        if fault is ProviderFailure.ODD_SHAPE:
            odd = '{"type": "content_block_delta", "delta": 7, "choices": "none"}'
            events.append(wire.event("content_block_delta", odd))
        if fault is ProviderFailure.ERROR_EVENT:
            error = json.dumps(wire.error("overloaded_error", "", "overloaded", None))
            events.append(wire.event("error", error))
        return fake_wire.Response(200, "text/event-stream", b"".join(events), cut=fault is ProviderFailure.CUT)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    # The default of 5 leaves a burst of calls waiting for a second.
    request_queue_size = 128


class _Handler(BaseHTTPRequestHandler):
    provider: FakeProvider
    protocol_version = "HTTP/1.1"
    # With Nagle's algorithm on, a small answer waits 40 ms for the client's delayed acknowledgement.
    disable_nagle_algorithm = True

    def do_POST(self) -> None:
        length = int(self.headers.get("content-length", "0"))
        body = json.loads(self.rfile.read(length) or b"{}")
        headers = {name.lower(): value for name, value in self.headers.items()}
        response = self.provider.respond(Seen(self.path, headers, body))
        if response is None or response.cut or response.endless:
            self.close_connection = True
        if response is not None:
            with suppress(ConnectionError):
                # One write: headers and body in two would again meet the delayed acknowledgement.
                self.wfile.write(response.encoded())
                while response.endless and not self.provider.closed.wait(response.pause):
                    self.wfile.write(response.endless)

    def log_message(self, format: str, *args: object) -> None:
        """Keeps quiet; `FakeProvider.requests` holds what came."""
