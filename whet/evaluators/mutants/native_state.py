"""Faults in how C and C++ code keeps state: in members, in what is static, and in containers.

A write that is dropped and ``+=`` in another's place are among the usual operators.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from whet.evaluators.mutants.native_tree import nodes, text_of

if TYPE_CHECKING:
    from tree_sitter import Node

StateMutation = tuple["Node", str]
"""A node and the text that takes its place."""
DECLARATIONS = ("field_declaration", "declaration")
REBOUND = ("push_back", "insert", "emplace_back")


def faults(root: Node) -> Iterator[StateMutation]:
    """Yields faults of state in a file."""
    kept = dict.fromkeys(_kept(root))
    for function in nodes(root):
        if function.type == "function_definition":
            yield from _in_function(function, list(kept))


def _in_function(function: Node, kept: list[str]) -> Iterator[StateMutation]:
    body = function.child_by_field_name("body")
    statements = body.named_children if body is not None else []
    returned = text_of(statements[-1]) if statements and statements[-1].type == "return_statement" else "return;"
    for node in nodes(function):
        target = node.child_by_field_name("left" if node.type == "assignment_expression" else "argument")
        if node.type in ("assignment_expression", "update_expression") and target is not None and _name(target) in kept:
            alone = node.parent is not None and node.parent.type == "expression_statement"
            if alone and node.parent is not None:
                yield node.parent, returned
            if node.type == "update_expression":
                yield node, f"{text_of(target)} = 1"
            yield from (
                (target, text_of(target).replace(_name(target), other)) for other in kept if other != _name(target)
            )
        elif node.type == "call_expression":
            yield from _rebound(node)


def _rebound(call: Node) -> Iterator[StateMutation]:
    """``x.push_back(y)`` to ``x = {y}``."""
    called, arguments = call.child_by_field_name("function"), call.child_by_field_name("arguments")
    if called is None or arguments is None or called.type != "field_expression":
        return
    field, owner = called.child_by_field_name("field"), called.child_by_field_name("argument")
    if field is not None and owner is not None and text_of(field) in REBOUND and len(arguments.named_children) == 1:
        yield call, f"{text_of(owner)} = {{{text_of(arguments.named_children[0])}}}"


def _kept(root: Node) -> Iterator[str]:
    """Yields names of members, of globals and of static variables."""
    for node in nodes(root):
        if node.type not in DECLARATIONS:
            continue
        top = node.parent is not None and node.parent.type in ("translation_unit", "declaration_list")
        if node.type == "field_declaration" or top or text_of(node).startswith("static"):
            yield from (name for child in node.children_by_field_name("declarator") if (name := _name(child)))


def _name(node: Node) -> str:
    """Returns the name of what a node declares or writes: of a function, or of what is computed, none."""
    if node.type in ("identifier", "field_identifier"):
        return text_of(node)
    for field in ("declarator", "field", "argument"):
        inner = node.child_by_field_name(field)
        if inner is not None and node.type != "function_declarator":
            return _name(inner)
    return ""
