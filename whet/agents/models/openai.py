"""OpenAI's chat completions, and every server that speaks them."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from functools import cached_property
from json import JSONDecodeError
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BaseModel, BeforeValidator, Field, ValidationError

from whet.agents.models import faults
from whet.agents.models.base import Reply, Request, Usage
from whet.agents.models.tokens import counted, most_characters

if TYPE_CHECKING:
    import openai

# What is done with a parameter that a server refuses by name: the other spelling, or none.
_INSTEAD: dict[str, str | None] = {
    "max_completion_tokens": "max_tokens",
    "max_tokens": "max_completion_tokens",
    "temperature": None,
    "stream_options": None,
    "stream": None,
}

_Text = Annotated[str | None, BeforeValidator(faults.clean)]
_Count = Annotated[int | None, Field(ge=0)]


class _Part(BaseModel):
    content: _Text = None
    refusal: _Text = None


class _Choice(BaseModel):
    delta: _Part | None = None
    message: _Part | None = None
    finish_reason: str | None = None


class _Details(BaseModel):
    cached_tokens: _Count = None
    cache_write_tokens: _Count = None


class _OpenAiUsage(BaseModel):
    prompt_tokens: _Count = None
    completion_tokens: _Count = None
    prompt_tokens_details: _Details | None = None


class _Chunk(BaseModel):
    """What we read of a chunk, or of a whole completion. Servers send more, less, and other things."""

    id: _Text = None
    model: _Text = None
    choices: list[_Choice] | None = None
    usage: _OpenAiUsage | None = None


class OpenAIModel:
    """A model behind OpenAI's API or a compatible server's.

    Args:
        model: the provider's name of the model.
        key: the API key; may be empty where the server asks for none.
        base_url: another server than OpenAI's.
        timeout: seconds that the server may be silent.
        longest: seconds that one answer may take.
    """

    free = False

    def __init__(
        self, model: str, key: str, base_url: str | None = None, *, timeout: float = 600.0, longest: float = 1800.0
    ) -> None:
        self.name = f"openai:{model}@{base_url}" if base_url else f"openai:{model}"
        self._model = model
        self._key = key
        self._base_url = base_url
        self._timeout = timeout
        self._longest = longest
        # The older spelling is the one that compatible servers know.
        self._limit = "max_tokens" if base_url else "max_completion_tokens"
        self._refused: frozenset[str] = frozenset()
        self._lock = threading.Lock()

    @cached_property
    def _client(self) -> openai.OpenAI:
        import openai

        from whet.agents.models.wire import BoundedClient

        client = BoundedClient(silence=self._timeout, longest=self._longest)
        return openai.OpenAI(
            api_key=self._key or "no-key",
            base_url=self._base_url,
            max_retries=0,
            timeout=client.timeout,
            http_client=client,
        )

    @property
    def address(self) -> str:
        """The URL of its server."""
        return str(self._client.base_url)

    def complete(self, request: Request) -> Reply:
        """Answers one request; one attempt, but for parameters that the server refuses by name.

        Raises:
            ModelError: there is no usable answer.
        """
        while True:
            refused = self._refused
            params = self._params(request, refused)
            outcome = self._attempt(request, params)
            if isinstance(outcome, Reply):
                return outcome
            name = outcome.refused_of(name for name in _INSTEAD if name in params)
            if name is None or _INSTEAD[name] in refused:
                raise outcome.error(self.name)
            with self._lock:
                self._refused |= {name}

    def _params(self, request: Request, refused: frozenset[str]) -> dict[str, Any]:
        params: dict[str, Any] = {
            "model": self._model,
            "messages": [{"role": m.role, "content": m.text} for m in request.messages],
            self._limit: request.max_tokens,
            "stream": True,
            "stream_options": {"include_usage": True},
        }
        if request.sample:
            # Some servers answer greedily unless told otherwise: every sample would be the first one again.
            params["temperature"] = 1.0
        for name in refused & params.keys():
            value = params.pop(name)
            if (other := _INSTEAD[name]) is not None:
                params[other] = value
        if "stream" not in params:
            params.pop("stream_options", None)
        return params

    def _attempt(self, request: Request, params: dict[str, Any]) -> Reply | faults.Complaint:
        import httpx2
        import openai

        try:
            answer = self._client.chat.completions.create(**params)
            if not isinstance(answer, openai.Stream):
                return self._read(request, [answer])
            with answer:
                return self._read(request, answer)
        except openai.APIStatusError as error:
            said = faults.Complaint.read(error.status_code, error.body, error.response.headers, self._key)
            if error.status_code in (400, 422):
                return said
            raise said.error(self.name) from None
        except (openai.APIConnectionError, httpx2.HTTPError, httpx2.InvalidURL) as error:
            raise faults.not_connected(self.name, error, self._key, self._base_url) from None
        except (ValidationError, JSONDecodeError, UnicodeDecodeError, openai.APIResponseValidationError):
            raise faults.broken_answer(self.name, "the answer is not as the API has it") from None
        except openai.APIError as error:
            # An error event within a stream.
            said = faults.Complaint.read(200, error.body, {}, self._key)
            raise said.error(self.name, billed=True) from None

    def _read(self, request: Request, chunks: Iterable[object]) -> Reply:
        text: list[str] = []
        refusal: list[str] = []
        finish: str | None = None
        usage = _OpenAiUsage()
        about: dict[str, Any] = {}
        room = most_characters(request)
        for plain in chunks:
            if isinstance(plain, str):
                raise faults.not_an_answer(self.name, "a text that is no API's")
            chunk = _Chunk.model_validate(plain, from_attributes=True)
            about = about or {"id": chunk.id, "model": chunk.model}
            usage = chunk.usage or usage
            for choice in (chunk.choices or [])[:1]:
                part = choice.delta or choice.message or _Part()
                text.append(part.content or "")
                refusal.append(part.refusal or "")
                room -= len(text[-1]) + len(refusal[-1])
                finish = choice.finish_reason or finish
            if room < 0:
                raise faults.endless(self.name)
        if not about:
            raise faults.not_an_answer(self.name, "no stream of events")
        if finish is None:
            raise faults.broken_answer(self.name, "the answer ended early")
        refused = "".join(refusal)
        stop = {"length": "length", "content_filter": "refusal"}.get(finish, "refusal" if refused else "end")
        whole = "".join(text)
        return Reply(
            text=whole,
            model=self.name,
            usage=counted(_normalised(usage), request, whole),
            stop=stop,
            raw=about | {"finish_reason": finish, "refusal": refused, "usage": usage.model_dump()},
        )


def _normalised(usage: _OpenAiUsage) -> Usage:
    """Cached tokens stand inside ``prompt_tokens``."""
    details = usage.prompt_tokens_details or _Details()
    read, written = details.cached_tokens or 0, details.cache_write_tokens or 0
    return Usage(
        input=max(0, (usage.prompt_tokens or 0) - read - written),
        cache_write=written,
        cache_read=read,
        output=usage.completion_tokens or 0,
    )
