"""Folds the usual ways to build a string from pieces, so that a name cannot hide in them."""

from __future__ import annotations

import ast
import base64
import binascii
import codecs
import zlib
from collections.abc import Callable, Mapping
from typing import Any

NOTHING = object()
"""What a node folds to that is no constant."""
LONGEST = 1 << 14
"""Characters or items of a value that is folded; a longer one is no constant. Candidates write the text: a larger
bound takes more memory and time, a smaller one lets a name hide in a longer string."""
DEEPEST = 40
"""Levels of nested expressions that are folded. Each takes some frames of Python's stack, which a larger number could
exhaust; a smaller one lets a name hide in deeper nesting."""
MOST_STEPS = 400_000
"""Expressions that are folded in one module; later ones count as no constants. More see through larger texts, and allow
a text with nested comprehensions to take more of the screen's time."""
CODECS = {"utf-8", "utf8", "ascii", "latin-1", "latin1", "hex", "rot13", "rot_13", "base64"}
METHODS = {"lower", "upper", "title", "swapcase", "strip", "lstrip", "rstrip", "removeprefix", "removesuffix", "split"}


def _inflate(data: bytes) -> bytes:
    return zlib.decompressobj().decompress(data, LONGEST)


FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "chr": chr,
    "ord": ord,
    "str": str,
    "int": int,
    "bytes": lambda value: bytes(value) if isinstance(value, bytes | list | tuple) else NOTHING,
    "bytearray": lambda value: bytes(value) if isinstance(value, bytes | list | tuple) else NOTHING,
    "list": list,
    "tuple": tuple,
    "reversed": lambda value: value[::-1],
    "bytes.fromhex": bytes.fromhex,
    "bytearray.fromhex": bytes.fromhex,
    "base64.b64decode": base64.b64decode,
    "base64.urlsafe_b64decode": base64.urlsafe_b64decode,
    "base64.b32decode": base64.b32decode,
    "base64.b16decode": base64.b16decode,
    "base64.a85decode": base64.a85decode,
    "base64.b85decode": base64.b85decode,
    "binascii.unhexlify": binascii.unhexlify,
    "binascii.a2b_base64": binascii.a2b_base64,
    "zlib.decompress": _inflate,
}
WRONG = (ValueError, TypeError, IndexError, KeyError, LookupError, OverflowError, zlib.error, AttributeError)
"""What a wrong argument of these raises."""

Values = Mapping[str, Any]


class Folder:
    """Folds the expressions of one module.

    Args:
        assigned: names that are assigned once, with what.
        dotted: names a function as ``module.function``.
    """

    def __init__(self, assigned: Mapping[str, ast.expr], dotted: Callable[[ast.expr, int], str]) -> None:
        self._assigned = assigned
        self._dotted = dotted
        self._known: dict[ast.expr, Any] = {}
        self._steps = 0

    def fold(self, node: ast.expr, depth: int = 0, values: Values | None = None) -> Any:
        """Returns the value of a constant expression, or `NOTHING`.

        Args:
            node: an expression.
            depth: of the nodes around it.
            values: of a comprehension's variables.
        """
        self._steps += 1
        if depth > DEEPEST or self._steps > MOST_STEPS:
            return NOTHING
        if values is None and node in self._known:
            return self._known[node]
        try:
            found = self._folded(node, depth + 1, values or {})
        except WRONG:
            found = NOTHING
        if isinstance(found, str | bytes | list | tuple) and len(found) > LONGEST:
            found = NOTHING
        if isinstance(found, int) and found.bit_length() > 64:
            found = NOTHING
        if values is None:
            self._known[node] = found
        return found

    def text(self, node: ast.expr, depth: int = 0) -> str | None:
        """Returns a folded string, or None; bytes are read as Latin-1."""
        found = self.fold(node, depth)
        return found.decode("latin-1") if isinstance(found, bytes) else found if isinstance(found, str) else None

    def _folded(self, node: ast.expr, depth: int, values: Values) -> Any:
        match node:
            case ast.Constant(value=str() | bytes() | int()):
                return node.value
            case ast.Name():
                if node.id in values:
                    return values[node.id]
                return self.fold(self._assigned[node.id], depth) if node.id in self._assigned else NOTHING
            case ast.List() | ast.Tuple():
                return self._every(node.elts, depth, values)
            case ast.JoinedStr():
                parts = self._every(node.values, depth, values)
                return NOTHING if parts is NOTHING else "".join(map(str, parts))
            case ast.FormattedValue(format_spec=None):
                return self._each(node.value, depth, values)
            case ast.BinOp():
                return self._operated(node, depth, values)
            case ast.Subscript():
                return self._indexed(node, depth, values)
            case ast.GeneratorExp() | ast.ListComp():
                return self._comprehended(node, depth, values)
            case ast.Call(keywords=[]):
                return self._called(node, depth, values)
        return NOTHING

    def _each(self, node: ast.expr, depth: int, values: Values) -> Any:
        return self.fold(node, depth, values or None)

    def _every(self, nodes: list[ast.expr], depth: int, values: Values) -> Any:
        found = [self._each(node, depth, values) for node in nodes[:LONGEST]]
        return NOTHING if any(value is NOTHING for value in found) else found

    def _operated(self, node: ast.BinOp, depth: int, values: Values) -> Any:
        left, right = self._each(node.left, depth, values), self._each(node.right, depth, values)
        if left is NOTHING or right is NOTHING:
            return NOTHING
        match node.op:
            case ast.Add():
                return left + right
            case ast.Mod() if isinstance(left, str) and "*" not in left and not any(c.isdigit() for c in left):
                return left % (tuple(right) if isinstance(right, list) else right)
            case ast.Mult() if isinstance(left, int) and isinstance(right, int):
                return left * right
            case ast.Mult() if (
                isinstance(left, str | bytes) and isinstance(right, int) and len(left) * right <= LONGEST
            ):
                return left * right
            case ast.Sub():
                return left - right
            case ast.BitXor():
                return left ^ right
        return NOTHING

    def _indexed(self, node: ast.Subscript, depth: int, values: Values) -> Any:
        whole = self._each(node.value, depth, values)
        if not isinstance(whole, str | bytes | list):
            return NOTHING
        if not isinstance(node.slice, ast.Slice):
            at = self._each(node.slice, depth, values)
            return whole[at] if isinstance(at, int) else NOTHING
        ends = (node.slice.lower, node.slice.upper, node.slice.step)
        bounds = [None if end is None else self._signed(end, depth, values) for end in ends]
        return NOTHING if NOTHING in bounds else whole[slice(*bounds)]

    def _signed(self, node: ast.expr, depth: int, values: Values) -> Any:
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            found = self._each(node.operand, depth, values)
            return -found if isinstance(found, int) else NOTHING
        return self._each(node, depth, values)

    def _comprehended(self, node: ast.GeneratorExp | ast.ListComp, depth: int, values: Values) -> Any:
        if len(node.generators) != 1 or node.generators[0].ifs or not isinstance(node.generators[0].target, ast.Name):
            return NOTHING
        sequence = self._each(node.generators[0].iter, depth, values)
        if not isinstance(sequence, str | bytes | list):
            return NOTHING
        name = node.generators[0].target.id
        found = [self.fold(node.elt, depth, {**values, name: value}) for value in sequence]
        return NOTHING if any(value is NOTHING for value in found) else found

    def _called(self, node: ast.Call, depth: int, values: Values) -> Any:
        name = self._dotted(node.func, depth)
        if name == "map" and len(node.args) == 2:
            function = FUNCTIONS.get(self._dotted(node.args[0], depth))
            sequence = self._each(node.args[1], depth, values)
            return [function(value) for value in sequence] if function and sequence is not NOTHING else NOTHING
        args = self._every(node.args, depth, values)
        if args is NOTHING:
            return NOTHING
        if name in FUNCTIONS and args:
            return FUNCTIONS[name](args[0])
        if name == "codecs.decode" and len(args) == 2 and args[1] in CODECS:
            return codecs.decode(args[0], args[1])
        if not isinstance(node.func, ast.Attribute):
            return NOTHING
        return _method(self._each(node.func.value, depth, values), node.func.attr, args)


def _method(value: Any, name: str, args: list[Any]) -> Any:
    if not isinstance(value, str | bytes):
        return NOTHING
    if name in METHODS or (name == "join" and len(args) == 1):
        return getattr(value, name)(*args)
    if name in ("decode", "encode") and (not args or args[0] in CODECS):
        return codecs.decode(value, *args) if name == "decode" else codecs.encode(value, *args)
    if name == "replace" and len(args) == 2 and len(value) * max(1, len(args[1])) <= LONGEST:
        return value.replace(*args)
    if name == "format" and isinstance(value, str) and ":" not in value and "." not in value and "[" not in value:
        return value.format(*args)
    return NOTHING
