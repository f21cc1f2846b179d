"""Plain data as Python source, so that a counterexample can be pasted into a session."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from whet.evaluators.floats.elements import Layout, elements
from whet.evaluators.inputs.shapes import kind_of
from whet.sandbox.inside.codec import FILES
from whet.sandbox.inside.decode import Node
from whet.sandbox.inside.narrowed import COPY, NARROWED, SEQUENCES, forwarding, methods_of

LONGEST = 1000
"""Characters of a call. A longer one would crowd out what it is shown with, and is cut instead."""
DEEPEST = 20
"""Lists of one item in each other that are written out."""
BUILTIN = (int, float, complex, str, bytes, list, tuple, dict, set, frozenset)
"""Classes of values that an object may stand before which does a part of what they do."""
MOST_ELEMENTS = 200
"""Elements of an array that are written out; more would never fit into a call that is short enough."""
WIDEST_INTEGER = 4096
"""Bits of an integer in decimals: Python refuses to write much larger ones so."""


def call_text(symbol: str, value: Any) -> str:
    """Returns an input as a call of the target; an empty string where it is too long or has no source.

    Args:
        symbol: of the target: a function, or a method with its class.
        value: the input as plain data: arguments, or a dict of ``init``, ``args`` and ``kwargs``.
    """
    try:
        parts = _parts(value)
        owner, _, method = symbol.rpartition(".")
        if "init" in parts:
            text = f"{owner}{arguments_text(parts['init'], {})}.{method}"
        else:
            text = symbol
        text += arguments_text(parts.get("args", ()), items_of(parts.get("kwargs")))
    except ValueError:
        return ""
    return text if len(text) <= LONGEST else ""


def session_text(symbol: str, value: Any) -> str:
    """Returns statements that call the target with an input, also with one that holds an object twice.

    Args:
        symbol: see `call_text`.
        value: the input as plain data without references; see `whet.evaluators.inputs.plain_data.read`.

    Returns:
        One line for a Python session; empty where it is too long or has no source.
    """
    names = _Names(value)
    try:
        call = call_text(symbol, names.named(value))
    except ValueError:
        return ""
    text = "; ".join([*names.statements, call])
    return text if call and len(text) <= LONGEST else ""


class _Named:
    """Stands for an object that a statement before has made."""

    def __init__(self, name: str) -> None:
        self.name = name


class _Names:
    """Gives names to lists and dictionaries that are held twice, and to lists that are nested deeply.

    Attributes:
        statements: that make them.
    """

    def __init__(self, value: Any) -> None:
        self.statements: list[str] = []
        self._only = ""
        self._made: dict[int, _Named] = {}
        self._visits: dict[int, int] = {}
        self._visit(value)

    def _visit(self, value: Any) -> None:
        waiting = [value]
        while waiting:
            one = waiting.pop()
            if isinstance(one, (list, Node)):
                self._visits[id(one)] = self._visits.get(id(one), 0) + 1
                if self._visits[id(one)] > 1:
                    continue
            waiting += _held(one)

    def named(self, value: Any) -> Any:
        """Returns a value in which names stand for what has one.

        Raises:
            ValueError: it has no source.
        """
        if isinstance(value, list) and (depth := _depth(value)) > DEEPEST:
            inner = value
            for _ in range(depth):
                inner = inner[0]
            self._assign(value, f"functools.reduce(lambda one, _: [one], range({depth}), {source(self.named(inner))})")
            self.statements.insert(0, "import functools")
        elif self._visits.get(id(value), 0) > 1 and id(value) not in self._made:
            self._share(value)
        if id(value) in self._made:
            return self._made[id(value)]
        if isinstance(value, (list, tuple)):
            return type(value)(map(self.named, value))
        if isinstance(value, Node) and value.kind == "dict":
            return Node("dict", "", [(name, key, self.named(item)) for name, key, item in value.state], True)
        if isinstance(value, Node) and value.kind == NARROWED:
            return self._narrowed(*value.state)
        return value

    def _narrowed(self, value: Any, names: tuple[str, ...]) -> _Named:
        """Returns what makes an object that does a part of what a value does; its class is a statement before."""
        if isinstance(value, Node) and value.kind == "object":
            if not set(names) <= {name for name, _ in value.state}:
                raise ValueError("no source of methods")
            fields = ", ".join(f"{name!r}: {source(self.named(item))}" for name, item in value.state if name in names)
            return _Named(f"type('Only', (), {{{fields}}})()")
        made = class_text(value, names)
        if self._only not in ("", made):
            raise ValueError("objects of several classes")
        if not self._only:
            self.statements[:0] = [PLAIN, made]
            self._only = made
        return _Named(f"Only({source(self.named(value))})")

    def _share(self, value: Any) -> None:
        if not isinstance(value, list):
            self._assign(value, source(value))
            return
        itself = [i for i, item in enumerate(value) if item is value]
        name = self._assign(value, "")
        at = len(self.statements) - 1
        parts = ["None" if i in itself else source(self.named(item)) for i, item in enumerate(value)]
        self.statements[at] = f"{name} = [{', '.join(parts)}]"
        self.statements += [f"{name}[{i}] = {name}" for i in itself]

    def _assign(self, value: Any, text: str) -> str:
        name = "abcdefghijklmnopqrstuvwxyz"[len(self._made) % 26]
        self._made[id(value)] = _Named(name)
        self.statements.append(f"{name} = {text}")
        return name


PLAIN = "plain = lambda one: getattr(one, '_plain', one)"
"""See `whet.sandbox.inside.narrowed.plain`."""


def class_text(value: Any, names: tuple[str, ...]) -> str:
    """Returns a statement that makes the class of objects that do a part of what a value of a builtin type does.

    Raises:
        ValueError: the value has another type.
    """
    cls = next((cls for cls in BUILTIN if cls.__name__ == kind_of(value)), None)
    if cls is None:
        raise ValueError("no source of the class")
    body = {"__init__": "lambda self, one: self.__dict__.update(_plain=one)"}
    body |= {} if "__hash__" in names else {"__hash__": "None"}
    body |= {} if COPY in names else {COPY: "None", "__reduce__": "None"}
    body |= {name: forwarding(name, names, issubclass(cls, SEQUENCES)) for name in methods_of(cls, names)}
    attributes = [name for name in names if not name.startswith("_") and name.isidentifier()]
    body |= {name: f"property(lambda self: self._plain.{name})" for name in attributes}
    return f"Only = type('Only', (), {{{', '.join(f'{name!r}: {text}' for name, text in body.items())}}})"


def _held(value: Any) -> Sequence[Any]:
    if isinstance(value, Node):
        return [item for _, _, item in value.state] if value.kind == "dict" else ()
    return value if isinstance(value, (list, tuple)) else ()


def _depth(value: Any) -> int:
    """Returns how many lists of one item are in each other, the innermost list left out."""
    depth = 0
    seen = set[int]()
    while isinstance(value, list) and len(value) == 1 and isinstance(value[0], list) and id(value) not in seen:
        seen.add(id(value))
        value, depth = value[0], depth + 1
    return depth


def _parts(value: Any) -> dict[str, Any]:
    if isinstance(value, Node):
        return {str(name): part for name, part in items_of(value).items()}
    return {"args": value}


def items_of(value: Any) -> dict[Any, Any]:
    """Returns a dict that is plain data, or None, as a dict.

    Raises:
        ValueError: it is neither.
    """
    if value is None or isinstance(value, dict):
        return value or {}
    if not isinstance(value, Node) or value.kind != "dict":
        raise ValueError("no dict")
    return {key: part for _, key, part in value.state}


def arguments_text(given: Any, named: dict[Any, Any]) -> str:
    """Returns arguments as a call has them, brackets included.

    Args:
        given: the positional ones, or those of a constructor by name.
        named: others by name.

    Raises:
        ValueError: one has no source.
    """
    if isinstance(given, Node):  # a constructor's, by name
        return arguments_text((), items_of(given))
    if not isinstance(given, (list, tuple)):
        raise ValueError("a receiver that was recorded")
    return "(" + ", ".join([*map(source, given), *(f"{name}={source(part)}" for name, part in named.items())]) + ")"


def source(value: Any) -> str:
    """Returns a plain value as a Python expression.

    Raises:
        ValueError: it has none: an object whose making nobody knows, or one that stands in two places.
    """
    if isinstance(value, float):
        return repr(value) if math.isfinite(value) else f"float('{value}')"
    if isinstance(value, complex):
        return f"complex({source(value.real)}, {source(value.imag)})"
    if isinstance(value, int) and value.bit_length() > WIDEST_INTEGER:
        return hex(value)
    if value is None or value is ... or isinstance(value, (bool, int, str, bytes, bytearray)):
        return "..." if value is ... else repr(value)
    if isinstance(value, list):
        return f"[{_row(value)}]"
    if isinstance(value, tuple):
        return f"({_row(value)},)" if len(value) == 1 else f"({_row(value)})"
    if isinstance(value, _Named):
        return value.name
    if isinstance(value, Node):
        return _node(value)
    raise ValueError(f"no source of a {type(value).__name__}")


def _node(node: Node) -> str:
    name = node.name.rpartition(":")[2]
    if node.kind == "dict":
        return "{" + ", ".join(f"{source(key)}: {source(value)}" for _, key, value in node.state) + "}"
    if node.kind == "set":
        return f"{{{_row(node.state)}}}" if node.state else "set()"
    if node.kind == "frozenset":
        return f"frozenset({{{_row(node.state)}}})" if node.state else "frozenset()"
    if node.kind == "tuple":
        return f"{name}({_row(node.state)})"
    if node.kind == "lazy":
        return f"iter([{_row(node.state)}])"
    if node.kind == "enum":
        return f"{name}.{node.state}"
    if node.kind == "special" and node.name in STANDARD:
        module = node.name.partition(":")[0].lstrip("_")
        return STANDARD[node.name](name if module == "builtins" else f"__import__('{module}').{name}", node.state)
    if node.name == "numpy":
        return _array(node)
    raise ValueError(f"no source of a {node.kind}")


def _array(node: Node) -> str:
    """Returns an array of numpy, or a number of its, that shares its memory with nobody."""
    try:
        values = elements(node)
        layout = Layout(*node.state[3:]) if node.kind == "ndarray" else None
    except (TypeError, LookupError) as error:
        raise ValueError(str(error)) from None
    if values.dtype.kind not in "biufc" or values.size > MOST_ELEMENTS:
        raise ValueError("no source of such an array")
    if layout is None:
        return f"__import__('numpy').dtype('{values.dtype.name}').type({source(values.item())})"
    if layout.shares is not None or layout.traits or layout.attributes:
        raise ValueError("no source of an array that is more than its elements")
    text = f"__import__('numpy').array({source(values.tolist())}, dtype='{values.dtype.name}')"
    return text if values.size else f"{text}.reshape({source(values.shape)})"


def _of_state(made: str, state: Any) -> str:
    return f"{made}({source(state)})"


def _of_parts(made: str, state: Any) -> str:
    return f"{made}{source(tuple(state))}"


def _of_iso(made: str, state: Any) -> str:
    return f"{made}.fromisoformat({source(state)})"


def _pattern(made: str, state: Any) -> str:
    return f"__import__('re').compile({_row(state)})"


def _deque(made: str, state: Any) -> str:
    items, longest = state
    return f"{made}({source(items)}{'' if longest is None else f', {longest}'})"


def _defaultdict(made: str, state: Any) -> str:
    factory, items = state
    return f"{made}({factory or None}, {{{', '.join(f'{source(key)}: {source(value)}' for key, value in items)}}})"


def _file(made: str, state: Any) -> str:
    if state is None or state[1] != 0:
        raise ValueError("no source of a file that was read or closed")
    return f"{made}({source(state[0])})"


STANDARD: Mapping[str, Callable[[str, Any], str]] = {
    **dict.fromkeys(("builtins:range", "builtins:slice", "fractions:Fraction", "datetime:timedelta"), _of_parts),
    **dict.fromkeys(("decimal:Decimal", "uuid:UUID", "pathlib:PosixPath", "pathlib:PurePosixPath"), _of_state),
    **dict.fromkeys(("collections:Counter", "collections:OrderedDict"), _of_state),
    **dict.fromkeys(("datetime:datetime", "datetime:date", "datetime:time"), _of_iso),
    **dict.fromkeys(FILES, _file),
    "array:array": _of_parts,
    "re:Pattern": _pattern,
    "collections:deque": _deque,
    "collections:defaultdict": _defaultdict,
}
"""How what the standard library brings is written, by its name: from what makes it and its state."""


def _row(values: Sequence[Any]) -> str:
    return ", ".join(map(source, values))
