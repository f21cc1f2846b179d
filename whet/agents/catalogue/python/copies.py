"""Copies that go deeper than anybody changes, or that are only walked through."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from whet.agents.catalogue.base import Label
from whet.agents.catalogue.python.edit import PythonEdit, Replacement
from whet.agents.catalogue.python.hoisting import is_stable
from whet.agents.catalogue.python.kinds import kind_of
from whet.agents.catalogue.python.rewrite import Rewrite
from whet.agents.catalogue.python.source import PythonSource, Scope, last_name
from whet.agents.catalogue.python.uses import How, Use, bindings, free_names, only_argument, uses

_COPIES = frozenset({"list", "tuple", "sorted", "copy", "keys"})
_READERS = frozenset({"sum", "min", "max", "any", "all", "sorted", "set", "frozenset", "join", "Counter"})
_COPIERS = frozenset({"deepcopy", "dumps"})
_ELSEWHERE = 2
"""Levels at which a copy counts as changed where its uses do not show it; two levels are copied then. 1 would copy one
level only, which is wrong more often; a larger value does what 2 does."""


class AvoidedCopies(PythonEdit):
    """Copies only as deep as something is changed, and not at all what is only walked through."""

    name = "avoid-copy"
    label = Label.ALGORITHM
    summary = "copies one or two levels instead of all, or leaves out a copy that is only read"
    needs = "`deepcopy(x)` or `json.loads(json.dumps(x))`, or `list(x)`, `x[:]` and `x.copy()` that nobody keeps"
    unsafe = "data that is nested deeper than the text shows, shared parts, and what is changed through another name"
    assumes: tuple[str, ...] = ("no-alias", "acyclic", "shallow")

    def changes(self, source: PythonSource) -> Iterator[Replacement]:
        """Yields one change a copy."""
        for scope in source.scopes:
            for node in source.walk(scope, nested=False):
                if isinstance(node, cst.BaseExpression):
                    original = _deeply_copied(source, node)
                    if original is not None:
                        yield from _shallower(source, scope, node, original)
                    yield from _left_out(source, scope, node)


def _deeply_copied(source: PythonSource, node: cst.BaseExpression) -> cst.BaseExpression | None:
    """Returns ``x`` of ``copy.deepcopy(x)`` and of ``json.loads(json.dumps(x))``."""
    inner = only_argument(node)
    if isinstance(node, cst.Call) and last_name(node.func) == "deepcopy":
        return inner
    if not isinstance(node, cst.Call) or not isinstance(inner, cst.Call):
        return None
    is_round = source.code(node.func) == "json.loads" and source.code(inner.func) == "json.dumps"
    return only_argument(inner) if is_round else None


def _shallower(
    source: PythonSource, scope: Scope, node: cst.BaseExpression, original: cst.BaseExpression
) -> Iterator[Replacement]:
    text = source.code(original)
    owner, _, name = source.code(node.func).rpartition(".") if isinstance(node, cst.Call) else ("", "", "")
    copy = f"{owner}.copy" if owner and name == "deepcopy" else "copy"
    depth = _depth_of_changes(source, scope, node)
    each, key = source.fresh("each"), source.fresh("key")
    if depth == 0 and _stays(source, scope, original):
        form = text
    elif depth <= 1:
        form = f"{copy}({text})"
    elif _is_dict(source, scope, original):
        form = f"{{{key}: {copy}({each}) for {key}, {each} in {text}.items()}}"
    else:
        form = f"[{copy}({each}) for {each} in {text}]"
    rewrite = Rewrite(source)
    if form == text or copy != "copy" or rewrite.import_name("copy", "copy"):
        rewrite.expression(node, form)
        why = f"'{source.code(node)}' copies every part; '{form}' may be as deep as anything is changed"
        yield Replacement(node, rewrite.code(), why)


def _is_dict(source: PythonSource, scope: Scope, original: cst.BaseExpression) -> bool:
    if not isinstance(original, cst.Name):
        return False
    return kind_of(source, scope, original.value, uses(source, scope, original.value)) == "dict"


def _depth_of_changes(source: PythonSource, scope: Scope, node: cst.BaseExpression) -> int:
    """Returns how deep the copy is changed: 0 where it is only read, 2 where that is not known."""
    statement = source.parent(node)
    if not isinstance(statement, cst.Assign) or len(statement.targets) != 1:
        return _ELSEWHERE
    target = statement.targets[0].target
    if not isinstance(target, cst.Name):
        return _ELSEWHERE
    found = uses(source, scope, target.value)
    if len(bindings(found)) != 1:
        return _ELSEWHERE
    return max((_depth(use) for use in found if use.how is not How.BIND), default=0)


def _depth(use: Use) -> int:
    if use.how is How.STORE:
        part: cst.CSTNode = use.site.func if isinstance(use.site, cst.Call) else use.site
        depth = 0
        while isinstance(part, cst.Attribute | cst.Subscript):
            part, depth = part.value, depth + 1
        return depth
    if use.how is How.METHOD and not use.reads:
        return 1
    return 0 if use.reads and use.how is not How.RETURN and use.how is not How.ITERATE else _ELSEWHERE


def _stays(source: PythonSource, scope: Scope, original: cst.BaseExpression) -> bool:
    return all(is_stable(source, scope, name, scope, _COPIERS) for name in free_names(source, original))


def _left_out(source: PythonSource, scope: Scope, node: cst.BaseExpression) -> Iterator[Replacement]:
    """Replaces a shallow copy that a loop, a test or a reading function takes in."""
    original = _copied(node)
    is_other = isinstance(node, cst.Call) and last_name(node.func) in ("keys", "sorted")
    if original is None or (is_other and not _is_asked(source, node)):
        return
    above = source.parent(node)
    is_walked = isinstance(above, cst.For | cst.CompFor) and above.iter is node
    if is_walked and isinstance(above, cst.For):
        names = free_names(source, original)
        is_walked = bool(names) and all(is_stable(source, scope, name, above) for name in names)
    if is_walked or _is_asked(source, node) or _is_only_read(source, above):
        rewrite = Rewrite(source)
        rewrite.expression(node, source.code(original))
        yield Replacement(node, rewrite.code(), f"'{source.code(node)}' makes a copy that is only walked through")


def _copied(node: cst.BaseExpression) -> cst.BaseExpression | None:
    """Returns ``x`` of ``list(x)``, ``sorted(x)``, ``x[:]``, ``x.copy()`` and ``x.keys()``."""
    match node:
        case cst.Call(func=cst.Name(value=name)) if name in _COPIES:
            return only_argument(node)
        case cst.Call(func=cst.Attribute(value=value, attr=cst.Name(value=name)), args=[]) if name in _COPIES:
            return value
        case cst.Subscript(
            value=value, slice=[cst.SubscriptElement(slice=cst.Slice(lower=None, upper=None, step=None))]
        ):
            return value
    return None


def _is_asked(source: PythonSource, node: cst.BaseExpression) -> bool:
    above = source.parent(node)
    return isinstance(above, cst.ComparisonTarget) and isinstance(above.operator, cst.In | cst.NotIn)


def _is_only_read(source: PythonSource, above: cst.CSTNode | None) -> bool:
    call = source.parent(above) if isinstance(above, cst.Arg) and not above.keyword else None
    return isinstance(call, cst.Call) and last_name(call.func) in _READERS and len(call.args) == 1
