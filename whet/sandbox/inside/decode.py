"""Bytes of `codec` back to values.

Inside the sandbox, with a resolver, live objects are built. Outside, without one, hostile bytes stay plain
data: dicts, sets and whatever is no builtin become `Node`, a second visit becomes a `Ref`, and no length is
believed beyond the bytes at hand.
"""

from __future__ import annotations

import itertools
import struct
import sys
import types

from .codec import (
    ITEMS,
    LEAST_BYTES,
    MAX_DEPTH,
    RECURSION_LIMIT,
    SCALARS,
    SPECIAL,
    CodecError,
    encode_scalars,
    standard,
)
from .codec_base import HEAP_TYPE
from .layouts import MOST_DIMENSIONS, item_size, row_major

TYPE_CHECKING = False
if TYPE_CHECKING:  # `typing` itself would cost each start 8 ms
    from collections.abc import Callable
    from typing import Any

    from .arrays import Builder


class Ref:
    """A second visit to the mutable container with this number."""

    __slots__ = ("index",)

    def __init__(self, index: int) -> None:
        self.index = index


class Node:
    """A value that is no scalar, list or tuple, as plain data: its kind, type, state."""

    __slots__ = ("kind", "name", "numbered", "state")

    def __init__(self, kind: str, name: str, state: Any, numbered: bool = False) -> None:
        self.kind = kind
        self.numbered = numbered
        self.name = name
        self.state = state


if TYPE_CHECKING:
    Resolver = Callable[[str], Any]
"""Gives the class with a ``module:qualname``; raises `CodecError` for one that must not be built."""

_unpack_size = struct.Struct("<Q").unpack_from


class _Reader:
    def __init__(self, data: bytes | bytearray | memoryview, resolve: Resolver | None) -> None:
        self.data = memoryview(data)
        self.at = 0
        self.resolve = resolve
        self.seen: list[Any] = []
        self.depth = 0
        self.builder: Builder | None = None

    def take(self, n: int) -> memoryview:
        if n < 0 or self.at + n > len(self.data):
            raise CodecError("truncated")
        piece = self.data[self.at : self.at + n]
        self.at += n
        return piece

    def size(self) -> int:
        n: int
        (n,) = _unpack_size(self.data, self.at)
        self.at += 8
        if n > len(self.data):  # nothing has more parts than bytes
            raise CodecError("impossible length")
        return n

    def text(self) -> str:
        return str(self.take(self.size()), "utf-8", "surrogatepass")

    def pieces(self, n: int) -> tuple[bytes, list[slice]]:
        lengths = self.take(8 * n).cast("Q")
        data = bytes(self.take(sum(lengths)))
        ends = itertools.accumulate(lengths)
        return data, [slice(end - length, end) for length, end in zip(lengths, ends)]  # noqa: B905 (of the same length)

    def texts(self, n: int) -> Any:
        data, places = self.pieces(n)
        if data.isascii():  # to decode each by itself takes five times as long
            text = data.decode("ascii")
            return [text[place] for place in places]
        return [data[place].decode("utf-8", "surrogatepass") for place in places]

    def remember(self, value: Any) -> Any:
        self.seen.append(value)
        return value

    def read(self) -> Any:
        self.depth += 1
        if self.depth > MAX_DEPTH + 8:
            raise CodecError("nested too deeply")
        tag = self.data[self.at]
        self.at += 1
        value = READERS[tag](self)
        self.depth -= 1
        return value

    def list(self) -> Any:
        fresh: list[Any] = self.remember([])
        fresh.extend(self.items())
        return fresh

    def items(self) -> Any:
        kind = bytes(self.take(1))
        n = self.size()
        if kind == b"#":
            return list(zip(*[self.items() for _ in range(n)]))  # noqa: B905 (hostile widths may differ: the shortest)
        if kind == b"q":
            return self.take(8 * n).cast("q").tolist()
        if kind == b"f":
            return self.take(8 * n).cast("d").tolist()
        if kind == b"s":
            return self.texts(n)
        if kind == b"b":
            data, places = self.pieces(n)
            return [data[place] for place in places]
        if kind == b"@":
            return self.records(n)
        if kind == b"%":
            return self.lists(n)
        if kind != b"*":
            raise CodecError(f"unknown kind of sequence {kind!r}")
        return [self.read() for _ in range(n)]

    def lists(self, n: int) -> Any:
        lengths = self.take(8 * n).cast("Q")
        items = self.items()
        if sum(lengths) != len(items):
            raise CodecError("lists of another length")
        ends = itertools.accumulate(lengths)
        made = [items[end - length : end] for end, length in zip(ends, lengths)]  # noqa: B905 (of the same length)
        self.seen += made
        return made

    def expect_worth(self, start: int, n: int) -> None:
        """Refuses entries that take hardly any bytes: each becomes an object of some 200."""
        if self.at - start < LEAST_BYTES * n:
            raise CodecError("more entries than bytes can hold")

    def records(self, n: int) -> Any:
        start = self.at
        keys = self.items()
        if set(map(type, keys)) != {str}:
            raise CodecError("the keys of records are texts")
        columns = [self.items() for _ in keys]
        if any(len(column) != n for column in columns):
            raise CodecError("a column of another length")
        self.expect_worth(start, n)
        rows = zip(*columns)  # noqa: B905 (they are of one length)
        if self.resolve is not None:
            made: Any = [dict(zip(keys, row)) for row in rows]  # noqa: B905 (there is a column for each key)
        else:
            names = encode_scalars(keys)
            made = [Node("dict", "", list(zip(names, keys, row)), True) for row in rows]  # noqa: B905 (as above)
        self.seen += made
        return made

    def dict(self) -> Any:
        if self.resolve is not None:
            table: dict[Any, Any] = self.remember({})
            for _ in range(self.size()):
                key = self.read()
                table[key] = self.read()
            return table
        node = self.remember(Node("dict", "", [], True))
        for _ in range(self.size()):
            start = self.at
            key = self.read()
            name = bytes(self.data[start : self.at])
            node.state.append((name, key, self.read()))
        return node

    def mapping(self) -> Any:
        fresh: Any = self.remember({} if self.resolve is not None else Node("dict", "", [], True))
        start = self.at
        keys, values = self.items(), self.items()
        self.expect_worth(start, len(keys))
        if len(keys) != len(values) or not set(map(type, keys)) <= SCALARS.keys():
            raise CodecError("no keys, or none for each value")
        if self.resolve is not None:
            fresh.update(zip(keys, values))  # noqa: B905 (they are as many)
        else:
            fresh.state += zip(encode_scalars(keys), keys, values)  # noqa: B905 (as above)
        return fresh

    def set(self) -> Any:
        number = len(self.seen)
        self.seen.append(None)
        elements = self.elements()
        value = Node("set", "", elements, True) if self.resolve is None else set(elements)
        self.seen[number] = value
        return value

    def frozenset(self) -> Any:
        elements = self.elements()
        return Node("frozenset", "", elements) if self.resolve is None else frozenset(elements)

    def elements(self) -> Any:
        if bytes(self.take(1)) == b"1":
            return self.items()
        outer = self.seen  # elements were written apart: each has its own numbering
        elements = []
        for _ in range(self.size()):
            self.seen = []
            elements.append(self.read())
        self.seen = outer
        return elements

    def bytearray(self) -> Any:
        return self.remember(bytearray(self.take(self.size())))

    def reference(self) -> Any:
        number = self.size()
        if number >= len(self.seen):
            raise CodecError("reference to nothing")
        return Ref(number) if self.resolve is None else self.seen[number]

    def fixed_node(self) -> Any:
        kind, name = self.text(), self.text()
        state = self.read()
        return Node(kind, name, state) if self.resolve is None else self.live(kind, name, state)

    def numbered_node(self) -> Any:
        kind, name = self.text(), self.text()
        if self.resolve is None:
            node = self.remember(Node(kind, name, None, True))
            node.state = self.read()
            return node
        if kind == "object":
            cls = self.resolve(name)
            value = self.remember(cls.__new__(cls))
            for field, item in self.read():
                set_field(value, field, item)
            return value
        number = len(self.seen)
        self.seen.append(None)
        state = self.read()
        if kind in ("ndarray", "tensor"):
            self.seen[number] = getattr(self.arrays(), kind)(name, number, state)
        else:
            self.seen[number] = self.live(kind, name, state)
        return self.seen[number]

    def usual_array(self) -> Any:
        number = len(self.seen)
        self.seen.append(None)
        dtype, length = self.text(), self.size()
        if length > MOST_DIMENSIONS:  # their product would take long
            raise CodecError("too many dimensions")
        shape = tuple(self.take(8 * length).cast("Q"))
        data = bytes(self.take(self.size()))
        state = (dtype, shape, data, row_major(shape, item_size(shape, data)), (), None, ())
        if self.resolve is None:
            self.seen[number] = Node("ndarray", "numpy", state, True)
        else:
            self.seen[number] = self.arrays().ndarray("numpy", number, state)
        return self.seen[number]

    def arrays(self) -> Builder:
        if self.builder is None:
            from .arrays import Builder  # only where a value needs it

            assert self.resolve is not None
            self.builder = Builder(self.resolve)
        return self.builder

    def live(self, kind: str, name: str, state: Any) -> Any:
        assert self.resolve is not None
        if kind == "special":
            return SPECIAL[name][1](standard(name), state)
        if kind == "scalar":
            return self.arrays().scalar(state)
        if kind == "lazy":
            return (item for item in state)  # as what it was, it can be written again
        if kind == "narrowed":
            from .narrowed import narrowed  # only where a value needs it

            return narrowed(*state)
        cls = self.resolve(name)
        if kind == "method":
            return _bound(*state)
        if kind == "enum":
            return cls[state]
        if kind == "tuple":
            # A type made in C, as torch.Size is, has a way of its own to be made.
            return next(base for base in cls.__mro__ if not base.__flags__ & HEAP_TYPE).__new__(cls, state)
        if kind != "exception":
            return cls
        if not isinstance(cls, type) or not issubclass(cls, BaseException):
            raise CodecError(f"{name} is no exception")  # else an outcome could call what it likes, where it is checked
        return cls(*state)


def _bound(receiver: Any, name: str) -> Any:
    """Returns a method of an object, found without running code of its class: its state may not be there yet."""
    function = getattr(type(receiver), name, None)
    if not isinstance(function, types.FunctionType):
        raise CodecError(f"{name} is no method")
    return types.MethodType(function, receiver)


def set_field(value: Any, field: str, item: Any) -> None:
    """Sets a field of a fresh object without running code of its class."""
    if field != ITEMS:
        object.__setattr__(value, field, item)
    elif isinstance(value, list):
        list.extend(value, item)
    else:
        value.update(item)


_BY_TAG: dict[bytes, Callable[[_Reader], Any]] = {
    b"N": lambda r: None,
    b"T": lambda r: True,
    b"F": lambda r: False,
    b".": lambda r: ...,
    b"i": lambda r: int.from_bytes(r.take(r.size()), "little", signed=True),
    b"f": lambda r: struct.unpack("<d", r.take(8))[0],
    b"c": lambda r: complex(*struct.unpack("<dd", r.take(16))),
    b"s": _Reader.text,
    b"b": lambda r: bytes(r.take(r.size())),
    b"B": _Reader.bytearray,
    b"t": lambda r: tuple(r.items()),
    b"l": _Reader.list,
    b"d": _Reader.dict,
    b"D": _Reader.mapping,
    b"A": _Reader.usual_array,
    b"e": _Reader.set,
    b"z": _Reader.frozenset,
    b"r": _Reader.reference,
    b"o": _Reader.fixed_node,
    b"O": _Reader.numbered_node,
}
READERS = {tag[0]: read for tag, read in _BY_TAG.items()}  # an index into bytes gives a number


def decode(data: bytes | bytearray | memoryview, resolve: Resolver | None = None) -> Any:
    """Returns the value that `codec.encode` wrote.

    Args:
        data: the bytes; without a resolver they may be hostile.
        resolve: gives classes by name; None keeps everything plain data.

    Raises:
        CodecError: the bytes are no encoded value.
    """
    reader = _Reader(data, resolve)
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, RECURSION_LIMIT))
    try:
        value = reader.read()
    except (RecursionError, LookupError, TypeError, ValueError, struct.error) as error:
        raise CodecError(f"not an encoded value: {error}") from None
    finally:
        sys.setrecursionlimit(limit)
    if reader.at != len(data):
        raise CodecError("bytes after the value")
    return value
