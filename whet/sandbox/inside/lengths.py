"""Lengths of buffers as a contract writes them: whole numbers, names of sizes, and ``+ - * /`` with parentheses."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:  # `typing` itself would cost each start 8 ms
    from collections.abc import Callable, Mapping

SIGNS = frozenset("+-*/()")
FORM = "write sizes and whole numbers with + - * / and parentheses, such as n * m + 1"


class LengthError(ValueError):
    """A length cannot be read, or comes to less than nothing."""


def names(text: str) -> list[str]:
    """Returns the sizes that a length names."""
    return [token for token in _tokens(text) if token[0].isalpha() or token[0] == "_"]


def evaluate(text: str, sizes: Mapping[str, int]) -> int:
    """Returns what a length comes to; a division rounds down.

    Raises:
        LengthError: it cannot be read, names what is no size, divides by zero, or is negative.
    """
    tokens = _tokens(text)
    value = _sum(tokens, sizes)
    if tokens:
        raise LengthError(f"{text!r} goes on after its end; {FORM}")
    if value < 0:
        raise LengthError(f"{text!r} comes to {value}")
    return value


def _tokens(text: str) -> list[str]:
    # By hand: `re` would cost each start of a native function's process 3 ms.
    tokens: list[str] = []
    at = 0
    while at < len(text):
        first, end = text[at], at + 1
        if first.isdecimal():
            end = _end(text, at, str.isdecimal)
        elif first == "_" or (first.isascii() and first.isalpha()):
            end = _end(text, at, _of_name)
        elif first not in SIGNS and not first.isspace():
            raise LengthError(f"{text!r} cannot be read; {FORM}")
        if not first.isspace():
            tokens.append(text[at:end])
        at = end
    return tokens


def _end(text: str, at: int, belongs: Callable[[str], bool]) -> int:
    """Returns where a token ends that begins at a place."""
    while at < len(text) and belongs(text[at]):
        at += 1
    return at


def _of_name(letter: str) -> bool:
    return letter == "_" or letter.isalnum()


def _sum(tokens: list[str], sizes: Mapping[str, int]) -> int:
    value = _product(tokens, sizes)
    while tokens and tokens[0] in "+-":
        value += _product(tokens, sizes) if tokens.pop(0) == "+" else -_product(tokens, sizes)
    return value


def _product(tokens: list[str], sizes: Mapping[str, int]) -> int:
    value = _atom(tokens, sizes)
    while tokens and tokens[0] in "*/":
        if tokens.pop(0) == "*":
            value *= _atom(tokens, sizes)
        elif divisor := _atom(tokens, sizes):
            value //= divisor
        else:
            raise LengthError("it divides by zero")
    return value


def _atom(tokens: list[str], sizes: Mapping[str, int]) -> int:
    token = tokens.pop(0) if tokens else ""
    if token == "(":
        value = _sum(tokens, sizes)
        if not tokens or tokens.pop(0) != ")":
            raise LengthError(f"a parenthesis is not closed; {FORM}")
        return value
    if token.isdigit():
        return int(token)
    if token in sizes:
        return sizes[token]
    raise LengthError(f"{token!r} is no size; {FORM}" if token else f"it ends too early; {FORM}")
