"""Calls a native function several times in a row; after each call, what others can see of its state goes out."""

from __future__ import annotations

import ctypes
import struct

from .codec import encode
from .decode import decode
from .exported_data import exported
from .invocation import invoke, stored
from .native_target import typed
from .native_values import TYPES

TYPE_CHECKING = False
if TYPE_CHECKING:  # `typing` itself would cost each start 8 ms
    from collections.abc import Iterator
    from typing import Any

    from .capture import Capture
    from .native_target import NativeTarget
    from .native_values import Prepared

WORD = 8
"""Bytes of an address."""
MOST_ASKED = 8
"""Arguments that a reader is called with."""
LOWEST, BEYOND = 1 << 32, 1 << 56
"""Between these lie the addresses of a process, by far not all of which it has."""


def native_sequence(target: NativeTarget, payload: bytes, capture: Capture) -> tuple[bytes, int]:
    """Returns what came of each call of a sequence, and the nanoseconds that all of them took.

    Args:
        target: the function.
        payload: as of `whet.sandbox.inside.sequences.call_sequence`, and ``readers``: of functions that are called
            after each call the name, the type of what comes back, and of each argument its place and its type.
        capture: what it prints.

    Returns:
        The outcome has the form of those of `call_sequence`. Before the first call stands one that did nothing, with
        all variables; each call has the values that are no more as they were before it.
    """
    given = {name: value for _, name, value in decode(payload).state}  # plain data, as `prepare` takes it
    watched = _StatefulFunction(target, given["readers"], [args for _, args, _ in given["calls"]])
    # Before the first call a reader may have nothing to read.
    names, kept = watched.names(), dict(watched.variables())
    found = [(stored("value", None, None, None, ""), list(kept.items()))]
    total = 0
    alive = []  # an address of a buffer that was given back would be told from a number no more
    for number, (_, args, _) in enumerate(given["calls"]):
        alive.append(prepared := target.prepare(args, at_end=number % 2 == 0))
        kind, _, value, spent = invoke(watched, None, prepared, {})  # type: ignore[arg-type]
        total += spent
        outcome = stored(kind, None, None, target.outcome(kind, value), capture.take())
        now = [(name, data) for name, data in watched.values() if kept.get(name) != data]
        kept.update(now)
        found.append((outcome, now))
    return encode((names, found)), total


class _StatefulFunction:
    """A native function with what its library shows of its state; `invoke` takes it for a target."""

    def __init__(self, target: NativeTarget, readers: list[Any], given: list[Any]) -> None:
        self.path = target.path
        self._target = target
        # Of the same library: the other handle has ctypes keep errno apart from what the interpreter does to it.
        library = ctypes.CDLL(target.path, use_errno=True)
        self._function = library[target.function.__name__]
        self._function.restype, self._function.argtypes = target.function.restype, target.function.argtypes
        with open(target.path, "rb") as file:
            sizes = exported(file.read())
        self._variables = {name: (ctypes.c_char * size).in_dll(library, name) for name, size in sorted(sizes.items())}
        self._readers = []
        for name, returns, arguments in readers:
            function = getattr(library, name, None)
            if function is None:
                continue
            function.restype, function.argtypes = TYPES[returns], [TYPES[kind] for _, kind in arguments]
            asked = dict.fromkeys(tuple(args[place] for place, _ in arguments) for args in given)
            for values in list(asked)[:MOST_ASKED]:
                shown = ", ".join(map(str, values))
                self._readers.append((f"{name}({shown})", returns, function, values))

    def call(self, init: Any, args: Prepared, kwargs: Any) -> tuple[Any, Any]:
        ctypes.set_errno(0)
        return self._target.called(self._function, args)

    def names(self) -> list[str]:
        """Returns the names of all values."""
        return ["errno", *map(_global, self._variables), *(name for name, _, _, _ in self._readers)]

    def values(self) -> Iterator[tuple[str, bytes]]:
        """Yields the error number that the last call left, each variable, and what each reader returns; encoded."""
        yield from self.variables()
        for name, returns, function, values in self._readers:
            yield name, encode(typed(returns, function(*values)))

    def variables(self) -> Iterator[tuple[str, bytes]]:
        """Yields those that nothing has to be called for."""
        yield "errno", encode(ctypes.get_errno())
        mapped: list[tuple[int, int]] = []
        for name, variable in self._variables.items():
            data = variable.raw
            words = _words(data, -ctypes.addressof(variable) % WORD)
            if words and not mapped:
                mapped = _mapped()
            addressed = any(start <= word <= end for word in words for start, end in mapped)
            yield _global(name), encode((data, addressed))


def _global(name: str) -> str:
    return f"the global {name}"


def _words(data: bytes, start: int) -> set[int]:
    """Returns the aligned words of a variable that could be addresses."""
    end = start + (len(data) - start) // WORD * WORD
    return {word for (word,) in struct.iter_unpack("<Q", data[start:end]) if LOWEST <= word < BEYOND}


def _mapped() -> list[tuple[int, int]]:
    """Returns the ranges of memory that the process has; everywhere, where nobody tells."""
    try:
        with open("/proc/self/maps", encoding="ascii", errors="replace") as file:
            places = [line.partition(" ")[0].split("-") for line in file]
    except OSError:
        return [(LOWEST, BEYOND)]
    return [(int(start, 16), int(end, 16)) for start, end in places]
