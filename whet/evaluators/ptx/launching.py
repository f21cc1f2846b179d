"""Reads ``[launch]`` of a ``whet.toml``: blocks, threads and memory of a launch, and whether they fit the contract."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

from whet.core.errors import UsageError, nearest
from whet.core.signature import Argument, Signature
from whet.core.task import Launch
from whet.evaluators.ptx.text import kernels
from whet.sandbox.inside.lengths import LengthError, evaluate, names

Expression = int | str
DIMENSIONS = 3  # of a grid or block at most: CUDA's launches have no more


class LaunchTable(BaseModel):
    """``[launch]``: one to three dimensions of each, in terms of the contract's whole numbers."""

    model_config = ConfigDict(extra="forbid")

    grid: Expression | list[Expression]
    block: Expression | list[Expression]
    shared: Expression = 0


def read_launch(table: LaunchTable, signature: Signature, where: str) -> Launch:
    """Returns the launch that a table states.

    Args:
        table: of the task's file.
        signature: names what it may be stated in.
        where: what an error begins with.

    Raises:
        UsageError: an expression cannot be read, or names what is no whole number of the contract.
    """
    if signature.returns is not None:
        raise UsageError(f"{where}: a kernel returns nothing; write the prototype as void, and results to a buffer")
    grid, block = (_dimensions(name, given, where) for name, given in (("grid", table.grid), ("block", table.block)))
    launch = Launch(grid, block, str(table.shared))
    numbers = [one.name for one in signature.arguments if not one.buffer and not one.type.startswith("float")]
    for text in (*launch.grid, *launch.block, launch.shared):
        _expect_readable(text, numbers, where)
    return launch


def expect_kernel(source: str, symbol: str, signature: Signature, where: str) -> None:
    """Returns where a text has the kernel of a contract.

    Raises:
        UsageError: it defines no such kernel, or one with other parameters.
    """
    known = {kernel.name: kernel for kernel in kernels(source)}
    if symbol not in known:
        listed = f"; it defines {', '.join(known)}" if known else "; it defines none"
        raise UsageError(f"{where} defines no kernel {symbol}{nearest(symbol, list(known)) or listed}")
    asked, found = [_bits(one) for one in signature.arguments], known[symbol].parameters
    if asked != [kind.lstrip(".busf") for kind in found]:
        bits = ", ".join(f"{one.name}: {size}" for one, size in zip(signature.arguments, asked, strict=True))
        raise UsageError(
            f"{where}: the parameters of {symbol} are ({', '.join(found)}), and the prototype asks for bits ({bits})"
        )


def _dimensions(name: str, given: Expression | list[Expression], where: str) -> tuple[str, str, str]:
    parts = [str(one) for one in given] if isinstance(given, list) else [str(given)]
    if not 1 <= len(parts) <= DIMENSIONS:
        raise UsageError(f"{where}: {name} has {len(parts)} dimensions; give one to {DIMENSIONS}")
    x, y, z = (*parts, "1", "1")[:DIMENSIONS]
    return x, y, z


def _expect_readable(text: str, numbers: list[str], where: str) -> None:
    try:
        if unknown := next((name for name in names(text) if name not in numbers), None):
            known = nearest(unknown, numbers)
            raise UsageError(f"{where}: {text!r} of [launch] names {unknown}, which is no whole number given{known}")
        evaluate(text, dict.fromkeys(numbers, 1))
    except LengthError as error:
        raise UsageError(f"{where}: [launch]: {error}") from None


def _bits(one: Argument) -> str:
    return "64" if one.buffer else "".join(letter for letter in one.type if letter.isdigit())
