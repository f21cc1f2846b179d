"""Regular expressions that are looked up, or compiled, on every call."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from whet.agents.catalogue.base import Label
from whet.agents.catalogue.python.edit import PythonEdit, Replacement
from whet.agents.catalogue.python.hoisting import hoist_point
from whet.agents.catalogue.python.rewrite import Rewrite
from whet.agents.catalogue.python.source import PythonSource
from whet.agents.catalogue.python.uses import free_names

_FLAGS_AT = {
    "compile": 1,
    "match": 2,
    "search": 2,
    "fullmatch": 2,
    "findall": 2,
    "finditer": 2,
    "split": 3,
    "sub": 4,
    "subn": 4,
}


class CompiledPatterns(PythonEdit):
    """Compiles a constant pattern at the top of the file, and another one before the loop that uses it."""

    name = "compile-pattern"
    label = Label.ALGORITHM
    summary = "compiles a regular expression once instead of looking it up in the cache of `re` each time"
    needs = "`re.match(pattern, ...)` and the like in a function or loop that does not change the pattern"
    unsafe = "an invalid pattern in code that never ran now fails when the file is loaded"
    assumes: tuple[str, ...] = ()

    def changes(self, source: PythonSource) -> Iterator[Replacement]:
        """Yields one change a pattern."""
        if not _imports_re(source):
            return
        constant: dict[str, list[cst.Call]] = {}
        for scope in source.scopes:
            for node in source.walk(scope, nested=False):
                if not isinstance(node, cst.Call) or not _is_re_call(node):
                    continue
                if free_names(source, node.args[0].value):
                    yield from self._before_loop(source, node)
                elif not isinstance(scope, cst.Module) or source.repetitions(node):
                    constant.setdefault(_compilation(source, node), []).append(node)
        for compilation, calls in constant.items():
            rewrite = Rewrite(source)
            name = source.fresh("_PATTERN")
            rewrite.top_level(f"{name} = {compilation}")
            for call in calls:
                rewrite.expression(call, _on_compiled(source, call, name))
            why = f"the pattern {source.code(calls[0].args[0].value)} is looked up on every call"
            yield Replacement(calls[0], rewrite.code(), why)

    def _before_loop(self, source: PythonSource, call: cst.Call) -> Iterator[Replacement]:
        pattern = call.args[0].value
        variables = free_names(source, pattern)
        point = hoist_point(source, source.scope_of(call), call, variables)
        if point is None or isinstance(pattern, cst.Call):
            return
        rewrite = Rewrite(source)
        local = source.fresh(f"{sorted(variables)[0]}_pattern")
        rewrite.before(point, f"{local} = {_compilation(source, call)}")
        rewrite.expression(call, _on_compiled(source, call, local))
        yield Replacement(call, rewrite.code(), f"the pattern {source.code(pattern)} is looked up in every turn")


def _imports_re(source: PythonSource) -> bool:
    return any(
        isinstance(alias.name, cst.Name) and alias.name.value == "re" and alias.asname is None
        for node in source.walk(source.module, nested=False)
        if isinstance(node, cst.Import)
        for alias in node.names
    )


def _is_re_call(call: cst.Call) -> bool:
    function = call.func
    if not isinstance(function, cst.Attribute) or function.attr.value not in _FLAGS_AT:
        return False
    if not isinstance(function.value, cst.Name) or function.value.value != "re":
        return False
    if not call.args or call.args[0].keyword or any(arg.star for arg in call.args):
        return False
    flags = _flags(call)
    return flags is None or not isinstance(flags.value, cst.Name)


def _flags(call: cst.Call) -> cst.Arg | None:
    assert isinstance(call.func, cst.Attribute)
    for position, arg in enumerate(call.args):
        if arg.keyword is not None:
            if arg.keyword.value == "flags":
                return arg
        elif position == _FLAGS_AT[call.func.attr.value]:
            return arg
    return None


def _compilation(source: PythonSource, call: cst.Call) -> str:
    flags = _flags(call)
    extra = f", {source.code(flags.value)}" if flags is not None else ""
    return f"re.compile({source.code(call.args[0].value)}{extra})"


def _on_compiled(source: PythonSource, call: cst.Call, name: str) -> str:
    assert isinstance(call.func, cst.Attribute)
    if call.func.attr.value == "compile":
        return name
    flags = _flags(call)
    kept = [
        f"{arg.keyword.value}={source.code(arg.value)}" if arg.keyword else source.code(arg.value)
        for arg in call.args[1:]
        if arg is not flags
    ]
    return f"{name}.{call.func.attr.value}({', '.join(kept)})"
