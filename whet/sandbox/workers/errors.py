"""Exceptions on their way from a worker to its driver: as values, and raised again there as what they were."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any

from whet.core.errors import SandboxError, WhetError
from whet.sandbox.workers.base import End, WorkResult


def ours(name: str) -> Any:
    """Returns what a name means, written ``package.module:name``, within whet.

    Raises:
        SandboxError: it names nothing of whet's.
    """
    module, _, member = name.partition(":")
    if module.split(".")[0] != "whet" or not member.isidentifier() or member.startswith("_"):
        raise SandboxError(f"'{name}' is nothing of whet's that a worker may do")
    try:
        return getattr(importlib.import_module(module), member)
    except (ImportError, AttributeError):
        raise SandboxError(f"'{name}' is not in the whet of this host") from None


def one_line(text: str) -> str:
    """Returns a text with its lines joined."""
    return " ".join(text.split())


def told(error: Exception) -> dict[str, Any]:
    """Returns an exception as plain data; what is not of ours becomes a `SandboxError` that names its class."""
    if not isinstance(error, WhetError):
        error = SandboxError(one_line(f"{type(error).__name__}: {error}"))
    kind = type(error)
    fields = {name: value for name, value in vars(error).items() if not name.startswith("__")}
    return {"class": f"{kind.__module__}:{kind.__qualname__}", "arguments": list(error.args), "fields": fields}


def raised(data: Mapping[str, Any]) -> WhetError:
    """Returns the exception that `told` was given."""
    kind = ours(data["class"])
    if not (isinstance(kind, type) and issubclass(kind, WhetError)):
        raise SandboxError(f"'{data['class']}' is no error of whet's")
    # Not called: an error's own parameters need not be the arguments that it keeps.
    error = kind.__new__(kind)
    error.args = tuple(data["arguments"])
    vars(error).update(data["fields"])
    return error


def error_of(outcome: WorkResult) -> WhetError:
    """Returns what is to be raised for work that is not done."""
    if outcome.end is End.FAILED and outcome.raised is not None:
        return raised(outcome.raised)
    return SandboxError(outcome.error or f"the work was {outcome.end}")
