"""Where an expression can be computed once instead of again and again."""

from __future__ import annotations

import libcst as cst

from whet.agents.catalogue.python.source import PythonSource, Scope
from whet.agents.catalogue.python.uses import How, bindings, parameter, uses, within


def hoist_point(source: PythonSource, scope: Scope, node: cst.CSTNode, names: set[str]) -> cst.CSTNode | None:
    """Returns the statement before which an expression of these names has the value that it has at ``node``.

    None where no loop, comprehension or key function repeats the node while leaving the names alone.
    """
    outermost: cst.CSTNode | None = None
    for loop in source.repetitions(node):
        if _is_guarded(source, node, loop) or not all(is_stable(source, scope, name, loop) for name in names):
            break
        outermost = loop
    if outermost is None:
        return None
    statement = source.statement_of(outermost)
    in_test = isinstance(statement, cst.While) and statement is not outermost and _is_in_test(source, statement, node)
    return None if in_test or isinstance(statement, cst.FunctionDef | cst.ClassDef) else statement


def is_stable(source: PythonSource, scope: Scope, name: str, region: cst.CSTNode) -> bool:
    """Whether a name stands for one unchanged object all through a region of its scope."""
    if isinstance(region, cst.Lambda) and any(each.name.value == name for each in region.params.params):
        return False
    found = uses(source, scope, name)
    if any(use.how is How.CAPTURED for use in found):
        return False
    if not all(use.reads for use in within(source, found, region)):
        return False
    is_local = bool(bindings(found)) or parameter(scope, name) is not None
    return is_local or is_constant(source, name)


def is_constant(source: PythonSource, name: str) -> bool:
    """Whether the file never changes a global after binding it once; true for built-ins and imported names."""
    found = uses(source, source.module, name)
    for function in source.walk(source.module):
        if isinstance(function, cst.FunctionDef):
            own = uses(source, function, name)
            if parameter(function, name) is None and not bindings(own):
                found.extend(own)
    changed = [use for use in found if not use.reads and use.how not in (How.BIND, How.CAPTURED)]
    return not changed and len(bindings(found)) <= 1


def _is_guarded(source: PythonSource, node: cst.CSTNode, loop: cst.CSTNode) -> bool:
    for above in source.ancestors(node):
        if above is loop:
            return False
        if isinstance(above, cst.Try):
            return True
    return False


def _is_in_test(source: PythonSource, loop: cst.While, node: cst.CSTNode) -> bool:
    return loop.test is node or loop.test in source.ancestors(node)
