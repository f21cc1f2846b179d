"""What the callers of a private function pass to it, as far as their text shows."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence

from whet.core.task import Task
from whet.core.trees import parse_expression
from whet.evaluators.screen import parse

MADE_BY = {"list": "list", "sorted": "list", "dict": "dict", "set": "set", "frozenset": "frozenset", "tuple": "tuple",
           "str": "str", "int": "int", "len": "int", "float": "float", "bool": "bool"}  # fmt: skip
"""Types of what builtin functions return."""
DISPLAYS: Mapping[type[ast.expr], str] = {
    ast.List: "list",
    ast.ListComp: "list",
    ast.Dict: "dict",
    ast.DictComp: "dict",
    ast.Set: "set",
    ast.SetComp: "set",
    ast.Tuple: "tuple",
    ast.JoinedStr: "str",
}


def passed(task: Task, positional: Sequence[str]) -> dict[str, list[ast.expr]]:
    """Returns hints of what all callers pass, by parameter; parameters of which one caller's is not known are left out.

    Only a function whose name begins with an underscore has callers that can all be seen: those of its own file. One
    that is passed on, or that another file names, has others.

    Args:
        task: its source is read, never run.
        positional: the names of the target's parameters.
    """
    name = task.symbol or ""
    module = parse(task.source)
    private = name.startswith("_") and "." not in name and not any(name in text for text in task.support.values())
    if not private or not isinstance(module, ast.Module):
        return {}
    calls = [(scope, call) for scope, call in _calls(module, name) if scope != name]
    uses = sum(isinstance(node, ast.Name) and node.id == name for node in ast.walk(module))
    inside = sum(scope == name for scope, _ in _calls(module, name))
    if not calls or uses != len(calls) + inside:
        return {}
    found: dict[str, list[ast.expr]] = {}
    for number, parameter in enumerate(positional):
        hints = [_hint(_argument(call, number, parameter)) for _, call in calls]
        if all(hint is not None for hint in hints):
            found[parameter] = [hint for hint in hints if hint is not None]
    return found


def _calls(module: ast.Module, name: str) -> Iterator[tuple[str, ast.Call]]:
    """Yields the calls of a function with the name of the outermost definition that each stands in."""
    for statement in module.body:
        scope = getattr(statement, "name", "")
        for node in ast.walk(statement):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == name:
                yield scope, node


def _argument(call: ast.Call, number: int, parameter: str) -> ast.expr | None:
    if any(isinstance(one, ast.Starred) for one in call.args) or any(one.arg is None for one in call.keywords):
        return None
    if number < len(call.args):
        return call.args[number]
    return next((one.value for one in call.keywords if one.arg == parameter), None)


def _hint(given: ast.expr | None) -> ast.expr | None:
    """Returns the hint that an expression's value surely has."""
    name = DISPLAYS.get(type(given)) if given is not None else None
    if isinstance(given, ast.Constant):
        name = type(given.value).__name__
    elif isinstance(given, ast.Call) and isinstance(given.func, ast.Name):
        name = MADE_BY.get(given.func.id)
    if isinstance(given, (ast.List, ast.Set)) and given.elts:
        inner = {type(one.value).__name__ for one in given.elts if isinstance(one, ast.Constant)}
        if len(inner) == 1 and all(isinstance(one, ast.Constant) for one in given.elts):
            name = f"{name}[{inner.pop()}]"
    return parse_expression(name) if name else None
