"""Attributes, elements, arithmetic and calls of pure helpers whose value does not change in a loop."""

from __future__ import annotations

import keyword
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import islice

import libcst as cst

from whet.agents.catalogue.base import Label
from whet.agents.catalogue.python.edit import PythonEdit, Replacement
from whet.agents.catalogue.python.hoisting import is_stable, outermost_point
from whet.agents.catalogue.python.purity import helper_calls, imported, pure_helpers
from whet.agents.catalogue.python.rewrite import Rewrite
from whet.agents.catalogue.python.source import PythonSource, Scope
from whet.agents.catalogue.python.uses import How, Use, free_names, uses, within

_NUMERIC = frozenset({"len", "abs", "round", "int", "float", "min", "max", "sum"})
_ELEMENT = "[]"
_MOST = 4  # alone, a function: each is a small gain, and all together come first
_LONGEST_NAME = 30  # characters of the variable for a moved expression; more only make longer lines, fewer say less


class InvariantExpressions(PythonEdit):
    """Computes ``self.a.b``, ``grid[i]``, ``n * step`` or ``helper(xs)`` once before the loop that repeats it."""

    name = "hoist-expression"
    label = Label.ALGORITHM
    summary = "computes an attribute, an element, arithmetic or a pure helper's value once before the loop"
    needs = "an expression of variables that the loop does not change, in a turn that always evaluates it"
    unsafe = "a loop that never ran now evaluates it; attributes that compute, or that other code changes"
    assumes: tuple[str, ...] = ()

    def changes(self, source: PythonSource) -> Iterator[Replacement]:
        """Yields one change a distinct expression and loop, and before them one of all in a function."""
        rebound = _rebound_attributes(source)
        for scope in source.scopes:
            facts = _ScopeFacts.of(source, scope, rebound)
            groups: dict[tuple[str, cst.CSTNode], list[cst.BaseExpression]] = {}
            for node, point in _movable(facts):
                groups.setdefault((source.code(node), point), []).append(node)
            if len(groups) > 1:
                yield _moved(source, groups)
            for key, nodes in islice(groups.items(), _MOST):
                yield _moved(source, {key: nodes})


@dataclass(frozen=True, slots=True)
class _ScopeFacts:
    """What is known of a scope.

    Attributes:
        source: the file.
        scope: the function.
        rebound: attributes that the file binds outside constructors.
        modules: names that imports bind.
        pure: names of functions that change nothing: helpers that the scope calls, and those of ``math``.
        calls: those calls of helpers that may be moved.
    """

    source: PythonSource
    scope: Scope
    rebound: frozenset[str]
    modules: frozenset[str]
    pure: frozenset[str]
    calls: frozenset[cst.CSTNode]

    @classmethod
    def of(cls, source: PythonSource, scope: Scope, rebound: frozenset[str]) -> _ScopeFacts:
        pure = pure_helpers(source, scope)
        modules = imported(source)
        calls = frozenset(call for _, same in helper_calls(source, scope, pure) for call in same)
        harmless = pure | frozenset(dir(math)) if "math" in modules else pure
        return cls(source, scope, rebound, frozenset(modules), harmless, calls)


def _moved(source: PythonSource, groups: dict[tuple[str, cst.CSTNode], list[cst.BaseExpression]]) -> Replacement:
    rewrite = Rewrite(source)
    taken: set[str] = set()
    for (text, point), nodes in groups.items():
        wish = _wish(text)
        while wish in taken:
            wish += "_"
        local = source.fresh(wish)
        taken.update((wish, local))
        rewrite.before(point, f"{local} = {text}")
        for node in nodes:
            rewrite.expression(node, local)
    first = next(iter(groups.values()))[0]
    texts = ", ".join(f"'{' '.join(text.split())}'" for text, _ in list(groups)[:3])
    return Replacement(first, rewrite.code(), f"{texts}: the same in every turn of a loop; once is enough")


def _wish(text: str) -> str:
    words = "_".join(re.findall(r"\w+", text, re.ASCII))[:_LONGEST_NAME].strip("_")
    return words if words.isidentifier() and not keyword.iskeyword(words) else f"value_{words}".rstrip("_")


def _movable(facts: _ScopeFacts) -> Iterator[tuple[cst.BaseExpression, cst.CSTNode]]:
    """Yields the largest expressions that some loop leaves alone, each with the statement to stand before."""
    source = facts.source
    inside: set[cst.CSTNode] = set()
    for node in source.walk(facts.scope, nested=False):
        above = source.parent(node)
        if above in inside:
            inside.add(node)
        elif _is_wanted(facts, node) and isinstance(node, cst.BaseExpression):
            point = outermost_point(source, node, partial(_is_steady_in, facts, node))
            if point is not None:
                inside.add(node)
                yield node, point


def _is_wanted(facts: _ScopeFacts, node: cst.CSTNode) -> bool:
    """Whether a node is worth a variable: it costs something, is only read, and is made of parts that are known."""
    if not isinstance(node, cst.Attribute | cst.Subscript | cst.BinaryOperation | cst.Call):
        return False
    source, above = facts.source, facts.source.parent(node)
    if isinstance(node, cst.Call) and node not in facts.calls and not _is_of_module(facts, node):
        return False
    if isinstance(above, cst.Call) and above.func is node:
        return False
    is_target = isinstance(above, cst.AssignTarget | cst.AugAssign | cst.AnnAssign | cst.For | cst.CompFor | cst.Del)
    if is_target and getattr(above, "target", node) is node:
        return False
    if isinstance(above, cst.Element | cst.StarredElement | cst.AsName | cst.Annotation | cst.Decorator):
        return False
    if isinstance(node, cst.Attribute) and isinstance(node.value, cst.Name) and node.value.value in facts.modules:
        return False
    return bool(source.repetitions(node)) and _is_known(facts, node) and bool(free_names(source, node))


def _is_of_module(facts: _ScopeFacts, call: cst.Call) -> bool:
    """Whether a call is one of the module ``math``."""
    return (
        isinstance(call.func, cst.Attribute)
        and facts.source.code(call.func.value) == "math"
        and ("math" in facts.modules)
    )


def _is_known(facts: _ScopeFacts, node: cst.BaseExpression) -> bool:
    """Whether an expression is made of names, numbers, texts, attributes, elements, arithmetic and harmless calls."""
    match node:
        case cst.Name() | cst.Integer() | cst.Float() | cst.SimpleString():
            return True
        case cst.Attribute(value=value):
            return _is_known(facts, value)
        case cst.Subscript(value=value, slice=[cst.SubscriptElement(slice=cst.Index(value=index, star=None))]):
            return _is_known(facts, value) and _is_known(facts, index)
        case cst.BinaryOperation(left=left, right=right):
            return _is_known(facts, left) and _is_known(facts, right)
        case cst.UnaryOperation(expression=value):
            return _is_known(facts, value)
        case cst.Call(func=function, args=arguments):
            is_numeric = isinstance(function, cst.Name) and function.value in _NUMERIC
            if not (is_numeric or node in facts.calls or _is_of_module(facts, node)):
                return False
            return all(not arg.star and not arg.keyword and _is_known(facts, arg.value) for arg in arguments)
        case _:
            return False


def _is_steady_in(facts: _ScopeFacts, node: cst.BaseExpression, loop: cst.CSTNode) -> bool:
    plain = isinstance(node, cst.Attribute) and isinstance(node.value, cst.Name)
    return (plain or not _is_conditional(facts.source, node, loop)) and _is_steady(facts, node, loop)


def _is_steady(facts: _ScopeFacts, node: cst.BaseExpression, loop: cst.CSTNode) -> bool:
    match node:
        case cst.Name(value=name):
            return name in facts.modules or is_stable(facts.source, facts.scope, name, loop, facts.pure)
        case cst.Attribute() | cst.Subscript():
            return _is_steady_chain(facts, node, loop)
        case cst.BinaryOperation(left=left, right=right):
            return _is_steady(facts, left, loop) and _is_steady(facts, right, loop)
        case cst.UnaryOperation(expression=value):
            return _is_steady(facts, value, loop)
        case cst.Call(args=arguments):
            return all(_is_steady(facts, arg.value, loop) for arg in arguments)
        case _:
            return True


def _is_steady_chain(facts: _ScopeFacts, chain: cst.Attribute | cst.Subscript, loop: cst.CSTNode) -> bool:
    """Whether ``name.a[i]`` stays the same: nobody rebinds its parts, though what it leads to may be changed."""
    root, path = _path(chain)
    for part in facts.source.walk(chain):
        if isinstance(part, cst.Index) and not _is_steady(facts, part.value, loop):
            return False
    if not isinstance(root, cst.Name):
        return _is_steady(facts, root, loop)
    if root.value in facts.modules:
        return True
    if isinstance(loop, cst.Lambda) and any(each.name.value == root.value for each in loop.params.params):
        return False
    found = within(facts.source, uses(facts.source, facts.scope, root.value), loop)
    if any(use.how in (How.BIND, How.AUGMENT, How.CAPTURED) for use in found):
        return False
    if _ELEMENT not in path and facts.rebound.isdisjoint(path):
        return True
    return all(_leaves(facts, use, path) for use in found)


def _path(chain: cst.BaseExpression) -> tuple[cst.BaseExpression, list[str]]:
    """Returns what a chain starts from, and its steps: names of attributes, and one sign for all elements."""
    path: list[str] = []
    while isinstance(chain, cst.Attribute | cst.Subscript):
        path.append(chain.attr.value if isinstance(chain, cst.Attribute) else _ELEMENT)
        chain = chain.value
    return chain, path[::-1]


def _leaves(facts: _ScopeFacts, use: Use, path: list[str]) -> bool:
    """Whether a use of a name changes nothing that a chain from that name goes through."""
    if use.reads or (use.how is How.ARGUMENT and use.word in facts.pure):
        return True
    if use.how is not How.STORE:
        return False
    is_call = isinstance(use.site, cst.Call)
    part = use.site.func if isinstance(use.site, cst.Call) else use.site
    _, stored = _path(part) if isinstance(part, cst.BaseExpression) else (part, [])
    if is_call:  # a method changes what is below its object, whatever that is
        return path[: len(stored) - 1] != stored[:-1] or len(path) < len(stored)
    return path[: len(stored)] != stored


def _is_conditional(source: PythonSource, node: cst.CSTNode, loop: cst.CSTNode) -> bool:
    """Whether a turn of a loop may leave out a node below it."""
    here = node
    for above in source.ancestors(node):
        match above:
            case cst.If() | cst.IfExp() if above.test is not here:
                return True
            case cst.BooleanOperation() if above.right is here:
                return True
            case cst.CompIf() | cst.Try() | cst.Match() | cst.Assert():
                return True
            case cst.ListComp() | cst.SetComp() | cst.DictComp() | cst.GeneratorExp() if above.for_in.ifs:
                return True
        if above is loop:
            return False
        here = above
    return False


def _rebound_attributes(source: PythonSource) -> frozenset[str]:
    """Returns the names of attributes that the file binds anywhere but in a constructor, computes or deletes."""
    found: set[str] = set()
    for node in source.walk(source.module):
        match node:
            case cst.Attribute(attr=cst.Name(value=name)) if _is_stored(source, node):
                owner = source.scope_of(node)
                if not (isinstance(owner, cst.FunctionDef) and owner.name.value in ("__init__", "__post_init__")):
                    found.add(name)
            case cst.FunctionDef(name=cst.Name(value=name), decorators=[_, *_]):
                found.add(name)
    return frozenset(found)


def _is_stored(source: PythonSource, node: cst.CSTNode) -> bool:
    above = source.parent(node)
    if isinstance(above, cst.AssignTarget | cst.AugAssign | cst.AnnAssign | cst.For | cst.CompFor):
        return above.target is node
    return isinstance(above, cst.Element | cst.Del | cst.AsName)
