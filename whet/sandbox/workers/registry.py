"""From what stands after ``--workers`` to an executor. One line in `KINDS` adds a kind."""

from __future__ import annotations

from collections.abc import Callable

from whet.core.errors import UsageError, nearest
from whet.sandbox.workers.base import Executor

FORMS = ("local", "local:N", "ray", "ray://HOST:PORT")


def open_executor(text: str) -> Executor:
    """Returns the executor that the user asked for.

    Args:
        text: one of `FORMS`.

    Raises:
        UsageError: it is none of them, or cannot be used.
    """
    word, _, rest = text.partition(":")
    if word not in KINDS:
        raise UsageError(f"unknown workers '{text}'{nearest(word, KINDS)}; known forms: {', '.join(FORMS)}")
    return KINDS[word](rest)


def _local(rest: str) -> Executor:
    from whet.sandbox.workers.local import Local

    if rest and not (rest.isdecimal() and int(rest)):
        raise UsageError(f"malformed workers 'local:{rest}'; the form is local:N, with N from 1")
    return Local(int(rest or 0))


def _ray(rest: str) -> Executor:
    host, _, port = rest.removeprefix("//").rpartition(":")
    if rest and not (rest.startswith("//") and host and port.isdecimal() and 0 < int(port) < 1 << 16):
        raise UsageError(f"malformed workers 'ray:{rest}'; the forms are ray and ray://HOST:PORT")
    from whet.sandbox.workers.cluster import Cluster

    return Cluster(f"ray:{rest}" if rest else "ray")


KINDS: dict[str, Callable[[str], Executor]] = {"local": _local, "ray": _ray}
