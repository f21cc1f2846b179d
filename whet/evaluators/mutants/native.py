"""Faults in C and C++ code, made on the syntax tree of tree-sitter, by putting other text in a node's place."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import TYPE_CHECKING

from whet.evaluators.mutants import native_state
from whet.evaluators.mutants.base import STATE, Mutation
from whet.evaluators.mutants.native_tree import nodes, text_of

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

NativeMutation = tuple["Node", str]
"""A node and the text that takes its place."""
Operator = Callable[["Node"], Iterator[NativeMutation]]

ARITHMETIC = {
    "+": ("-",), "-": ("+",), "*": ("+", "/"), "/": ("*",), "%": ("/",), "&": ("|",), "|": ("&",), "^": ("&",),
}  # fmt: skip
COMPARED = {
    "<": ("<=", ">="), "<=": ("<", ">"), ">": (">=", "<="), ">=": (">", "<"), "==": ("!=",), "!=": ("==",),
}  # fmt: skip
LOGICAL = {"&&": "||", "||": "&&"}
ASSIGNED = {
    "+=": ("-=", "="), "-=": ("+=", "="), "*=": ("+=", "="), "/=": ("*=", "="), "%=": ("/=", "="), "|=": ("&=",),
    "&=": ("|=",), "^=": ("|=",), "<<=": (">>=",), ">>=": ("<<=",),
}  # fmt: skip
STEPS = {"++": "--", "--": "++"}
TWINS = {
    "min": "max", "max": "min", "first": "second", "second": "first", "begin": "end", "end": "begin", "front": "back",
    "back": "front", "push_back": "pop_back", "lower_bound": "upper_bound", "upper_bound": "lower_bound",
    "tolower": "toupper", "toupper": "tolower", "isalpha": "isalnum", "isdigit": "isxdigit", "isspace": "isblank",
    "floor": "ceil", "ceil": "floor", "find": "count", "strcspn": "strspn", "strspn": "strcspn",
    "insert": "erase",
}  # fmt: skip
"""Names that are easily taken for each other."""
TESTED = ("if_statement", "while_statement", "do_statement")


def changes(source: str, language: str) -> list[Mutation]:
    """Returns every fault that could be made in a file."""
    data = source.encode()
    found: list[Mutation] = []
    root = _parser(language).parse(data).root_node
    for place, text in native_state.faults(root):
        found.append(Mutation(STATE, place.start_point[0] + 1, _render(data, place, text)))
    for node in nodes(root):
        for name, operator in OPERATORS.items():
            for place, text in operator(node):
                found.append(Mutation(name, place.start_point[0] + 1, _render(data, place, text)))
    return found


def meaning(text: str, language: str) -> str | None:
    """Returns what tells two sources apart but for their layout and comments: their tokens."""
    root = _parser(language).parse(text.encode()).root_node
    return "\0".join(text_of(node) for node in nodes(root) if not node.child_count or node.type == "string_literal")


@cache
def _parser(language: str) -> Parser:
    import tree_sitter_c
    import tree_sitter_cpp
    from tree_sitter import Language, Parser

    grammar = tree_sitter_c if language == "c" else tree_sitter_cpp
    return Parser(Language(grammar.language()))


def _render(data: bytes, place: Node, text: str) -> Callable[[], str]:
    start, end = place.start_byte, place.end_byte

    def render() -> str:
        return (data[:start] + text.encode() + data[end:]).decode()

    return render


def _operator(node: Node) -> Node | None:
    return node.child_by_field_name("operator")


def _sides(node: Node) -> tuple[Node, Node] | None:
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    return (left, right) if left is not None and right is not None else None


def _replaced(kinds: tuple[str, ...], table: dict[str, tuple[str, ...]]) -> Operator:
    def operator(node: Node) -> Iterator[NativeMutation]:
        sign = _operator(node) if node.type in kinds else None
        if sign is not None:
            yield from ((sign, other) for other in table.get(text_of(sign), ()))

    return operator


def _boolean(node: Node) -> Iterator[NativeMutation]:
    sign = _operator(node) if node.type == "binary_expression" else None
    if sign is not None and text_of(sign) in LOGICAL:
        yield sign, LOGICAL[text_of(sign)]


def _operand(node: Node) -> Iterator[NativeMutation]:
    """``a + b`` to ``a`` and to ``b``, ``-a`` and ``!a`` to ``a``, ``c ? a : b`` to each; of ``a << b`` the last."""
    sides = _sides(node) if node.type == "binary_expression" else None
    sign = _operator(node)
    if sides is not None and sign is not None and text_of(sign) not in COMPARED:
        yield node, text_of(sides[0])
        if text_of(sign) not in ("<<", ">>"):
            yield node, text_of(sides[1])
    elif node.type == "unary_expression" and sign is not None and text_of(sign) in "-!~":
        argument = node.child_by_field_name("argument")
        assert argument is not None
        yield node, text_of(argument)
    elif node.type == "conditional_expression":
        for branch in ("consequence", "alternative"):
            if (kept := node.child_by_field_name(branch)) is not None:
                yield node, text_of(kept)


def _condition(node: Node) -> Iterator[NativeMutation]:
    test = node.child_by_field_name("condition")
    if test is None or node.type not in (*TESTED, "for_statement", "conditional_expression"):
        return
    whole = text_of(test) if node.type in TESTED else f"({text_of(test)})"
    yield test, f"(!{whole})"
    yield test, "(0)"
    if node.type in ("if_statement", "conditional_expression"):
        yield test, "(1)"


def _constant(node: Node) -> Iterator[NativeMutation]:
    text = text_of(node)
    if node.type == "number_literal":
        digits = text.rstrip("uUlLfF")
        if digits.isdigit() and (digits == "0" or not digits.startswith("0")):
            suffix = text[len(digits) :]
            yield node, f"{int(digits) + 1}{suffix}"
            yield node, f"{int(digits) - 1}{suffix}" if digits != "0" else f"(-1{suffix})"
        elif "." in digits and "x" not in digits.lower():
            yield node, f"({text} + 1)"
            yield node, f"({text} * 2)"
            yield node, "0.0"
    elif node.type == "char_literal":
        yield node, f"(char)({text} + 1)"
    elif node.type in ("true", "false"):
        yield node, "false" if node.type == "true" else "true"


def _string(node: Node) -> Iterator[NativeMutation]:
    if node.type == "string_literal" and (node.parent is None or not node.parent.type.startswith("preproc")):
        yield node, '""' if len(text_of(node)) > 2 else '"x"'


def _bound(node: Node) -> Iterator[NativeMutation]:
    """Indices off by one."""
    if node.type == "subscript_argument_list" or (node.type == "subscript_expression" and _index(node) is not None):
        index = node.named_children[0] if node.type == "subscript_argument_list" else _index(node)
        if index is not None and index.type != "string_literal":
            yield index, f"({text_of(index)}) + 1"
            yield index, f"({text_of(index)}) - 1"


def _index(node: Node) -> Node | None:
    return node.child_by_field_name("index")


def _statement(node: Node) -> Iterator[NativeMutation]:
    if node.type == "expression_statement" and text_of(node) != ";":
        yield node, ";"
    elif node.type == "else_clause":
        yield node, ""
    elif node.type == "if_statement" and node.parent is not None and node.parent.type != "else_clause":
        yield node, ";"


def _jump(node: Node) -> Iterator[NativeMutation]:
    if node.type == "break_statement":
        yield from ((node, other) for other in ("continue;", ";"))
    elif node.type == "continue_statement":
        yield from ((node, other) for other in ("break;", ";"))


def _step(node: Node) -> Iterator[NativeMutation]:
    if node.type == "update_expression":
        sign = _operator(node)
        assert sign is not None
        yield sign, STEPS[text_of(sign)]


def _arguments(node: Node) -> Iterator[NativeMutation]:
    """The first two arguments, or parts of an initialiser, swapped."""
    if node.type in ("argument_list", "initializer_list") and len(node.named_children) > 1 and not _commutes(node):
        first, second, *rest = node.named_children
        yield node, _rejoined(node, [second, first, *rest])


def _commutes(arguments: Node) -> bool:
    called = arguments.parent.child_by_field_name("function") if arguments.parent is not None else None
    return called is not None and text_of(called).endswith(("min", "max"))


def _rejoined(node: Node, parts: list[Node]) -> str:
    opening, closing = text_of(node)[0], text_of(node)[-1]
    return f"{opening}{', '.join(map(text_of, parts))}{closing}"


def _call(node: Node) -> Iterator[NativeMutation]:
    """``f(x)`` to ``x``: a conversion that got lost."""
    arguments = node.child_by_field_name("arguments") if node.type == "call_expression" else None
    if arguments is not None and len(arguments.named_children) == 1 and not _stands_alone(node):
        yield node, f"({text_of(arguments.named_children[0])})"


def _stands_alone(node: Node) -> bool:
    return node.parent is not None and node.parent.type == "expression_statement"


def _name(node: Node) -> Iterator[NativeMutation]:
    if node.type in ("identifier", "field_identifier") and text_of(node) in TWINS:
        yield node, TWINS[text_of(node)]


OPERATORS: dict[str, Operator] = {
    "arithmetic": _replaced(("binary_expression",), ARITHMETIC),
    "comparison": _replaced(("binary_expression",), COMPARED),
    "assignment": _replaced(("assignment_expression",), ASSIGNED),
    "boolean": _boolean,
    "operand": _operand,
    "condition": _condition,
    "constant": _constant,
    "text": _string,
    "bound": _bound,
    "statement": _statement,
    "jump": _jump,
    "step": _step,
    "arguments": _arguments,
    "call": _call,
    "name": _name,
}
"""One line adds an operator."""
