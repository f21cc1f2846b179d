"""Inner loops that look through another collection for the elements whose key equals one of the outer loop."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, TypeAlias

import libcst as cst

from whet.agents.catalogue.base import Label
from whet.agents.catalogue.python.edit import PythonEdit, Replacement
from whet.agents.catalogue.python.hoisting import constants_end, hoist
from whet.agents.catalogue.python.kinds import kind_of
from whet.agents.catalogue.python.operands import operands
from whet.agents.catalogue.python.rewrite import Rewrite
from whet.agents.catalogue.python.source import PythonSource, Scope, last_name
from whet.agents.catalogue.python.uses import bindings, free_names, leaves_unread, parameter, uses

_JoinLoop: TypeAlias = cst.For | cst.CompFor
_VIEWS = frozenset({"enumerate", "range", "zip", "reversed", "items", "values"})
_EQUAL: dict[type[cst.BaseBooleanOp], type[cst.BaseCompOp]] = {cst.And: cst.Equal, cst.Or: cst.NotEqual}


class NestedLoopJoins(PythonEdit):
    """Groups the inner collection by its key once, and goes through the group that an outer key asks for."""

    name = "nested-loop-join"
    label = Label.ALGORITHM
    summary = "groups the inner collection by its key in a dictionary once instead of going through it each time"
    needs = "an inner loop or comprehension over an unchanged collection, behind a test `inner.key == outer.key`"
    unsafe = "keys that cannot be hashed, or change meanwhile; keys equal with unequal hashes; NaN"
    assumes: tuple[str, ...] = ("hashable", "no-nan", "reiterable", "rest-unread")

    def changes(self, source: PythonSource) -> Iterator[Replacement]:
        """Yields one change an inner loop."""
        for scope in source.scopes:
            for node in source.walk(scope, nested=False):
                if isinstance(node, cst.For | cst.CompFor) and node.asynchronous is None:
                    join = _join(source, node)
                    if join is not None:
                        yield from _looked_up(source, scope, join)


class _Join(NamedTuple):
    """An inner loop: the conditions on its elements, the equalities among them, and what these compare.

    Attributes:
        loop: the loop, or the clause of a comprehension.
        keys: what the equalities say of an inner element.
        asked: what they compare with.
        guards: conditions without which the keys cannot be computed.
        rest: the other conditions.
        names: what the keys read besides the element.
    """

    loop: _JoinLoop
    keys: list[str]
    asked: list[str]
    guards: list[str]
    rest: list[str]
    names: set[str]


def _join(source: PythonSource, loop: _JoinLoop) -> _Join | None:
    if not _is_collection(loop.iter) or not isinstance(loop.target, cst.Name | cst.Tuple):
        return None
    match loop:
        case cst.CompFor():
            tests = [each for condition in loop.ifs for each in operands(condition.test, cst.And)]
            return _split(source, loop, tests, cst.And)
        case cst.For(body=cst.IndentedBlock(body=[cst.If(orelse=None) as head])):
            return _split(source, loop, operands(head.test, cst.And), cst.And)
        case cst.For(body=cst.IndentedBlock(body=[cst.If(orelse=None) as head, *_])) if _skips(head):
            return _split(source, loop, operands(head.test, cst.Or), cst.Or)
    return None


def _split(
    source: PythonSource, loop: _JoinLoop, tests: list[cst.BaseExpression], word: type[cst.BaseBooleanOp]
) -> _Join | None:
    targets = free_names(source, loop.target)
    join = _Join(loop, [], [], [], [], set())
    for test in tests:
        pair = _equality(source, test, targets, _EQUAL[word])
        if pair is None:
            join.rest.append(source.code(test))
            continue
        key, asked = pair
        join.keys.append(source.code(key))
        join.asked.append(source.code(asked))
        join.names.update(free_names(source, key) - targets)
        if word is cst.And:
            needed = [text for text in join.rest if _is_part(text.removesuffix(" is not None"), join.keys[-1])]
            join.guards.extend(needed)
            for text in needed:
                join.rest.remove(text)
    return join if join.keys else None


def _is_part(text: str, key: str) -> bool:
    """Whether a key is made from what a text stands for: it, an attribute or an item of it."""
    return key == text or key.startswith((f"{text}.", f"{text}["))


def _equality(
    source: PythonSource, test: cst.BaseExpression, targets: set[str], equal: type[cst.BaseCompOp]
) -> tuple[cst.BaseExpression, cst.BaseExpression] | None:
    """Returns both sides of an equality: that of an inner element, and what has nothing to do with the element."""
    if not isinstance(test, cst.Comparison) or len(test.comparisons) != 1:
        return None
    comparison = test.comparisons[0]
    if not isinstance(comparison.operator, equal):
        return None
    for key, asked in ((test.left, comparison.comparator), (comparison.comparator, test.left)):
        is_of_element = bool(free_names(source, key) & targets)
        if is_of_element and not free_names(source, asked) & targets and not _is_computed(source, key, asked):
            return key, asked
    return None


def _is_computed(source: PythonSource, *sides: cst.BaseExpression) -> bool:
    """Whether an expression does more than to read: it waits, binds, or asks for the next of something."""
    parts = (node for side in sides for node in source.walk(side))
    return any(
        isinstance(node, cst.Await | cst.Yield | cst.NamedExpr | cst.Lambda | cst.List | cst.Dict | cst.Set)
        or (isinstance(node, cst.Call) and last_name(node.func) in ("next", "pop", "popleft", "input", "read"))
        for node in parts
    )


def _looked_up(source: PythonSource, scope: Scope, join: _Join) -> Iterator[Replacement]:
    loop, targets = join.loop, free_names(source, join.loop.target)
    is_left_by_break = isinstance(loop, cst.For) and loop.orelse is not None
    if not (leaves_unread(source, scope, loop, targets) or is_left_by_break):
        return
    name = loop.iter.value if isinstance(loop.iter, cst.Name) else ""
    if name and kind_of(source, scope, name, uses(source, scope, name)) in ("iterator", "str"):
        return
    if any(not _is_loop_variable(source, scope, name) for name in targets) or _is_key_stored(source, join):
        return
    index = f"{_word(loop.iter) or 'rows'}_by_{_last_word(join.keys[0])}"
    index = source.fresh(index.upper() if index.startswith(name.upper() or " ") else index)
    element, key, asked = source.code(loop.target), _tuple(join.keys), _tuple(join.asked)
    element = element if isinstance(loop.target, cst.Name) or loop.target.lpar else f"({element})"
    head = f"for {source.code(loop.target)} in {source.code(loop.iter)}:\n"
    guard = f"    if {' and '.join(join.guards)}:\n    " if join.guards else ""
    grouped = f"{head}{guard}    {index}.setdefault({key}, []).append({element})"
    group = f"{index}.get({asked}, ())"
    variables = free_names(source, loop.iter) | join.names
    rewrite = Rewrite(source)
    constants = constants_end(source, scope, variables)
    if constants is not None and not targets & set(source.names(source.module, nested=False)):
        rewrite.after(constants, f"{index} = {{}}")
        rewrite.after(constants, grouped)
        rewrite.expression(loop.iter, group)
    elif not hoist(rewrite, scope, {loop.iter: group}, variables, f"{index} = {{}}", grouped):
        return
    rewrite.change(loop, lambda new: _without_equality(rewrite, new, join))
    why = f"all of '{source.code(loop.iter)}' is gone through for each {asked}; a dictionary finds those of one key"
    yield Replacement(loop, rewrite.code(), why)


def _without_equality(rewrite: Rewrite, loop: cst.CSTNode, join: _Join) -> cst.CSTNode:
    """Returns the loop without the equalities, which hold for all elements of a group."""
    config = rewrite.source.module.config_for_parsing
    if isinstance(loop, cst.CompFor):
        ifs = [cst.CompIf(cst.parse_expression(text, config=config)) for text in join.rest]
        spaced = [each.with_changes(whitespace_before=cst.SimpleWhitespace(" ")) for each in ifs]
        return loop.with_changes(ifs=spaced)
    assert isinstance(loop, cst.For)
    assert isinstance(loop.body, cst.IndentedBlock)
    head, *others = loop.body.body
    assert isinstance(head, cst.If)
    if join.rest:
        word = " or " if others else " and "
        head = head.with_changes(test=cst.parse_expression(word.join(join.rest), config=config))
        return loop.with_changes(body=loop.body.with_changes(body=[head, *others]))
    if others:
        return loop.with_changes(body=loop.body.with_changes(body=others))
    return loop.with_changes(body=head.body)


def _is_collection(iterable: cst.BaseExpression) -> bool:
    """Whether an expression can be gone through again and again."""
    match iterable:
        case cst.Name():
            return True
        case cst.Attribute(value=inner):
            return _is_collection(inner)
        case cst.Subscript(value=inner, slice=parts):
            return _is_collection(inner) and all(isinstance(part.slice, cst.Index) for part in parts)
        case cst.Call(func=function, args=args) if last_name(function) in _VIEWS:
            given = [arg.value for arg in args]
            given += [function.value] if isinstance(function, cst.Attribute) else []
            return all(isinstance(each, cst.Integer) or _is_length(each) or _is_collection(each) for each in given)
    return False


def _is_length(value: cst.BaseExpression) -> bool:
    return isinstance(value, cst.Call) and last_name(value.func) == "len"


def _skips(head: cst.If) -> bool:
    """Whether a condition does nothing but go on with the next element."""
    match head.body:
        case (
            cst.IndentedBlock(body=[cst.SimpleStatementLine(body=[cst.Continue()])])
            | cst.SimpleStatementSuite(body=[cst.Continue()])
        ):
            return True
    return False


def _is_loop_variable(source: PythonSource, scope: Scope, name: str) -> bool:
    """Whether a variable is bound by loops alone, so that one more loop over it before does no harm."""
    if parameter(scope, name) is not None:
        return False
    return all(
        any(isinstance(above, cst.For | cst.CompFor) and use.node in source.walk(above.target) for above in around)
        for use in bindings(uses(source, scope, name))
        if (around := list(source.ancestors(use.node)))
    )


def _is_key_stored(source: PythonSource, join: _Join) -> bool:
    """Whether the loops around may change what the elements are grouped by."""
    ends = {_last_word(key) for key in join.keys if not key.isidentifier()}
    around = source.repetitions(join.loop.iter) or [join.loop]
    return any(
        isinstance(node, cst.AssignTarget | cst.AugAssign)
        and isinstance(node.target, cst.Attribute | cst.Subscript)
        and _last_word(source.code(node.target)) in ends
        for node in source.walk(around[-1])
    )


def _tuple(texts: list[str]) -> str:
    return texts[0] if len(texts) == 1 else f"({', '.join(texts)})"


def _word(expression: cst.BaseExpression) -> str:
    """Returns a word for a collection: its name, or that of what a call goes through."""
    match expression:
        case cst.Call(func=cst.Attribute(value=inner)):
            return _word(inner)
        case cst.Call(args=[first, *_]):
            return _word(first.value)
    return last_name(expression)


def _last_word(key: str) -> str:
    """Returns the last word in a key's text, such as the name of an attribute."""
    words = "".join(letter if letter.isalnum() or letter == "_" else " " for letter in key).split()
    return words[-1] if words and words[-1].isidentifier() else "key"
