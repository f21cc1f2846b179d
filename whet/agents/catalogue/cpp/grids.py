"""Matrices whose rows are allocated one by one."""

from __future__ import annotations

from collections.abc import Iterator

from whet.agents.catalogue.base import Label
from whet.agents.catalogue.cpp.edit import CppEdit, Replacement, Splice, indentation, newline, whole
from whet.agents.catalogue.cpp.source import CppSource, Region
from whet.agents.catalogue.cpp.variables import Variable, uses, variables


class FlatGrids(CppEdit):
    """Keeps a matrix in one vector, row behind row."""

    name = "flat-grid"
    label = Label.DATA_STRUCTURE
    summary = "keeps a matrix in one vector instead of a vector of vectors"
    needs = "a local `vector<vector<T>> g(n, vector<T>(m))`, used as `g[i][j]`, `g.size()` and `g[i].size()` alone"
    unsafe = "a column beyond the end of its row, which is now one of the next row"

    def changes(self, source: CppSource) -> Iterator[Replacement]:
        """Yields one change a matrix."""
        for found in variables(source):
            is_local = not found.marks and not found.is_member and found.type.startswith("vector < vector <")
            if not is_local or source.has_name(f"{found.name}_height", f"{found.name}_width"):
                continue
            made = _made(source, found)
            looks = [_look(source, found, index) for index in uses(source, found)]
            if made is None or not looks or not all(looks):
                continue
            why = f"each row of '{found.name}' lies in a place of its own"
            yield Replacement(source.tokens[found.at].line, [made, *(each for each in looks if each)], why)


def _made(source: CppSource, found: Variable) -> Splice | None:
    """Returns what declares the flat vector; None where the rows are not made alike."""
    opening = found.at + 1
    end = source.statement_end(found.first)
    if source.word(opening) != "(" or source.partner[opening] != end - 2 or source.word(end - 1) != ";":
        return None
    parts = list(source.split(Region(opening + 1, end - 2)))
    words = source.words(range(found.first, found.at))
    inner_first = found.first + words.index("<") + 1
    inner = Region(inner_first, found.at - 1)
    if len(parts) != 2 or source.words(parts[1])[: inner.end - inner.first] != source.words(inner):
        return None
    call = parts[1].first + inner.end - inner.first
    if source.word(call) != "(" or source.partner[call] != parts[1].end - 1:
        return None
    row = list(source.split(Region(call + 1, parts[1].end - 1)))
    if len(row) not in (1, 2):
        return None
    start = f"{newline(source)}{indentation(source, found.first)}"
    name = found.name
    value = f", {source.slice(row[1])}" if len(row) == 2 else ""
    lines = [
        f"const std::size_t {name}_height = {source.slice(parts[0])}, {name}_width = {source.slice(row[0])};",
        f"{source.slice(inner)} {name}({name}_height * {name}_width{value});",
    ]
    return whole(source, Region(found.first, end), start.join(lines))


def _look(source: CppSource, found: Variable, index: int) -> Splice | None:
    """Returns what looks at the flat vector; None where a row is used as such."""
    name = found.name
    if source.words(range(index + 1, index + 5)) == [".", "size", "(", ")"]:
        return whole(source, Region(index, index + 5), f"{name}_height")
    if source.word(index + 1) != "[" or source.word(index - 1) == "&":
        return None
    row = Region(index + 2, source.partner[index + 1])
    behind = row.end + 1
    if source.words(range(behind, behind + 4)) == [".", "size", "(", ")"]:
        return whole(source, Region(index, behind + 4), f"{name}_width")
    if source.word(behind) != "[" or name in source.words(range(index + 1, source.partner[behind])):
        return None
    column = source.slice(Region(behind + 1, source.partner[behind]))
    text = f"{name}[(std::size_t)({source.slice(row)}) * {name}_width + ({column})]"
    return whole(source, Region(index, source.partner[behind] + 1), text)
