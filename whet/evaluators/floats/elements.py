"""The elements of arrays and tensors that came out of a sandbox, as numpy arrays; torch is not needed for that."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from whet.sandbox.inside.decode import Node

if TYPE_CHECKING:
    from numpy.typing import NDArray

ARRAYS = ("ndarray", "tensor", "scalar")
"""Kinds of nodes that hold elements."""

TORCH = {
    "bool": "|b1",
    "uint8": "|u1",
    "uint16": "<u2",
    "uint32": "<u4",
    "uint64": "<u8",
    "int8": "|i1",
    "int16": "<i2",
    "int32": "<i4",
    "int64": "<i8",
    "float16": "<f2",
    "float32": "<f4",
    "float64": "<f8",
    "complex64": "<c8",
    "complex128": "<c16",
}


@dataclass(frozen=True, slots=True)
class Layout:
    """What a caller could notice of an array besides its elements; see `whet.sandbox.inside.arrays`."""

    strides: tuple[int, ...]
    traits: tuple[str, ...]
    shares: tuple[int, int] | None
    attributes: tuple[tuple[str, Any], ...]


def overlapping(shape: tuple[int, ...], strides: tuple[int, ...]) -> bool:
    """Whether several elements lie in the same place, as in an array that was broadcast."""
    return math.prod(shape) > 0 and any(n > 1 and not step for n, step in zip(shape, strides, strict=True))


def elements(node: Node) -> NDArray[Any]:
    """Returns the elements of an array, a tensor or a numpy scalar; bfloat16 as float32, which holds it exactly.

    Those of a kind that numpy lacks are bytes.

    Raises:
        ValueError: the node is malformed.
        TypeError: the same.
    """
    import numpy as np

    dtype, shape, data = node.state[:3]
    if node.kind == "tensor":
        if dtype == "bfloat16":
            return (np.frombuffer(data, "<u2").astype("<u4") << 16).view("<f4").reshape(shape)
        dtype = TORCH.get(dtype) or f"|V{max(1, len(data) // max(1, math.prod(shape)))}"
    numpy_dtype = np.dtype(dtype if isinstance(dtype, str) else list(dtype))
    return np.frombuffer(data, numpy_dtype).reshape(shape)


def is_inexact(values: NDArray[Any]) -> bool:
    """Whether elements are floats or complex numbers."""
    return values.dtype.kind in "fc"
