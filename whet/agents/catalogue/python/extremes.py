"""Whole sequences sorted for their smallest or largest few."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import libcst as cst

from whet.agents.catalogue.base import Label
from whet.agents.catalogue.python.edit import PythonEdit, Replacement
from whet.agents.catalogue.python.kinds import bound_value
from whet.agents.catalogue.python.rewrite import Rewrite
from whet.agents.catalogue.python.source import PythonSource, Scope
from whet.agents.catalogue.python.uses import How, Use, bindings, names_in, parameter, uses

_FEW = 10
"""Elements at the start of a sorted list that are taken with heapq where constant indices alone read it. heapq is
faster than sorting only for few: a larger value proposes slower rewrites, a smaller one misses faster ones."""


class SortedForExtremes(PythonEdit):
    """Takes ``min``, ``max``, ``heapq.nsmallest`` or ``nlargest`` where only an end of a sorted list is read."""

    name = "sort-for-extreme"
    label = Label.ALGORITHM
    summary = "takes min, max, nsmallest or nlargest instead of sorting all for one end"
    needs = "`sorted(xs)[0]`, `[-1]` or `[:k]`, or a list that is sorted and then only read by such indices"
    unsafe = "an empty sequence raises ValueError in place of IndexError; a negative k; NaN"
    assumes: tuple[str, ...] = ("no-nan", "non-negative")

    def changes(self, source: PythonSource) -> Iterator[Replacement]:
        """Yields one change a sorted list."""
        for scope in source.scopes:
            for node in source.walk(scope, nested=False):
                if isinstance(node, cst.Subscript) and not source.is_tried(node):
                    yield from _read_once(source, node)
            for name in names_in(source, scope):
                yield from _named(source, scope, name)


class _Sorting(NamedTuple):
    """The arguments of ``sorted(items, key=key, reverse=...)``."""

    items: str
    key: str
    from_top: bool

    @property
    def arguments(self) -> str:
        """What `min`, `max`, `nsmallest` and `nlargest` are called with."""
        return f"{self.items}, key={self.key}" if self.key else self.items

    @property
    def first(self) -> str:
        """The function of heapq that gives the first ones in their order."""
        return "nlargest" if self.from_top else "nsmallest"


def _read_once(source: PythonSource, part: cst.Subscript) -> Iterator[Replacement]:
    sorting = _sorting(source, part.value)
    if sorting is None or len(part.slice) != 1:
        return
    rewrite = Rewrite(source)
    match part.slice[0].slice:
        case cst.Index(value=index) if source.code(index) == "0":
            # reverse keeps equal ones in their order, so that the first of the largest is meant
            rewrite.expression(part, f"{'max' if sorting.from_top else 'min'}({sorting.arguments})")
        case cst.Index(value=index) if source.code(index) == "-1" and not sorting.key:
            rewrite.expression(part, f"{'min' if sorting.from_top else 'max'}({sorting.arguments})")
        case cst.Slice(lower=None, upper=cst.BaseExpression() as count, step=None) if _is_count(source, count):
            if not rewrite.import_name("heapq", sorting.first):
                return
            rewrite.expression(part, f"{sorting.first}({source.code(count)}, {sorting.arguments})")
        case _:
            return
    yield Replacement(part, rewrite.code(), f"all of '{sorting.items}' is sorted, and one end of it is read")


def _named(source: PythonSource, scope: Scope, name: str) -> Iterator[Replacement]:
    """Rewrites ``ordered = sorted(xs)`` where only the first few of ``ordered`` are read."""
    found = uses(source, scope, name)
    binds = bindings(found)
    value = bound_value(source, binds[0]) if len(binds) == 1 else None
    sorting = _sorting(source, value) if value is not None else None
    if sorting is None or value is None or parameter(scope, name) is not None or len(found) < 2:
        return
    counts = {_how_many(source, use) for use in found if use is not binds[0] and use.how is not How.TRUTH}
    few = [int(count) for count in counts if count.isdecimal() and 0 < int(count) <= _FEW]
    if few and len(few) == len(counts):
        count = str(max(few))
    elif len(counts) == 1 and "" not in counts and not any(use.how is How.TRUTH for use in found):
        count = counts.pop()
        if not _is_settled(source, scope, count, binds[0]):
            return
    else:
        return
    rewrite = Rewrite(source)
    if rewrite.import_name("heapq", sorting.first):
        rewrite.expression(value, f"{sorting.first}({count}, {sorting.arguments})")
        yield Replacement(value, rewrite.code(), f"all of '{sorting.items}' is sorted, and the first {count} are read")


def _sorting(source: PythonSource, value: cst.BaseExpression) -> _Sorting | None:
    match value:
        case cst.Call(func=cst.Name(value="sorted"), args=[items, *options]) if not items.star and not items.keyword:
            given = {option.keyword.value: option.value for option in options if option.keyword is not None}
            if len(given) != len(options) or not given.keys() <= {"key", "reverse"}:
                return None
            reverse = source.code(given["reverse"]) if "reverse" in given else "False"
            if reverse in ("True", "False"):
                key = source.code(given["key"]) if "key" in given else ""
                text = source.code(items.value)
                loose = isinstance(items.value, cst.GeneratorExp) and not items.value.lpar
                return _Sorting(f"({text})" if loose else text, key, reverse == "True")
    return None


def _how_many(source: PythonSource, use: Use) -> str:
    """Returns how many of the first elements a use reads, as a text; empty where that cannot be told."""
    if use.how is not How.ITEM or not isinstance(use.site, cst.Subscript) or use.site.value is not use.node:
        return ""
    match use.site.slice[0].slice:
        case cst.Index(value=cst.Integer(value=index)) if index.isdecimal():
            return str(int(index) + 1)
        case cst.Slice(lower=None, upper=cst.Integer(value=count), step=None) if count.isdecimal():
            return count
        case cst.Slice(lower=None, upper=cst.Name(value=count), step=None):
            return count
    return ""


def _is_count(source: PythonSource, count: cst.BaseExpression) -> bool:
    """Whether a slice's end is a number of elements from the front, as far as the text says."""
    return not any(isinstance(node, cst.Subtract | cst.Minus | cst.BinaryOperation) for node in source.walk(count))


def _is_settled(source: PythonSource, scope: Scope, count: str, sorted_at: Use) -> bool:
    """Whether a variable has its value before a list is sorted and keeps it."""
    binds = bindings(uses(source, scope, count))
    if parameter(scope, count) is not None:
        return not binds
    return len(binds) == 1 and source.line(binds[0].node) < source.line(sorted_at.node)
