"""Candidates that do no work. An oracle that accepts one of them proves nothing.

They need not run: what they would return follows from the input and from what the baseline returned.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from whet.core.task import Kind, Task
from whet.evaluators.compare import plain_difference, stdout_difference
from whet.evaluators.inputs import Input
from whet.sandbox.inside.decode import Node, decode

Plain = tuple[Any, ...]


def accepted_nulls(task: Task, seen: Sequence[tuple[Input, bytes]]) -> list[str]:
    """Returns the names of the null candidates that the oracle would accept.

    Args:
        task: says how outcomes are compared.
        seen: inputs with the baseline's outcomes on them, of at least two inputs.
    """
    if task.kind is Kind.PROGRAM:
        return [name for name, null in PROGRAM_NULLS.items() if _program_passes(task, seen, null)]
    outcomes = [(decode(item.payload), decode(outcome)) for item, outcome in seen]
    values = [(args, outcome) for args, outcome in outcomes if outcome[0] == "value"]
    return [name for name, null in FUNCTION_NULLS.items() if values and _function_passes(task, values, null)]


def _function_passes(task: Task, seen: list[tuple[Any, Plain]], null: Callable[[Any, Plain, Plain], Any]) -> bool:
    first = seen[0][1]
    for args, ours in seen:
        untouched = (_positional(args), _keywords(args))
        # The instance is what its constructor made: a null candidate cannot be told apart by it.
        theirs = ("value", untouched, ours[2], null(args, ours, first), "")
        if plain_difference(ours, theirs, task.oracle):
            return False
    return True


def _positional(args: Any) -> Any:
    if not isinstance(args, Node):
        return args
    return next((value for _, key, value in args.state if key == "args"), ())


def _keywords(args: Any) -> Any:
    empty = Node("dict", "", [], True)
    if not isinstance(args, Node):
        return empty
    return next((value for _, key, value in args.state if key == "kwargs"), empty)


def _first_argument(args: Any, ours: Plain, first: Plain) -> Any:
    positional = _positional(args)
    return positional[0] if positional else None


def _zeros(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return type(value)(_zeros(item) for item in value)
    if isinstance(value, Node):
        if value.kind in ("ndarray", "tensor", "scalar"):
            dtype, shape, data, *layout = value.state
            return Node(value.kind, value.name, (dtype, shape, bytes(len(data)), *layout), value.numbered)
        if value.kind == "dict":
            pairs = [(name, key, _zeros(item)) for name, key, item in value.state]
            return Node(value.kind, value.name, pairs, value.numbered)
        return value
    return type(value)() if isinstance(value, (bool, int, float, complex, str, bytes)) else value


def _empty(value: Any) -> Any:
    if isinstance(value, Node) and value.kind in ("dict", "set", "frozenset"):
        return Node(value.kind, value.name, [], value.numbered)
    return type(value)() if isinstance(value, (bool, int, float, complex, str, bytes, list, tuple)) else None


FUNCTION_NULLS: dict[str, Callable[[Any, Plain, Plain], Any]] = {
    "none": lambda args, ours, first: None,
    "zeros": lambda args, ours, first: _zeros(ours[3]),
    "empty": lambda args, ours, first: _empty(ours[3]),
    "echo": _first_argument,
    "constant": lambda args, ours, first: first[3],
}

PROGRAM_NULLS: dict[str, Callable[[bytes, bytes], bytes]] = {
    "empty": lambda stdin, first: b"",
    "zeros": lambda stdin, first: b"0\n",
    "echo": lambda stdin, first: stdin,
    "constant": lambda stdin, first: first,
}


def _program_passes(task: Task, seen: Sequence[tuple[Input, bytes]], null: Callable[[bytes, bytes], bytes]) -> bool:
    first = decode(seen[0][1])[1]
    for item, outcome in seen:
        if stdout_difference(decode(outcome)[1], null(item.payload, first), task.oracle):
            return False
    return True
