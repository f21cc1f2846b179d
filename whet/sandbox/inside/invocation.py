"""One call of a loaded function, and its outcome: what all that calls functions in here has in common."""

from __future__ import annotations

import os
import time

from . import codec
from .codec import LAZY, CodecError, encode, type_name
from .decode import decode
from .loading import find, load_module, resolver
from .refilled import refilled
from .traces import trace

TYPE_CHECKING = False
if TYPE_CHECKING:  # `typing` itself would cost each start 8 ms
    from typing import Any, TypeAlias

    from .capture import Capture
    from .cuda_clock import CudaClock
    from .module_target import ModuleTarget
    from .native_target import NativeTarget

    Lined: TypeAlias = "Target | ModuleTarget"
    Loaded: TypeAlias = "Lined | NativeTarget"

# Taken before any foreign code is loaded: a patched `time` module does not reach it.
_clock = time.perf_counter_ns

EAGER = frozenset({bool, int, float, complex, str, bytes, tuple, list, dict, set, frozenset, type(None)})


class Target:
    """A loaded Python function or method, and how to call it.

    Attributes:
        clock: of the device that its calls run on; None for the CPU.
        earlier: the input of the last single call.
    """

    clock: CudaClock | None = None
    earlier: Any = None

    def __init__(self, tree: str, filename: str, symbol: str) -> None:
        self.module = load_module(tree, filename)
        codec._Writer.own = self.module.__name__
        self.path = os.path.join(tree, filename)
        self.symbol = symbol
        self.function = find(self.module, symbol)
        owner = symbol.rpartition(".")[0]
        self.owner = find(self.module, owner) if owner else None
        if self.owner is not None:
            raw = vars(self.owner).get(symbol.rpartition(".")[2])
            self.bound = not isinstance(raw, (staticmethod, classmethod))
        else:
            self.bound = False
        self.resolve = resolver(self.module)

    def read(self, payload: bytes) -> Any:
        """Returns an input as it was given: of `parts`."""
        return decode(payload, self.resolve)

    def decode(self, payload: bytes) -> tuple[Any, Any, Any]:
        """Returns (init, args, kwargs) of one input."""
        return parts(self.read(payload))

    def call(self, init: Any, args: Any, kwargs: Any) -> tuple[Any, Any]:
        """Returns (instance or None, result); a lazy result is made to do its work here."""
        if self.bound:
            instance = self.receiver(init)
            if instance is init:  # a recorded one
                result = self.function(instance, *args, **kwargs)
            else:
                result = getattr(instance, self.symbol.rpartition(".")[2])(*args, **kwargs)
        else:
            instance = None
            result = self.function(*args, **kwargs)
        if type(result) not in EAGER and isinstance(result, LAZY):  # the second look is dear, within a timed call
            result = _Forced(list(result))
        return instance, result

    def receiver(self, init: Any) -> Any:
        """Returns the object that a method is called on: a recorded one, or one made of the constructor's arguments."""
        assert self.owner is not None
        if isinstance(init, self.owner):
            return init
        return self.owner(**init) if isinstance(init, dict) else self.owner(*init)

    def outcome(self, kind: str, value: Any) -> Any:
        """Returns what came of a call, see `invoke`, as it is stored."""
        return value

    def left(self, payload: bytes, given: Any) -> Any:
        """Returns what is left of an input after a call."""
        return parts(given)[1:]

    def changed(self, payload: bytes, given: Any) -> Any:
        """Returns what is left of an input after a call; None where it is as it came, so that most hand none over."""
        try:
            if encode(given) == payload:
                return None
        except CodecError:  # what became of them is told when they are stored
            pass
        return parts(given)[1:]


def parts(value: Any) -> tuple[Any, Any, Any]:
    """Returns (init, args, kwargs) of one decoded input."""
    if isinstance(value, dict):
        return value.get("init", ()), value.get("args", ()), value.get("kwargs", {})
    return (), value, {}


class _Forced:
    """The items of a lazy result. Its name in an outcome tells it from a list."""

    def __init__(self, items: list[Any]) -> None:
        self.items = items


def invoke(target: Loaded | Uncalled, init: Any, args: Any, kwargs: Any) -> tuple[str, Any, Any, int]:
    """Calls once; returns (kind, instance, value, nanoseconds).

    The kind is ``value``, ``raise`` or ``memory``; the value of a raise is (type, message, lines of the target's file).
    """
    instance = None
    start = _clock()
    try:
        instance, value = target.call(init, args, kwargs)
        kind = "value"
    except MemoryError:
        kind, value = "memory", None
    except BaseException as error:  # what the candidate raises is its outcome
        spent = _clock() - start
        said = (type_name(type(error)), str(error)[:2000], trace(error, target.path))
        return "raise", None, said, spent
    return kind, instance, value, _clock() - start


def stored(kind: str, after: Any, instance: Any, value: Any, stdout: str) -> bytes:
    """Returns an outcome as bytes: (kind, arguments after the call, instance after it, value, stdout)."""
    try:
        return encode((kind, after, instance, value, stdout))
    except CodecError as error:
        return encode(("unstorable", None, None, str(error), ""))


def call_once(target: Loaded, payload: bytes, capture: Capture) -> tuple[bytes, int]:
    """Returns the outcome of one call, arguments after it included, and the nanoseconds that it took."""
    given = target.read(payload)
    if isinstance(target, Target):
        given = target.earlier = refilled(target.earlier, given)
    kind, instance, value, spent = invoke(target, *parts(given))
    return stored(kind, target.left(payload, given), instance, target.outcome(kind, value), capture.take()), spent


class Uncalled:
    """Stands in for a target on inputs that are not called on, with all that surrounds a call."""

    path = ""

    def call(self, init: Any, args: Any, kwargs: Any) -> tuple[Any, Any]:
        """Does nothing."""
        return None, None


UNCALLED = Uncalled()
