"""What kind of object a name stands for, as far as the text says."""

from __future__ import annotations

import re

import libcst as cst

from whet.agents.catalogue.python.source import PythonSource, Scope, last_name
from whet.agents.catalogue.python.uses import How, Use, bindings, parameter

_ANNOTATIONS = {
    "list": "list", "List": "list", "Sequence": "list", "MutableSequence": "list", "Collection": "list",
    "tuple": "list", "Tuple": "list", "str": "str", "bytes": "bytes", "dict": "dict", "Dict": "dict",
    "Mapping": "dict", "MutableMapping": "dict", "defaultdict": "dict", "Counter": "dict", "set": "set",
    "Set": "set", "frozenset": "set", "FrozenSet": "set", "AbstractSet": "set", "deque": "deque",
    "int": "number", "float": "number", "bool": "number", "Iterator": "iterator", "Generator": "iterator",
    "Iterable": "iterator", "ndarray": "array",
}  # fmt: skip
_CALLS = {
    "list": "list", "tuple": "list", "sorted": "list", "split": "list", "rsplit": "list",
    "splitlines": "list", "readlines": "list", "findall": "list", "set": "set", "frozenset": "set", "dict": "dict",
    "defaultdict": "dict", "Counter": "dict", "OrderedDict": "dict", "str": "str", "join": "str",
    "strip": "str", "lower": "str", "upper": "str", "replace": "str", "format": "str", "input": "str", "read": "str",
    "readline": "str", "deque": "deque", "len": "number", "int": "number", "float": "number", "sum": "number",
    "map": "iterator", "filter": "iterator", "zip": "iterator", "iter": "iterator", "open": "iterator",
    "reversed": "iterator", "enumerate": "iterator", "range": "range", "keys": "dict", "values": "view",
}  # fmt: skip


def kind_of_value(value: cst.BaseExpression | None) -> str | None:
    """Returns what an expression makes: list, str, dict, set, iterator ...; None where unknown."""
    match value:
        case cst.List() | cst.ListComp() | cst.Tuple():
            return "list"
        case cst.Set() | cst.SetComp():
            return "set"
        case cst.Dict() | cst.DictComp():
            return "dict"
        case cst.SimpleString(prefix=prefix):
            return "bytes" if "b" in prefix.lower() else "str"
        case cst.FormattedString():
            return "str"
        case cst.ConcatenatedString(left=left) | cst.BinaryOperation(left=left, operator=cst.Add()):
            return kind_of_value(left)
        case cst.Integer() | cst.Float():
            return "number"
        case cst.GeneratorExp():
            return "iterator"
        case cst.Call():
            return _CALLS.get(last_name(value.func))
        case _:
            return None


def kind_of(source: PythonSource, scope: Scope, name: str, found: list[Use]) -> str | None:
    """Returns the kind that a variable's annotation and all that is assigned to it agree upon, if any."""
    kinds: set[str | None] = set()
    declared = parameter(scope, name)
    if declared is not None:
        written = _annotated(source, declared.annotation) or kind_of_value(declared.default)
        kinds.add(written or _from_methods(found))
    for use in bindings(found):
        kinds.add(kind_of_value(bound_value(source, use)))
    if not kinds:
        kinds = {
            kind_of_value(value)
            for value in (
                bound_value(source, Use(target.target, How.BIND, target))
                for target in _module_targets(source, name)
                if isinstance(target.target, cst.Name)
            )
        }
    return kinds.pop() if len(kinds) == 1 else None


def bound_value(source: PythonSource, use: Use) -> cst.BaseExpression | None:
    """Returns the expression of ``name = expression``; None for every other binding."""
    statement = source.parent(use.site) if isinstance(use.site, cst.AssignTarget) else use.site
    return statement.value if isinstance(statement, cst.Assign | cst.AnnAssign) else None


def _module_targets(source: PythonSource, name: str) -> list[cst.AssignTarget]:
    return [
        node
        for node in source.walk(source.module, nested=False)
        if isinstance(node, cst.AssignTarget) and last_name(node.target) == name
    ]


def _annotated(source: PythonSource, annotation: cst.Annotation | None) -> str | None:
    if annotation is None:
        return None
    words = re.findall(r"\w+", source.code(annotation.annotation))
    known = [_ANNOTATIONS[word] for word in words if word in _ANNOTATIONS]
    return known[0] if known else None


def _from_methods(found: list[Use]) -> str | None:
    called = {use.word for use in found if use.how is How.METHOD}
    if called & {"append", "extend", "sort", "insert", "reverse"}:
        return "list"
    if called & {"items", "keys", "values", "get", "setdefault"}:
        return "dict"
    if called & {"split", "strip", "lower", "upper", "startswith", "endswith", "encode", "splitlines"}:
        return "str"
    return "set" if called & {"add", "discard", "union"} else None
