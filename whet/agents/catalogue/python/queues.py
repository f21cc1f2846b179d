"""Lists that are used as queues."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from whet.agents.catalogue.base import Label
from whet.agents.catalogue.python.edit import PythonEdit, Replacement
from whet.agents.catalogue.python.kinds import bound_value, kind_of_value
from whet.agents.catalogue.python.rewrite import Rewrite
from whet.agents.catalogue.python.source import PythonSource, Scope, last_name
from whet.agents.catalogue.python.uses import (
    How,
    Use,
    bindings,
    names_in,
    only_argument,
    parameter,
    uses,
)

_SAME_IN_BOTH = ("append", "extend", "pop", "clear", "remove", "reverse", "count", "index")


class Deques(PythonEdit):
    """Turns a list that loses or gains elements at its front into a ``collections.deque``."""

    name = "list-to-deque"
    label = Label.DATA_STRUCTURE
    summary = "takes a deque for a list whose front is popped or inserted at"
    needs = "`q.pop(0)` or `q.insert(0, x)` on a list of the function that is not sliced, sorted or handed on"
    unsafe = "a pop from the empty queue has another message; an index in the middle is slow"
    assumes: tuple[str, ...] = ()

    def changes(self, source: PythonSource) -> Iterator[Replacement]:
        """Yields one change a queue."""
        for scope in source.scopes:
            for name in names_in(source, scope):
                found = uses(source, scope, name)
                fronts = [use for use in found if _front(use)]
                if not fronts or parameter(scope, name) is not None:
                    continue
                code = _as_deque(source, scope, name, found)
                if code is not None:
                    why = f"each step at the front of the list '{name}' moves all its elements"
                    yield Replacement(fronts[0].site, code, why)


def _as_deque(source: PythonSource, scope: Scope, name: str, found: list[Use]) -> str | None:
    binds = bindings(found)
    values = [bound_value(source, bind) for bind in binds]
    if not all(source.has_line(bind.node) for bind in binds) or not binds:
        return None
    if any(kind_of_value(value) != "list" or isinstance(value, cst.Tuple) for value in values):
        return None
    if not all(use.how is How.BIND or _fits(source, use) for use in found):
        return None
    rewrite = Rewrite(source)
    if not rewrite.import_name("collections", "deque"):
        return None
    for bind, value in zip(binds, values, strict=True):
        rewrite.statement(source.statement_of(bind.node), f"{name} = {_deque_of(source, value)}")
    for use in found:
        front = _front(use)
        if front:
            rewrite.expression(use.site, f"{name}.{front}({_inserted(source, use)})")
        elif use.how is How.RETURN:
            rewrite.expression(use.node, f"list({name})")
    return rewrite.code()


def _front(use: Use) -> str:
    """Returns the deque's method for a step at the front of a list, and an empty string for all else."""
    arguments = use.site.args if isinstance(use.site, cst.Call) else ()
    is_zero = bool(arguments) and isinstance(arguments[0].value, cst.Integer) and arguments[0].value.value == "0"
    if use.calls("pop") and len(arguments) == 1 and is_zero:
        return "popleft"
    return "appendleft" if use.calls("insert") and len(arguments) == 2 and is_zero else ""


def _inserted(source: PythonSource, use: Use) -> str:
    return source.code(use.site.args[1].value) if isinstance(use.site, cst.Call) and len(use.site.args) == 2 else ""


def _fits(source: PythonSource, use: Use) -> bool:
    """Whether a deque behaves like a list in this place."""
    if _front(use) or use.how in (How.MEMBER, How.ITERATE, How.TRUTH, How.RETURN):
        return True
    if use.how is How.METHOD:
        arguments = use.site.args if isinstance(use.site, cst.Call) else ()
        return use.word in _SAME_IN_BOTH and (use.word != "pop" or not arguments)
    if use.how is How.ARGUMENT:
        return use.word in (
            "len",
            "list",
            "tuple",
            "set",
            "sorted",
            "sum",
            "min",
            "max",
            "any",
            "all",
            "enumerate",
        )
    if use.how in (How.ITEM, How.STORE) and isinstance(use.site, cst.Subscript):
        return use.site.value is use.node and all(isinstance(e.slice, cst.Index) for e in use.site.slice)
    return False


def _deque_of(source: PythonSource, value: cst.BaseExpression | None) -> str:
    if isinstance(value, cst.List) and not value.elements:
        return "deque()"
    if isinstance(value, cst.Call) and isinstance(value.func, cst.Name) and last_name(value.func) == "list":
        argument = only_argument(value)
        if argument is not None or not value.args:
            return f"deque({source.code(argument) if argument else ''})"
    return f"deque({source.code(value)})" if value is not None else "deque()"
