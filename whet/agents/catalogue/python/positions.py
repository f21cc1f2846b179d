"""`xs.index(x)` in a loop: a search from the front for each element."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from whet.agents.catalogue.base import Label
from whet.agents.catalogue.python.edit import PythonEdit, Replacement
from whet.agents.catalogue.python.hoisting import constants_end, hoist
from whet.agents.catalogue.python.kinds import kind_of
from whet.agents.catalogue.python.rewrite import Rewrite
from whet.agents.catalogue.python.source import PythonSource, Scope, last_name
from whet.agents.catalogue.python.uses import How, Use, names_in, only_argument, uses


class FirstPositions(PythonEdit):
    """Looks positions up in a dictionary that is made once before the loop."""

    name = "first-positions"
    label = Label.DATA_STRUCTURE
    summary = "looks the first position of an element up in a dictionary instead of searching the list for it"
    needs = "`xs.index(x)` in a loop, or `key=xs.index`, while the list xs does not change"
    unsafe = "elements that cannot be hashed; a missing element raises KeyError in place of ValueError"
    assumes: tuple[str, ...] = ("hashable", "no-string")

    def changes(self, source: PythonSource) -> Iterator[Replacement]:
        """Yields one change a list."""
        for scope in source.scopes:
            for name in names_in(source, scope):
                found = uses(source, scope, name)
                searches = [use for use in found if use.calls("index") or last_name(use.site) == "index"]
                if searches and kind_of(source, scope, name, found) in ("list", None):
                    yield from _looked_up(source, scope, name, found)
                    yield from _key(source, name, found)


def _looked_up(source: PythonSource, scope: Scope, name: str, found: list[Use]) -> Iterator[Replacement]:
    positions = source.fresh(f"{name}_positions")
    replacements: dict[cst.CSTNode, str] = {}
    for use in found:
        element = only_argument(use.site) if use.calls("index") else None
        if element is not None:
            replacements[use.site] = f"{positions}[{source.code(element)}]"
    searches = list(replacements)
    if not searches:
        return
    rewrite = Rewrite(source)
    constant = constants_end(source, scope, {name})
    if constant is not None and not any(source.is_tried(search) for search in searches):
        rewrite.after(constant, _made(positions, name))
        for search, text in replacements.items():
            rewrite.expression(search, text)
        yield Replacement(searches[0], rewrite.code(), _why(name))
        return
    replacements.update((use.node, positions) for use in found if use.how is How.MEMBER)
    moved = hoist(rewrite, scope, replacements, {name}, _made(positions, name))
    first = next((node for node in moved if node in searches), None)
    if first is not None:
        yield Replacement(first, rewrite.code(), _why(name))


def _key(source: PythonSource, name: str, found: list[Use]) -> Iterator[Replacement]:
    """Replaces ``sorted(ys, key=xs.index)``."""
    for use in found:
        argument, statement = source.parent(use.site), source.statement_of(use.site)
        if use.how is not How.ATTRIBUTE or last_name(use.site) != "index" or not isinstance(argument, cst.Arg):
            continue
        if argument.keyword is not None and isinstance(statement, cst.SimpleStatementLine):
            positions = source.fresh(f"{name}_positions")
            rewrite = Rewrite(source)
            rewrite.before(statement, _made(positions, name))
            rewrite.expression(use.site, f"{positions}.__getitem__")
            yield Replacement(use.site, rewrite.code(), _why(name))


def _made(positions: str, name: str) -> str:
    # from the back, so that the first of equal elements is the one that stays
    return f"{positions} = {{each: place for place, each in reversed([*enumerate({name})])}}"


def _why(name: str) -> str:
    return f"'{name}.index' searches the list from the front each time; a dictionary finds the place at once"
