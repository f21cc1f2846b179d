"""What goes wrong on the way to a provider, as `ModelError`s: one reading of it for all adapters."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime

from whet.agents.models.base import ModelError

# Error types of a body, as the status that they stand for where the status itself is 200: within a stream.
_STATUS_OF = {
    "overloaded_error": 529,
    "rate_limit_error": 429,
    "timeout_error": 504,
    "authentication_error": 401,
    "permission_error": 403,
    "billing_error": 402,
    "not_found_error": 404,
    "invalid_request_error": 400,
}
_QUOTA = re.compile(r"insufficient_quota|billing_error|credit balance|exceeded your current quota", re.IGNORECASE)
_TOO_LONG = re.compile(
    r"context_length_exceeded|(prompt|input) is too long|maximum context length|context (window|size|length|limit)|"
    r"request_too_large",
    re.IGNORECASE,
)
_UNKNOWN = re.compile(
    r"unsupported|not supported|n.t support|unrecogni[sz]ed|unknown|unexpected|not permitted|extra|"
    r"deprecated|must be verified|not allowed",
    re.IGNORECASE,
)
_LIKE_A_KEY = re.compile(r"\bsk-[\w*.-]{4,}")


@dataclass(frozen=True, slots=True)
class Complaint:
    """What a provider says when it refuses a request.

    Attributes:
        status: of HTTP, or the one that the body's type stands for.
        code: the body's error type and code.
        param: the parameter that it is about, if it names one.
        message: its own words in one line, without the key.
        retry_after: seconds that it asks to wait, if it does.
    """

    status: int
    code: str
    param: str
    message: str
    retry_after: float | None

    @classmethod
    def read(cls, status: int, body: object, headers: Mapping[str, str], key: str) -> Complaint:
        """Reads an error's body, whatever its shape."""
        inner = body.get("error", body) if isinstance(body, Mapping) else body
        fields = inner if isinstance(inner, Mapping) else {"message": inner or ""}
        kind, code = str(fields.get("type") or ""), fields.get("code")
        if status < 400:
            status = code if isinstance(code, int) and code >= 400 else _STATUS_OF.get(kind, 500)
        return cls(
            status,
            f"{kind} {code or ''}".strip(),
            str(fields.get("param") or ""),
            one_line(str(fields.get("message") or ""), key),
            _retry_after(headers),
        )

    @property
    def too_long(self) -> bool:
        """Whether the prompt does not fit the model."""
        return self.status in (400, 413, 422) and bool(_TOO_LONG.search(f"{self.code} {self.message}"))

    def refused_of(self, names: Iterable[str]) -> str | None:
        """Returns which of the parameters the server does not know, if that is what it complains about."""
        if self.status not in (400, 422) or self.too_long or not _UNKNOWN.search(f"{self.code} {self.message}"):
            return None
        sent = list(names)
        if self.param in sent:
            return self.param
        return next((name for name in sent if re.search(rf"\b{name}\b", self.message)), None)

    def error(self, model: str, *, billed: bool = False) -> ModelError:
        """Returns the error to raise, with what can be done about it."""
        tail = f" ({self.status}{': ' + self.message if self.message else ''})"
        if self.status == 402 or _QUOTA.search(f"{self.code} {self.message}"):
            return ModelError(f"{model}: the account's quota or credit is spent{tail}", fatal=True, billed=billed)
        if self.status in (401, 403):
            return ModelError(f"{model}: the provider refuses the key{tail}", fatal=True, billed=billed)
        if self.status == 404:
            return ModelError(f"{model}: no such model or address{tail}", fatal=True, billed=billed)
        if self.too_long:
            return ModelError(f"{model}: the prompt is too long for the model{tail}", billed=billed)
        if self.status in (408, 409, 425, 429) or self.status >= 500:
            wait = self.retry_after or 0.0
            return ModelError(f"{model}: the provider is busy or broken{tail}", retry_after=wait, billed=billed)
        return ModelError(f"{model}: the provider refuses the request{tail}", billed=billed)


def one_line(text: str, key: str) -> str:
    """Returns foreign text cut to one short line, without the key or anything like one."""
    text = text.replace(key, "[key]") if key else text
    text = " ".join(_LIKE_A_KEY.sub("[key]", text).split())
    printable = "".join(character if character.isprintable() else "?" for character in text)
    return printable if len(printable) <= 200 else printable[:197] + "..."


def clean(text: object) -> object:
    """Replaces lone surrogates, which JSON can carry and UTF-8 cannot; other values pass."""
    return text.encode("utf-8", "replace").decode() if isinstance(text, str) else text


def not_connected(model: str, error: BaseException, key: str, base_url: str | None) -> ModelError:
    """A connection that failed or broke. Unless it never stood, the provider may have charged."""
    cause = error.__cause__ or error
    kind, why = type(cause).__name__, one_line(str(cause), key)
    if kind in ("ConnectError", "ConnectTimeout", "UnsupportedProtocol", "InvalidURL"):
        mend = f"is {base_url} the right base URL, and its server up?" if base_url else "is there a network?"
        return ModelError(f"{model}: no connection ({why or kind}); {mend}", retry_after=0.0, unreached=True)
    if kind == "Endless":
        return endless(model)
    return ModelError(f"{model}: the connection broke or stood still ({why})", retry_after=0.0, billed=True)


def endless(model: str) -> ModelError:
    """An answer beyond all that was asked for. Another one would be no shorter."""
    return ModelError(f"{model}: the server sends without end; the answer was given up", billed=True)


def not_an_answer(model: str, what: str) -> ModelError:
    """Status 200 with something else than an answer: another server than one thinks."""
    return ModelError(f"{model}: the server sent {what}; is the base URL right?", fatal=True)


def broken_answer(model: str, what: str) -> ModelError:
    """An answer that began and is of no use. It was charged."""
    return ModelError(f"{model}: {what}", retry_after=0.0, billed=True)


def _retry_after(headers: Mapping[str, str]) -> float | None:
    value = headers.get("retry-after", "").strip()
    if re.fullmatch(r"\d{1,9}(\.\d{1,9})?", value):
        return float(value)
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - time.time())
    except ValueError:
        return None
