"""Reads ``[signature]`` of a ``whet.toml``: a C prototype, and a table for each argument."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from pydantic import BaseModel, ConfigDict, Field

from whet.core.errors import UsageError, nearest
from whet.core.signature import Argument, Role, Signature
from whet.sandbox.inside.lengths import LengthError, evaluate, names

TYPES = {
    "char": "int8", "signed char": "int8", "unsigned char": "uint8", "bool": "uint8", "_Bool": "uint8",
    "short": "int16", "unsigned short": "uint16", "int": "int32", "unsigned": "uint32", "unsigned int": "uint32",
    "long": "int64", "unsigned long": "uint64", "long long": "int64", "unsigned long long": "uint64",
    "size_t": "uint64", "ssize_t": "int64", "ptrdiff_t": "int64", "intptr_t": "int64", "uintptr_t": "uint64",
    "float": "float32", "double": "float64",
    **{f"{sign}int{bits}_t": f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)},
}  # fmt: skip
"""C types as the LP64 machines have them -> numpy's names."""
BOOLS = ("bool", "_Bool")
QUALIFIERS = re.compile(r"\b(?:const|restrict|__restrict__|__restrict|volatile)\b")
PROTOTYPE = re.compile(r"\s*(?P<returns>[\w\s]+?[\s*]+)(?P<name>[A-Za-z_]\w*)\s*\((?P<arguments>[^()]*)\)\s*;?\s*")
ARGUMENT = re.compile(r"(?P<type>[\w\s]+?)(?P<pointer>\s*\*\s*|\s+)(?P<name>[A-Za-z_]\w*)\s*(?P<array>\[\s*\])?")
FORM = 'write for instance "int32_t dot(const int32_t *a, const int32_t *b, int64_t n)"'


class ArgumentTable(BaseModel):
    """The table of one argument."""

    model_config = ConfigDict(extra="forbid")

    role: Role | None = None
    length: str | int = ""
    align: int = Field(default=1, ge=1, le=4096)
    may_alias: list[str] = Field(default_factory=list)
    min: float | None = None
    max: float | None = None


class SignatureTable(BaseModel):
    """``[signature]``: its own keys, and one for each argument."""

    model_config = ConfigDict(extra="allow")

    prototype: str
    externs: list[str] = Field(default_factory=list)
    __pydantic_extra__: dict[str, ArgumentTable]


def read_signature(table: SignatureTable, symbol: str, where: str) -> Signature:
    """Returns the contract that a table states.

    Args:
        table: of the task's file.
        symbol: that the prototype must name.
        where: what an error begins with.

    Raises:
        UsageError: the prototype cannot be read, or an argument's table does not fit it.
    """
    match = PROTOTYPE.fullmatch(table.prototype)
    if match is None:
        raise UsageError(f"{where}: the prototype {table.prototype!r} cannot be read; {FORM}")
    if match["name"] != symbol:
        raise UsageError(f"{where}: the prototype is of {match['name']}, and the symbol is {symbol}")
    tables = dict(table.__pydantic_extra__)
    written = [part for part in match["arguments"].split(",") if part.strip() not in ("", "void")]
    arguments = tuple(_argument(part, tables, where) for part in written)
    known = [one.name for one in arguments]
    if spare := next((name for name in tables if name not in known), None):
        raise UsageError(f"{where}: the prototype has no argument {spare}{nearest(spare, known)}")
    arguments = _with_lengths(arguments, where)
    _expect_lengths(arguments, where)
    returns = None if match["returns"].strip() == "void" else _type(match["returns"].strip(), where)
    return Signature(table.prototype, returns, arguments, tuple(table.externs))


def _argument(text: str, tables: Mapping[str, ArgumentTable], where: str) -> Argument:
    const = "const" in text.split("*")[0].split()
    match = ARGUMENT.fullmatch(QUALIFIERS.sub(" ", text).strip())
    if match is None:
        raise UsageError(f"{where}: the argument {text.strip()!r} cannot be read; {FORM}")
    name, pointer = match["name"], "*" in match["pointer"] or match["array"] is not None
    table = tables.get(name, ArgumentTable())
    role = table.role or ((Role.IN if const else Role.INOUT) if pointer else Role.SCALAR)
    most = 1 if table.max is None and match["type"].split()[-1] in BOOLS else table.max
    made = Argument(
        name, _type(match["type"].strip(), where), role, str(table.length), table.align, tuple(table.may_alias),
        table.min, most,
    )  # fmt: skip
    if made.buffer is not pointer:
        kind = "a pointer" if pointer else "no pointer"
        raise UsageError(f"{where}: {name} is {kind}, so its role is not {role}")
    if pointer and const and role is not Role.IN:
        raise UsageError(f"{where}: {name} points to const, so its role is not {role}")
    return made


def _with_lengths(arguments: tuple[Argument, ...], where: str) -> tuple[Argument, ...]:
    """Gives buffers of unstated length that of the one size, where there is one."""
    sizes = [one.name for one in arguments if one.role is Role.SIZE]
    if len(sizes) == 1:
        return tuple(replace(one, length=sizes[0]) if one.buffer and not one.length else one for one in arguments)
    if missing := next((one.name for one in arguments if one.buffer and not one.length), None):
        raise UsageError(f'{where}: {missing} needs a length, such as {{length = "n"}}')
    return arguments


def _type(text: str, where: str) -> str:
    name = " ".join(QUALIFIERS.sub(" ", text).split())
    if name not in TYPES:
        raise UsageError(f"{where}: the type {name!r} is not known{nearest(name, list(TYPES))}")
    return TYPES[name]


def _expect_lengths(arguments: tuple[Argument, ...], where: str) -> None:
    sizes = {one.name: 1 for one in arguments if one.role is Role.SIZE}
    for one in arguments:
        if not one.buffer:
            continue
        try:
            missing = next((name for name in names(one.length) if name not in sizes), None)
            if missing is not None:
                raise UsageError(
                    f"{where}: the length of {one.name} names {missing}, which is no argument of role size"
                )
            evaluate(one.length, sizes)
        except LengthError as error:
            raise UsageError(f"{where}: the length of {one.name}: {error}") from None
        buffers = [other.name for other in arguments if other.buffer and other is not one]
        if other := next((name for name in one.may_alias if name not in buffers), None):
            raise UsageError(
                f"{where}: {one.name} may_alias {other}, which is no other buffer{nearest(other, buffers)}"
            )
