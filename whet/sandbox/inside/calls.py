"""Calls one function or method with inputs that come in; outcomes go out.

It knows no expected value and no verdict. What it says of time is believed only where the clock outside
agrees.
"""

from __future__ import annotations

import gc
import os
import struct
import sys
import time

from .account import cpu_so_far, settled, spent_so_far
from .capture import Capture
from .channel import Channel, set_limits
from .codec import pack_size
from .invocation import UNCALLED, Target, call_once, invoke, parts, stored
from .landlock import restrict
from .mutate_result import mutate_result
from .priming import prime
from .traces import trace

TYPE_CHECKING = False
if TYPE_CHECKING:  # `typing` itself would cost each start 8 ms
    from collections.abc import Callable, Sequence
    from typing import Any

    from .invocation import Loaded, Uncalled
    from .module_target import ModuleTarget
    from .native_target import NativeTarget

# Taken before any foreign code is loaded: a patched `time` module does not reach them.
_clock = time.perf_counter_ns
_cpu = time.process_time_ns
_CLOCKS = (_clock, cpu_so_far)


def open_target(tree: str, kind: str, *words: Any) -> Loaded:
    """Loads a target: ``python``, ``native``, ``ptx``, ``module`` or ``probe``, with what its class is given."""
    if kind == "python":
        return Target(tree, *words)
    if kind == "module":
        from .module_target import open_module

        return open_module(tree, *words)
    if kind == "probe":
        from .probe_target import ProbeTarget

        return ProbeTarget(tree, *words)
    if kind == "ptx":
        from .ptx_target import PtxTarget

        return PtxTarget(tree, *words)
    from .native_target import NativeTarget  # ctypes costs each start 5 ms

    return NativeTarget(tree, *words)


def unbuilt() -> str:
    """Returns the library that an answer asked for in vain, see `whet_native`; empty where there is none."""
    loader = sys.modules.get(f"{__package__}.whet_native")
    return loader.LIBRARIES.wanted if loader is not None else ""


def call_after_mutation(target: Loaded, payload: bytes, capture: Capture) -> tuple[bytes, int]:
    """Calls, changes what came back as a caller may, and returns what `call_once` gives for the same input then."""
    _, _, value, _ = invoke(target, *target.decode(payload))
    capture.take()
    mutate_result(value)
    return call_once(target, payload, capture)


def call_in_sequence(target: Loaded, payload: bytes, capture: Capture) -> tuple[bytes, int]:
    """See `sequences.call_sequence` and `native_sequences.native_sequence`."""
    if isinstance(target, Target):
        from .sequences import call_sequence

        return call_sequence(target, payload, capture)
    from .native_sequences import native_sequence

    return native_sequence(target, payload, capture)  # type: ignore[arg-type]


def call_asked(target: Loaded, payload: bytes, capture: Capture) -> tuple[bytes, int]:
    """See `narrowed.call_asked`."""
    from . import narrowed  # of functions and methods in Python alone

    return narrowed.call_asked(call_once, target, payload, capture)


FOREVER = 2**64 - 1
"""Nanoseconds that stand for an invalid time: the most that 8 bytes hold, more than any call lasts."""
WAYS = {"call": call_once, "mutate": call_after_mutation, "sequence": call_in_sequence, "asked": call_asked}
"""What `each` does with every input."""


def each(target: Loaded, way: str, sizes: bytes, payloads: bytes, capture: Capture, channel: Channel) -> None:
    """Runs one input after the other; the outcome of each is sent before the next one is met.

    So an end in the middle is told from what came before it. An answer is the nanoseconds in 8 bytes, and the outcome.

    Args:
        target: what is called.
        way: one of `WAYS`.
        sizes: how many bytes each input has, in 8 bytes.
        payloads: all inputs, one behind the other.
        capture: what it prints.
        channel: takes the answers.
    """
    run = WAYS[way]
    start = 0
    for (size,) in struct.iter_unpack("<Q", sizes):
        outcome, spent = run(target, payloads[start : start + size], capture)
        # Whoever reached the clock may have it say anything: what is no time is told as more than any call lasts.
        sound = type(spent) is int and 0 <= spent < FOREVER
        channel.send(pack_size(spent if sound else FOREVER) + outcome)
        start += size


def timed_pass(
    target: Loaded,
    payloads: list[bytes],
    repeats: int,
    capture: Capture,
    called: list[int] | None = None,
    laid: list[Any] | None = None,
) -> tuple[Any, ...]:
    """Calls once an input. A device is idle, and its caches are cold, when a call begins.

    Args:
        target: what is called.
        payloads: the inputs.
        repeats: 0, or how often a native function, a kernel or a torch module is called on all of them, one round
            after the other.
        capture: what it prints.
        called: the places of the inputs that are called on; the others are taken in, and what came of those is handed
            over in their place, so that the world outside learns what that costs. None calls on all.
        laid: takes the inputs, which lie where they were called on; None for nobody.

    Returns:
        nanoseconds in the calls, CPU nanoseconds, context switches at its own wish and against it, nanoseconds in the
        calls of the first round where there are rounds, CPU nanoseconds in those and in the calls of the other rounds,
        all outcomes; of calls on a device also the nanoseconds between its own events around them.
    """
    gc.collect()
    gc.disable()  # also while inputs are read and outcomes written: what that costs is to vary little
    inputs = [target.read(payload) for payload in payloads]
    once, device = called_by(target)
    around, beside = surrounding() if isinstance(target, Target) else (0, 0)
    before = spent_so_far()
    first, later, by_cpu = 0, 0, (0, 0)
    if repeats:
        (first, later), by_cpu, results = _repeating(target).in_rounds(inputs, repeats, once, capture.take, _CLOCKS)
    else:
        asked = None if called is None else frozenset(called)
        later, results = in_turn(target, inputs, asked, once, capture.take, around)
    cpu, waits, preemptions = (now - then for now, then in zip(spent_so_far(), before, strict=False))
    cpu = (sum(by_cpu) if repeats else cpu - beside * len(inputs)) - device.settling
    sources = list(range(len(inputs)))
    if called is not None:
        sources = [called[number % len(called)] for number in sources]
        for number in called:
            sources[number] = number
    outcomes = stored_in_turn(target, payloads, inputs, results, sources)
    gc.enable()
    if laid is not None:
        laid[:] = inputs
    events = [] if target.clock is None else [device.events]
    return first + later, max(0, cpu), waits, preemptions, first, *by_cpu, outcomes, *events


def renewed_round(
    target: Loaded,
    laid: list[Any],
    payloads: list[bytes],
    settling: int,
    capture: Capture,
    called: list[int] | None = None,
) -> tuple[int, int, int, int, int, list[bytes]]:
    """Calls once an input, as in rounds of the pass before, on new inputs where those of the pass lie.

    Args:
        target: what is called: a native function or a torch module.
        laid: the inputs of the pass.
        payloads: new ones; of a native function as many at a time as the pass has, of a module no more than those.
        settling: how many rounds of the pass come first, untimed; a module, or a function that changes its inputs, has
            none.
        capture: what it prints.
        called: the places of those that a native function is called on; the others are taken in, and something is
            handed over for them. None calls on all.

    Returns:
        nanoseconds in the calls, CPU nanoseconds in them, both in the rounds of the pass that came first, how many of
        those there were, and all outcomes.
    """
    gc.collect()
    gc.disable()
    once, _ = called_by(target)
    asked = list(range(len(payloads))) if called is None else called
    spent, used, first, first_cpu, came_first, inputs, results = _repeating(target).in_new_rounds(
        laid, payloads, asked, settling, once, capture.take, _CLOCKS
    )
    outcomes = stored_in_turn(target, payloads, inputs, results, range(len(results)))
    gc.enable()
    return spent, used, first, first_cpu, came_first, outcomes


def stored_in_turn(
    target: Loaded, payloads: list[bytes], inputs: list[Any], results: list[Any], sources: Sequence[int]
) -> list[bytes]:
    """Returns outcomes of some calls by their places, arguments after the call included where those changed."""
    changed = [target.changed(payload, given) for payload, given in zip(payloads, inputs, strict=False)]
    outcomes = []
    for source in sources:
        kind, instance, value, text = results[source]
        outcomes.append(stored(kind, changed[source], instance, target.outcome(kind, value), text))
    return outcomes


class Device:
    """What calls on a device took beside what `invoke` tells.

    Attributes:
        events: nanoseconds between its own events around the calls.
        settling: CPU nanoseconds until it was idle, and its caches cold, before each.
    """

    def __init__(self) -> None:
        self.events = self.settling = 0


def called_by(target: Loaded) -> tuple[Callable[..., tuple[str, Any, Any, int]], Device]:
    """Returns what calls a target once, as `invoke` does, and what that adds to."""
    device, clock = Device(), target.clock
    if clock is None:
        return invoke, device

    def on_device(one: Loaded, init: Any, args: Any, kwargs: Any) -> tuple[str, Any, Any, int]:
        device.settling += settled(clock)
        came = invoke(one, init, args, kwargs)
        device.events += clock.spent()
        return came

    return on_device, device


def _repeating(target: Loaded) -> ModuleTarget | NativeTarget:
    """Returns a target of which rounds are asked; a function in Python has none."""
    if isinstance(target, Target):
        raise AssertionError("a function in Python is called once an input")
    return target


TRIALS, BATCHES = 50, 4
"""Calls of nothing, and how often: the shortest counts. Fewer may all be disturbed; each takes a microsecond."""


def in_turn(
    target: Loaded | Uncalled,
    inputs: Sequence[Any],
    asked: frozenset[int] | None,
    once: Callable[..., tuple[str, Any, Any, int]],
    printed: Callable[[], str],
    around: int,
) -> tuple[int, list[tuple[str, Any, Any, str]]]:
    """Calls on one input after the other; returns the nanoseconds in the calls, and what came of each.

    Args:
        target: what is called.
        inputs: as they were read.
        asked: the places of those that are called on; None for all.
        once: calls as `invoke` does.
        printed: takes what a call printed.
        around: nanoseconds of what surrounds a call.
    """
    total = 0
    results = []
    for number, given in enumerate(inputs):
        if asked is not None and number not in asked:
            invoke(UNCALLED, *parts(given))
            results.append(("value", None, None, printed()))
            continue
        kind, instance, value, spent = once(target, *parts(given))
        total += max(0, spent - around)
        results.append((kind, instance, value, printed()))
    return total, results


_surrounding: list[tuple[int, int]] = []  # `functools.cache` would cost each start 2 ms


def surrounding() -> tuple[int, int]:
    """Returns what surrounds a call of what does nothing, and is no Python: the least of some, measured once.

    Returns:
        the nanoseconds that `invoke` takes for one, and the CPU nanoseconds that `in_turn` does.
    """
    if not _surrounding:
        _surrounding.append(_measured_surrounding())
    return _surrounding[0]


def _measured_surrounding() -> tuple[int, int]:
    nothing = Target.__new__(Target)
    nothing.bound, nothing.function, nothing.path = False, {}.clear, ""
    spent = []
    for _ in range(BATCHES):
        begun = _cpu()
        in_turn(nothing, [()] * TRIALS, None, invoke, Capture(0).take, 0)
        spent.append(_cpu() - begun)
    return min(invoke(nothing, (), (), {})[3] for _ in range(TRIALS)), min(spent) // TRIALS


HEARD = frozenset({"call", "each", "go"})
"""What a call prints belongs to its outcome; nobody asks for it in other operations, however many calls they make."""

BESIDE = frozenset({"cost", "needs", "hot", "kernels"})


def _settle() -> None:
    """Leaves all that lives by now out of later collections of garbage.

    Each timed pass begins with one. To go through the objects of what is imported took longer than to hand over most
    passes' inputs and outcomes.
    """
    gc.collect()
    gc.freeze()


def serve(channel: Channel) -> None:
    """Answers messages until the world outside goes."""
    _, tree, memory, processes, output, rules = channel.read()
    set_limits(memory, processes, output)
    if rules:
        restrict(*rules)
    capture = Capture(output)
    sys.stdout = capture
    target: Loaded | None = None
    laid: list[Any] | None = None
    surrounding()  # before there is foreign code
    while True:
        message = channel.read()
        operation = message[0]
        capture.heard = operation in HEARD
        if operation == "prime":
            prime(message[1])
            _settle()
            channel.write(("ok",))
            continue
        if operation == "load":
            try:
                target = open_target(tree, *message[1:])
                _settle()
                # Whether or not it raised: an answer may have another way where there is no compiler.
                channel.write(("build", wanted) if (wanted := unbuilt()) else ("ok",))
            except BaseException as error:  # a module may raise anything while it is loaded
                if wanted := unbuilt():
                    channel.write(("build", wanted))
                    continue
                place = trace(error, os.path.join(tree, message[2]))
                text = f"{str(error)[:2000]}{place and f' ({place})'}"
                channel.write(("error", type(error).__name__, text))
            continue
        assert target is not None
        if operation == "call":
            loaded = len(sys.modules)
            came = call_once(target, message[1], capture)
            if len(sys.modules) > loaded:  # what its input is made of, such as numpy, was imported
                _settle()
            channel.write(("outcome", *came))
        elif operation == "each":
            _, way, sizes, payloads = message
            each(target, way, sizes, payloads, capture, channel)
        elif operation == "go":
            laid = [] if message[2] else None
            called = message[3] if len(message) > 3 else None
            channel.write(("done", *timed_pass(target, message[1], message[2], capture, called, laid)))
        elif operation == "renewed":
            assert laid is not None
            called = message[3] if len(message) > 3 else None
            channel.write(("renewed", *renewed_round(target, laid, message[1], message[2], capture, called)))
            laid = None  # now, and not in the next window: to give memory back takes longer than to read inputs
        elif operation == "profile":
            from .lines import hot_lines  # they follow Python's lines alone

            channel.write(("hot", hot_lines(target, *message[1:])))
        elif operation == "memory":
            from .lines import memory_lines

            channel.write(("memory", memory_lines(target, *message[1:])))
        elif operation == "helpers":
            from .helper_calls import helper_calls  # of functions in Python alone

            channel.write(("helpers", helper_calls(target, *message[1:])))
        elif operation in BESIDE:
            from .beside import answer  # they are asked of torch modules alone

            channel.write(answer(target, operation, message[1:]))  # type: ignore[arg-type]


def main() -> None:
    """Entry of the process."""
    channel = Channel()
    try:
        serve(channel)
    except EOFError:
        return
