"""How many tokens a text can be, before a provider has counted."""

from __future__ import annotations

from functools import lru_cache

from whet.agents.models.base import Message, Request, Usage
from whet.core.same import Same

# What providers put around a message and a prompt.
PER_MESSAGE = 16
PER_PROMPT = 64
"""Tokens at most, added to the bound on a message and on a prompt. Larger values let a budget refuse calls that would
have fit; smaller ones could fall below what a provider counts, so that a cap is exceeded."""


# The longest tokens of common tokenisers are runs of some hundred blanks, but no text is made of those alone.
LONGEST_TOKEN = 64


def most_characters(request: Request) -> int:
    """Returns a bound on an answer: whoever sends more does not keep to ``max_tokens``."""
    return request.max_tokens * LONGEST_TOKEN


def most_tokens(text: str) -> int:
    """Returns a bound: tokenisers work on bytes, and none makes two tokens of one."""
    return len(text.encode("utf-8", "replace"))


def worst_case(request: Request) -> Usage:
    """Returns the most that a request may use: its prompt written to the cache, and the longest answer."""
    return Usage(cache_write=_of_prompt(Same(*request.messages)) + PER_PROMPT, output=request.max_tokens)


@lru_cache(maxsize=8)  # the samples of a round share a prompt
def _of_prompt(messages: Same) -> int:
    return sum(most_tokens(one.text) + PER_MESSAGE for one in messages.objects if isinstance(one, Message))


def counted(usage: Usage, request: Request, text: str) -> Usage:
    """Returns a provider's count, or a bound where it did not count."""
    if usage.total:
        return usage
    return Usage(input=worst_case(request).cache_write, output=min(most_tokens(text), request.max_tokens))
