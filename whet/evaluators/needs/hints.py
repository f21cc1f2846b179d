"""Whether a type hint rules a value out. What it does not surely rule out, it allows; nothing of the target runs."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from typing import Any

from whet.core.trees import expression_of, last_name
from whet.evaluators.inputs.shapes import kind_of
from whet.evaluators.inputs.type_hints import DEEPEST, FROZEN, MAPPINGS, SETS, TUPLES
from whet.sandbox.inside.decode import Node
from whet.sandbox.inside.narrowed import NARROWED

UNIONS = {"Optional", "Union"}
TRANSPARENT = {"Annotated", "Final", "ClassVar", "Required", "NotRequired"}
SEQUENCES = {"Sequence", "Reversible", "Collection"}
"""What a list, a tuple and a text are."""
ITERABLES = {"Iterable"}
ITERATORS = {"Iterator", "Generator"}
LISTS = {"list", "List", "MutableSequence"}
SCALARS: Mapping[str, frozenset[str]] = {
    "int": frozenset({"int", "bool"}),
    "float": frozenset({"int", "bool", "float"}),
    "complex": frozenset({"int", "bool", "float", "complex"}),
    "bool": frozenset({"bool"}),
    "str": frozenset({"str"}),
    "bytes": frozenset({"bytes"}),
    "None": frozenset({"none"}),
}
"""Kinds of values that each hint takes, as type checkers have it."""
UNHASHABLE = {"list", "set"}
INTERFACES = {"Protocol", "ABC"}
"""Bases of classes that say what an object does, and not what it is."""

PROMISED = {"Hashable": "__hash__", "Sized": "__len__", "Container": "__contains__", "Iterable": "__iter__"}
"""Hints that say what an object does, whatever its class."""


class Hints:
    """The type hints of one module's functions."""

    def __init__(self, module: ast.Module) -> None:
        self._aliases = {
            target.id: node.value
            for node in module.body
            if isinstance(node, ast.Assign)
            for target in node.targets
            if isinstance(target, ast.Name)
        }
        self._classes = {
            node.name
            for node in module.body
            if isinstance(node, ast.ClassDef) and not any(last_name(base) in INTERFACES for base in node.bases)
        }

    def exclude(self, hint: ast.expr | None, value: Any, depth: int = 0) -> bool:
        """Tells whether a hint surely excludes a value, given as plain data."""
        if hint is None or depth > DEEPEST:
            return False
        if isinstance(hint, ast.Constant):
            if isinstance(hint.value, str):
                return self.exclude(expression_of(hint.value), value, depth + 1)
            return hint.value is None and kind_of(value) != "none"
        if isinstance(hint, ast.BinOp) and isinstance(hint.op, ast.BitOr):
            return self.exclude(hint.left, value, depth) and self.exclude(hint.right, value, depth)
        if isinstance(hint, ast.Subscript):
            inner = hint.slice.elts if isinstance(hint.slice, ast.Tuple) else [hint.slice]
            return self._generic(last_name(hint.value), inner, value, depth + 1)
        name = last_name(hint)
        if name in self._aliases:
            return self._alias(self._aliases[name], value, depth + 1)
        return self._generic(name, [], value, depth + 1)

    def _alias(self, meant: ast.expr, value: Any, depth: int) -> bool:
        if isinstance(meant, ast.Call) and last_name(meant.func) == "TypeVar":
            bounds = [one.value for one in meant.keywords if one.arg == "bound"] or meant.args[1:]
            return bool(bounds) and all(self.exclude(bound, value, depth) for bound in bounds)
        return self.exclude(meant, value, depth)

    def _generic(self, name: str, inner: Sequence[ast.expr], value: Any, depth: int) -> bool:
        kind = _kind(value)
        if name in SCALARS:
            return kind not in SCALARS[name]
        if isinstance(value, Node) and value.kind == NARROWED and name in (*PROMISED, *self._classes):
            return PROMISED.get(name) not in value.state[1]
        if name == "Hashable":
            return kind in UNHASHABLE
        if name == "Literal":
            return not any(isinstance(one, ast.Constant) and one.value == value for one in inner)
        if name in TRANSPARENT:
            return bool(inner) and self.exclude(inner[0], value, depth)
        if name in UNIONS:
            allowed = kind == "none" and name == "Optional"
            return not allowed and all(self.exclude(one, value, depth) for one in inner)
        if name in TUPLES and inner and getattr(inner[-1], "value", None) is not ...:
            return (
                kind != "tuple"
                or len(value) != len(inner)
                or any(self.exclude(one, item, depth) for one, item in zip(inner, value, strict=True))
            )
        if name in MAPPINGS:
            return kind != "dict" or self._entries_excluded(inner, value, depth)
        kinds = _kinds(name)
        return kinds is not None and (
            kind not in kinds or any(self.exclude(next(iter(inner), None), item, depth) for item in _items(value))
        )

    def _entries_excluded(self, inner: Sequence[ast.expr], value: Any, depth: int) -> bool:
        if len(inner) != 2 or value.kind != "dict":
            return False
        return any(
            self.exclude(inner[0], key, depth) or self.exclude(inner[1], item, depth) for _, key, item in value.state
        )


def _kinds(name: str) -> frozenset[str] | None:
    """Returns the kinds of values that a hint of a collection takes; None where it is none that is known."""
    known: tuple[tuple[set[str], tuple[str, ...]], ...] = (
        (LISTS, ("list",)),
        (TUPLES, ("tuple",)),
        (SETS, ("set", "frozenset")),
        (FROZEN, ("frozenset",)),
        (SEQUENCES, ("list", "tuple", "str", "bytes", "set", "frozenset", "dict")),
        (ITERABLES, ("list", "tuple", "str", "bytes", "set", "frozenset", "dict", "lazy")),
        (ITERATORS, ("lazy",)),
    )
    return next((frozenset(kinds) for names, kinds in known if name in names), None)


def _kind(value: Any) -> str:
    if isinstance(value, Node) and value.kind == "lazy":
        return "lazy"
    if isinstance(value, Node) and value.name == "collections:defaultdict":
        return "dict"
    return kind_of(value)


def _items(value: Any) -> Sequence[Any]:
    """Returns what a collection holds; of a list that holds itself, nothing more than once a level."""
    if isinstance(value, Node):
        return [key for _, key, _ in value.state] if value.kind == "dict" else list(value.state)
    return value if isinstance(value, (list, tuple, str)) and value != "" and not _single(value) else ()


def _single(value: Any) -> bool:
    """Whether a text is one letter, whose items are itself."""
    return isinstance(value, str) and len(value) == 1
