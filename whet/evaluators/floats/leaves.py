"""The floats of an outcome, gathered into groups of like ones, and what is known of their formats."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from whet.core.text import one_line
from whet.evaluators.floats.elements import ARRAYS, elements, is_inexact
from whet.evaluators.outcomes import CallOutcome
from whet.sandbox.inside.codec import ITEMS as CONTENTS
from whet.sandbox.inside.decode import Node

Reals = NDArray[Any]


@dataclass(frozen=True, slots=True)
class Format:
    """A float format: the spacing at 1, and the smallest number with all its bits."""

    eps: float
    tiny: float


FORMATS = {
    "float16": Format(2.0**-10, 2.0**-14),
    "bfloat16": Format(2.0**-7, 2.0**-126),
    "float32": Format(2.0**-23, 2.0**-126),
    "float64": Format(2.0**-52, 2.0**-1022),
}
DOUBLE = "float64"
LEAST = 5e-324
"""The smallest positive double."""
FORCED = ("inside.invocation:_Forced", "whet.sandbox.inside.invocation:_Forced", "inside.calls:_Forced")
"""What the harness puts in the place of a generator: its items, as one field."""
LONGEST_NAME = 80
"""Characters of a field's name in a path; a candidate may choose it."""
ARGUMENTS, INSTANCE, RESULT = "arguments", "self", "result"


@dataclass(slots=True)
class FloatGroup:
    """Floats that belong together: those of one array, or at one place of all items of a list.

    Attributes:
        format: of the floats.
        parts: runs of floats, the real and imaginary part of a complex number one after the other.
        places: where each run stands, with the shape of its array.
    """

    format: str
    parts: list[Reals] = field(default_factory=list)
    places: list[tuple[str, tuple[int, ...]]] = field(default_factory=list)

    def values(self) -> Reals:
        """Returns all of them in one row."""
        return self.parts[0] if len(self.parts) == 1 else np.concatenate(self.parts)

    def place(self, index: int) -> str:
        """Returns where the float with this number stands."""
        for part, (path, shape) in zip(self.parts, self.places, strict=True):
            if index < len(part):
                return f"{path}: element {index} of {shape}" if shape else f"{path}[{index}]" if len(part) > 2 else path
            index -= len(part)
        return "?"


Groups = dict[str, FloatGroup]


def attribute_path(path: str, node: Node, name: Any) -> str:
    """Returns the path of an object's field in the user's words: what stands for contents adds nothing to it."""
    if name == CONTENTS or node.name in FORCED:
        return path
    return f"{path}.{one_line(str(name), LONGEST_NAME)}"


def _key_text(key: Any) -> str:
    return "…" if isinstance(key, (Node, list, tuple)) else one_line(repr(key), LONGEST_NAME)


def leaves(value: Any, name: str) -> Groups:
    """Returns the floats of a plain value by their groups.

    Args:
        value: as `whet.sandbox.inside.decode.decode` gives it, of the baseline, a candidate or the reference.
        name: what paths begin with.
    """
    found: Groups = {}
    _Gatherer(found).visit(value, name, name)
    return found


def outcome_leaves(outcome: CallOutcome) -> Groups:
    """Returns the floats of an outcome: of the arguments after the call, the instance and the result."""
    return leaves(outcome.after, ARGUMENTS) | leaves(outcome.instance, INSTANCE) | leaves(outcome.value, RESULT)


class _Gatherer:
    """Walks in one order whatever the value; an item's place in a list is no part of its group's name."""

    def __init__(self, found: Groups) -> None:
        self.found = found

    def add(self, group: str, path: str, values: Reals, kind: str = DOUBLE, shape: tuple[int, ...] = ()) -> None:
        one = self.found.setdefault(group, FloatGroup(kind))
        one.parts.append(values)
        one.places.append((path, shape))

    def visit(self, value: Any, group: str, path: str) -> None:
        if isinstance(value, (float, complex)):
            self.add(group, path, _row([value]))
        elif isinstance(value, (list, tuple)):
            self.items(value, group, path)
        elif isinstance(value, Node):
            self.node(value, group, path)

    def items(self, value: Any, group: str, path: str) -> None:
        kinds = set(map(type, value))
        if isinstance(value, list) and kinds == {float}:
            self.add(f"{group}[]", path, np.array(value))
            return
        if kinds <= {int, str, bool, bytes, type(None)}:
            return
        for i, item in enumerate(value):
            self.visit(item, f"{group}[]" if isinstance(value, list) else f"{group}[{i}]", f"{path}[{i}]")

    def node(self, node: Node, group: str, path: str) -> None:
        if node.kind == "precise":
            self.add(group, path, _precise(node.state))
        elif node.kind in ARRAYS:
            values = elements(node)
            if is_inexact(values) and values.size:
                dtype = node.state[0] if node.state[0] == "bfloat16" else values.real.dtype.name
                self.add(group, path, _row(values.ravel()), dtype, tuple(node.state[1]))
        elif node.kind == "dict":
            # By the keys' bytes: the order in which they came says nothing.
            for key, name, item in sorted(node.state, key=lambda entry: entry[0]):
                self.visit(item, f"{group}[{key.hex()}]", f"{path}[{_key_text(name)}]")
        elif node.kind == "object":
            for name, item in node.state:
                self.visit(item, f"{group}.{name}", attribute_path(path, node, name))
        elif node.kind not in ("set", "frozenset"):  # those are compared by their bits
            self.visit(node.state, group, path)


def _row(values: Any) -> Reals:
    array = np.asarray(values)
    if array.dtype.kind != "c":
        return array
    return np.asarray(np.ascontiguousarray(array).view(array.real.dtype))


def _precise(state: tuple[float, ...]) -> Reals:
    halves = np.array(state, np.longdouble).reshape(-1, 2)
    with np.errstate(invalid="ignore"):
        return np.asarray(halves[:, 0] + halves[:, 1])


def wide(values: Reals) -> Reals:
    """Returns floats in a format in which the difference of any two of them, and a share of it, can be told.

    Doubles do for all formats below them, and processors have vectors of those.
    """
    return values.astype(np.float64 if values.dtype.itemsize < np.dtype(np.float64).itemsize else np.longdouble)


def ulp(values: Reals, kind: str) -> Reals:
    """Returns the unit of the last place of finite numbers in a format, as the numbers are given."""
    known = FORMATS.get(kind) or _extended()
    _, exponents = np.frexp(np.maximum(np.abs(values), values.dtype.type(known.tiny)))
    return np.asarray(np.ldexp(values.dtype.type(known.eps), exponents - 1))


def epsilon(kind: str) -> float:
    """Returns the spacing at 1 of a format."""
    return (FORMATS.get(kind) or _extended()).eps


def _extended() -> Format:
    known = np.finfo(np.longdouble)
    return Format(float(known.eps), float(np.finfo(np.float64).tiny))


def finite_alike(ours: Reals, theirs: Reals) -> Reals:
    """Returns where two floats are both finite, both NaN, or the same infinity."""
    finite = np.isfinite(ours) & np.isfinite(theirs)
    return np.asarray(finite | (np.isnan(ours) & np.isnan(theirs)) | (np.isinf(ours) & (ours == theirs)))


def number(value: Any) -> str:
    """Returns a float as text that tells it from its neighbours."""
    return repr(float(value)) if math.isfinite(value) else str(float(value))
