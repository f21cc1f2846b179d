"""Rounds of calls of a native function: a call from Python would cost more than many a routine takes."""

from __future__ import annotations

import ctypes

from .guarded import Guarded
from .native_values import SIZES, TYPES, NativeResult, Prepared

TYPE_CHECKING = False
if TYPE_CHECKING:  # `typing` itself would cost each start 8 ms
    from typing import Any, Protocol

    class Repeatable(Protocol):
        """What is asked of a `native_target.NativeTarget`."""

        library: Any
        function: Any
        returns: str | None
        arguments: Any

        def read(self, payload: bytes) -> Prepared: ...


class Rounds:
    """Calls a function on many prepared inputs by the caller that was linked to it, see `toolchains.caller`."""

    def __init__(self, target: Repeatable, inputs: list[list[Any]]) -> None:
        self._target = target
        self._calls = target.library.whet_calls
        self._calls.argtypes, self._calls.restype = [ctypes.c_char_p, ctypes.c_int64, ctypes.c_void_p], None
        self._given = b"".join(self._packed(values) for values in inputs)
        self._count = len(inputs)
        self._returned = ctypes.create_string_buffer(8 * len(inputs))

    def _packed(self, values: list[Any]) -> bytes:
        kinds = self._target.function.argtypes
        return b"".join(bytes(kind(value)).ljust(8, b"\0") for kind, value in zip(kinds, values))  # noqa: B905

    def run(self, clock: Any) -> int:
        """Calls once an input; returns the nanoseconds that it took."""
        start = clock()
        self._calls(self._given, self._count, self._returned)
        return int(clock() - start)

    def returned(self) -> list[Any]:
        """Returns what the last calls returned."""
        if self._target.returns is None:
            return [None] * self._count
        kind = TYPES[self._target.returns]
        return [kind.from_buffer(self._returned, 8 * i).value for i in range(self._count)]


def repeated(target: Repeatable, inputs: list[Prepared], repeats: int, clock: Any) -> tuple[int, list[NativeResult]]:
    """Calls once an input, and so ``repeats`` times over.

    Returns:
        nanoseconds in the calls of all rounds, and the results of the last.
    """
    rounds = Rounds(target, [one.values for one in inputs])
    total = rounds.run(clock)
    changing = [one for one in inputs if one.changed]
    for _ in range(repeats - 1):
        for one in changing:
            one.restore()
        total += rounds.run(clock)
    return total, [NativeResult(value, one) for value, one in zip(rounds.returned(), inputs)]  # noqa: B905


def renewed(target: Repeatable, sets: list[list[bytes]], again: int, clock: Any) -> list[int]:
    """Calls on one set of inputs after the other, all written to the same memory, and on the second set again.

    Until that is over the calls are those of a pass, but for where their buffers lie. Every round begins with its set's
    being written, so rounds differ in nothing but whether their inputs, at their addresses, were met before.

    Returns:
        the nanoseconds of each set's first round by the clock that is given, and of ``again`` more on the second.
    """
    given = [[target.read(payload) for payload in one] for one in sets]
    places = [_places(target, [one[slot] for one in given]) for slot in range(len(given[0]))]
    found = []
    repeated = 0
    for number, one in enumerate(given):
        rounds = Rounds(target, [_values(target, prepared, place) for prepared, place in _both(one, places)])
        contents = [
            (place[name], memory.read())
            for prepared, place in _both(one, places)
            for name, (_, memory) in prepared.buffers.items()
        ]
        found.append(_written_and_run(contents, rounds, clock))
        if number == 1:
            repeated = sum(_written_and_run(contents, rounds, clock) for _ in range(again))
    return [*found, repeated]


def _written_and_run(contents: list[tuple[Guarded, bytes]], rounds: Rounds, clock: Any) -> int:
    for memory, data in contents:
        memory.write(data)
    return rounds.run(clock)


def _places(target: Repeatable, prepared: list[Prepared]) -> dict[str, Guarded]:
    """Returns memory for each buffer of a call that holds the largest of several."""
    found = {}
    for name, kind, role, _, align in target.arguments:
        if role in ("in", "out", "inout"):
            size = max(one.buffers[name][1].size for one in prepared)
            found[name] = Guarded(size, max(align, SIZES[kind]), at_end=False)
    return found


def _values(target: Repeatable, prepared: Prepared, place: dict[str, Guarded]) -> list[Any]:
    """Returns the arguments of a call with buffers elsewhere."""
    names = (argument[0] for argument in target.arguments)
    return [place[name].address if name in place else value for name, value in zip(names, prepared.values)]  # noqa: B905


def _both(given: list[Prepared], places: list[dict[str, Guarded]]) -> Any:
    return zip(given, places)  # noqa: B905
