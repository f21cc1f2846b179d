"""Calls one Python function or method with inputs that come in; outcomes go out.

It knows no expected value and no verdict. What it says of time is believed only where the clock outside
agrees.
"""

from __future__ import annotations

import gc
import io
import resource
import sys
import time

from .channel import Channel, set_limits
from .codec import LAZY, CodecError, encode, type_name
from .decode import decode
from .landlock import restrict
from .line_timer import LineTimer
from .loading import find, load_module, resolver
from .priming import prime
from .spoil import spoil

TYPE_CHECKING = False
if TYPE_CHECKING:  # `typing` itself would cost each start 8 ms
    from typing import Any

# Taken before any foreign code is loaded: a patched `time` module does not reach them.
_clock = time.perf_counter_ns
_cpu = time.process_time_ns
_usage = resource.getrusage
_OWN, _CHILDREN = resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN


class Capture(io.TextIOBase):
    """What the function prints, up to a limit."""

    def __init__(self, limit: int) -> None:
        self.parts: list[str] = []
        self.left = limit

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        self.left -= len(text)
        if self.left < 0:
            raise OSError("too much output")
        self.parts.append(text)
        return len(text)

    def take(self) -> str:
        text = "".join(self.parts)
        self.parts.clear()
        return text


class Target:
    """The loaded function and how to call it."""

    def __init__(self, tree: str, filename: str, symbol: str) -> None:
        self.module = load_module(tree, filename)
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

    def decode(self, payload: bytes) -> tuple[Any, Any, Any]:
        """Returns (init, args, kwargs) of one input."""
        return parts(decode(payload, self.resolve))

    def call(self, init: Any, args: Any, kwargs: Any) -> tuple[Any, Any]:
        """Returns (instance or None, result); a lazy result is made to do its work here."""
        if self.bound:
            assert self.owner is not None
            instance = self.owner(**init) if isinstance(init, dict) else self.owner(*init)
            result = getattr(instance, self.symbol.rpartition(".")[2])(*args, **kwargs)
        else:
            instance = None
            result = self.function(*args, **kwargs)
        if isinstance(result, LAZY):
            result = _Forced(list(result))
        return instance, result


def parts(value: Any) -> tuple[Any, Any, Any]:
    """Returns (init, args, kwargs) of one decoded input."""
    if isinstance(value, dict):
        return value.get("init", ()), value.get("args", ()), value.get("kwargs", {})
    return (), value, {}


class _Forced:
    """The items of a lazy result. Its name in an outcome tells it from a list."""

    def __init__(self, items: list[Any]) -> None:
        self.items = items


def invoke(target: Target, init: Any, args: Any, kwargs: Any) -> tuple[str, Any, Any, int]:
    """Calls once; returns (kind, instance, value, nanoseconds).

    The kind is ``value``, ``raise`` or ``memory``; the value of a raise is (type, message).
    """
    instance = None
    start = _clock()
    try:
        instance, value = target.call(init, args, kwargs)
        kind = "value"
    except MemoryError:
        kind, value = "memory", None
    except BaseException as error:  # what the candidate raises is its outcome
        kind, value = "raise", (type_name(type(error)), str(error)[:2000])
    return kind, instance, value, _clock() - start


def stored(kind: str, after: Any, instance: Any, value: Any, stdout: str) -> bytes:
    """Returns an outcome as bytes: (kind, arguments after the call, instance after it, value, stdout)."""
    try:
        return encode((kind, after, instance, value, stdout))
    except CodecError as error:
        return encode(("unstorable", None, None, str(error), ""))


def call_once(target: Target, payload: bytes, capture: Capture) -> tuple[bytes, int]:
    """Returns the outcome of one call, arguments after it included, and the nanoseconds that it took."""
    init, args, kwargs = target.decode(payload)
    kind, instance, value, spent = invoke(target, init, args, kwargs)
    return stored(kind, (args, kwargs), instance, value, capture.take()), spent


def call_after_spoiling(target: Target, payload: bytes, capture: Capture) -> tuple[bytes, int]:
    """Calls, changes what came back as a caller may, and returns what `call_once` gives for the same input then."""
    _, _, value, _ = invoke(target, *target.decode(payload))
    capture.take()
    spoil(value)
    return call_once(target, payload, capture)


def _spent() -> tuple[int, int, int]:
    """Returns CPU nanoseconds of this process and of children that ended, and its context switches of both kinds."""
    own, children = _usage(_OWN), _usage(_CHILDREN)
    return _cpu() + int((children.ru_utime + children.ru_stime) * 1e9), own.ru_nvcsw, own.ru_nivcsw


def _changed(payload: bytes, given: Any) -> Any:
    """Returns the arguments after a call; None where they are as they came, so that most calls hand none over."""
    try:
        if encode(given) == payload:
            return None
    except CodecError:  # what became of them is told when they are stored
        pass
    return parts(given)[1:]


def timed_pass(target: Target, payloads: list[bytes], capture: Capture) -> tuple[int, int, int, int, list[bytes]]:
    """Calls once an input.

    Returns:
        nanoseconds in the calls, CPU nanoseconds, context switches at its own wish and against it, all outcomes.
    """
    inputs = [decode(payload, target.resolve) for payload in payloads]
    results: list[tuple[str, Any, Any, str]] = []
    gc.collect()
    gc.disable()
    before = _spent()
    total = 0
    for given in inputs:
        kind, instance, value, spent = invoke(target, *parts(given))
        total += spent
        results.append((kind, instance, value, capture.take()))
    cpu, waits, preemptions = (now - then for now, then in zip(_spent(), before, strict=False))
    gc.enable()
    outcomes = [
        stored(kind, _changed(payload, given), instance, value, text)
        for payload, given, (kind, instance, value, text) in zip(payloads, inputs, results, strict=False)
    ]
    return total, cpu, waits, preemptions, outcomes


def hot_lines(target: Target, payloads: list[bytes], seconds: float) -> list[tuple[int, int]]:
    """Runs inputs for some seconds; returns (line of the target's file, nanoseconds)."""
    timer = LineTimer(target.module.__file__)
    end = _clock() + int(seconds * 1e9)
    while _clock() < end:
        for payload in payloads:
            init, args, kwargs = target.decode(payload)
            timer.on()
            try:
                target.call(init, args, kwargs)
            except Exception:  # an input on which the target raises still costs time
                pass
            finally:
                timer.off()
    return sorted(timer.spent.items())


def serve(channel: Channel) -> None:
    """Answers messages until the world outside goes."""
    _, tree, memory, processes, output, rules = channel.read()
    set_limits(memory, processes, output)
    if rules:
        restrict(*rules)
    capture = Capture(output)
    sys.stdout = capture
    target: Target | None = None
    while True:
        message = channel.read()
        operation = message[0]
        if operation == "prime":
            prime(message[1])
            channel.write(("ok",))
            continue
        if operation == "load":
            try:
                target = Target(tree, message[1], message[2])
                channel.write(("ok",))
            except BaseException as error:  # a module may raise anything while it is loaded
                channel.write(("error", type(error).__name__, str(error)[:2000]))
            capture.take()
            continue
        assert target is not None
        if operation == "call":
            channel.write(("outcome", *call_once(target, message[1], capture)))
        elif operation == "spoil":
            channel.write(("outcome", *call_after_spoiling(target, message[1], capture)))
        elif operation == "go":
            channel.write(("done", *timed_pass(target, message[1], capture)))
        elif operation == "profile":
            channel.write(("hot", hot_lines(target, message[1], message[2])))


def main() -> None:
    """Entry of the process."""
    channel = Channel()
    try:
        serve(channel)
    except EOFError:
        return
