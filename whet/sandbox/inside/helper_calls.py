"""Records how a target calls the other functions of its module."""

from __future__ import annotations

from .codec import CodecError, encode
from .invocation import invoke
from .recorder import CallWriter

TYPE_CHECKING = False
if TYPE_CHECKING:  # `typing` itself would cost each start 8 ms
    from typing import Any


def stored(args: Any, kwargs: Any) -> bytes | None:
    """Returns the arguments of a call as bytes; None where it cannot be repeated."""
    try:
        return encode({"args": args, "kwargs": kwargs} if kwargs else args, CallWriter())
    except (CodecError, RecursionError):
        return None


def helper_calls(target: Any, payloads: list[bytes], names: list[str], most: int) -> list[tuple[str, bytes]]:
    """Runs inputs; returns distinct calls of some functions: the name, and the arguments as they came.

    Args:
        target: what is run.
        payloads: its inputs.
        names: of functions of its module, which it finds there by name.
        most: calls of each that are kept.
    """
    namespace = vars(target.module)
    originals = {name: namespace[name] for name in names if callable(namespace.get(name))}
    found: dict[str, dict[bytes, None]] = {name: {} for name in originals}

    def recording(function: Any, calls: dict[bytes, None]) -> Any:
        def call(*args: Any, **kwargs: Any) -> Any:
            if len(calls) < most and (payload := stored(args, kwargs)) is not None:
                calls[payload] = None
            return function(*args, **kwargs)

        return call

    namespace.update({name: recording(function, found[name]) for name, function in originals.items()})
    try:
        for payload in payloads:
            invoke(target, *target.decode(payload))
    finally:
        namespace.update(originals)
    return [(name, call) for name, calls in found.items() for call in calls]
