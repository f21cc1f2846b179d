"""Rounds of calls of a native function: a call from Python would cost more than many a routine takes."""

from __future__ import annotations

import ctypes

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


_libc = ctypes.CDLL(None)
# Taken before there is foreign code, which may have functions of these names.
_COPY, _CLOCK = (ctypes.cast(one, ctypes.c_void_p) for one in (_libc.memmove, _libc.clock_gettime))

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
) -> tuple[list[int], list[int], list[NativeResult]]:
    """Calls once an input, and so ``repeats`` times over; with 0 not at all.

    Returns:
        nanoseconds in the calls of the first round and of all others, CPU nanoseconds in them likewise, and the results
        of the last.
    """
    rounds = Rounds(target, [one.values for one in inputs])
    around, busy = rounds.surrounding(clocks)
    changing = [one for one in inputs if one.changed]
    # Where nothing is to be written anew, nothing lies between rounds.
    runs = [1] * repeats if changing else [one for one in (min(repeats, 1), repeats - 1) if one > 0]
    spent, cpu = [0, 0], [0, 0]
    for number, one_run in enumerate(runs):
        for one in changing if number else ():
            one.restore()
        took, used = rounds.run(clocks, one_run)
        spent[number > 0] += max(0, took - around)
        cpu[number > 0] += max(0, used - busy)
    results = [NativeResult(value, one) for value, one in zip(rounds.returned(), inputs)]  # noqa: B905
    return spent, cpu, results


class _Copy(ctypes.Structure):
    """A buffer of a new input: where it is called on, and its own memory, which gets back what a call may write."""

    _fields_ = (
        ("place", ctypes.c_void_p),
        ("own", ctypes.c_void_p),
        ("size", ctypes.c_int64),
        ("back", ctypes.c_int64),
    )


class NewRounds(Rounds):
    """Calls a function once on each of some inputs, in the memory of those that a pass was called on.

    A pass makes its calls without a break. Between these, too, there is nothing but the copying of inputs, and some
    rounds of the pass come first: calls right after other work can be slower.

    Args:
        target: whose function it is.
        inputs: new ones.
        laid: those of the pass; as many are called on at a time.
        settling: how many rounds of the pass come first; they are not timed.
    """

    def __init__(self, target: Repeatable, inputs: list[Prepared], laid: list[Prepared], settling: int) -> None:
        moved = [_moved(target, one, laid[number % len(laid)]) for number, one in enumerate(inputs)]
        super().__init__(target, [values for values, _ in moved])
        self._renewed = target.library.whet_renewed
        numbers, places = (ctypes.c_int64,) * 2, (ctypes.c_void_p,) * 3
        kinds = [*self._calls.argtypes, ctypes.c_void_p, *numbers, ctypes.c_char_p, ctypes.c_int64, *places]
        self._renewed.argtypes, self._renewed.restype = kinds, None
        copies = [copy for _, some in moved for copy in some]
        self._copies = (_Copy * len(copies))(*copies)
        self._each = len(copies) // len(inputs)
        self._some = len(laid)
        self._laid = b"".join(self._packed(one.values) for one in laid)
        self._returned = ctypes.create_string_buffer(8 * max(len(inputs), len(laid)))
        self._settling = settling

    def copied(self) -> None:
        """Copies each input, and calls on none."""
        self._run(0, copying=True)

    def called(self) -> tuple[int, int, int, int]:
        """Copies each input, and calls on it.

        Returns:
            nanoseconds and CPU nanoseconds in the calls, and both in the rounds that came first.
        """
        around = [self._run(0, copying=False) for _ in range(TRIALS)]
        spent, cpu, first, first_cpu = self._run(1, copying=True)
        least = [min(found) for found in zip(*around)]  # noqa: B905 (3.10 inside)
        return max(0, spent - least[0]), max(0, cpu - least[1]), first, first_cpu

    def _run(self, rounds: int, copying: bool) -> tuple[int, int, int, int]:
        spent = (ctypes.c_int64 * 4)()
        copied = self._each if copying else 0
        calls = self._given, self._count, self._returned, rounds
        before = self._laid, self._settling * rounds
        self._renewed(*calls, self._copies, copied, self._some, *before, _COPY, _CLOCK, spent)
        return spent[0], spent[1], spent[2], spent[3]


def renewed(
    target: Repeatable, laid: list[Prepared], payloads: list[bytes], asked: list[int], settling: int
) -> tuple[tuple[int, int, int, int], int, list[NativeResult]]:
    """Calls once an input on new ones, in the memory of those that a pass was called on, where they fit into it.

    Args:
        target: whose function it is.
        laid: the inputs of the pass.
        payloads: new ones.
        asked: the places of those that are called on; the others are only copied there.
        settling: how many rounds of the pass come first, where no call changes what it is given.

    Returns:
        nanoseconds in the calls, CPU nanoseconds in them and both in the rounds of the pass that came first, how many
        of those there were, and all results.
    """
    inputs = [target.read(payload) for payload in payloads]
    for one in laid:
        for _, memory in one.buffers.values():
            # They stay so: a change of what may be done with pages would have the processor look them up anew.
            memory.allow(writing=True)
    if any(one.changed for one in laid):
        settling = 0
    spent = 0, 0, 0, 0
    results: dict[int, NativeResult] = {}
    chosen = frozenset(asked)
    for calling in (True, False):
        places = [place for place in range(len(inputs)) if (place in chosen) == calling]
        if not places:
            continue
        rounds = NewRounds(target, [inputs[place] for place in places], laid, settling)
        if calling:
            spent = rounds.called()
        else:
            rounds.copied()
        for place, value in zip(places, rounds.returned()):  # noqa: B905 (3.10 inside)
            results[place] = NativeResult(value, inputs[place])
    return spent, settling, [results[place] for place in range(len(inputs))]


def _moved(target: Repeatable, given: Prepared, before: Prepared) -> tuple[list[Any], list[_Copy]]:
    """Returns the arguments of a call whose buffers lie where those of another do, and what is to be copied for it.

    A buffer that is larger than the other is called on where it is.
    """
    addresses: dict[str, int] = {}
    copies = []
    for name, (argument, own) in given.buffers.items():
        place = before.buffers[name][1]
        fits = own.size <= place.size
        addresses[name] = place.address if fits else own.address
        copies.append(_Copy(addresses[name], own.address, own.size * fits, fits and argument[2] != "in"))
    names = [argument[0] for argument in target.arguments]
    both = zip(names, given.values)  # noqa: B905 (3.10 inside)
    return [addresses.get(name, value) for name, value in both], copies
