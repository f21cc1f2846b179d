"""Lists from which the smallest element is taken again and again."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import libcst as cst

from whet.agents.catalogue.base import Label
from whet.agents.catalogue.python.edit import PythonEdit, Replacement
from whet.agents.catalogue.python.kinds import bound_value
from whet.agents.catalogue.python.rewrite import Rewrite
from whet.agents.catalogue.python.source import PythonSource, Scope
from whet.agents.catalogue.python.uses import (
    PURE_FUNCTIONS,
    How,
    Use,
    bindings,
    free_names,
    names_in,
    only_argument,
    parameter,
    uses,
    within,
)


class Heaps(PythonEdit):
    """Keeps the elements in a heap; with a key, together with their keys and the order in which they came."""

    name = "heap-for-minimum"
    label = Label.DATA_STRUCTURE
    summary = "takes the smallest element from a heap instead of sorting or searching the whole list each time"
    needs = "`q.sort()` and `q.pop(0)`, or `x = min(q)` and `q.remove(x)`, in a loop that otherwise only appends to q"
    unsafe = "elements that change while they are in the list; elements that do not compare"
    assumes: tuple[str, ...] = ("no-nan", "ordered", "real")

    def changes(self, source: PythonSource) -> Iterator[Replacement]:
        """Yields one change a list."""
        for scope in source.scopes:
            for name in names_in(source, scope):
                found = uses(source, scope, name)
                taken = _taken(source, found)
                if taken is not None and _fits(source, scope, name, found, taken):
                    yield from _as_heap(source, name, found, taken)


class _SmallestUses(NamedTuple):
    """How the smallest is taken: the expressions that give it, the uses that only prepare or end that, the key."""

    smallest: list[Use]
    gone: list[Use]
    key: str


def _taken(source: PythonSource, found: list[Use]) -> _SmallestUses | None:
    sorts = [use for use in found if use.calls("sort") and source.has_line(use.node)]
    if sorts:
        arguments = {source.code(each) for use in sorts if isinstance(use.site, cst.Call) for each in use.site.args}
        pops = [use for use in found if use.calls("pop")]
        wanted = [[]] if arguments == {"reverse=True"} else [["0"]]
        if not pops or any(_arguments(source, use) not in wanted for use in pops):
            return None
        if not all(any(_is_sorted_before(source, sort, use, found) for sort in sorts) for use in pops):
            return None
        keys = arguments - {"reverse=True"}
        if len(keys) > 1 or len(arguments) > 1 or any(_arguments(source, use) != sorted(arguments) for use in sorts):
            return None
        return _SmallestUses(pops, sorts, keys.pop() if keys else "")
    minima = [use for use in found if use.how is How.ARGUMENT and use.word == "min"]
    removals = [use for use in found if use.calls("remove") and source.has_line(use.node)]
    if not minima or len(minima) != len(removals):
        return None
    if not all(_is_removed(source, one, other) for one, other in zip(minima, removals, strict=True)):
        return None
    keys = {", ".join(_arguments(source, use)[1:]) for use in minima}
    return _SmallestUses(minima, removals, keys.pop()) if len(keys) == 1 else None


def _as_heap(source: PythonSource, name: str, found: list[Use], taken: _SmallestUses) -> Iterator[Replacement]:
    rewrite = Rewrite(source)
    functions = ["heappop"]
    key, came = source.fresh(f"{name}_key"), source.fresh(f"{name}_came")
    for bind in bindings(found):
        statement, value = source.statement_of(bind.node), bound_value(source, bind)
        if taken.key:
            rewrite.before(statement, f"{key} = {taken.key.removeprefix('key=').strip()}")
            rewrite.before(statement, f"{came} = count()")
        if isinstance(value, cst.List) and not value.elements:
            continue
        if taken.key and value is not None:
            entries = f"[({key}(each), next({came}), each) for each in {source.code(value)}]"
            rewrite.statement(statement, f"{name} = {entries}")
        if not isinstance(value, cst.List) or len(value.elements) > 1:
            rewrite.after(statement, f"heapify({name})")
            functions.append("heapify")
    for use in found:
        if use.calls("append"):
            functions.append("heappush")
            element = only_argument(use.site)
            assert element is not None
            text = source.code(element)
            if taken.key and not isinstance(element, cst.Name):
                new = source.fresh(f"{name}_new")
                rewrite.before(source.statement_of(use.node), f"{new} = {text}")
                text = new
            entry = f"({key}({text}), next({came}), {text})" if taken.key else text
            rewrite.expression(use.site, f"heappush({name}, {entry})")
        elif use.how is How.ITEM and taken.key:
            rewrite.expression(use.site, f"{name}[0][2]")
    for use in taken.smallest:
        rewrite.expression(use.site, f"heappop({name}){'[2]' if taken.key else ''}")
    for use in taken.gone:
        rewrite.remove(source.statement_of(use.node))
    has_heap = rewrite.import_name("heapq", *sorted(set(functions)))
    if has_heap and (not taken.key or rewrite.import_name("itertools", "count")):
        why = f"the whole list '{name}' is gone through for each smallest element that is taken from it"
        yield Replacement(taken.smallest[0].site, rewrite.code(), why)


def _fits(source: PythonSource, scope: Scope, name: str, found: list[Use], taken: _SmallestUses) -> bool:
    """Whether a list of the function is used in no way that shows the order of its elements."""
    binds = bindings(found)
    if parameter(scope, name) is not None or not binds or not all(source.has_line(bind.node) for bind in binds):
        return False
    if not all(_is_new_list(bound_value(source, bind)) for bind in binds) or not _is_own_key(source, taken):
        return False
    if not any(not within(source, binds, loop) for use in taken.smallest for loop in source.repetitions(use.node)):
        return False
    return all(
        use in binds or use in taken.smallest or use in taken.gone or _is_blind(source, use, taken) for use in found
    )


def _is_blind(source: PythonSource, use: Use, taken: _SmallestUses) -> bool:
    """Whether a use is the same for a heap: it adds, asks how many there are, or looks at the first."""
    if use.calls("append"):
        return source.has_line(use.node) and only_argument(use.site) is not None
    if use.how is How.ARGUMENT:
        return use.word == "len"
    if use.how is How.ITEM and isinstance(use.site, cst.Subscript):
        is_first = [source.code(each) for each in use.site.slice] == ["0"]
        return is_first and (taken.smallest[0].calls("pop") or _is_alone(source, use, taken))
    return use.how is How.TRUTH or (use.how is How.MEMBER and not taken.key)


def _is_alone(source: PythonSource, use: Use, taken: _SmallestUses) -> bool:
    """Whether the first element is read after a loop that leaves no other."""
    loops = source.repetitions(taken.smallest[0].node)
    test = source.code(loops[-1].test) if loops and isinstance(loops[-1], cst.While) else ""
    return test == f"len({use.node.value}) > 1" and source.line(use.node) > source.line(taken.smallest[-1].node)


def _is_new_list(value: cst.BaseExpression | None) -> bool:
    if isinstance(value, cst.List | cst.ListComp):
        return True
    return isinstance(value, cst.Call) and isinstance(value.func, cst.Name) and value.func.value in ("list", "sorted")


def _is_own_key(source: PythonSource, taken: _SmallestUses) -> bool:
    """Whether the key of an element depends on nothing but the element."""
    if not taken.key:
        return True
    for argument in (each for use in taken.gone + taken.smallest for each in getattr(use.site, "args", ())):
        if argument.keyword is not None and argument.keyword.value == "key":
            key = argument.value
            if not isinstance(key, cst.Lambda):
                return False
            own = {each.name.value for each in key.params.params}
            if free_names(source, key.body) - own - PURE_FUNCTIONS or len(own) != 1:
                return False
    return True


def _is_sorted_before(source: PythonSource, sort: Use, pop: Use, found: list[Use]) -> bool:
    """Whether a list is in order at a pop: it is sorted in the same block, and nothing is added in between."""
    sorting, popping = source.statement_of(sort.node), source.statement_of(pop.node)
    siblings = source.block(popping)
    if sorting not in siblings or popping not in siblings:
        return False
    first, last = siblings.index(sorting), siblings.index(popping)
    between = siblings[first:last] if first < last else [*siblings[first:], *siblings[:last]]
    return not any(use.calls("append") for statement in between for use in within(source, found, statement))


def _is_removed(source: PythonSource, smallest: Use, removal: Use) -> bool:
    """Whether ``x = min(q)`` is followed by ``q.remove(x)`` in the same block."""
    statement = source.statement_of(smallest.node)
    siblings = source.block(statement)
    ends = source.statement_of(removal.node)
    removed = only_argument(removal.site)
    if ends not in siblings or siblings.index(ends) <= siblings.index(statement) or not source.has_line(smallest.node):
        return False
    match statement:
        case cst.SimpleStatementLine(
            body=[cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=name))], value=value)]
        ):
            return value is smallest.site and isinstance(removed, cst.Name) and removed.value == name
    return False


def _arguments(source: PythonSource, use: Use) -> list[str]:
    return [source.code(each) for each in use.site.args] if isinstance(use.site, cst.Call) else []
