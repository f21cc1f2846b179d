"""A kernel in PTX or machine code, launched through the driver's own library with buffers made from an input.

Each buffer lies on the device between zones that no kernel has any business in. Names and numbers are those of NVIDIA's
"CUDA Driver API".
"""

from __future__ import annotations

import ctypes
import os

from .cuda_clock import LIBRARY, CudaClock, DeviceError
from .lengths import evaluate
from .module_target import POISONED
from .native_target import NativeTarget
from .native_values import TYPES, NativeResult, Prepared

TYPE_CHECKING = False
if TYPE_CHECKING:  # `typing` itself would cost each start 8 ms
    from typing import Any

ZONE = 4096
"""Bytes before and behind each buffer."""
UNTOUCHED = 0xA5
"""In each of their bytes."""
ILLEGAL_PTX, WRONG_IMAGE, NO_KERNEL = 218, 200, 500
"""CUDA_ERROR_INVALID_PTX, CUDA_ERROR_INVALID_IMAGE, CUDA_ERROR_NOT_FOUND."""
WORDS = {
    ILLEGAL_PTX: "the driver cannot compile this PTX",
    WRONG_IMAGE: "the driver cannot load this machine code",
    NO_KERNEL: "no kernel has this name",
}


class Launched(Prepared):
    """The arguments of one launch: host memory as `Prepared` has it, and its copies on the device."""

    def __init__(self, prepared: Prepared, cuda: Any) -> None:
        self.__dict__.update(vars(prepared))
        self.places: dict[str, int] = {}
        self._kept: dict[str, int] = {}
        self._cuda = cuda
        zone = bytes([UNTOUCHED]) * ZONE
        for name, (_, memory) in self.buffers.items():
            whole = zone + memory.read() + zone
            self.places[name], self._kept[name] = self._stored(whole), self._stored(whole)

    def _stored(self, data: bytes) -> int:
        """Returns where bytes lie on the device."""
        place = ctypes.c_uint64()
        check(self._cuda.cuMemAlloc_v2(ctypes.byref(place), ctypes.c_size_t(len(data))))
        check(self._cuda.cuMemcpyHtoD_v2(place, data, ctypes.c_size_t(len(data))))
        return place.value

    def restore(self) -> None:
        """Gives all buffers on the device what they held before a launch."""
        for name, kept in self._kept.items():
            size = ctypes.c_size_t(self.buffers[name][1].size + 2 * ZONE)
            check(self._cuda.cuMemcpyDtoD_v2(ctypes.c_uint64(self.places[name]), ctypes.c_uint64(kept), size))

    def address(self, name: str) -> int:
        """Returns where a buffer begins on the device."""
        return self.places[name] + ZONE

    def fetch(self, name: str) -> tuple[bytes, bool]:
        """Returns the bytes of a buffer on the device, and whether the zones around them are as they were."""
        size = self.buffers[name][1].size
        data = ctypes.create_string_buffer(size + 2 * ZONE)
        check(self._cuda.cuMemcpyDtoH_v2(data, ctypes.c_uint64(self.places[name]), ctypes.c_size_t(len(data))))
        zone = bytes([UNTOUCHED]) * ZONE
        whole = data.raw
        return whole[ZONE:-ZONE], whole[:ZONE] == zone and whole[-ZONE:] == zone

    def __del__(self) -> None:
        for place in (*self.places.values(), *self._kept.values()):
            self._cuda.cuMemFree_v2(ctypes.c_uint64(place))


class PtxTarget(NativeTarget):
    """A loaded kernel. Its methods are those of `invocation.Target`.

    Args:
        tree: the staged tree.
        code: path of the PTX or of the machine code in it.
        symbol: of the kernel.
        arguments: of each (name, type, role, length, align), as in `whet.core.signature.Argument`.
        grid: blocks in three dimensions, in terms of the arguments that are no buffers, such as ``(n + 255) / 256``.
        block: threads of a block in three dimensions, likewise.
        shared: bytes of dynamic shared memory of a block, likewise.
        driver: the library; another than NVIDIA's own is for tests.
    """

    def __init__(
        self,
        tree: str,
        code: str,
        symbol: str,
        arguments: Any,
        grid: tuple[str, str, str],
        block: tuple[str, str, str],
        shared: str = "0",
        driver: str = LIBRARY,
    ) -> None:
        self.path = os.path.join(tree, code)
        self.arguments = arguments
        self.returns = None
        self.grid = grid
        self.block = block
        self.shared = shared
        self.clock: CudaClock = CudaClock(driver)
        self._cuda = ctypes.CDLL(driver)
        module, self.function = ctypes.c_void_p(), ctypes.c_void_p()
        with open(self.path, "rb") as file:
            image = file.read()
        check(self._cuda.cuModuleLoadData(ctypes.byref(module), image + b"\0"))
        check(self._cuda.cuModuleGetFunction(ctypes.byref(self.function), module, symbol.encode()))

    def read(self, payload: bytes) -> Launched:
        """Returns the prepared launch of one input."""
        return Launched(super().read(payload), self._cuda)

    def call(self, init: Any, args: Any, kwargs: Any) -> tuple[Any, Any]:
        """Launches, and waits for the end; returns (None, result)."""
        names = [argument[0] for argument in self.arguments]
        values = {name: value for name, value in zip(names, args.values, strict=True) if name not in args.places}
        given = [
            ctypes.c_uint64(args.address(name)) if name in args.places else TYPES[kind](values[name])
            for name, kind, *_ in self.arguments
        ]
        sizes = {name: value for name, value in values.items() if isinstance(value, int)}
        grid, block = ([evaluate(text, sizes) for text in each] for each in (self.grid, self.block))
        dimensions = [ctypes.c_uint(number) for number in (*grid, *block, evaluate(self.shared, sizes))]
        pointers = (ctypes.c_void_p * len(given))(*(ctypes.addressof(value) for value in given))
        self.clock.begin()
        try:
            if all(grid):  # a launch of no blocks is an error, and work for none is none
                check(self._cuda.cuLaunchKernel(self.function, *dimensions, None, pointers, None))
            self.clock.end()
        except DeviceError:
            if self.clock.broken():
                os._exit(POISONED)  # whatever came next in this process would fail for what this launch did
            raise
        return None, NativeResult(None, args)

    def in_rounds(self, inputs: list[Any], rounds: int, invoke: Any, take: Any, clocks: Any) -> Any:
        """Launches once an input, and so ``rounds`` times over; see `module_rounds.in_rounds`."""
        spent, used = [0, 0], [0, 0]
        _, cpu = clocks
        results: list[tuple[str, Any, Any, str]] = []
        for number in range(rounds):
            results, before = [], cpu()
            for given in inputs:
                if number:
                    given.restore()
                kind, instance, value, took = invoke(self, (), given, {})
                spent[number > 0] += took
                results.append((kind, instance, value, take()))
            used[number > 0] += cpu() - before
        return spent, used, results

    def outcome(self, kind: str, value: Any) -> Any:
        """Returns what a launch wrote, as plain data."""
        if kind == "value":
            launched = value.prepared
            for name, (argument, memory) in launched.buffers.items():
                if argument[2] != "in":
                    memory.write(launched.fetch(name)[0])
        return super().outcome(kind, value)

    def left(self, payload: bytes, given: Any) -> Any:
        """Returns None, or by name what became of buffers that are only read, and of the zones around all."""
        found = {}
        for name, (argument, memory) in given.buffers.items():
            data, whole = given.fetch(name)
            if argument[2] == "in" and data != memory.read():
                found[name] = "changed"
            if not whole:
                found[name] = "written beyond its ends"
        return found or None

    changed = left


def check(code: int) -> None:
    """Raises what a driver's error stands for.

    Raises:
        DeviceError: it is one.
    """
    if code:
        raise DeviceError(WORDS.get(code, f"CUDA driver error {code}"))
