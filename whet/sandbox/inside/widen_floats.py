"""Walks through a value and changes the floats that it holds: to wider types, or by a last place.

Containers are changed in place, so what was one object stays one.
"""

from __future__ import annotations

import math
import random
import sys
from contextlib import contextmanager

TYPE_CHECKING = False
if TYPE_CHECKING:  # `typing` itself would cost each start 8 ms
    from collections.abc import Callable, Iterator
    from typing import Any

NUMPY_WIDER = {"float16": "float64", "float32": "float64", "float64": "longdouble"}
NUMPY_COMPLEX = {"complex64": "complex128", "complex128": "clongdouble"}
NUMPY_MAKERS = ("zeros", "ones", "empty", "full", "linspace", "eye", "identity", "array", "asarray")
TORCH_NARROW = ("float16", "half", "bfloat16", "float32", "float")


class Changed:
    """One walk.

    Args:
        scalar: changes a float or a complex number.
        array: changes a numpy array of floats or a scalar of numpy, and returns it.
        tensor: changes a torch tensor of floats, and returns it.
    """

    def __init__(self, scalar: Callable[[Any], Any], array: Callable[[Any], Any], tensor: Callable[[Any], Any]) -> None:
        self.scalar = scalar
        self.array = array
        self.tensor = tensor
        self.done: dict[int, Any] = {}
        self.alive: list[Any] = []  # an id is unique only while its object lives

    def __call__(self, value: Any) -> Any:
        cls = type(value)
        if cls is float or cls is complex:
            return self.scalar(value)
        if cls is tuple:
            return tuple([self(item) for item in value])
        if cls in (int, str, bool, bytes, type(None)):
            return value
        if id(value) not in self.done:
            self.alive.append(value)
            self.done[id(value)] = value
            self.done[id(value)] = self.change(cls, value)
        return self.done[id(value)]

    def change(self, cls: type, value: Any) -> Any:
        numpy, torch = sys.modules.get("numpy"), sys.modules.get("torch")
        if numpy is not None and isinstance(value, (numpy.ndarray, numpy.generic)):
            return self.array(value) if value.dtype.kind in "fc" else value
        if torch is not None and isinstance(value, torch.Tensor):
            return self.tensor(value) if value.is_floating_point() or value.is_complex() else value
        if isinstance(value, tuple) and hasattr(value, "_fields"):
            return tuple.__new__(cls, [self(item) for item in value])
        if isinstance(value, list):
            list.__setitem__(value, slice(None), [self(item) for item in value])
        elif isinstance(value, dict):
            for key in list(value):
                dict.__setitem__(value, key, self(dict.__getitem__(value, key)))
        for field, item in list(getattr(value, "__dict__", {}).items() if not isinstance(value, type) else ()):
            object.__setattr__(value, field, self(item))
        return value


def widened(value: Any) -> Any:
    """Returns a value whose floats have more bits."""
    from . import mp_reference

    def array(one: Any) -> Any:
        return one.astype((NUMPY_WIDER | NUMPY_COMPLEX).get(one.dtype.name, one.dtype.name))

    def tensor(one: Any) -> Any:
        import torch

        return one.detach().to(torch.complex128 if one.is_complex() else torch.float64)

    return Changed(mp_reference.literal, array, tensor)(value)


@contextmanager
def widened_modules() -> Iterator[None]:
    """Has numpy and torch, where they are loaded, make wider types where narrower ones are asked for by name."""
    numpy, torch = sys.modules.get("numpy"), sys.modules.get("torch")
    changes: list[tuple[Any, str, Any]] = []
    if numpy is not None:
        names = {**NUMPY_WIDER, **NUMPY_COMPLEX, "double": "longdouble"}
        changes += [(numpy, narrow, getattr(numpy, wide)) for narrow, wide in names.items()]
        changes += [(numpy, name, _made_wide(getattr(numpy, name))) for name in NUMPY_MAKERS]
    if torch is not None:
        changes += [(torch, name, torch.float64) for name in TORCH_NARROW]
        changes += [(torch.Tensor, name, torch.Tensor.double) for name in ("half", "bfloat16", "float")]
        default = torch.get_default_dtype()
        torch.set_default_dtype(torch.float64)
    before = [(owner, name, getattr(owner, name)) for owner, name, _ in changes]
    for owner, name, wide in changes:
        setattr(owner, name, wide)
    try:
        yield
    finally:
        for owner, name, narrow in before:
            setattr(owner, name, narrow)
        if torch is not None:
            torch.set_default_dtype(default)


def _made_wide(make: Any) -> Any:
    def made(*args: Any, **kwargs: Any) -> Any:
        found = make(*args, **kwargs)
        wide = (NUMPY_WIDER | NUMPY_COMPLEX).get(found.dtype.name)
        return found if wide is None else found.astype(wide)

    return made


def shaken(value: Any, seed: int) -> Any:
    """Returns a value each of whose floats lies one place further up or down, at random."""
    rng = random.Random(seed)

    def shake(one: float) -> float:
        return math.nextafter(one, rng.choice((math.inf, -math.inf))) if math.isfinite(one) and one else one

    def scalar(one: Any) -> Any:
        return complex(shake(one.real), shake(one.imag)) if type(one) is complex else shake(one)

    def array(one: Any) -> Any:
        import numpy

        draw = numpy.random.default_rng(rng.getrandbits(63))
        parts = one.view(one.real.dtype) if one.dtype.kind == "c" and one.flags.c_contiguous and one.ndim else one
        if parts.dtype.kind == "c":
            return one
        target = numpy.where(draw.random(parts.shape) < 0.5, numpy.inf, -numpy.inf).astype(parts.dtype)
        moved = numpy.where(numpy.isfinite(parts) & (parts != 0), numpy.nextafter(parts, target), parts)
        if not isinstance(one, numpy.ndarray):
            return moved.astype(one.dtype)[()]
        if one.flags.writeable:
            parts[...] = moved
        return one

    def tensor(one: Any) -> Any:
        import torch

        with torch.no_grad():
            if one.is_complex():
                tensor(torch.view_as_real(one))
                return one
            up = torch.rand(one.shape, generator=torch.Generator().manual_seed(rng.getrandbits(60))) < 0.5
            eps = torch.finfo(one.dtype).eps
            moved = one * torch.where(up, one.new_tensor(1 + eps), one.new_tensor(1 - eps / 2))
            one.copy_(torch.where(torch.isfinite(moved), moved, one))
        return one

    return Changed(scalar, array, tensor)(value)


def magnitude(value: Any) -> float:
    """Returns the sum of the magnitudes of all finite floats in a value."""
    total = 0.0

    def scalar(one: Any) -> Any:
        nonlocal total
        total += abs(one) if math.isfinite(abs(one)) else 0.0
        return one

    def array(one: Any) -> Any:
        import numpy

        finite = numpy.abs(numpy.asarray(one)).astype(float)
        scalar(float(finite[numpy.isfinite(finite)].sum()))
        return one

    def tensor(one: Any) -> Any:
        finite = one.detach().abs().double()
        scalar(float(finite[finite.isfinite()].sum()))
        return one

    Changed(scalar, array, tensor)(value)
    return total
