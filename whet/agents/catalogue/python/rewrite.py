"""Putting new parts into a tree."""

from __future__ import annotations

from collections.abc import Callable

import libcst as cst

from whet.agents.catalogue.python.source import PythonSource

_BLANK = cst.EmptyLine(indent=False)


class Rewrite:
    """Collects changes to one file, then writes them out; a replaced part hides changes inside it.

    Attributes:
        source: the file.
    """

    def __init__(self, source: PythonSource) -> None:
        self.source = source
        self._changed: dict[cst.CSTNode, Callable[[cst.CSTNode], cst.CSTNode]] = {}
        self._replaced: dict[cst.CSTNode, cst.CSTNode] = {}
        self._removed: set[cst.CSTNode] = set()
        self._before: dict[cst.CSTNode, list[cst.CSTNode]] = {}
        self._after: dict[cst.CSTNode, list[cst.CSTNode]] = {}

    def expression(self, old: cst.CSTNode, text: str) -> None:
        """Puts another expression in the place of one."""
        self._replaced[old] = cst.parse_expression(text, config=self.source.module.config_for_parsing)

    def statement(self, old: cst.CSTNode, text: str, gone: cst.CSTNode | None = None) -> None:
        """Puts another statement in the place of one; comments above it stay.

        Args:
            old: the statement.
            text: the new one.
            gone: a statement further up to take away; what stands above it comes down.
        """
        above = getattr(old, "leading_lines", ())
        if gone is not None:
            self._removed.add(gone)
            above = (*getattr(gone, "leading_lines", ()), *(line for line in above if line.comment))
        new = self._parse(text, above)
        if isinstance(old, cst.SimpleStatementLine):
            new = new.with_changes(trailing_whitespace=old.trailing_whitespace)
        self._replaced[old] = new

    def remove(self, statement: cst.CSTNode) -> None:
        """Takes a statement of a block away, with the comments above it."""
        self._removed.add(statement)

    def change(self, old: cst.CSTNode, how: Callable[[cst.CSTNode], cst.CSTNode]) -> None:
        """Puts what ``how`` makes of a node in its place; changes inside the node are made before."""
        self._changed[old] = how

    def before(self, statement: cst.CSTNode, text: str) -> None:
        """Adds a statement before one of a block."""
        self._before.setdefault(statement, []).append(self._parse(text))

    def after(self, statement: cst.CSTNode, text: str) -> None:
        """Adds a statement after one of a block."""
        self._after.setdefault(statement, []).append(self._parse(text))

    def top_level(self, text: str) -> None:
        """Adds a statement at the top of the file, below the docstring and the imports there."""
        body = self.source.module.body
        head = 1 if body and _is_docstring(body[0]) else 0
        imports = head
        while imports < len(body) and _is_import(body[imports]):
            imports += 1
        is_import = text.startswith(("from ", "import "))
        if imports == 0:
            self._before.setdefault(body[0], []).append(self._parse(text))
            self.change(body[0], _with_space_above)
            return
        space = () if is_import and imports > head else (_BLANK,)
        added = self._after.setdefault(body[imports - 1], [])
        # an import added after a constant still has to stand above it
        added.insert(0 if is_import else len(added), self._parse(text, space))

    def import_name(self, module: str, *names: str) -> bool:
        """Makes names of a module available; false where the file uses one of them for something else."""
        parts = [part for statement in self.source.module.body for part in _small_statements(statement)]
        missing = [name for name in names if not any(_imports(part, module, name) for part in parts)]
        if any(name in self.source.names(self.source.module) for name in missing):
            return False
        if missing:
            self.top_level(f"from {module} import {', '.join(missing)}")
        return True

    def code(self) -> str:
        """Returns the text of the changed file."""
        return self.source.module.visit(self._writer()).code

    def _writer(self) -> _Writer:
        return _Writer(self._replaced, self._removed, self._before, self._after, self._changed)

    def _parse(self, text: str, leading_lines: tuple[cst.EmptyLine, ...] = ()) -> cst.CSTNode:
        statement = cst.parse_statement(text, config=self.source.module.config_for_parsing)
        return statement.with_changes(leading_lines=leading_lines)


class _Writer(cst.CSTTransformer):
    def __init__(
        self,
        replaced: dict[cst.CSTNode, cst.CSTNode],
        removed: set[cst.CSTNode],
        before: dict[cst.CSTNode, list[cst.CSTNode]],
        after: dict[cst.CSTNode, list[cst.CSTNode]],
        changed: dict[cst.CSTNode, Callable[[cst.CSTNode], cst.CSTNode]],
    ) -> None:
        super().__init__()
        self._replaced = replaced
        self._removed = removed
        self._before = before
        self._after = after
        self._changed = changed

    def on_leave(  # type: ignore[override]
        self, original_node: cst.CSTNode, updated_node: cst.CSTNode
    ) -> cst.CSTNode | cst.RemovalSentinel | cst.FlattenSentinel[cst.CSTNode]:
        new = self._replaced.get(original_node, updated_node)
        if original_node in self._changed:
            new = self._changed[original_node](new)
        before = self._before.get(original_node, [])
        after = self._after.get(original_node, [])
        if original_node in self._removed:
            return cst.FlattenSentinel([*before, *after]) if before or after else cst.RemovalSentinel.REMOVE
        return cst.FlattenSentinel([*before, new, *after]) if before or after else new


def _with_space_above(statement: cst.CSTNode) -> cst.CSTNode:
    return statement.with_changes(leading_lines=[_BLANK, _BLANK, *getattr(statement, "leading_lines", ())])


def _small_statements(statement: cst.CSTNode) -> tuple[cst.BaseSmallStatement, ...]:
    return tuple(statement.body) if isinstance(statement, cst.SimpleStatementLine) else ()


def _is_import(statement: cst.CSTNode) -> bool:
    parts = _small_statements(statement)
    return bool(parts) and all(isinstance(part, cst.Import | cst.ImportFrom) for part in parts)


def _is_docstring(statement: cst.CSTNode) -> bool:
    parts = _small_statements(statement)
    return len(parts) == 1 and isinstance(parts[0], cst.Expr) and isinstance(parts[0].value, cst.SimpleString)


def _imports(node: cst.CSTNode, module: str, name: str) -> bool:
    if not isinstance(node, cst.ImportFrom) or isinstance(node.names, cst.ImportStar):
        return False
    if not isinstance(node.module, cst.Name) or node.module.value != module:
        return False
    return any(alias.name.value == name and alias.asname is None for alias in node.names)
