"""Numbers that never change, and are variables for the compiler."""

from __future__ import annotations

from collections.abc import Iterator

from whet.agents.catalogue.base import Label
from whet.agents.catalogue.cpp.edit import CppEdit, Replacement, Splice
from whet.agents.catalogue.cpp.source import CppSource, Region
from whet.agents.catalogue.cpp.uses import may_change
from whet.agents.catalogue.cpp.variables import Variable, is_global, uses, variables

_NUMBERS = frozenset({
    "int", "long", "long long", "unsigned", "unsigned int", "unsigned long", "unsigned long long", "size_t", "short",
    "double", "int64_t", "uint64_t", "int32_t", "uint32_t",
})  # fmt: skip
_ARITHMETIC = frozenset({"+", "-", "*", "/", "(", ")", "<<"})


class ConstantGlobals(CppEdit):
    """Makes constants of global numbers that nothing changes."""

    name = "constant-global"
    languages: tuple[str, ...] = ("c", "cpp")
    label = Label.ALGORITHM
    summary = "tells the compiler that a global number never changes, so that divisions and bounds by it are known"
    needs = "`int n = 1000;` outside all functions, which the file never changes"
    unsafe = "another file that changes the number"

    def changes(self, source: CppSource) -> Iterator[Replacement]:
        """Yields one change for all such numbers of the file."""
        found = [each for each in variables(source) if _is_constant(source, each)]
        if found:
            splices = [Splice(start, start, "const ") for start in sorted({_start(source, each) for each in found})]
            names = ", ".join(f"'{each.name}'" for each in found)
            yield Replacement(
                source.tokens[found[0].at].line, splices, f"{names} never changes, and is loaded each time"
            )


def _start(source: CppSource, found: Variable) -> int:
    return source.tokens[found.first].start


def _is_constant(source: CppSource, found: Variable) -> bool:
    is_plain = found.type in _NUMBERS and not (found.marks or found.is_const or found.is_member)
    value = Region(found.at + 2, source.statement_end(found.first) - 1)
    if not is_plain or not is_global(source, found) or source.block_around(found.at).first != 0:
        return False
    is_known = source.word(found.at + 1) == "=" and all(
        source.tokens[index].kind == "number" or source.word(index) in _ARITHMETIC for index in value
    )
    if not is_known or "volatile" in source.words(range(found.first, found.at)):
        return False
    places = uses(source, found)
    return bool(places) and not any(may_change(source, found.name, Region(index, index + 1)) for index in places)
