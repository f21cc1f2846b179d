"""Candidates that do no work. An oracle that accepts one of them proves nothing.

They need not run: what they would return follows from the inputs and from what the baseline returned.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from whet.core.audit import NullOutcome
from whet.core.task import Kind, Task
from whet.evaluators.compare import plain_difference, stdout_difference
from whet.evaluators.inputs.source import Input
from whet.evaluators.outcomes import CallOutcome, decode_call, decode_run
from whet.sandbox.inside.decode import Node, Ref, decode

SWALLOW = "swallow"
ARRAYS = ("ndarray", "scalar", "tensor")
EMPTIABLE = (bool, int, float, complex, str, bytes, bytearray, list, tuple)


def judge_nulls(task: Task, seen: Sequence[tuple[Input, bytes]]) -> tuple[NullOutcome, ...]:
    """Returns what the oracle would make of each null candidate.

    Each but one is given the baseline's own failures: where the baseline raises (or a program ends with another exit
    code than 0) it is not asked. ``swallow`` is the baseline but for its failures, which it hides.

    Args:
        task: says how outcomes are compared.
        seen: inputs with the baseline's outcomes on them, of at least two inputs.
    """
    judge = _judge_programs if task.kind is Kind.PROGRAM else _judge_functions
    outcomes, failures = judge(task, seen)
    # A value where an exception is due is never accepted: what matters is whether any input asks for one.
    return (*outcomes, NullOutcome(SWALLOW, 0, failures))


@dataclass(frozen=True, slots=True)
class _ObservedCall:
    """One call of the baseline that returned: its arguments, its instance if nothing is done to it, and its outcome."""

    arguments: tuple[Any, ...]
    instance: Any
    untouched: tuple[Any, Any]
    outcome: CallOutcome
    value: Any

    @property
    def left(self) -> tuple[Any, Any] | None:
        """What the outcome says of arguments that are as they came; some targets' say nothing then."""
        return None if self.outcome.after is None else self.untouched

    def giving(self, answer: Any) -> CallOutcome:
        """Returns the outcome of a null candidate that returns this."""
        return CallOutcome("value", self.left, self.instance, answer, "")

    @classmethod
    def of(cls, payload: Any, outcome: CallOutcome) -> _ObservedCall:
        positional, keywords, init = payload, Node("dict", "", [], True), None
        if isinstance(payload, Node):
            parts = {key: value for _, key, value in payload.state}
            positional, keywords = parts.get("args", ()), parts.get("kwargs", keywords)
            init = parts.get("init")
        arguments = (*positional, *(value for _, _, value in keywords.state))
        value = _detached(outcome.value, _containers(outcome.after) + _containers(outcome.instance))
        recorded = isinstance(init, Node) and init.kind == "object"
        # Else the instance is what its constructor made: a null candidate cannot be told apart by it.
        return cls(arguments, init if recorded else outcome.instance, (positional, keywords), outcome, value)


def _judge_functions(task: Task, seen: Sequence[tuple[Input, bytes]]) -> tuple[list[NullOutcome], int]:
    decoded = [(decode(item.payload), decode_call(outcome)) for item, outcome in seen]
    calls = [_ObservedCall.of(payload, outcome) for payload, outcome in decoded if outcome.kind == "value"]
    outcomes = []
    for name, null in FUNCTION_NULLS.items():
        agreed = max(
            sum(
                plain_difference(call.outcome, call.giving(answer), task.oracle) is None
                for call, answer in zip(calls, answers, strict=True)
            )
            for answers in null(calls)
        )
        outcomes.append(NullOutcome(name, agreed, len(calls)))
    if task.module is not None:
        outcomes.append(_blind(task, decoded))
    return outcomes, len(decoded) - len(calls)


def _blind(task: Task, decoded: Sequence[tuple[Any, CallOutcome]]) -> NullOutcome:
    """Returns what becomes of a module that looks at its weights alone: it gives what it gave first."""
    first: dict[str, CallOutcome] = {}
    agreed = asked = 0
    for payload, outcome in decoded:
        (init,) = (value for _, key, value in payload.state if key == "init")
        known = first.setdefault(repr((init[0], _shapes(outcome.value))), outcome)
        if known is not outcome and outcome.kind == "value":
            asked += 1
            agreed += plain_difference(outcome, replace(outcome, value=known.value, stdout=""), task.oracle) is None
    return NullOutcome("blind", agreed, asked)


def _shapes(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return [_shapes(one) for one in value]
    return value.state[1] if isinstance(value, Node) and value.kind in ARRAYS else None


def _echo(calls: Sequence[_ObservedCall]) -> Iterator[list[Any]]:
    for i in range(_most_arguments(calls)):
        yield [call.arguments[i] if i < len(call.arguments) else None for call in calls]


def _identity(calls: Sequence[_ObservedCall]) -> Iterator[list[Any]]:
    for i in range(_most_arguments(calls)):
        yield [_itself(call, i) if i < len(call.arguments) else None for call in calls]


def _most_arguments(calls: Sequence[_ObservedCall]) -> int:
    return max(1, *(len(call.arguments) for call in calls)) if calls else 1


def _itself(call: _ObservedCall, index: int) -> Any:
    """Returns an argument as an outcome shows it that holds the very object: as a reference, where it is mutable."""
    if call.left is None:
        return call.arguments[index]
    positional, _ = call.untouched
    before = sum(_containers(value) for value in call.arguments[:index])
    return _referenced(call.arguments[index], before + (index >= len(positional)))  # the keywords' dict is one too


def _referenced(value: Any, number: int) -> Any:
    if _is_numbered(value):
        return Ref(number)
    if not isinstance(value, tuple):
        return value
    parts = []
    for item in value:
        parts.append(_referenced(item, number))
        number += _containers(item)
    return tuple(parts)


def _is_numbered(value: Any) -> bool:
    return isinstance(value, (list, bytearray)) or (isinstance(value, Node) and value.numbered)


def _containers(value: Any) -> int:
    """Returns how many parts of a value are numbered, itself included; see `whet.sandbox.inside.codec`."""
    if isinstance(value, (list, tuple)):
        return _is_numbered(value) + sum(_containers(item) for item in value)
    if isinstance(value, Node):
        if value.kind == "dict":
            return 1 + sum(_containers(item) for _, _, item in value.state)
        elements_apart = value.kind in ("set", "frozenset")
        return value.numbered + (0 if elements_apart else _containers(value.state))
    return int(_is_numbered(value))


def _detached(value: Any, outer: int) -> Any:
    """Returns a value without what it shares with the arguments: a null candidate made it itself."""
    if isinstance(value, Ref):
        return None if value.index < outer else value
    if isinstance(value, (list, tuple)):
        return type(value)(_detached(item, outer) for item in value)
    if isinstance(value, Node):
        state = _own_memory(value.state) if value.kind in ARRAYS else _detached(value.state, outer)
        return Node(value.kind, value.name, state, value.numbered)
    return value


def _own_memory(state: tuple[Any, ...]) -> tuple[Any, ...]:
    """Returns an array's state without what it shares with another; see `whet.sandbox.inside.arrays`."""
    return (*state[:5], None, *state[6:]) if len(state) > 5 else state


def _filled(value: Any, number: int) -> Any:
    """Returns a value of the same form with all numbers and texts in it replaced by 0 or 1."""
    if isinstance(value, (list, tuple)):
        return type(value)(_filled(item, number) for item in value)
    if isinstance(value, (bool, int, float, complex)):
        return type(value)(number)
    if isinstance(value, (str, bytes, bytearray)):
        text = str(number) if number else ""
        return text if isinstance(value, str) else type(value)(text.encode())
    if not isinstance(value, Node):
        return value
    if value.kind in ("class", "function"):
        return number
    if value.kind in ARRAYS:
        dtype, shape, data, *rest = value.state
        return Node(
            value.kind, value.name, (dtype, shape, _array_bytes(dtype, len(data), number), *rest), value.numbered
        )
    if value.kind == "dict":
        state: Any = [(name, key, _filled(item, number)) for name, key, item in value.state]
    elif value.kind in ("set", "frozenset"):
        state = [_filled(item, number) for item in value.state[:1]]
    else:
        state = _filled(value.state, number)
    return Node(value.kind, value.name, state, value.numbered)


def _array_bytes(dtype: Any, size: int, number: int) -> bytes:
    import numpy as np

    if not number:
        return bytes(size)
    if dtype == "bfloat16":  # which numpy lacks; the upper half of a float32
        one = np.float32(1).tobytes()[2:]
    else:
        try:
            one = np.ones((), dtype if isinstance(dtype, str) else list(dtype)).tobytes()
        except TypeError:  # torch has more dtypes than numpy
            return bytes(size)
    return one * (size // len(one))


def _empty(value: Any) -> Any:
    if isinstance(value, Node):
        if value.kind in ("dict", "set", "frozenset"):
            return Node(value.kind, value.name, [], value.numbered)
        if value.kind in ("ndarray", "tensor"):
            dtype, _, _, _, *rest = value.state
            return Node(value.kind, value.name, (dtype, (0,), b"", (1,), *rest), value.numbered)
        return Node(value.kind, value.name, _empty(value.state), value.numbered) if value.kind == "special" else None
    return type(value)() if isinstance(value, EMPTIABLE) else None


FUNCTION_NULLS: dict[str, Callable[[Sequence[_ObservedCall]], Iterable[list[Any]]]] = {
    "none": lambda calls: [[None] * len(calls)],
    "zeros": lambda calls: [[_filled(call.value, 0) for call in calls]],
    "ones": lambda calls: [[_filled(call.value, 1) for call in calls]],
    "empty": lambda calls: [[_empty(call.value) for call in calls]],
    "echo": _echo,
    "identity": _identity,
    "constant": lambda calls: [[calls[0].value] * len(calls) if calls else []],
    "stale": lambda calls: [[calls[max(0, i - 1)].value for i in range(len(calls))]],
}
"""What each would return for a row of calls; of those that take an argument, once an argument.

``zeros``, ``ones`` and ``empty`` know the form of the right answer, which is more than a real one could. ``echo`` is a
copy of an argument, ``identity`` the argument itself; ``constant`` the first outcome, ``stale`` the one before.
"""

PROGRAM_NULLS: dict[str, Callable[[Sequence[bytes], Sequence[bytes]], Sequence[bytes]]] = {
    "empty": lambda inputs, outputs: [b""] * len(inputs),
    "zeros": lambda inputs, outputs: [b"0\n"] * len(inputs),
    "ones": lambda inputs, outputs: [b"1\n"] * len(inputs),
    "echo": lambda inputs, outputs: inputs,
    "constant": lambda inputs, outputs: [outputs[0]] * len(inputs) if inputs else [],
    "stale": lambda inputs, outputs: [outputs[max(0, i - 1)] for i in range(len(outputs))],
}
"""What each would print for a row of stdins, given what the baseline printed."""


def _judge_programs(task: Task, seen: Sequence[tuple[Input, bytes]]) -> tuple[list[NullOutcome], int]:
    runs = [(item.payload, decode_run(outcome)) for item, outcome in seen]
    ended = [(payload, run.stdout) for payload, run in runs if run.code == 0]
    inputs, outputs = [payload for payload, _ in ended], [stdout for _, stdout in ended]
    outcomes = []
    for name, null in PROGRAM_NULLS.items():
        answers = null(inputs, outputs)
        agreed = sum(
            stdout_difference(ours, theirs, task.oracle) is None for ours, theirs in zip(outputs, answers, strict=True)
        )
        outcomes.append(NullOutcome(name, agreed, len(ended)))
    return outcomes, len(runs) - len(ended)
