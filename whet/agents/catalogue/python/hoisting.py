"""Where an expression can be computed once instead of again and again."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import libcst as cst

from whet.agents.catalogue.python.rewrite import Rewrite
from whet.agents.catalogue.python.source import PythonSource, Scope
from whet.agents.catalogue.python.uses import PURE_FUNCTIONS, How, bindings, parameter, uses, within


def hoist(
    rewrite: Rewrite,
    scope: Scope,
    replacements: Mapping[cst.CSTNode, str],
    variables: set[str],
    *statements: str,
) -> list[cst.CSTNode]:
    """Puts statements before the loops around expressions, and replaces these by what reads their result.

    Args:
        rewrite: collects the changes.
        scope: the function that the expressions stand in.
        replacements: each expression, and the text in its place.
        variables: what the statements read.
        statements: compute once what the expressions computed again and again.

    Returns:
        The expressions that could be moved out of a loop; the others stay as they are.
    """
    source = rewrite.source
    points = {node: hoist_point(source, scope, node, variables) for node in replacements}
    moved = [node for node, point in points.items() if point is not None]
    before = sorted({point for point in points.values() if point is not None}, key=source.line)
    if isinstance(scope, cst.FunctionDef) and all(is_stable(source, scope, each, scope) for each in variables):
        first = [point for point in before if source.parent(point) is scope.body]
        before = first[:1] if first and first[0] is before[0] else before
    for point in before:
        for statement in statements:
            rewrite.before(point, statement)
    for node in moved:
        rewrite.expression(node, replacements[node])
    return moved


def hoist_point(source: PythonSource, scope: Scope, node: cst.CSTNode, names: set[str]) -> cst.CSTNode | None:
    """Returns the statement before which an expression of these names has the value that it has at ``node``.

    None where no loop, comprehension or key function repeats the node while leaving the names alone.
    """
    return outermost_point(source, node, lambda loop: all(is_stable(source, scope, name, loop) for name in names))


def outermost_point(
    source: PythonSource, node: cst.CSTNode, is_steady: Callable[[cst.CSTNode], bool]
) -> cst.CSTNode | None:
    """Returns the statement before the outermost of those loops that leave the value of a node alone, if any.

    Args:
        source: the file.
        node: an expression.
        is_steady: whether a loop around it leaves its value alone.
    """
    outermost: cst.CSTNode | None = None
    for loop in source.repetitions(node):
        if _is_guarded(source, node, loop) or not is_steady(loop):
            break
        outermost = loop
    if outermost is None:
        return None
    statement = source.statement_of(outermost)
    in_test = isinstance(statement, cst.While) and statement is not outermost and _is_in_test(source, statement, node)
    return None if in_test or isinstance(statement, cst.FunctionDef | cst.ClassDef) else statement


def is_stable(
    source: PythonSource, scope: Scope, name: str, region: cst.CSTNode, pure: frozenset[str] = frozenset()
) -> bool:
    """Whether a name stands for one unchanged object all through a region of its scope.

    Args:
        source: the file.
        scope: the function that the region belongs to.
        name: one of the names that it uses.
        region: a loop, or another part of the tree.
        pure: functions of the file that change nothing that is handed to them.
    """
    if isinstance(region, cst.Lambda) and any(each.name.value == name for each in region.params.params):
        return False
    found = uses(source, scope, name)
    if any(use.how is How.CAPTURED for use in found):
        return False
    for use in within(source, found, region):
        if not use.reads and not (use.how is How.ARGUMENT and use.word in pure):
            return False
    owner = owner_of(source, scope, name)
    return owner is scope or is_constant(source, name, owner)


def is_constant(source: PythonSource, name: str, owner: Scope) -> bool:
    """Whether a variable of ``owner`` is bound at most once and never changed, in inner functions neither."""
    found = uses(source, owner, name)
    for function in source.walk(owner):
        if isinstance(function, cst.FunctionDef) and owner_of(source, function, name) is owner is not function:
            found.extend(uses(source, function, name))
    changed = [use for use in found if not use.reads and use.how not in (How.BIND, How.CAPTURED)]
    return not changed and len(bindings(found)) <= 1


def constants_end(source: PythonSource, scope: Scope, names: set[str]) -> cst.CSTNode | None:
    """Returns the last of the statements at the top of a file that bind names; None if one is no constant of the file.

    Built-in functions do not count; a scope that is the file itself has no constants.
    """
    last: cst.CSTNode | None = None
    for name in names - PURE_FUNCTIONS:
        if scope is source.module or owner_of(source, scope, name) is not source.module:
            return None
        binds = bindings(uses(source, source.module, name))
        statement = source.statement_of(binds[0].node) if len(binds) == 1 else None
        if statement not in source.module.body or not is_constant(source, name, source.module):
            return None
        if statement is not None and (last is None or source.line(statement) > source.line(last)):
            last = statement
    return last


def owner_of(source: PythonSource, scope: Scope, name: str) -> Scope:
    """Returns the scope that a name used in ``scope`` belongs to; the module for globals and built-ins."""
    while not isinstance(scope, cst.Module):
        if parameter(scope, name) is not None or bindings(uses(source, scope, name)):
            return scope
        scope = source.scope_of(scope)
    return scope


def _is_guarded(source: PythonSource, node: cst.CSTNode, loop: cst.CSTNode) -> bool:
    for above in source.ancestors(node):
        if above is loop:
            return False
        if isinstance(above, cst.Try):
            return True
    return False


def _is_in_test(source: PythonSource, loop: cst.While, node: cst.CSTNode) -> bool:
    return loop.test is node or loop.test in source.ancestors(node)
