"""Functions of a native target's file that only read what it keeps: called between its calls, they show its state."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from whet.core.signature import Role
from whet.core.task import Task
from whet.evaluators.native_tree import COMMENTS
from whet.evaluators.prototypes import has_c_name
from whet.evaluators.signature import ARGUMENT, QUALIFIERS, TYPES
from whet.evaluators.syntax.native import Source, below, child

if TYPE_CHECKING:
    from tree_sitter import Node

ASKS = frozenset({"size", "length", "empty", "count", "contains", "find", "begin", "end", "cbegin", "cend"})
"""Methods of containers that change nothing."""
TELLS = frozenset({"static_cast", "abs", "labs", "fabs", "sqrt", "min", "max"}) | TYPES.keys()
"""Functions and casts that do no more than compute, without ``std::`` and what stands in angle brackets."""
ACTS = frozenset(
    {"lambda_expression", "new_expression", "delete_expression", "throw_statement", "co_await_expression",
     "gnu_asm_expression"}
)  # fmt: skip
"""What a function that only reads has no need of."""
ELSEWHERE = frozenset({"static", "extern", "thread_local", "_Thread_local", "__thread"})
"""Storage of variables that outlive a call."""


@dataclass(frozen=True, slots=True)
class Reader:
    """A function that only reads.

    Attributes:
        name: of the function.
        returns: type of its result.
        arguments: of each argument, its place among those that an input of the target holds, and its type.
    """

    name: str
    returns: str
    arguments: tuple[tuple[int, str], ...] = ()


def readers(task: Task) -> Iterator[Reader]:
    """Yields functions of the target's file that return a number and only read.

    They take no argument, or numbers that the target takes by the same name and type, so that what the target was
    given is known to be within what they are for.
    """
    if task.reference is not None or task.signature is None:
        return
    text = COMMENTS.sub(" ", task.source)
    parsed = Source.parse(task.language, text)
    if parsed is None:
        return
    known = {(one.name, one.type): place for place, one in enumerate(task.signature.given) if one.role is Role.SCALAR}
    for place in parsed.walk():
        node = place.node
        if node.type != "function_definition" or place.in_function:
            continue
        found = _read(parsed, node, known)
        named = task.language == "c" or has_c_name(text, len(text.encode()[: node.start_byte].decode()))
        if found is not None and named and found.name not in (task.symbol, "main") and _only_reads(parsed, node):
            yield found


def _read(parsed: Source, node: Node, known: dict[tuple[str, str], int]) -> Reader | None:
    """Returns what the head of a function tells; None where it cannot be called with what is known."""
    declared, body = child(node, "declarator"), child(node, "body")
    if declared is None or body is None or declared.type != "function_declarator":
        return None
    head = parsed.text(node)[: declared.start_byte - node.start_byte].replace('"C"', " ").replace("std::", "")
    words = [word for word in head.split() if word not in ("extern", "const")]
    returns = TYPES.get(" ".join(words))
    name, written = parsed.text(child(declared, "declarator")), parsed.text(child(declared, "parameters"))
    arguments = []
    for part in written.strip("()").split(","):
        plain = QUALIFIERS.sub(" ", part).strip()
        if plain in ("", "void"):
            continue
        match = ARGUMENT.fullmatch(plain)
        if match is None or "*" in match["pointer"] or match["array"] is not None:
            return None
        kind = TYPES.get(" ".join(match["type"].split()), "")
        if (match["name"], kind) not in known:
            return None
        arguments.append((known[match["name"], kind], kind))
    return None if returns is None else Reader(name, returns, tuple(arguments))


def _only_reads(parsed: Source, function: Node) -> bool:
    """Whether a function calls nothing but what only tells, and writes nothing but its own variables."""
    own = set()
    for node in below(child(function, "body")):  # what is declared comes before what it is used for
        if node.type == "declaration":
            if any(parsed.text(part) in ELSEWHERE for part in node.children if part.type == "storage_class_specifier"):
                return False
            own |= {name for part in node.children_by_field_name("declarator") if (name := _declared(parsed, part))}
        elif node.type in ACTS:
            return False
        elif node.type == "call_expression":
            if not _only_tells(parsed, child(node, "function")):
                return False
        elif node.type in ("assignment_expression", "update_expression"):
            changed = child(node, "left") or child(node, "argument")
            if changed is None or changed.type != "identifier" or parsed.text(changed) not in own:
                return False
    return True


def _only_tells(parsed: Source, called: Node | None) -> bool:
    """Whether what is called changes nothing."""
    if called is not None and called.type == "field_expression":
        return parsed.text(child(called, "field")) in ASKS
    return parsed.text(called).replace("std::", "").partition("<")[0] in TELLS


def _declared(parsed: Source, node: Node | None) -> str:
    """Returns the name that a declarator gives to a variable of its own; empty for a reference to another one."""
    while node is not None and node.type in ("init_declarator", "pointer_declarator"):
        node = child(node, "declarator")
    return parsed.text(node) if node is not None and node.type == "identifier" else ""
