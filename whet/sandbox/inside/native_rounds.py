"""Rounds of calls of a native function: a call from Python would cost more than many a routine takes."""

from __future__ import annotations

import ctypes

from .guarded import Guarded
from .native_values import TYPES, NativeResult, Prepared

TYPE_CHECKING = False
if TYPE_CHECKING:  # `typing` itself would cost each start 8 ms
    from collections.abc import Callable
    from typing import Any, Protocol

    Clocks = tuple[Callable[[], int], Callable[[], int]]
    """Of time and of CPU time, in nanoseconds, as they were before there was foreign code."""

    class Repeatable(Protocol):
        """What is asked of a `native_target.NativeTarget`."""

        library: Any
        function: Any
        returns: str | None
        arguments: Any

        def read(self, payload: bytes) -> Prepared: ...


TRIALS = 5
"""Runs without a call, of which the shortest counts: the first ones find the caches cold. Each takes a microsecond."""


class Rounds:
    """Calls a function on many prepared inputs by the caller that was linked to it, see `toolchains.caller`."""

    def __init__(self, target: Repeatable, inputs: list[list[Any]]) -> None:
        self._target = target
        self._calls = target.library.whet_calls
        kinds = [ctypes.c_char_p, ctypes.c_int64, ctypes.c_void_p, ctypes.c_int64]
        self._calls.argtypes, self._calls.restype = kinds, None
        self._given = b"".join(self._packed(values) for values in inputs)
        self._count = len(inputs)
        self._returned = ctypes.create_string_buffer(8 * len(inputs))

    def _packed(self, values: list[Any]) -> bytes:
        kinds = self._target.function.argtypes
        return b"".join(bytes(kind(value)).ljust(8, b"\0") for kind, value in zip(kinds, values))  # noqa: B905

    def run(self, clocks: Clocks, rounds: int = 1) -> tuple[int, int]:
        """Calls once an input, and so ``rounds`` times over; returns nanoseconds and CPU nanoseconds that it took."""
        clock, cpu = clocks
        used, start = cpu(), clock()
        self._calls(self._given, self._count, self._returned, rounds)
        spent = clock() - start
        return spent, cpu() - used

    def surrounding(self, clocks: Clocks) -> tuple[int, int]:
        """Returns what a run takes beside its calls: the least of some without any."""
        found = [self.run(clocks, 0) for _ in range(TRIALS)]
        return min(spent for spent, _ in found), min(used for _, used in found)

    def returned(self) -> list[Any]:
        """Returns what the last calls returned."""
        if self._target.returns is None:
            return [None] * self._count
        kind = TYPES[self._target.returns]
        return [kind.from_buffer(self._returned, 8 * i).value for i in range(self._count)]


def repeated(
    target: Repeatable, inputs: list[Prepared], repeats: int, clocks: Clocks
) -> tuple[int, int, int, list[NativeResult]]:
    """Calls once an input, and so ``repeats`` times over; with 0 not at all.

    Returns:
        nanoseconds in the calls of the first round and of all others, CPU nanoseconds in all, and the results of the
        last.
    """
    rounds = Rounds(target, [one.values for one in inputs])
    around, busy = rounds.surrounding(clocks)
    changing = [one for one in inputs if one.changed]
    # Where nothing is to be written anew, nothing lies between rounds.
    runs = [1] * repeats if changing else [one for one in (min(repeats, 1), repeats - 1) if one > 0]
    spent, cpu = [0, 0], 0
    for number, one_run in enumerate(runs):
        for one in changing if number else ():
            one.restore()
        took, used = rounds.run(clocks, one_run)
        spent[number > 0] += max(0, took - around)
        cpu += max(0, used - busy)
    results = [NativeResult(value, one) for value, one in zip(rounds.returned(), inputs)]  # noqa: B905
    return spent[0], spent[1], cpu, results


def renewed(target: Repeatable, inputs: list[Prepared], payloads: list[bytes]) -> list[Prepared]:
    """Returns other inputs in the memory of those that a pass was called on, where they fit into it.

    They are written right before they are called on, and stay writable: a change of what may be done with pages would
    have the processor look them up anew, which is no part of a round that comes again.
    """
    found = []
    contents: list[tuple[Guarded, bytes]] = []
    for payload, before in zip(payloads, inputs):  # noqa: B905 (3.10 inside)
        given = target.read(payload)
        buffers = {name: _placed(one, before.buffers[name][1], contents) for name, one in given.buffers.items()}
        found.append(Prepared(_values(target, given, buffers), buffers, given.changed))
    for place, data in contents:
        place.write(data)
    return found


def _placed(given: tuple[Any, Guarded], place: Guarded, contents: list[tuple[Guarded, bytes]]) -> tuple[Any, Guarded]:
    """Returns a buffer in a given place, whose contents are then still to be written; as it is where that is small."""
    argument, memory = given
    if memory.size > place.size:
        return given
    place.size = memory.size
    place.allow(writing=True)
    contents.append((place, memory.read()))
    return argument, place


def _values(target: Repeatable, given: Prepared, buffers: dict[str, tuple[Any, Guarded]]) -> list[Any]:
    names = [argument[0] for argument in target.arguments]
    both = zip(names, given.values)  # noqa: B905 (3.10 inside)
    return [buffers[name][1].address if name in buffers else value for name, value in both]
