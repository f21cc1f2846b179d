"""Values as bytes and back, without pickle: the only language that both sides of the sandbox wall speak.

A type is kept exactly (bool, int and float apart, list and tuple apart, numpy dtypes). Mutable containers are
numbered in the order of their first visit and written once; a second visit is a reference, so aliasing and
cycles survive. `decode` is the way back.
"""

from __future__ import annotations

import importlib
import itertools
import struct
import sys
import types

# Whoever reads or writes plain data takes these from here.
from .codec_base import HEAP_TYPE
from .codec_base import CodecError as CodecError
from .codec_base import type_name as type_name
from .layouts import is_usual

TYPE_CHECKING = False
if TYPE_CHECKING:  # `typing` itself would cost each start 8 ms
    from collections.abc import Callable
    from typing import Any

    from .arrays import Memory

MAX_DEPTH = 2000
"""Levels of a nested value. More need a deeper stack, see `RECURSION_LIMIT`; fewer refuse more values."""
RECURSION_LIMIT = 5 * MAX_DEPTH
"""Frames of the Python stack: a level takes up to 4 to read, and 5 to write in sets. Fewer refuse values within
`MAX_DEPTH`; more let nested sets, which nothing else bounds, use more of the C stack."""
ITEMS = "<items>"
NO_STATE = ("builtins", "_io", "re", "_thread", "functools", "itertools", "threading")
ARRAYS = {"numpy", "torch"}
"""Modules whose arrays are written as their bytes."""
LAZY: tuple[Any, ...] = (
    types.GeneratorType,
    *(map, filter, zip, enumerate, reversed),
    *map(
        type, (iter([]), iter(()), iter({}), iter({}.values()), iter({}.items()), iter(set()), iter(""), iter(range(0)))
    ),
    type(iter(int, 0)),
    *(kind for kind in vars(itertools).values() if isinstance(kind, type) and hasattr(kind, "__next__")),
)
"""Iterators whose items are all that they are."""
FUNCTIONS = (types.FunctionType, types.BuiltinFunctionType)
STAND_INS: set[type] = set()
"""Classes of objects that stand before a value, see `narrowed`: what is written is the value."""
FEW = 4
"""Items up to which a container is written item by item."""
LEAST_BYTES = 8
"""That a dict in a column, or an entry of a large dict, takes: a number, or the length of a text."""
DENSE = frozenset({int, float, str, bytes})
"""Types of which each item of a long sequence takes as many at least."""
LARGE = 1 << 16
"""Bytes that are worth a write of their own."""


pack_size = struct.Struct("<Q").pack
"""Returns a length or a number as 8 bytes."""


def standard(name: str) -> Any:
    """Returns a class of the standard library by ``module:qualname``, imported only once a value needs it."""
    module, _, qualname = name.partition(":")
    return getattr(importlib.import_module(module), qualname)


def _attribute(cls: type, name: str) -> Any:
    """Returns the instance of a class that its module knows by this dotted name."""
    found = standard(name.replace(".", ":", 1))
    if type(found) is not cls:
        raise CodecError(f"{name} is no {cls.__qualname__}")
    return found


FILES = ("_io:StringIO", "_io:BytesIO")
"""Files in memory, which calls change although they are equal to themselves alone."""
FACTORIES: dict[str, Any] = {cls.__name__: cls for cls in (int, float, str, list, dict, set, tuple, bool)}


def _file_state(file: Any) -> Any:
    """Returns the contents of a file in memory and the position in it; None where it is closed."""
    return None if file.closed else (file.getvalue(), file.tell())


def _file(cls: Any, state: Any) -> Any:
    contents, position = state or ("" if cls.__name__ == "StringIO" else b"", 0)
    file = cls(contents)
    file.seek(position)
    if state is None:
        file.close()
    return file


# Standard types with a short exact form: name -> (state from value, value from class and state).
SPECIAL: dict[str, tuple[Callable[[Any], Any], Callable[[Any, Any], Any]]] = {
    "builtins:range": (lambda v: (v.start, v.stop, v.step), lambda c, s: range(*s)),
    "builtins:slice": (lambda v: (v.start, v.stop, v.step), lambda c, s: slice(*s)),
    "decimal:Decimal": (str, lambda c, s: c(s)),
    "fractions:Fraction": (lambda v: (v.numerator, v.denominator), lambda c, s: c(*s)),
    "datetime:datetime": (lambda v: v.isoformat(), lambda c, s: c.fromisoformat(s)),
    "datetime:date": (lambda v: v.isoformat(), lambda c, s: c.fromisoformat(s)),
    "datetime:time": (lambda v: v.isoformat(), lambda c, s: c.fromisoformat(s)),
    "datetime:timedelta": (lambda v: (v.days, v.seconds, v.microseconds), lambda c, s: c(*s)),
    "uuid:UUID": (lambda v: v.hex, lambda c, s: c(s)),
    "re:Pattern": (lambda v: (v.pattern, v.flags), lambda c, s: standard("re:compile")(*s)),
    "pathlib:PosixPath": (str, lambda c, s: c(s)),
    "pathlib:PurePosixPath": (str, lambda c, s: c(s)),
    "array:array": (lambda v: (v.typecode, v.tobytes()), lambda c, s: c(*s)),
    **dict.fromkeys(FILES, (_file_state, _file)),
    "torch:dtype": (str, _attribute),
    "torch:device": (str, lambda c, s: c(s)),
    "collections:deque": (lambda v: (list(v), v.maxlen), lambda c, s: c(*s)),
    "collections:Counter": (dict, lambda c, s: c(s)),
    "collections:OrderedDict": (lambda v: list(v.items()), lambda c, s: c(s)),
    "collections:defaultdict": (
        lambda v: (v.default_factory.__name__ if v.default_factory else "", list(v.items())),
        lambda c, s: c(FACTORIES.get(s[0]), s[1]),
    ),
}


class Elements:
    """Elements of a buffer; written as a numpy array of one dimension, whether or not there is numpy.

    Attributes:
        dtype: as `numpy.dtype.str` has it.
        data: their bytes.
    """

    def __init__(self, dtype: str, data: bytes) -> None:
        self.dtype = dtype
        self.data = data


class _Writer:
    own = ""
    """The target's module, where one is loaded: its functions are a candidate's, so their names say nothing."""

    def __init__(self) -> None:
        self.out: list[bytes] = []
        self.seen: dict[int, int] = {}
        self.alive: list[Any] = []  # an id is unique only while its object lives
        self.depth = 0
        self.memory: Memory | None = None  # of the arrays so far

    def name(self, cls: Any) -> str:
        return type_name(cls)

    def nameable(self, function: Any) -> bool:
        module = function.__module__
        return module != self.own and _loaded(f"{module}:{function.__qualname__}") is function

    def items(self, lazy: Any) -> tuple[Any, ...]:
        return tuple(lazy)

    def text(self, tag: bytes, value: str) -> None:
        data = value.encode("utf-8", "surrogatepass")
        self.out += (tag, pack_size(len(data)), data)

    def first_visit(self, value: Any) -> bool:
        number = self.seen.get(id(value))
        if number is not None:
            self.out += (b"r", pack_size(number))
            return False
        self.seen[id(value)] = len(self.alive)
        self.alive.append(value)
        return True

    def write(self, value: Any) -> None:
        cls: Any = type(value)
        scalar = SCALARS.get(cls)
        if scalar is not None:
            scalar(self, value)
            return
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise CodecError(f"nested deeper than {MAX_DEPTH}")
        if cls is tuple:
            self.sequence(b"t", value)
        elif cls is frozenset:
            self.set(b"z", value)
        elif cls not in (list, dict, set, bytearray):
            self.other(cls, value)
        elif self.first_visit(value):
            if cls is list:
                self.sequence(b"l", value)
            elif cls is dict:
                self.mapping(list(value), list(value.values()))
            elif cls is set:
                self.set(b"e", value)
            else:
                self.out += (b"B", pack_size(len(value)), bytes(value))
        self.depth -= 1

    def mapping(self, keys: list[Any], values: list[Any]) -> None:
        if len(keys) > FEW and _of_scalars([keys]):
            self.out.append(b"D")
            self.sequence(b"", keys)
            self.sequence(b"", values)
            return
        self.out += (b"d", pack_size(len(keys)))
        for key, item in zip(keys, values):  # noqa: B905 (3.10 inside; they are as many)
            self.write(key)
            self.write(item)

    def set(self, tag: bytes, value: Any) -> None:
        # In an order of their own: equal sets give equal bytes.
        if set(map(type, value)) in ({int}, {str}):
            self.out += (tag, b"1")
            self.sequence(b"", sorted(value))
            return
        self.out += (tag, b"*", pack_size(len(value)))
        self.out += sorted(encode(item, type(self)()) for item in value)

    def sequence(self, tag: bytes, value: Any) -> None:
        kind = _type_of_all(value) if len(value) > FEW else None
        self.out.append(tag)
        if kind is int:
            try:
                data = struct.pack(f"<{len(value)}q", *value)
            except struct.error:  # one is too large
                pass
            else:
                self.out += (b"q", pack_size(len(value)), data)
                return
        elif kind is float:
            self.out += (b"f", pack_size(len(value)), struct.pack(f"<{len(value)}d", *value))
            return
        elif kind is str:
            self.pieces(b"s", [item.encode("utf-8", "surrogatepass") for item in value])
            return
        elif kind is bytes:
            self.pieces(b"b", value)
            return
        elif kind is not None and self.by_columns(kind, value):
            return
        self.out += (b"*", pack_size(len(value)))
        for item in value:
            self.write(item)

    def pieces(self, tag: bytes, values: Any) -> None:
        self.out += (tag, pack_size(len(values)), struct.pack(f"<{len(values)}Q", *map(len, values)), *values)

    def by_columns(self, kind: type, rows: Any) -> bool:
        """Writes tuples, lists or dicts of scalars as few long sequences, for speed; says whether they were such."""
        if kind is tuple:
            return self.table(rows)
        return self.lists(rows) if kind is list else self.records(kind, rows)

    def table(self, rows: Any) -> bool:
        """Writes equally long tuples column by column; see `by_columns`."""
        widths = set(map(len, rows))
        if len(widths) != 1 or widths == {0}:
            return False
        columns = list(zip(*rows))  # noqa: B905 (3.10 inside; all widths are equal)
        if not _of_scalars(columns):
            return False
        self.out += (b"#", pack_size(len(columns)))
        for column in columns:
            self.sequence(b"", column)
        return True

    def lists(self, rows: Any) -> bool:
        """Writes lists as one sequence, and how long each of them is; see `by_columns`."""
        items = list(itertools.chain.from_iterable(rows))
        if not _of_scalars([items]) or not self.first_visits(rows):
            return False
        self.out += (b"%", pack_size(len(rows)), struct.pack(f"<{len(rows)}Q", *map(len, rows)))
        self.sequence(b"", items)
        return True

    def first_visits(self, values: Any) -> bool:
        """Numbers containers where each of them is met for the first time; says whether that is so."""
        numbers = dict(zip(map(id, values), itertools.count(len(self.alive))))
        if len(numbers) < len(values) or not numbers.keys().isdisjoint(self.seen):
            return False
        self.seen.update(numbers)
        self.alive += values
        return True

    def fields(self, kind: type, rows: Any) -> tuple[tuple[str, ...], list[Any]] | None:
        """Returns the keys of dicts that have the same texts as keys, and the columns below them; else None."""
        if kind is not dict or set(map(type, itertools.chain.from_iterable(rows))) != {str}:
            return None
        if len(set(map(tuple, rows))) > 1:
            return None
        return tuple(rows[0]), list(zip(*map(dict.values, rows)))  # noqa: B905 (all have as many)

    def records(self, kind: type, rows: Any) -> bool:
        """Writes dicts with the same keys column by column; see `by_columns`."""
        found = self.fields(kind, rows)
        if found is None:
            return False
        keys, columns = found
        if DENSE.isdisjoint(map(_type_of_all, columns)) or not _of_scalars(columns) or not self.first_visits(rows):
            return False
        self.out += (b"@", pack_size(len(rows)))
        self.sequence(b"", keys)
        for column in columns:
            self.sequence(b"", column)
        return True

    def node(self, tag: bytes, kind: str, name: str, state: Any) -> None:
        if kind == "ndarray" and name == "numpy" and is_usual(state):
            dtype, shape, data, *_ = state
            self.text(b"A", dtype)
            self.out += (pack_size(len(shape)), struct.pack(f"<{len(shape)}Q", *shape), pack_size(len(data)), data)
            return
        self.text(tag, kind)
        self.text(b"", name)
        self.write(state)

    def other(self, cls: Any, value: Any) -> None:
        if cls in STAND_INS:
            self.write(value._plain)
            return
        name = self.name(cls)
        if cls is Elements:
            size = int(value.dtype[2:])
            if self.first_visit(value):
                state = (value.dtype, (len(value.data) // size,), value.data, (size,), (), None, ())
                self.node(b"O", "ndarray", "numpy", state)
        elif name in SPECIAL and cls is _loaded(name):
            if cls.__hash__ is not None and name not in FILES:
                self.node(b"o", "special", name, SPECIAL[name][0](value))
            elif self.first_visit(value):
                self.node(b"O", "special", name, SPECIAL[name][0](value))
        elif isinstance(value, LAZY):
            self.node(b"o", "lazy", name, self.items(value))
        elif _is_member(value):
            self.node(b"o", "enum", name, value.name)
        elif isinstance(value, BaseException):
            self.node(b"o", "exception", name, tuple(str(a) for a in value.args))
        elif isinstance(value, type):
            self.node(b"o", "class", self.name(value), None)
        elif cls is types.MethodType and _is_of_class(value):
            self.node(b"o", "method", self.name(type(value.__self__)), (value.__self__, value.__func__.__name__))
        elif isinstance(value, FUNCTIONS) and self.nameable(value):
            self.node(b"o", "function", self.name(value), None)
        elif isinstance(value, tuple):
            self.node(b"o", "tuple", name, tuple(value))
        elif not (ARRAYS & sys.modules.keys() and self.array(cls, value)) and self.first_visit(value):
            self.node(b"O", "object", name, self.state(cls, name, value))

    def array(self, cls: Any, value: Any) -> bool:
        """Writes an array, a numpy scalar or a tensor; says whether it was one."""
        from . import arrays  # only where numpy or torch is loaded

        found = arrays.describe(cls, value)
        if found is None:
            return False
        if found.kind == "scalar":
            self.node(b"o", "scalar", found.name, found.head)
        elif self.first_visit(value):
            self.memory = self.memory or arrays.Memory()
            self.node(b"O", found.kind, found.name, found.state(self.memory, self.seen[id(value)]))
        return True

    def state(self, cls: type, name: str, value: Any) -> tuple[Any, ...]:
        fields: dict[str, Any] = dict(getattr(value, "__dict__", {}))
        for base in cls.__mro__:
            slots = base.__dict__.get("__slots__", ())
            for slot in (slots,) if isinstance(slots, str) else slots:
                if slot not in ("__dict__", "__weakref__") and hasattr(value, slot):
                    fields[slot] = getattr(value, slot)
        builtin = next((base for base in (list, dict, set) if isinstance(value, base)), None)
        if builtin is not None:
            fields[ITEMS] = builtin(value)
        elif _foundation(cls) is not object or (not fields and (cls.__module__ in NO_STATE or _opaque(cls))):
            raise CodecError(f"a value of type {name.replace(':', '.')} cannot be stored as plain data")
        return tuple(sorted(fields.items()))


def _type_of_all(values: Any) -> type | None:
    """Returns the type that all values of a list or tuple have; None where there is no such."""
    first = type(values[0])
    return first if list(map(type, values)).count(first) == len(values) else None


def _of_scalars(columns: list[Any]) -> bool:
    """Whether columns hold nothing that holds others."""
    return all(set(map(type, column)) <= SCALARS.keys() for column in columns)


def _loaded(name: str) -> Any:
    """Returns what is called ``module:qualname`` where its module is loaded: a class may claim any name."""
    module, _, qualname = name.partition(":")
    found: Any = sys.modules.get(module)
    for part in qualname.split("."):
        found = getattr(found, part, None)
    return found


def _foundation(cls: type) -> type:
    """Returns the class made in C that another is built upon: what that one keeps in its instances is no field."""
    return next(base for base in cls.__mro__ if not base.__flags__ & HEAP_TYPE)


def _opaque(cls: type) -> bool:
    """Whether what its instances hold is nothing that Python code could have put there."""
    return not any(field in base.__dict__ for base in cls.__mro__ for field in ("__dict__", "__slots__"))


def _is_of_class(method: Any) -> bool:
    """Whether a bound method is what its object's class knows by its name."""
    function = method.__func__
    return isinstance(function, FUNCTIONS) and getattr(type(method.__self__), function.__name__, None) is function


def _is_member(value: Any) -> bool:
    """Whether a value is a member of an enumeration; where there is one, its module is imported."""
    return isinstance(value, getattr(sys.modules.get("enum"), "Enum", ()))


def _write_int(writer: _Writer, value: int) -> None:
    data = value.to_bytes(value.bit_length() // 8 + 1, "little", signed=True)
    writer.out += (b"i", pack_size(len(data)), data)


SCALARS: dict[type, Callable[[_Writer, Any], None]] = {
    type(None): lambda w, v: w.out.append(b"N"),
    bool: lambda w, v: w.out.append(b"T" if v else b"F"),
    int: _write_int,
    float: lambda w, v: w.out.extend((b"f", struct.pack("<d", v))),
    complex: lambda w, v: w.out.extend((b"c", struct.pack("<dd", v.real, v.imag))),
    str: lambda w, v: w.text(b"s", v),
    bytes: lambda w, v: w.out.extend((b"b", pack_size(len(v)), v)),
    type(Ellipsis): lambda w, v: w.out.append(b"."),
}


def encode(value: Any, writer: _Writer | None = None) -> bytes:
    """Returns a value as bytes.

    Args:
        value: to write.
        writer: a fresh one that differs in what it takes; None for the usual one.

    Raises:
        CodecError: it holds something that is no plain data (an open file, a lock), or nests too deeply.
    """
    return b"".join(_parts(value, writer or _Writer()))


def encode_scalars(values: Any) -> list[bytes]:
    """Returns each of some scalars as `encode` does, in a third of its time."""
    writer = _Writer()
    found = []
    for value in values:
        SCALARS[type(value)](writer, value)
        found.append(b"".join(writer.out))
        writer.out.clear()
    return found


def framed(message: tuple[Any, ...]) -> list[bytes]:
    """Returns what a message of plain data is in a pipe: its length, and its bytes; large parts of it are no copies."""
    parts = _parts(message, _Writer())
    pieces: list[bytes] = []
    small = [pack_size(sum(map(len, parts)))]
    for part in parts:
        if len(part) < LARGE:
            small.append(part)
        else:
            pieces += (b"".join(small), part)
            small = []
    return [*pieces, b"".join(small)]


def _parts(value: Any, writer: _Writer) -> list[bytes]:
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, RECURSION_LIMIT))
    try:
        writer.write(value)
    except RecursionError:
        raise CodecError("nested too deeply") from None
    finally:
        sys.setrecursionlimit(limit)
    return writer.out
