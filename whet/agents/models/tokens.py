"""How many tokens a text can be, before a provider has counted."""

from __future__ import annotations

from whet.agents.models.base import Request, Usage

# What providers put around a message and a prompt.
PER_MESSAGE = 16
PER_PROMPT = 64


def most_tokens(text: str) -> int:
    """Returns a bound: tokenisers work on bytes, and none makes two tokens of one."""
    return len(text.encode("utf-8", "replace"))


def worst_case(request: Request) -> Usage:
    """Returns the most that a request may use: its prompt written to the cache, and the longest answer."""
    prompt = sum(most_tokens(message.text) + PER_MESSAGE for message in request.messages)
    return Usage(cache_write=prompt + PER_PROMPT, output=request.max_tokens)


def counted(usage: Usage, request: Request, text: str) -> Usage:
    """Returns a provider's count, or a bound where it did not count."""
    if usage.total:
        return usage
    return Usage(input=worst_case(request).cache_write, output=min(most_tokens(text), request.max_tokens))
