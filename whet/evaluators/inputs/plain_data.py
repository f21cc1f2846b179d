"""Encoded values as plain data that can be edited out here and written again; no class is ever built."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from whet.sandbox.inside.codec import CodecError, _Writer, encode, pack_size
from whet.sandbox.inside.decode import Node, Ref, decode

ARRAYS = ("ndarray", "tensor")
SHARES = 5
"""Where an array's state says whose memory it shares; see `whet.sandbox.inside.arrays`."""

ATOMS = frozenset({bool, int, float, complex, str, bytes, type(None)})
"""Types of values that hold no others."""


def atomic(items: Sequence[Any]) -> bool:
    """Whether a sequence holds nothing that holds others, as most long ones do."""
    return set(map(type, items)) <= ATOMS


def read(payload: bytes) -> Any:
    """Returns an encoded value as plain data in which a second visit is the very same object, and no `Ref`.

    Raises:
        CodecError: the bytes are no encoded value, or arrays in it share memory.
        RecursionError: it nests too deeply to be walked through.
    """
    return _Linker().linked(decode(payload))


class _Linker:
    """Puts the objects in the place of references; containers are numbered in the order of reading."""

    def __init__(self) -> None:
        self.seen: list[Any] = []

    def linked(self, value: Any) -> Any:
        if type(value) in ATOMS:
            return value
        if isinstance(value, Ref):
            return self.seen[value.index]
        if isinstance(value, list):
            self.seen.append(value)
            if not atomic(value):
                value[:] = map(self.linked, value)
        elif isinstance(value, tuple):
            return value if atomic(value) else tuple(map(self.linked, value))
        elif isinstance(value, bytearray):
            self.seen.append(value)
        elif isinstance(value, Node):
            if value.numbered:
                self.seen.append(value)
            if value.kind in ARRAYS and value.state[SHARES] is not None:
                raise CodecError(
                    "an array that shares another's memory is found by its number, which edits would change"
                )
            value.state = self.state(value)
        return value

    def state(self, node: Node) -> Any:
        if node.kind == "dict":
            return [(name, self.linked(key), self.linked(item)) for name, key, item in node.state]
        if node.kind in ("set", "frozenset"):  # each element was numbered apart
            return [_Linker().linked(item) for item in node.state]
        return self.linked(node.state)


class _PlainWriter(_Writer):
    """Writes what `read` gives, and builtin values as they are."""

    def other(self, cls: Any, value: Any) -> None:
        if cls is not Node:
            super().other(cls, value)
        elif value.numbered and not self.first_visit(value):
            return
        elif value.kind == "dict":
            self.mapping([key for _, key, _ in value.state], [item for _, _, item in value.state])
        elif value.kind in ("set", "frozenset"):
            self.set(b"e" if value.kind == "set" else b"z", value.state)
        else:
            self.node(b"O" if value.numbered else b"o", value.kind, value.name, value.state)

    def fields(self, kind: type, rows: Any) -> tuple[tuple[str, ...], list[Any]] | None:
        if kind is not Node or any(row.kind != "dict" for row in rows):
            return super().fields(kind, rows)
        if not _plain(rows):
            return None
        return super().fields(dict, [{key: item for _, key, item in row.state} for row in rows])

    def set(self, tag: bytes, value: Any) -> None:
        if set(map(type, value)) in ({int}, {str}):
            super().set(tag, set(value))
            return
        items = sorted({write(item) for item in value})
        self.out += (tag, b"*", pack_size(len(items)), *items)


def _plain(rows: Sequence[Node]) -> bool:
    """Whether all keys of dicts are texts, of which each has another."""
    keys = [[key for _, key, _ in row.state] for row in rows]
    return all(set(map(type, some)) == {str} and len(set(some)) == len(some) for some in keys)


def write(value: Any) -> bytes:
    """Returns plain data as bytes: what `read` was given, where nothing was edited.

    Raises:
        CodecError: it holds something that cannot be written, or nests too deeply.
    """
    return encode(value, _PlainWriter())


def cells_of(node: Node) -> Any:
    """Returns a copy of an array's elements, flat, as a numpy array; None where they are no plain numbers."""
    import numpy as np

    dtype, _, data, *_ = node.state
    try:
        cells = np.frombuffer(data, np.dtype(dtype))
    except (TypeError, ValueError):  # structured, or a type that numpy lacks
        return None
    return cells.copy() if cells.dtype.kind in "iufb" else None


def with_cells(node: Node, cells: Any) -> Node:
    """Returns the array with other elements."""
    return Node(node.kind, node.name, (*node.state[:2], cells.tobytes(), *node.state[3:]), node.numbered)


def instance(name: str, fields: Sequence[tuple[str, Any]]) -> Node:
    """Returns an object of a class ``module:qualname`` as plain data."""
    return Node("object", name, tuple(sorted(fields)), True)
