"""Reads C and C++ with tree-sitter, whatever errors stand in it."""

from __future__ import annotations

from collections.abc import Container, Iterator
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Node, Parser, Tree

LONGEST = 1 << 18
"""Bytes of the longest text that is read."""
MOST = 2000
"""Bytes of a node that are looked at: nodes hold each other, so whole texts would cost the square of the length."""
FUNCTIONS = ("function_definition", "lambda_expression")


@dataclass(frozen=True, slots=True)
class NodeContext:
    """A node and where it stands.

    Attributes:
        node: of the tree.
        in_function: whether in a function's body.
        parent: type of the node around it.
        loops: how many loops of its function it stands in.
    """

    node: Node
    in_function: bool
    parent: str
    loops: int


class Source:
    """A text that was parsed."""

    def __init__(self, data: bytes, tree: Tree) -> None:
        self._data = data
        self._tree = tree
        self.lines = data.decode("utf-8", "replace").split("\n")

    @classmethod
    def parse(cls, language: str, source: str) -> Source | None:
        """Parses a text; None where it is too long."""
        data = source.encode("utf-8", "replace")
        return cls(data, _parser(language).parse(data)) if len(data) <= LONGEST else None

    def text(self, node: Node | None) -> str:
        """Returns what stands at a node, as far as it is looked at."""
        if node is None:
            return ""
        return self._data[node.start_byte : min(node.end_byte, node.start_byte + MOST)].decode("utf-8", "replace")

    def line(self, node: Node) -> tuple[int, str]:
        """Returns the number of the line that a node begins in, and the line."""
        row = node.start_point[0]
        return row + 1, self.lines[row].strip() if row < len(self.lines) else ""

    @property
    def broken(self) -> bool:
        """Whether something in it could not be read."""
        return self._tree.root_node.has_error

    def leaves(self) -> Iterator[tuple[str, bytes, bytes]]:
        """Yields the tokens and comments: type, text, and what stands between it and the one before."""
        cursor = self._tree.walk()
        end = 0
        while True:
            if cursor.goto_first_child():
                continue
            node = cursor.node
            assert node is not None
            yield node.type, self._data[node.start_byte : node.end_byte], self._data[end : node.start_byte]
            end = node.end_byte
            while not cursor.goto_next_sibling():
                if not cursor.goto_parent():
                    return

    def walk(self) -> Iterator[NodeContext]:
        """Yields the named nodes in the order of the text; nesting costs no stack."""
        cursor = self._tree.walk()
        functions, around, loops = 0, [""], [0]
        while True:
            node = cursor.node
            assert node is not None
            kind = node.type
            if node.is_named:
                yield NodeContext(node, functions > 0, around[-1], loops[-1])
            if cursor.goto_first_child():
                functions += kind in FUNCTIONS
                around.append(kind)
                loops.append(0 if kind in FUNCTIONS else loops[-1] + (kind in LOOPS))
                continue
            while not cursor.goto_next_sibling():
                if not cursor.goto_parent():
                    return
                functions -= around.pop() in FUNCTIONS
                loops.pop()


LOOPS = ("for_statement", "while_statement", "do_statement", "for_range_loop")


@cache
def _parser(language: str) -> Parser:
    import tree_sitter
    import tree_sitter_c
    import tree_sitter_cpp

    grammar = tree_sitter_c if language == "c" else tree_sitter_cpp
    return tree_sitter.Parser(tree_sitter.Language(grammar.language()))


def child(node: Node, name: str) -> Node | None:
    """Returns the child of a field."""
    return node.child_by_field_name(name)


def below(node: Node | None, skipped: Container[str] = ()) -> Iterator[Node]:
    """Yields a node and all below it, the first in the text first; nesting costs no stack.

    Args:
        node: of a tree; None is an empty one.
        skipped: kinds that are left out, with all below them.
    """
    waiting = [] if node is None else [node]
    while waiting:
        one = waiting.pop()
        if one.type not in skipped:
            yield one
            waiting.extend(reversed(one.children))
