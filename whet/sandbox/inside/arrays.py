"""Numpy arrays and torch tensors as plain data and back, with what aliasing and layout a caller could notice.

The state of one is ``(dtype, shape, data, strides, traits, shares, attributes)``:

- dtype: as `numpy.dtype.str` has it (the fields of a structured one as a tuple), or torch's name of it;
- data: the elements' bytes in row-major order, whatever the layout was;
- strides: in bytes;
- traits: what else a caller could notice: read-only, or a gradient to be had, or the device;
- shares: None, or the number of the first earlier array whose memory it overlaps and how many bytes behind the
  first element of that one its own first element lies;
- attributes: fields that were set on the object itself, as pairs.

Elements are read by functions of C types that cannot be changed, never by methods that a candidate may override.
"""

from __future__ import annotations

import bisect
import ctypes
import sys

from .codec_base import HEAP_TYPE, CodecError, type_name
from .layouts import item_size, row_major

TYPE_CHECKING = False
if TYPE_CHECKING:  # `typing` itself would cost each start 8 ms
    from collections.abc import Callable, Sequence
    from typing import Any

SPARSEST = 8
"""How much more memory than elements an array may be laid out over again, as a multiple."""


class Described:
    """An array as `describe` finds it: what its node says but for ``shares``, and where its memory lies."""

    def __init__(self, kind: str, name: str, head: tuple[Any, ...], attributes: tuple[Any, ...], address: int) -> None:
        self.kind = kind
        self.name = name
        self.head = head
        self.attributes = attributes
        self.address = address

    def state(self, memory: Memory, number: int) -> tuple[Any, ...]:
        """Returns its state, as the array with this number in `memory`."""
        _, shape, data, strides, _ = self.head
        low, high = extents(shape, strides, item_size(shape, data))
        shares = memory.place(self.address, self.address + low, self.address + high, number) if data else None
        return (*self.head, shares, self.attributes)


class Memory:
    """Which addresses belong to arrays that were written before."""

    def __init__(self) -> None:
        self.starts: list[int] = []
        self.regions: list[tuple[int, int, int]] = []  # end, number of the first array in it, address of its element 0

    def place(self, address: int, low: int, high: int, number: int) -> tuple[int, int] | None:
        """Adds an array; returns ``shares`` of its state."""
        first = bisect.bisect_right(self.starts, low) - 1
        if first < 0 or self.regions[first][0] <= low:
            first += 1
        last = bisect.bisect_left(self.starts, high)
        met = self.regions[first:last]
        region = min(met, key=lambda one: one[1], default=(high, number, address))
        ends = [high, *(end for end, _, _ in met)]
        starts = [low, *self.starts[first:last]]
        self.starts[first:last] = [min(starts)]
        self.regions[first:last] = [(max(ends), *region[1:])]
        return (region[1], address - region[2]) if met else None


def extents(shape: Sequence[int], strides: Sequence[int], size: int) -> tuple[int, int]:
    """Returns the first byte and the one after the last, counted from the first element."""
    reach = [(length - 1) * stride for length, stride in zip(shape, strides)]  # noqa: B905 (3.10 inside)
    return sum(one for one in reach if one < 0), sum(one for one in reach if one > 0) + size


def describe(cls: type, value: Any) -> Described | None:
    """Returns what there is to say of an array, a numpy scalar or a tensor; None of anything else.

    Raises:
        CodecError: its elements are no plain data.
    """
    numpy = sys.modules.get("numpy")
    if numpy is not None and issubclass(cls, (numpy.ndarray, numpy.generic)):
        return _numpy(numpy, cls, value)
    torch = sys.modules.get("torch")
    base = getattr(torch, "Tensor", None)
    if isinstance(base, type) and issubclass(cls, base):
        return _torch(torch, cls, value)
    return None


def _numpy(numpy: Any, cls: type, value: Any) -> Described:
    array = numpy.asarray(value) if issubclass(cls, numpy.generic) else numpy.ndarray.view(value, numpy.ndarray)
    if array.dtype.hasobject:
        raise CodecError("a numpy array of objects cannot be stored as plain data")
    fields = array.dtype.fields
    dtype = array.dtype.str if fields is None else tuple(map(tuple, array.dtype.descr))
    shape, data = tuple(array.shape), array.tobytes()
    if issubclass(cls, numpy.generic):
        return Described("scalar", "numpy", (dtype, shape, data), (), 0)
    head = (dtype, shape, data, tuple(array.strides), () if array.flags.writeable else ("read-only",))
    name = "numpy" if cls is numpy.ndarray else type_name(cls)
    return Described("ndarray", name, head, _attributes(value), array.__array_interface__["data"][0])


def _torch(torch: Any, cls: type, value: Any) -> Described:
    name = type_name(cls)
    if cls is not torch.Tensor and cls is not torch.nn.Parameter:
        raise CodecError(f"a tensor of the class {name.replace(':', '.')} cannot be stored as plain data")
    base = next(one for one in cls.__mro__ if not one.__flags__ & HEAP_TYPE)  # its methods cannot be replaced
    read: Callable[[str], Any] = lambda field: vars(base)[field].__get__(value)  # noqa: E731
    if read("layout") is not torch.strided or read("is_quantized"):
        raise CodecError("a tensor that is not strided cannot be stored as plain data")
    size = base.element_size(value)
    dense = base.contiguous(base.resolve_neg(base.resolve_conj(base.cpu(base.detach(value)))))
    shape = tuple(read("shape"))
    bytes_ = size * base.numel(dense)
    data = ctypes.string_at(base.data_ptr(dense), bytes_) if bytes_ else b""
    traits = [f"device {read('device')}"] if not read("is_cpu") else []
    traits += ["requires_grad"] if read("requires_grad") else []
    strides = tuple(size * step for step in base.stride(value))
    head = (str(read("dtype")).partition(".")[2], shape, data, strides, tuple(traits))
    return Described("tensor", name, head, _attributes(value), base.data_ptr(value))


def _attributes(value: Any) -> tuple[Any, ...]:
    return tuple(sorted(getattr(value, "__dict__", {}).items()))


class Builder:
    """Builds the arrays of one value anew; those that shared memory share it again, where one lay within another."""

    def __init__(self, resolve: Callable[[str], Any]) -> None:
        self.resolve = resolve
        self.built: dict[int, tuple[Any, int]] = {}  # number -> memory as an array of bytes, place of element 0 in it

    def scalar(self, state: tuple[Any, ...]) -> Any:
        """Returns a numpy scalar."""
        numpy = _module("numpy")
        dtype, shape, data = state
        return numpy.frombuffer(data, _dtype(numpy, dtype)).reshape(shape)[()]

    def ndarray(self, name: str, number: int, state: tuple[Any, ...]) -> Any:
        """Returns a numpy array."""
        numpy = _module("numpy")
        dtype, shape, data, strides, traits, shares, attributes = state
        source = numpy.frombuffer(data, _dtype(numpy, dtype)).reshape(shape)
        place = self._shared(source.itemsize, shape, strides, shares)
        if place is not None:
            buffer = place[0] if isinstance(place[0], numpy.ndarray) else place[0].numpy()
            value = numpy.ndarray(shape, source.dtype, buffer, place[1], strides)
        elif strides == source.strides or _sparse(shape, strides, source.itemsize, data):
            value = source.copy()
            place = value.reshape(-1).view(numpy.uint8) if data else None, 0
        else:
            low, high = extents(shape, strides, source.itemsize)
            place = numpy.zeros(high - low, numpy.uint8), -low
            value = numpy.ndarray(shape, source.dtype, place[0], -low, strides)
            value[...] = source
        self.built[number] = place
        value.flags.writeable = "read-only" not in traits
        if name != "numpy":
            value = value.view(self.resolve(name))
            value.__dict__.update(attributes)
        return value

    def tensor(self, name: str, number: int, state: tuple[Any, ...]) -> Any:
        """Returns a torch tensor."""
        torch = _module("torch")
        dtype, shape, data, strides, traits, shares, attributes = state
        kind = torch_dtype(dtype)
        size = torch.empty(0, dtype=kind).element_size()
        if not data or _sparse(shape, strides, size, data):
            strides = row_major(shape, size)
        place = self._shared(size, shape, strides, shares)
        fresh = place is None
        if place is None and strides == row_major(shape, size):
            place, fresh = (torch.empty(len(data), dtype=torch.uint8), 0), False
            ctypes.memmove(place[0].data_ptr(), data, len(data))
        elif place is None:
            low, high = extents(shape, strides, size)
            place = torch.zeros(high - low if data else 0, dtype=torch.uint8), -low
        buffer = place[0] if isinstance(place[0], torch.Tensor) else torch.from_numpy(place[0])
        steps = [step // size for step in strides]
        cells = buffer[place[1] % size :]
        cells = cells[: len(cells) // size * size].view(kind)
        value = cells.as_strided(shape, steps, place[1] // size)
        if fresh and data:
            # Where strides of zero make elements share memory, equal bytes are written several times.
            source = torch.frombuffer(bytearray(data), dtype=kind).reshape(shape)
            once = [slice(0, 1) if step == 0 else slice(None) for step in steps]
            value[tuple(once)].copy_(source[tuple(once)]) if shape else value.copy_(source)
        self.built[number] = place
        for trait in traits:
            if trait.startswith("device "):
                value = value.to(trait.partition(" ")[2])
        value.requires_grad_("requires_grad" in traits)
        if name != "torch:Tensor":
            value = torch.nn.Parameter(value.detach(), "requires_grad" in traits)
        for field, item in attributes:
            setattr(value, field, item)
        return value

    def _shared(self, size: int, shape: Any, strides: Any, shares: tuple[int, int] | None) -> tuple[Any, int] | None:
        """Returns the memory of an earlier array and the place in it, where it holds this one whole."""
        if shares is None or self.built.get(shares[0], (None, 0))[0] is None:
            return None
        buffer, start = self.built[shares[0]]
        low, high = extents(shape, strides, size)
        place = start + shares[1]
        return (buffer, place) if place + low >= 0 and place + high <= len(buffer) else None


def _sparse(shape: Any, strides: Any, size: int, data: bytes) -> bool:
    low, high = extents(shape, strides, size)
    return not data or high - low > SPARSEST * len(data)


def _module(name: str) -> Any:
    import importlib

    return importlib.import_module(name)  # the target's own dependency: imported only where a value needs it


def _dtype(numpy: Any, name: Any) -> Any:
    return numpy.dtype(name if isinstance(name, str) else list(name))


def torch_dtype(name: str) -> Any:
    """Returns a dtype of torch by its name.

    Raises:
        CodecError: there is none.
    """
    torch = _module("torch")
    dtype = getattr(torch, name, None)
    if not isinstance(dtype, torch.dtype):
        raise CodecError(f"torch has no dtype {name}")
    return dtype
