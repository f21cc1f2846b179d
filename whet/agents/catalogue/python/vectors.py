"""Loops over the elements of numpy arrays, written as expressions on whole arrays."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import libcst as cst

from whet.agents.catalogue.base import Label
from whet.agents.catalogue.python.arrays import Axis, Translator, Value
from whet.agents.catalogue.python.edit import PythonEdit, Replacement
from whet.agents.catalogue.python.kinds import bound_value, kind_of
from whet.agents.catalogue.python.loops import only_part, statements
from whet.agents.catalogue.python.purity import imported
from whet.agents.catalogue.python.rewrite import Rewrite
from whet.agents.catalogue.python.source import PythonSource, Scope, last_name
from whet.agents.catalogue.python.uses import How, bindings, leaves_unread, only_argument, uses, within

_SUMS = {"AddAssign": "+", "SubtractAssign": "-"}
_IN_PLACE = frozenset({"AddAssign", "SubtractAssign", "MultiplyAssign", "DivideAssign"})


class NumpyExpressions(PythonEdit):
    """Turns loops over the elements of arrays into expressions on whole arrays."""

    name = "numpy-expression"
    label = Label.VECTORISATION
    summary = "computes with whole numpy arrays instead of their elements"
    needs = "in a file that imports numpy, a loop over `range` whose turns do not depend on each other"
    unsafe = "lists in the place of arrays, arrays that share memory, integers that overflow, other rounding of sums"
    assumes: tuple[str, ...] = ("int64", "no-alias", "one-type")

    def changes(self, source: PythonSource) -> Iterator[Replacement]:
        """Yields one change a loop, or two loops that stand in each other."""
        numpy = next((name for name, module in imported(source).items() if module == "numpy"), None)
        if numpy is None or not {"numpy", "np"} & {numpy}:
            return
        for scope in source.scopes:
            for node in source.walk(scope, nested=False):
                if isinstance(node, cst.For) and node in source.block(node):
                    inner = statements(node.body)
                    if len(inner) == 1 and isinstance(inner[0], cst.For):
                        yield from _vectorised(source, scope, [node, inner[0]], numpy)
                    yield from _vectorised(source, scope, [node], numpy)


class _NotVectorised(Exception):
    """A statement has no counterpart on whole arrays."""


@dataclass(slots=True)
class _Body:
    """What becomes of the body of a loop.

    Attributes:
        translator: reads its expressions.
        results: names that the loop adds to or compares with, and lists that it fills.
        lines: the statements so far.
        written: the arrays that the loop fills, with their indices.
        masks: names for the conditions.
    """

    translator: Translator
    results: set[str] = field(default_factory=set)
    lines: list[str] = field(default_factory=list)
    written: dict[str, str] = field(default_factory=dict)
    masks: list[str] = field(default_factory=list)


def _vectorised(source: PythonSource, scope: Scope, loops: list[cst.For], numpy: str) -> Iterator[Replacement]:
    axes = [axis for loop in loops if (axis := _axis(source, loop)) is not None]
    outer = loops[0]
    found = {name: within(source, uses(source, scope, name), outer) for name in source.names(outer)}
    bound = {name for name, each in found.items() if any(use.how in (How.BIND, How.AUGMENT) for use in each)}
    if len(axes) != len(loops) or any(use.how is How.CAPTURED for each in found.values() for use in each):
        return
    if {name for axis in axes for name in (axis.low, axis.high)} & bound:
        return
    body = _Body(Translator(source, axes, numpy, bound))
    try:
        _block(body, statements(loops[-1].body), None)
    except _NotVectorised:
        return
    translator = body.translator
    variables, lost = {axis.variable for axis in axes}, translator.vectors.keys()
    if not body.lines or not translator.elements or not leaves_unread(source, scope, outer, variables):
        return
    if any(len(uses(source, scope, name)) != len(found[name]) for name in lost):
        return
    for name, index in body.written.items():
        if translator.elements[name] != {index} or name in translator.constants:
            return
    if (translator.constants | translator.elements.keys() | lost | variables) & body.results:
        return
    if any(_is_list(source, scope, name) for name in translator.elements):
        return
    rewrite = Rewrite(source)
    guard = " and ".join(f"{axis.high} > {axis.low}" for axis in axes)
    rewrite.statement(outer, f"if {guard}:\n" + "\n".join(f"    {line}" for line in body.lines))
    why = f"{len(body.lines)} expressions on whole arrays do what each turn does with single elements"
    yield Replacement(statements(loops[-1].body)[0], rewrite.code(), why)


def _axis(source: PythonSource, loop: cst.For) -> Axis | None:
    match loop:
        case cst.For(
            target=cst.Name(value=variable),
            iter=cst.Call(func=cst.Name(value="range"), args=[*bounds]),
            orelse=None,
            asynchronous=None,
        ) if 1 <= len(bounds) <= 2 and not any(arg.star or arg.keyword for arg in bounds):
            texts = [source.code(arg.value) for arg in bounds]
            if any("\n" in text for text in texts):
                return None
            plain = isinstance(bounds[-1].value, cst.Name | cst.Integer | cst.Call | cst.Attribute | cst.Subscript)
            high = texts[-1] if plain else f"({texts[-1]})"
            return Axis(variable, texts[0] if len(texts) == 2 else "0", high)
    return None


def _block(body: _Body, block: list[cst.CSTNode], mask: str | None) -> None:
    """Adds the lines for a block whose statements hold where ``mask`` does."""
    for number, statement in enumerate(block):
        if isinstance(statement, cst.If):
            if _is_extreme(body, statement, mask):
                continue
            test = _new_mask(body, statement.test, mask)
            inner = statements(statement.body)
            if len(inner) == 1 and isinstance(only_part(inner[0]), cst.Continue) and statement.orelse is None:
                _block(body, block[number + 1 :], _named(body, f"~{test}" if mask is None else f"{mask} & ~{test}"))
                return
            _block(body, inner, test if mask is None else _named(body, f"{mask} & {test}"))
            if isinstance(statement.orelse, cst.Else):
                other = _named(body, f"~{test}" if mask is None else f"{mask} & ~{test}")
                _block(body, statements(statement.orelse.body), other)
            elif statement.orelse is not None:
                raise _NotVectorised
        else:
            _line(body, only_part(statement), mask)


def _new_mask(body: _Body, test: cst.BaseExpression, mask: str | None) -> str:
    value = body.translator.value(test)
    if value is None or not value.is_test or value.axes != body.translator.every_axis:
        raise _NotVectorised
    return _named(body, value.text)


def _named(body: _Body, text: str) -> str:
    name = body.translator.source.fresh(f"mask{len(body.masks) + 1}" if body.masks else "mask")
    body.masks.append(name)
    body.lines.append(f"{name} = {text}")
    return name


def _line(body: _Body, statement: cst.CSTNode | None, mask: str | None) -> None:
    """Adds the line for a statement."""
    translator = body.translator
    match statement:
        case cst.Assign(targets=[cst.AssignTarget(target=cst.Subscript() as target)], value=value):
            _store(body, target, _value(body, value), "", mask)
        case cst.AugAssign(target=cst.Subscript() as target, operator=operator, value=value) if (
            type(operator).__name__ in _IN_PLACE
        ):
            _store(body, target, _value(body, value), translator.source.code(operator).strip()[:-1], mask)
        case cst.AugAssign(target=cst.Name(value=name), operator=operator, value=value) if (
            type(operator).__name__ in _SUMS
        ):
            _add(body, name, _SUMS[type(operator).__name__], value, mask)
        case cst.Assign(
            targets=[cst.AssignTarget(target=cst.Name(value=name))],
            value=cst.BinaryOperation(left=cst.Name(value=left), operator=cst.Add(), right=value, lpar=[]),
        ) if left == name:
            _add(body, name, "+", value, mask)
        case cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=name))], value=value):
            found = _value(body, value)
            if mask is not None or name in translator.vectors or name in body.results:
                raise _NotVectorised
            # a slice would show what the loop stores into its array later on
            is_view = bool(found.axes) and isinstance(value, cst.Subscript | cst.Name)
            body.lines.append(f"{name} = {_bare(found.text)}" + (".copy()" if is_view else ""))
            translator.vectors[name] = Value(name, found.axes, found.is_test)
        case cst.Expr(
            value=cst.Call(func=cst.Attribute(value=cst.Name(value=name), attr=cst.Name(value="append"))) as call
        ):
            _append(body, name, only_argument(call), mask)
        case _:
            raise _NotVectorised


def _value(body: _Body, node: cst.BaseExpression) -> Value:
    found = body.translator.value(node)
    if found is None:
        raise _NotVectorised
    return found


def _store(body: _Body, target: cst.Subscript, value: Value, operator: str, mask: str | None) -> None:
    translator = body.translator
    place = translator.element(target)
    if place is None or place.axes != translator.every_axis or place.text.endswith((".T", "None]")):
        raise _NotVectorised
    name, index = place.text.partition("[")[0], _index_text(translator.source, target)
    if body.written.setdefault(name, index) != index:
        raise _NotVectorised
    new = f"({place.text} {operator} {value.text})" if operator and mask else value.text
    if mask is not None:
        body.lines.append(f"{place.text} = {translator.numpy}.where({mask}, {_bare(new)}, {place.text})")
    else:
        body.lines.append(f"{place.text} {operator}= {_bare(new)}")


def _add(body: _Body, name: str, sign: str, node: cst.BaseExpression, mask: str | None) -> None:
    numpy, axes = body.translator.numpy, body.translator.every_axis
    body.results.add(name)
    value = _value(body, node)
    if value.axes != axes:
        if mask is None or value.axes:
            raise _NotVectorised
        body.lines.append(f"{name} {sign}= int({numpy}.count_nonzero({mask})) * {value.text}")
        return
    text = f"{numpy}.sum({value.text}[{mask}])" if mask else f"{numpy}.sum({_bare(value.text)})"
    is_float = isinstance(node, cst.Call) and last_name(node.func) == "float"
    body.lines.append(f"{name} {sign}= " + (f"float({text})" if is_float else text))


def _append(body: _Body, name: str, node: cst.BaseExpression | None, mask: str | None) -> None:
    value = _value(body, node) if node is not None and len(body.translator.axes) == 1 else None
    if value is None or not value.axes:
        raise _NotVectorised
    body.results.add(name)
    text = f"{value.text}[{mask}]" if mask else value.text
    is_float = isinstance(node, cst.Call) and last_name(node.func) == "float"
    body.lines.append(f"{name}.extend({text}.tolist())" if is_float else f"{name}.extend({_bare(text)})")


def _is_extreme(body: _Body, statement: cst.If, mask: str | None) -> bool:
    """Whether a statement is ``if e > best: best = e``, which then has its line."""
    source = body.translator.source
    inner = statements(statement.body)
    match statement.test, only_part(inner[0]):
        case (
            cst.Comparison(
                left=left,
                comparisons=[
                    cst.ComparisonTarget(
                        operator=cst.GreaterThan() | cst.LessThan() as operator, comparator=cst.Name() as best
                    )
                ],
            ),
            cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=name))], value=value),
        ) if len(inner) == 1 and statement.orelse is None and mask is None:
            if best.value != name or source.code(left) != source.code(value):
                return False
            found = _value(body, value)
            if found.axes != body.translator.every_axis:
                raise _NotVectorised
            function = "max" if isinstance(operator, cst.GreaterThan) else "min"
            body.results.add(name)
            body.lines.append(f"{name} = {function}({name}, {body.translator.numpy}.{function}({_bare(found.text)}))")
            return True
    return False


def _index_text(source: PythonSource, target: cst.Subscript) -> str:
    parts: list[str] = []
    base: cst.BaseExpression = target
    while isinstance(base, cst.Subscript):
        parts = [source.code(p.slice.value) for p in base.slice if isinstance(p.slice, cst.Index)] + parts
        base = base.value
    return ", ".join(parts)


def _bare(text: str) -> str:
    """Returns an expression without brackets around the whole of it."""
    depth = 0
    for place, letter in enumerate(text):
        depth += (letter in "([{") - (letter in ")]}")
        if depth == 0 and place < len(text) - 1:
            return text
    return text[1:-1] if text.startswith("(") else text


def _is_list(source: PythonSource, scope: Scope, name: str) -> bool:
    """Whether the text shows that a name stands for something other than an array."""
    if not name.isidentifier():
        return False
    found = uses(source, scope, name)
    values = [bound_value(source, use) for use in bindings(found)]
    if any(isinstance(value, cst.BinaryOperation) and isinstance(value.left, cst.List) for value in values):
        return True
    return kind_of(source, scope, name, found) not in (None, "array")
