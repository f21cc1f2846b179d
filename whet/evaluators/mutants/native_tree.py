"""Nodes of the syntax trees that tree-sitter makes of C and C++ code."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from whet.evaluators.syntax.native import below

if TYPE_CHECKING:
    from tree_sitter import Node

SKIPPED = ("comment", "preproc_include", "using_declaration")
"""Kinds of nodes in which no fault is made."""


def nodes(node: Node) -> Iterator[Node]:
    """Yields a node and all below it in which faults can be made, the first in the text first."""
    return below(node, SKIPPED)


def text_of(node: Node) -> str:
    """Returns the text of a node."""
    assert node.text is not None
    return node.text.decode()
