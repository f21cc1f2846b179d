"""Faults in Python code, made on the syntax tree of libcst.

The operators are those of mutation testing (Offutt et al., "An experimental determination of sufficient mutant
operators", 1996: arithmetic, relational, logical, constants and statements) and those that rewrites for speed are
prone to: bounds, order, defaults, dropped conversions and dropped operations on arrays.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

import libcst as cst
from libcst.metadata import MetadataWrapper, PositionProvider

from whet.core.trees import depth, parse_python
from whet.evaluators.mutants import python_state
from whet.evaluators.mutants.base import STATE, Mutation, TooDeepError
from whet.evaluators.mutants.patterns import faults_of_pattern
from whet.evaluators.mutants.python_swaps import ARITHMETIC, ASSIGNED, COMPARED, TWINS

Operator = Callable[[cst.CSTNode], Iterator[cst.CSTNode]]

DEEPEST = 200
"""Levels of a tree: libcst walks trees recursively, and had stack enough for 199 of them, not for 305."""
REMOVABLE = (cst.Expr, cst.Assign, cst.AnnAssign, cst.AugAssign, cst.Del, cst.Raise, cst.Assert, cst.Return)
UNTOUCHED = (cst.Annotation, cst.Decorator, cst.Import, cst.ImportFrom, cst.Global, cst.Nonlocal)


def changes(source: str, symbol: str | None) -> list[Mutation]:
    """Returns every fault that could be made in a function, or in a whole file where there is no symbol.

    Raises:
        TooDeepError: the text is nested more deeply than its tree can be walked.
    """
    if (levels := depth(parse_python(source))) > DEEPEST:
        raise TooDeepError(f"no faults can be made in code that is nested {levels} levels deep; {DEEPEST} are the most")
    module = cst.parse_module(source)
    positions = MetadataWrapper(module, unsafe_skip_copy=True).resolve(PositionProvider)
    scope = _find(module, symbol) if symbol else module
    found: list[Mutation] = []
    for node, bare in _parts(scope):
        for name, operator in OPERATORS.items():
            if bare and name == "call":
                continue  # what is left of a call that stands alone does nothing: the same as removing it
            for new in operator(node):
                line = positions[node].start.line if node in positions else 1
                found.append(Mutation(name, line, _render(module, node, new)))
    for node, new in python_state.faults(scope):
        line = positions[node].start.line if node in positions else 1
        found.append(Mutation(STATE, line, _render(module, node, new)))
    return found


def meaning(text: str) -> str | None:
    """Returns what tells two sources apart but for their layout; None for one that does not parse."""
    try:
        return ast.dump(parse_python(text))
    except (SyntaxError, ValueError):
        return None


def _render(module: cst.Module, old: cst.CSTNode, new: cst.CSTNode) -> Callable[[], str]:
    def render() -> str:
        changed = module.deep_replace(old, new)
        assert isinstance(changed, cst.Module)
        return changed.code

    return render


def _find(module: cst.Module, symbol: str) -> cst.CSTNode:
    body = module.body
    *owners, name = symbol.split(".")
    for owner in owners:
        inside = [part for part in body if isinstance(part, cst.ClassDef) and part.name.value == owner][-1].body
        body = inside.body  # type: ignore[assignment]
    return [part for part in body if isinstance(part, cst.FunctionDef) and part.name.value == name][-1]


def _parts(node: cst.CSTNode, bare: bool = False) -> Iterator[tuple[cst.CSTNode, bool]]:
    """Yields a node and all below it, each with whether it is an expression that stands alone as a statement."""
    if isinstance(node, UNTOUCHED):
        return
    if isinstance(node, cst.Expr) and isinstance(node.value, (cst.SimpleString, cst.ConcatenatedString)):
        return  # a docstring
    yield node, bare
    for child in node.children:
        yield from _parts(child, isinstance(node, cst.Expr))


def _arithmetic(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    if isinstance(node, cst.BinaryOperation):
        for other in ARITHMETIC.get(type(node.operator), ()):
            yield node.with_changes(operator=other())
    elif isinstance(node, cst.AugAssign):
        if type(node.operator) in ASSIGNED:
            yield node.with_changes(operator=ASSIGNED[type(node.operator)]())
        yield cst.Assign([cst.AssignTarget(node.target)], node.value)
    elif isinstance(node, cst.UnaryOperation) and isinstance(node.operator, (cst.Minus, cst.Not, cst.BitInvert)):
        yield node.expression


def _comparison(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    if isinstance(node, cst.ComparisonTarget):
        for other in COMPARED.get(type(node.operator), ()):
            yield node.with_changes(operator=other())


def _boolean(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    if isinstance(node, cst.BooleanOperation):
        yield node.with_changes(operator=cst.Or() if isinstance(node.operator, cst.And) else cst.And())


def _operand(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """``a + b`` to ``a`` and to ``b``: a bias, a clamp, a mask or an epsilon that got lost."""
    if isinstance(node, (cst.BinaryOperation, cst.BooleanOperation)):
        yield node.left
        yield node.right
    elif isinstance(node, cst.IfExp):
        yield node.body
        yield node.orelse


def _condition(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    if isinstance(node, (cst.If, cst.While, cst.IfExp, cst.CompIf, cst.Assert)):
        if not isinstance(node.test, (cst.Comparison, cst.UnaryOperation)):  # those have operators of their own
            yield node.with_changes(test=_not(node.test))
        if not isinstance(node, (cst.While, cst.Assert)):
            yield node.with_changes(test=cst.Name("True"))
        yield node.with_changes(test=cst.Name("False"))


def _constant(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    if isinstance(node, cst.Integer):
        number = ast.literal_eval(node.value)
        yield _number(number + 1)
        yield _number(number - 1)
    elif isinstance(node, cst.Float):
        number = ast.literal_eval(node.value)
        yield _number(number + 1.0)
        yield _number(number * 2.0)
        yield _number(0.0)
    elif isinstance(node, cst.Name) and node.value in ("True", "False"):
        yield cst.Name("False" if node.value == "True" else "True")


def _text(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    if isinstance(node, cst.SimpleString) and isinstance(node.evaluated_value, str):
        text = node.evaluated_value
        yield cst.SimpleString('""' if text else '"x"')
        yield from (_pattern(fault) for fault in faults_of_pattern(text))
    elif isinstance(node, cst.FormattedStringText):
        yield node.with_changes(value=node.value + "x")


def _bound(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """Bounds of ranges and slices, and indices, off by one."""
    if isinstance(node, cst.Call) and isinstance(node.func, cst.Name) and node.func.value == "range":
        stop = 0 if len(node.args) == 1 else 1
        for sign in (cst.Add(), cst.Subtract()):
            moved = node.args[stop].with_changes(value=_moved(node.args[stop].value, sign))
            yield node.with_changes(args=[*node.args[:stop], moved, *node.args[stop + 1 :]])
    elif isinstance(node, cst.Slice):
        for end in ("lower", "upper"):
            if (bound := getattr(node, end)) is not None:
                yield node.with_changes(**{end: None})
                yield from (node.with_changes(**{end: _moved(bound, sign)}) for sign in (cst.Add(), cst.Subtract()))
    elif isinstance(node, cst.Index) and not isinstance(node.value, (cst.SimpleString, cst.Integer, cst.Tuple)):
        yield from (node.with_changes(value=_moved(node.value, sign)) for sign in (cst.Add(), cst.Subtract()))


def _statement(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    if isinstance(node, REMOVABLE):
        yield cst.Pass()
    elif isinstance(node, (cst.If, cst.For, cst.While)) and isinstance(node.orelse, cst.Else):
        yield node.with_changes(orelse=None)
    elif isinstance(node, cst.CompFor) and node.ifs:
        yield from (node.with_changes(ifs=[one for one in node.ifs if one is not gone]) for gone in node.ifs)


def _jump(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    if isinstance(node, cst.Break):
        yield cst.Continue()
        yield cst.Pass()
    elif isinstance(node, cst.Continue):
        yield cst.Break()
        yield cst.Pass()


def _returned(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    if isinstance(node, cst.Return) and node.value is not None:
        yield node.with_changes(value=cst.Name("None"), whitespace_after_return=cst.SimpleWhitespace(" "))
        if isinstance(node.value, cst.Tuple) and len(node.value.elements) > 1:
            yield node.with_changes(value=_swapped(node.value, "elements"))


def _arguments(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """An argument left out (a key, ``reverse``, a default), or two of them swapped."""
    if not isinstance(node, cst.Call) or not node.args:
        return
    for gone in node.args:
        if gone.keyword is not None or (gone is node.args[-1] and (len(node.args) > 1 or _is_method(node))):
            rest = [argument for argument in node.args if argument is not gone]
            if rest:
                rest[-1] = rest[-1].with_changes(comma=cst.MaybeSentinel.DEFAULT)
            yield node.with_changes(args=rest)
    plain = len(node.args) > 1 and not any(argument.keyword or argument.star for argument in node.args[:2])
    if plain and not (isinstance(node.func, cst.Name) and node.func.value in ("min", "max")):  # those commute
        yield _swapped(node, "args")


def _call(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """``f(x)`` to ``x``, ``x.f(...)`` to ``x``: an operation on an array, a copy or a conversion that got lost."""
    if not isinstance(node, cst.Call):
        return
    first = node.args[0] if node.args else None
    if first is not None and first.keyword is None and not first.star and (len(node.args) == 1 or _is_method(node)):
        yield first.value
    if isinstance(node.func, cst.Attribute):
        yield node.func.value


def _name(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    if not isinstance(node, cst.Call):
        return
    if isinstance(node.func, cst.Name):
        yield from (node.with_changes(func=cst.Name(twin)) for twin in TWINS.get(node.func.value, ()))
    elif isinstance(node.func, cst.Attribute):
        for twin in TWINS.get(node.func.attr.value, ()):
            yield node.with_changes(func=node.func.with_changes(attr=cst.Name(twin)))


def _literal(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """A container without its content, without one part or with two of them swapped; a mutable default."""
    if isinstance(node, (cst.List, cst.Dict)) and node.elements:
        yield node.with_changes(elements=[])
    if isinstance(node, (cst.List, cst.Tuple)) and len(node.elements) > 1:
        yield _swapped(node, "elements")
        for gone in node.elements:
            yield node.with_changes(elements=[one for one in node.elements if one is not gone])
    elif isinstance(node, cst.Param) and isinstance(node.default, cst.Name) and node.default.value == "None":
        yield node.with_changes(default=cst.List([]))


def _exception(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    if isinstance(node, cst.Raise) and isinstance(node.exc, cst.Call) and isinstance(node.exc.func, cst.Name):
        yield node.with_changes(exc=node.exc.with_changes(func=_other_error(node.exc.func)))
    elif isinstance(node, cst.ExceptHandler) and isinstance(node.type, cst.Name):
        yield node.with_changes(type=_other_error(node.type))


OPERATORS: dict[str, Operator] = {
    "arithmetic": _arithmetic,
    "comparison": _comparison,
    "boolean": _boolean,
    "operand": _operand,
    "condition": _condition,
    "constant": _constant,
    "text": _text,
    "bound": _bound,
    "statement": _statement,
    "jump": _jump,
    "return": _returned,
    "arguments": _arguments,
    "call": _call,
    "name": _name,
    "literal": _literal,
    "exception": _exception,
}
"""One line adds an operator."""


def _not(test: cst.BaseExpression) -> cst.BaseExpression:
    return cst.UnaryOperation(cst.Not(), _in_parentheses(test))


def _in_parentheses(value: cst.BaseExpression) -> cst.BaseExpression:
    if value.lpar or isinstance(value, (cst.Name, cst.Integer, cst.Call, cst.Subscript, cst.Attribute)):
        return value
    return value.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])


def _number(value: float) -> cst.BaseExpression:
    return cst.parse_expression(f"({value})" if value < 0 else str(value))


def _pattern(text: str) -> cst.BaseExpression:
    plain = '"' not in text and "\n" not in text and not text.endswith("\\")
    return cst.SimpleString(f'r"{text}"' if plain else repr(text))


def _moved(value: cst.BaseExpression, sign: cst.BaseBinaryOp) -> cst.BaseExpression:
    return cst.BinaryOperation(_in_parentheses(value), sign, cst.Integer("1"))


def _is_method(node: cst.Call) -> bool:
    return isinstance(node.func, cst.Attribute)


def _other_error(name: cst.Name) -> cst.Name:
    return cst.Name("RuntimeError" if name.value != "RuntimeError" else "ValueError")


def _swapped(node: cst.CSTNode, field: str) -> cst.CSTNode:
    """Swaps the values of the first two parts; their commas stay."""
    first, second, *rest = getattr(node, field)
    parts = [first.with_changes(value=second.value), second.with_changes(value=first.value), *rest]
    return node.with_changes(**{field: parts})
