"""Anthropic's messages."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from functools import cached_property
from json import JSONDecodeError
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BaseModel, BeforeValidator, Field, ValidationError

from whet.agents.models import faults
from whet.agents.models.base import Message, Reply, Request, Usage
from whet.agents.models.tokens import counted, most_characters

if TYPE_CHECKING:
    import anthropic

# The API takes no more in one request.
_BREAKPOINTS = 4
_STOPS = {"max_tokens": "length", "model_context_window_exceeded": "length", "refusal": "refusal"}

_Text = Annotated[str | None, BeforeValidator(faults.clean)]
_Count = Annotated[int | None, Field(ge=0)]


class _AnthropicUsage(BaseModel):
    input_tokens: _Count = None
    cache_creation_input_tokens: _Count = None
    cache_read_input_tokens: _Count = None
    output_tokens: _Count = None


class _Message(BaseModel):
    id: _Text = None
    model: _Text = None
    usage: _AnthropicUsage | None = None


class _Delta(BaseModel):
    text: _Text = None
    stop_reason: str | None = None


class _Event(BaseModel):
    """What we read of an event of a stream: of ``message_start``, of both kinds of delta."""

    message: _Message | None = None
    delta: _Delta | None = None
    usage: _AnthropicUsage | None = None


class AnthropicModel:
    """A model behind Anthropic's API. Always streams: the SDK refuses long answers otherwise.

    Args:
        model: the provider's name of the model.
        key: the API key.
        base_url: another server than Anthropic's.
        timeout: seconds that the server may be silent.
        longest: seconds that one answer may take.
    """

    free = False

    def __init__(
        self, model: str, key: str, base_url: str | None = None, *, timeout: float = 600.0, longest: float = 1800.0
    ) -> None:
        self.name = f"anthropic:{model}"
        self._model = model
        self._key = key
        self._base_url = base_url
        self._timeout = timeout
        self._longest = longest
        # The only thing we send that a message can do without; servers in front of the API may refuse it.
        self._caches = True
        self._lock = threading.Lock()
        self._first: tuple[tuple[Message, ...], threading.Event] | None = None

    @cached_property
    def _client(self) -> anthropic.Anthropic:
        import anthropic

        from whet.agents.models.wire import BoundedClient

        client = BoundedClient(silence=self._timeout, longest=self._longest)
        return anthropic.Anthropic(
            api_key=self._key, base_url=self._base_url, max_retries=0, timeout=client.timeout, http_client=client
        )

    @property
    def address(self) -> str:
        """The URL of its server."""
        return str(self._client.base_url)

    def complete(self, request: Request) -> Reply:
        """Answers one request; one attempt, but for cache breakpoints that the server refuses.

        Raises:
            ModelError: there is no usable answer.
        """
        begun = self._behind_the_first(request)
        caches = self._caches
        try:
            outcome = self._attempt(request, begun, caches=caches)
            if isinstance(outcome, faults.Complaint) and caches and outcome.refused_of(["cache_control"]):
                self._caches = False
                outcome = self._attempt(request, begun, caches=False)
        finally:
            begun.set()
        if isinstance(outcome, faults.Complaint):
            raise outcome.error(self.name)
        return outcome

    def _behind_the_first(self, request: Request) -> threading.Event:
        """Waits until the answer to the first sample of a prompt has begun; returns what to set when this one has.

        From then on the provider's cache holds the prompt. Samples that are sent before pay for it in full, each.
        """
        with self._lock:
            if self._first is None or self._first[0] != request.messages:
                self._first = (request.messages, threading.Event())
                return self._first[1]
            begun = self._first[1]
        begun.wait(self._timeout)
        return begun

    def _attempt(self, request: Request, begun: threading.Event, *, caches: bool) -> Reply | faults.Complaint:
        import anthropic
        import httpx2

        system, messages = _prompt(request.messages, _BREAKPOINTS if caches else 0)
        params: dict[str, Any] = {"system": system} if system else {}
        try:
            events = self._client.messages.create(
                model=self._model, max_tokens=request.max_tokens, messages=messages, stream=True, **params
            )
            with events:
                return self._read(request, _announced(events, begun))
        except anthropic.APIStatusError as error:
            said = faults.Complaint.read(error.status_code, error.body, error.response.headers, self._key)
            if error.status_code in (400, 422):
                return said
            # Status 200: an error event within a stream.
            raise said.error(self.name, billed=error.status_code < 400) from None
        except (anthropic.APIConnectionError, httpx2.HTTPError, httpx2.InvalidURL) as error:
            raise faults.not_connected(self.name, error, self._key, self._base_url) from None
        except (ValidationError, JSONDecodeError, UnicodeDecodeError, anthropic.APIResponseValidationError):
            raise faults.broken_answer(self.name, "the answer is not as the API has it") from None

    def _read(self, request: Request, events: Iterable[object]) -> Reply:
        text: list[str] = []
        stop: str | None = None
        counts: dict[str, int] = {}
        about: dict[str, Any] = {}
        room = most_characters(request)
        for plain in events:
            event = _Event.model_validate(plain, from_attributes=True)
            if event.message:
                about = {"id": event.message.id, "model": event.message.model}
            if event.delta:
                text.append(event.delta.text or "")
                room -= len(text[-1])
                if room < 0:
                    raise faults.endless(self.name)
                stop = event.delta.stop_reason or stop
            for usage in (event.message and event.message.usage, event.usage):
                # Later counts are totals too, and replace earlier ones.
                counts |= usage.model_dump(exclude_none=True) if usage else {}
        if not about:
            raise faults.not_an_answer(self.name, "no stream of events")
        if stop is None:
            raise faults.broken_answer(self.name, "the answer ended early")
        whole = "".join(text)
        return Reply(
            text=whole,
            model=self.name,
            usage=counted(_normalised(counts), request, whole),
            stop=_STOPS.get(stop, "end"),
            raw=about | {"stop_reason": stop, "usage": counts},
        )


def _announced(events: Iterable[object], begun: threading.Event) -> Iterator[object]:
    for event in events:
        begun.set()
        yield event


def _normalised(counts: dict[str, int]) -> Usage:
    """``input_tokens`` leaves out what the cache was read for and written with."""
    return Usage(
        input=counts.get("input_tokens", 0),
        cache_write=counts.get("cache_creation_input_tokens", 0),
        cache_read=counts.get("cache_read_input_tokens", 0),
        output=counts.get("output_tokens", 0),
    )


def _prompt(messages: tuple[Message, ...], breakpoints: int) -> tuple[list[Any], list[Any]]:
    """The system's blocks and the turns; a breakpoint after each of the last stable parts."""
    said = [message for message in messages if message.text.strip()]
    stable = [index for index, message in enumerate(said) if message.stable]
    marked = stable[max(0, len(stable) - breakpoints) :]
    system: list[Any] = []
    turns: list[Any] = []
    for index, message in enumerate(said):
        block: dict[str, Any] = {"type": "text", "text": message.text}
        if index in marked:
            block["cache_control"] = {"type": "ephemeral"}
        if message.role == "system":
            system.append(block)
        elif turns and turns[-1]["role"] == message.role:
            turns[-1]["content"].append(block)
        else:
            turns.append({"role": message.role, "content": [block]})
    return system, turns
