"""Classes whose objects keep their attributes in slots instead of a dictionary each."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from whet.agents.catalogue.base import Label
from whet.agents.catalogue.python.edit import PythonEdit, Replacement
from whet.agents.catalogue.python.rewrite import Rewrite
from whet.agents.catalogue.python.source import PythonSource

_NEEDS_DICT = frozenset(
    {"__dict__", "vars", "setattr", "delattr", "cached_property", "__slots__", "__weakref__", "pickle"}
)


class Slots(PythonEdit):
    """Adds ``__slots__`` to a class that binds all its attributes through ``self``."""

    name = "add-slots"
    label = Label.DATA_STRUCTURE
    summary = "gives the objects of a class fixed slots instead of a dictionary each"
    needs = "a class of the file without bases and decorators, whose attributes its own methods bind"
    unsafe = "attributes that other files add, weak references, copies and subclasses that ask for a dictionary"
    assumes: tuple[str, ...] = ()

    def changes(self, source: PythonSource) -> Iterator[Replacement]:
        """Yields one change a class in reach."""
        if _NEEDS_DICT & source.names(source.module).keys():
            return
        bases = {name for node in source.walk(source.module) for name in _named_bases(source, node)}
        for node in source.walk(source.module):
            if isinstance(node, cst.ClassDef) and node.name.value not in bases and _is_reached(source, node):
                names = _attributes(source, node)
                first = _first_line(node)
                if names and first is not None:
                    rewrite = Rewrite(source)
                    rewrite.before(first, f"__slots__ = ({_listed(names)})")
                    why = f"each '{node.name.value}' has a dictionary of its own; {len(names)} slots take less"
                    yield Replacement(node, rewrite.code(), why)


def _named_bases(source: PythonSource, node: cst.CSTNode) -> Iterator[str]:
    if isinstance(node, cst.ClassDef):
        for base in node.bases:
            yield source.code(base.value)


def _is_reached(source: PythonSource, node: cst.ClassDef) -> bool:
    plain = not node.bases and not node.keywords and not node.decorators
    return plain and any(each in source.scopes for each in source.walk(node))


def _first_line(node: cst.ClassDef) -> cst.CSTNode | None:
    """Returns the first statement of a class below its docstring."""
    if not isinstance(node.body, cst.IndentedBlock):
        return None
    lines = node.body.body
    place = 1 if node.get_docstring() is not None else 0
    return lines[place] if place < len(lines) else None


def _attributes(source: PythonSource, node: cst.ClassDef) -> list[str]:
    """Returns what the methods bind through ``self``; empty where a class attribute or a stranger is in the way."""
    bound: dict[str, None] = {}
    own: set[str] = set()
    for each in source.walk(node):
        if isinstance(each, cst.Attribute) and _is_stored(source, each) and _is_self(each.value):
            bound[each.attr.value] = None
    for line in node.body.body:
        own.update(_class_names(line))
    strangers = {
        each.attr.value
        for each in source.walk(source.module)
        if isinstance(each, cst.Attribute) and _is_stored(source, each) and not _is_self(each.value)
    }
    return [] if own & bound.keys() or strangers - bound.keys() else list(bound)


def _is_self(value: cst.BaseExpression) -> bool:
    return isinstance(value, cst.Name) and value.value == "self"


def _class_names(line: cst.CSTNode) -> Iterator[str]:
    if isinstance(line, cst.FunctionDef | cst.ClassDef):
        yield line.name.value
    for part in line.body if isinstance(line, cst.SimpleStatementLine) else ():
        targets = part.targets if isinstance(part, cst.Assign) else [part] if isinstance(part, cst.AnnAssign) else []
        for target in targets:
            if isinstance(target.target, cst.Name):
                yield target.target.value


def _is_stored(source: PythonSource, node: cst.CSTNode) -> bool:
    above = source.parent(node)
    if isinstance(above, cst.AssignTarget | cst.AugAssign | cst.AnnAssign | cst.For | cst.CompFor):
        return above.target is node
    return isinstance(above, cst.AsName | cst.Del) or (
        isinstance(above, cst.Element) and isinstance(source.parent(source.parent(above) or above), cst.AssignTarget)
    )


def _listed(names: list[str]) -> str:
    return ", ".join(f'"{name}"' for name in names) + ("," if len(names) == 1 else "")
