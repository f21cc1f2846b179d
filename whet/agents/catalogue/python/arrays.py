"""Expressions of single elements, written on whole arrays."""

from __future__ import annotations

from dataclasses import dataclass, field

import libcst as cst

from whet.agents.catalogue.python.source import PythonSource, last_name
from whet.agents.catalogue.python.uses import free_names

_FUNCTIONS = {
    **{name: name for name in (
        "sqrt", "exp", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan", "sinh", "cosh", "tanh", "hypot",
        "degrees", "radians", "fabs", "isnan", "isinf", "isfinite", "abs",
    )},
    "asin": "arcsin", "acos": "arccos", "atan": "arctan", "atan2": "arctan2", "min": "minimum", "max": "maximum",
}  # fmt: skip
_TESTS = frozenset({"isnan", "isinf", "isfinite"})
_OF_TWO = frozenset({"hypot", "atan2", "min", "max"})
_ARITHMETIC = cst.Add | cst.Subtract | cst.Multiply | cst.Divide | cst.FloorDivide | cst.Modulo | cst.Power
_ORDER = cst.LessThan | cst.LessThanEqual | cst.GreaterThan | cst.GreaterThanEqual | cst.Equal | cst.NotEqual
_HARMLESS = frozenset({*_FUNCTIONS, "len", "float", "int"})
_BUILTINS = frozenset({"abs", "min", "max"})


@dataclass(frozen=True, slots=True)
class Axis:
    """A loop over ``range``: its variable, and the texts of its bounds."""

    variable: str
    low: str
    high: str


@dataclass(frozen=True, slots=True)
class Value:
    """An expression on whole arrays.

    Attributes:
        text: the expression.
        axes: the variables of the loops along which it varies; none for a single number.
        is_test: whether its elements are booleans.
    """

    text: str
    axes: frozenset[str]
    is_test: bool = False


@dataclass(slots=True)
class Translator:
    """Turns expressions of a loop's body into expressions of arrays.

    Attributes:
        source: the file.
        axes: the loops, outermost first.
        numpy: the name that the file gives to numpy.
        bound: names that the loop binds.
        vectors: the variables of the body that hold a value for each turn.
        elements: the arrays met so far, each with the texts of the indices that it was asked for.
        constants: the other names met so far.
    """

    source: PythonSource
    axes: list[Axis]
    numpy: str
    bound: set[str]
    vectors: dict[str, Value] = field(default_factory=dict)
    elements: dict[str, set[str]] = field(default_factory=dict)
    constants: set[str] = field(default_factory=set)

    @property
    def every_axis(self) -> frozenset[str]:
        """The variables of all loops."""
        return frozenset(axis.variable for axis in self.axes)

    def value(self, node: cst.BaseExpression) -> Value | None:
        """Returns an expression on arrays; None where there is none with the same meaning."""
        if not free_names(self.source, node) & (self.every_axis | self.vectors.keys()):
            return self._constant(node)
        match node:
            case cst.Name(value=name):
                return self.vectors.get(name) or self._counter(name)
            case cst.Subscript():
                return self.element(node)
            case cst.BinaryOperation(left=left, operator=operator, right=right) if isinstance(operator, _ARITHMETIC):
                return self._joined([left, right], f"({{}} {self.source.code(operator).strip()} {{}})")
            case cst.UnaryOperation(operator=cst.Minus(), expression=inner):
                return self._joined([inner], "(-{})")
            case cst.UnaryOperation(operator=cst.Not(), expression=inner):
                return self._test([inner], "(~{})")
            case cst.BooleanOperation(left=left, operator=operator, right=right):
                return self._test([left, right], "({} & {})" if isinstance(operator, cst.And) else "({} | {})")
            case cst.Comparison(left=left, comparisons=[cst.ComparisonTarget(operator=operator, comparator=right)]):
                found = self._joined([left, right], f"({{}} {self.source.code(operator).strip()} {{}})")
                return Value(found.text, found.axes, True) if found and isinstance(operator, _ORDER) else None
            case cst.IfExp(test=test, body=body, orelse=orelse):
                chosen = self._test([test], "{}")
                return self._joined([test, body, orelse], self.numpy + ".where({}, {}, {})") if chosen else None
            case cst.Call(func=function, args=arguments) if not any(arg.star or arg.keyword for arg in arguments):
                return self._called(function, [arg.value for arg in arguments])
            case _:
                return None

    def element(self, node: cst.Subscript) -> Value | None:
        """Returns the part of an array that ``a[i]``, ``a[i - 1]``, ``a[i, j]`` or ``a[i][j]`` walks through."""
        base, indices = _indices(node)
        name = self.source.code(base)
        if indices is None or free_names(self.source, base) & self.bound:
            return None
        self.elements.setdefault(name, set()).add(", ".join(self.source.code(index) for index in indices))
        order: list[str] = []
        parts: list[str] = []
        for index in indices:
            axis = next((each for each in self.axes if each.variable in self.source.names(index)), None)
            if axis is None:
                part = self.source.code(index) if self._constant(index) else None
            else:
                part = _slice(self.source, index, axis)
                order.append(axis.variable)
            if part is None:
                return None
            parts.append(part)
        text = f"{name}[{', '.join(parts)}]"
        names = [axis.variable for axis in self.axes]
        if order == names:
            return Value(text, frozenset(order))
        if order == names[::-1] or order == names[-1:]:
            return Value(f"{text}.T" if len(order) == 2 else text, frozenset(order))
        return Value(f"{text}[:, None]", frozenset(order)) if order == names[:1] else None

    def _counter(self, name: str) -> Value | None:
        axis = next((each for each in self.axes if each.variable == name), None)
        if axis is None:
            return None
        column = "[:, None]" if axis is not self.axes[-1] else ""
        return Value(f"{self.numpy}.arange({axis.low}, {axis.high}){column}", frozenset({name}))

    def _constant(self, node: cst.BaseExpression) -> Value | None:
        calls = [each for each in self.source.walk(node) if isinstance(each, cst.Call)]
        names = free_names(self.source, node)
        if names & self.bound or any(last_name(call.func) not in _HARMLESS for call in calls):
            return None
        self.constants |= names
        is_loose = isinstance(node, cst.BinaryOperation | cst.UnaryOperation | cst.IfExp | cst.Comparison)
        return Value(f"({self.source.code(node)})" if is_loose else self.source.code(node), frozenset())

    def _joined(self, nodes: list[cst.BaseExpression], form: str) -> Value | None:
        found = [value for node in nodes if (value := self.value(node)) is not None]
        if len(found) != len(nodes):
            return None
        return Value(form.format(*(each.text for each in found)), frozenset().union(*(each.axes for each in found)))

    def _test(self, nodes: list[cst.BaseExpression], form: str) -> Value | None:
        if not all((value := self.value(node)) and value.is_test for node in nodes):
            return None
        found = self._joined(nodes, form)
        return Value(found.text, found.axes, True) if found else None

    def _called(self, function: cst.BaseExpression, arguments: list[cst.BaseExpression]) -> Value | None:
        name = last_name(function)
        if name == "float" and len(arguments) == 1:
            return self._joined(arguments, "({}).astype(float)")
        owner = self.source.code(function).rpartition(".")[0]
        if name not in _FUNCTIONS or not (owner in ("math", self.numpy) or (not owner and name in _BUILTINS)):
            return None
        if len(arguments) != (2 if name in _OF_TWO else 1):
            return None
        blanks = ", ".join(["{}"] * len(arguments))
        found = self._joined(arguments, f"{self.numpy}.{_FUNCTIONS[name]}({blanks})")
        return Value(found.text, found.axes, name in _TESTS) if found else None


def _indices(node: cst.Subscript) -> tuple[cst.BaseExpression, list[cst.BaseExpression] | None]:
    """Returns what is indexed, and all its indices; None for them where one is a slice."""
    base: cst.BaseExpression = node
    indices: list[cst.BaseExpression] = []
    while isinstance(base, cst.Subscript):
        inner = [part.slice.value for part in base.slice if isinstance(part.slice, cst.Index)]
        if len(inner) != len(base.slice):
            return base, None
        indices = inner + indices
        base = base.value
    return base, indices


def _slice(source: PythonSource, index: cst.BaseExpression, axis: Axis) -> str | None:
    """Returns the slice for an index ``i``, ``i + 1`` or ``i - 1``, as far as it cannot begin below 0."""
    match index:
        case cst.Name():
            return f"{axis.low}:{axis.high}" if axis.low != "0" else f":{axis.high}"
        case cst.BinaryOperation(
            left=cst.Name(value=name), operator=cst.Add() | cst.Subtract() as operator, right=cst.Integer(value=step)
        ) if name == axis.variable:
            sign = "+" if isinstance(operator, cst.Add) else "-"
            if not axis.low.isdigit() or (sign == "-" and int(axis.low) < int(step)):
                return None
            low = int(axis.low) + (int(step) if sign == "+" else -int(step))
            return f"{low}:{axis.high} {sign} {step}"
    return None
