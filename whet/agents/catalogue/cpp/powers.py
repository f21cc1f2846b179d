"""Powers with small exponents that a library computes."""

from __future__ import annotations

from collections.abc import Iterator

from whet.agents.catalogue.base import Label
from whet.agents.catalogue.cpp.edit import CppEdit, Replacement, Splice, whole
from whet.agents.catalogue.cpp.source import CppSource, Region
from whet.agents.catalogue.cpp.variables import variable

_EXPONENTS = {"2": 2, "2.0": 2, "2.": 2, "3": 3, "3.0": 3, "3.": 3, "4": 4, "4.0": 4, "4.": 4}
_PLAIN = frozenset({"+", "-", "*", "/", "(", ")", "[", "]", ".", "->"})


class SmallPowers(CppEdit):
    """Multiplies for ``pow(x, 2)``."""

    name = "small-power"
    languages: tuple[str, ...] = ("c", "cpp")
    label = Label.ALGORITHM
    summary = "multiplies instead of calling pow for the powers 2 to 4"
    needs = "`pow(x, 2)` with a variable, element or sum x whose evaluation has no effect"
    unsafe = "pow(x, 3) and pow(x, 4) may round otherwise in the last place; arguments of type long double"

    def changes(self, source: CppSource) -> Iterator[Replacement]:
        """Yields one change for the whole file."""
        splices: list[Splice] = []
        lines = []
        for index, token in enumerate(source.tokens):
            if token.text == "pow" and source.word(index + 1) == "(" and source.word(index - 1) not in (".", "->"):
                text = _product(source, index)
                if text:
                    first = index - 2 if source.word(index - 1) == "::" else index
                    splices.append(whole(source, Region(first, source.partner[index + 1] + 1), text))
                    lines.append(token.line)
        if splices and not _has_long_double(source):
            yield Replacement(lines[0], splices, "a library call computes a power that a product gives")


def _product(source: CppSource, index: int) -> str:
    """Returns the product for a call of pow; an empty text where it cannot be one."""
    arguments = list(source.split(Region(index + 2, source.partner[index + 1])))
    if len(arguments) != 2:
        return ""
    times = _EXPONENTS.get("".join(source.words(arguments[1])), 0)
    base = arguments[0]
    is_plain = all(
        source.tokens[here].kind in ("name", "number") or source.word(here) in _PLAIN for here in base
    ) and not any(source.word(here + 1) == "(" and source.tokens[here].kind == "name" for here in base)
    if not times or not is_plain:
        return ""
    text = source.slice(base)
    text = text if base.end - base.first == 1 else f"({text})"
    found = variable(source, text, index)
    first = text if found is not None and found.type == "double" else f"(double){text}"
    product = " * ".join([first, *[text] * (min(times, 3) - 1)])
    if times == 4:
        square = f"({first} * {text})"
        product = f"{square} * {square}"
    return f"({product})"


def _has_long_double(source: CppSource) -> bool:
    return any(token.text == "double" and source.word(at - 1) == "long" for at, token in enumerate(source.tokens))
