"""Sequences of calls on one object, or of one function: how they are drawn, made simpler, and written as code."""

from __future__ import annotations

import ast
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, replace
from typing import Any

from whet.core.task import Task
from whet.evaluators.compare import show
from whet.evaluators.inputs.plain_data import read, write
from whet.evaluators.inputs.shrink import smaller_values
from whet.evaluators.inputs.source import derive
from whet.evaluators.inputs.type_hints import UnknownTypeError
from whet.evaluators.native_readers import Reader
from whet.evaluators.python_text import arguments_text, items_of
from whet.evaluators.screen import Function, find_function, parse
from whet.sandbox.inside.codec import CodecError
from whet.sandbox.inside.decode import Node

LENGTHS = (2, 3, 4, 6, 8, 12)
"""Calls of a sequence. State that shows only after more calls than the longest has is not seen."""
OTHERS = 0.4
"""Share of the calls of a method's sequence that are of other methods of its class."""
EXAMPLES = 24
"""Arguments that are drawn of each other method."""
SCALARS = 32
"""Values that are taken from the target's inputs for the arguments of other methods."""
UNBOUND = frozenset({"staticmethod", "classmethod"})
LONGEST_LINE = 300
"""Characters of a call that is shown; the arguments of a longer one are cut."""


@dataclass(frozen=True, slots=True)
class SequenceCall:
    """One call of a sequence, its arguments as plain data.

    Attributes:
        name: of the method; empty for a function that is no method.
        args: the positional ones, a tuple; None where an attribute is read.
        kwargs: those by name, a dict; None where an attribute is read.
    """

    name: str
    args: Any
    kwargs: Any


@dataclass(frozen=True, slots=True)
class Calls:
    """A sequence of calls.

    Attributes:
        init: what the object is made of; None for a function that is no method.
        calls: in their order.
        readers: functions that are called after each call of a native one.
    """

    init: Any
    calls: tuple[SequenceCall, ...]
    readers: tuple[Reader, ...] = ()

    @property
    def payload(self) -> bytes:
        """The sequence as `whet.sandbox.inside.sequences.call_sequence` takes it."""
        # Each call by itself, so that no two share an argument.
        calls = [read(write((call.name, call.args, call.kwargs))) for call in self.calls]
        return write(
            {"init": read(write(self.init)), "calls": calls, "readers": [astuple(one) for one in self.readers]}
        )

    def cut(self, count: int) -> Calls:
        """Returns the sequence with only its first calls."""
        return replace(self, calls=self.calls[:count])


def inputs_of(calls: Calls, symbol: str) -> list[bytes]:
    """Returns the calls of a target in a sequence as inputs of a workload, which `valid` of it takes."""
    name = "" if calls.init is None else symbol.rpartition(".")[2]
    return [
        write(
            {"args": call.args, "kwargs": call.kwargs, **({} if calls.init is None else {"init": calls.init})}
            if calls.init is not None or items_of(call.kwargs)
            else call.args
        )
        for call in calls.calls
        if call.name == name
    ]


class SequenceMaker:
    """Draws sequences for one task.

    Args:
        task: a Python function or method.
        payloads: inputs of the target that it has met; small ones.
        literals: scalars that stand in its text.
        seed: nobody who lacks it can foresee a sequence.
    """

    def __init__(self, task: Task, payloads: Sequence[bytes], literals: Sequence[Any], seed: int) -> None:
        self._rng = random.Random(seed)
        given = [_parts(value) for value in _readable(payloads)]
        self._given = [one for one in given if isinstance(one[1], (list, tuple))]
        owner, _, self._name = (task.symbol or "").rpartition(".")
        self._method = bool(owner) and not _unbound(task) and all(init is not None for init, _, _ in self._given)
        if not self._method:
            self._name = ""
        self._deck: list[Any] = []
        self._others: list[list[SequenceCall]] = []
        if self._method:
            values = _by_name(task, [call for _, *call in self._given])
            known = [*literals, *_scalars(values.values())]
            self._others = list(_other_methods(task, owner, values, known, seed))

    def sequences(self, count: int) -> Iterator[Calls]:
        """Yields sequences, the shortest first."""
        lengths = sorted(LENGTHS[i % len(LENGTHS)] for i in range(count))
        yield from (self._sequence(length) for length in lengths if self._given)

    def _sequence(self, length: int) -> Calls:
        rng = self._rng
        init, _, _ = rng.choice(self._given)
        calls = [self._call() for _ in range(length)]
        if not any(call.name == self._name for call in calls):
            calls[rng.randrange(length)] = self._own()
        return Calls(init if self._method else None, tuple(calls))

    def _call(self) -> SequenceCall:
        if self._others and self._rng.random() < OTHERS:
            return self._rng.choice(self._rng.choice(self._others))
        return self._own()

    def _own(self) -> SequenceCall:
        if self._method:
            _, args, kwargs = self._rng.choice(self._given)
        else:  # it has few sequences, so that each input comes once before any comes again
            self._deck = self._deck or self._rng.sample(self._given, len(self._given))
            _, args, kwargs = self._deck.pop()
        return SequenceCall(self._name, args, kwargs)


def _readable(payloads: Sequence[bytes]) -> Iterator[Any]:
    for payload in payloads:
        try:
            yield read(payload)
        except (CodecError, RecursionError):
            continue


def _parts(value: Any) -> tuple[Any, Any, Any]:
    """Returns (init, args, kwargs) of an input as plain data; an init of None is that of a function."""
    if isinstance(value, Node) and value.kind == "dict":
        given = items_of(value)
        return given.get("init"), given.get("args", ()), given.get("kwargs", {})
    return None, value, {}


def _by_name(task: Task, calls: Sequence[Sequence[Any]]) -> Mapping[str, list[Any]]:
    """Returns the values that the target's parameters were given, by the parameter's name."""
    module = parse(task.source)
    function = find_function(module, task.symbol or "") if isinstance(module, ast.Module) else None
    found: dict[str, list[Any]] = {}
    if function is None:
        return found
    for args, kwargs in calls:
        for name, value in [*zip(_names(function), args, strict=False), *items_of(kwargs).items()]:
            found.setdefault(name, []).append(value)
    return found


def _scalars(values: Any) -> list[Any]:
    """Returns scalars that values hold: what one method is given is likely to be what another one knows."""
    found: dict[tuple[type, Any], Any] = {}
    left = list(values)
    while left and len(found) < SCALARS:
        value = left.pop()
        if isinstance(value, (list, tuple)):
            left += value[:SCALARS]
        elif isinstance(value, Node):
            left += [part for _, *entry in value.state for part in entry] if value.kind == "dict" else [value.state]
        elif isinstance(value, (int, float, str)):
            found[type(value), value] = value
    return list(found.values())


def _unbound(task: Task) -> bool:
    """Whether a method is called without an object."""
    module = parse(task.source)
    function = find_function(module, task.symbol or "") if isinstance(module, ast.Module) else None
    return function is not None and bool(_marks(function) & UNBOUND)


def _marks(function: Function) -> set[str]:
    """Returns the last names of a function's decorators."""
    return {getattr(mark, "attr", getattr(mark, "id", "")) for mark in function.decorator_list}


def _names(function: Function) -> list[str]:
    names = [arg.arg for arg in (*function.args.posonlyargs, *function.args.args)]
    return names[1:] if names[:1] in (["self"], ["cls"]) else names


def _other_methods(
    task: Task, owner: str, values: Mapping[str, list[Any]], literals: Sequence[Any], seed: int
) -> Iterator[list[SequenceCall]]:
    """Yields calls of each other public method of the target's class that arguments are known for."""
    module = parse(task.source)
    cls = _class(module, owner) if isinstance(module, ast.Module) else None
    for function in cls.body if cls is not None else ():
        if not isinstance(function, ast.FunctionDef) or function.name.startswith("_"):
            continue
        if f"{owner}.{function.name}" == task.symbol:
            continue
        marks = _marks(function)
        if marks & {*UNBOUND, "setter", "deleter", "contextmanager"}:
            continue
        if marks & {"property", "cached_property"}:
            yield [SequenceCall(function.name, None, None)]
        elif calls := _calls_of(task, f"{owner}.{function.name}", function, values, literals, seed):
            yield calls


def _class(module: ast.Module, owner: str) -> ast.ClassDef | None:
    found: ast.ClassDef | None = None
    body: list[ast.stmt] = module.body
    for name in owner.split("."):
        found = next((node for node in reversed(body) if isinstance(node, ast.ClassDef) and node.name == name), None)
        body = found.body if found is not None else []
    return found


def _calls_of(
    task: Task,
    symbol: str,
    function: Function,
    values: Mapping[str, list[Any]],
    literals: Sequence[Any],
    seed: int,
) -> list[SequenceCall]:
    """Returns calls of a method: of its type hints, or else of what the target was given by the same names."""
    rng = random.Random(derive(seed, symbol))
    names = _names(function)
    required = names[: len(names) - len(function.args.defaults)]
    wanted = [
        arg.arg for arg, default in zip(function.args.kwonlyargs, function.args.kw_defaults, strict=True) if not default
    ]
    if all(name in values for name in (*required, *wanted)):
        return [
            SequenceCall(
                function.name,
                tuple(rng.choice(values[name]) for name in required),
                {name: rng.choice(values[name]) for name in wanted},
            )
            for _ in range(EXAMPLES if required or wanted else 1)
        ]
    from whet.evaluators.inputs.strategies import draw, strategy_of  # hypothesis takes 0.3 s to import

    try:
        strategy = strategy_of(replace(task, symbol=symbol), literals)
    except UnknownTypeError:
        return []
    drawn = [] if strategy is None else draw(strategy, derive(seed, symbol) % 2**63, EXAMPLES)
    calls = [SequenceCall(function.name, one["args"], one["kwargs"]) for one in drawn]
    return [*calls, *(replace(call, args=_known(call.args, literals, rng)) for call in calls)]


def _known(args: Any, known: Sequence[Any], rng: random.Random) -> Any:
    """Returns arguments with scalars that the target has met too: what one method keeps the other has to find."""
    alike = [[value for value in known if type(value) is type(arg)] for arg in args]
    return tuple(rng.choice(values) if values else arg for arg, values in zip(args, alike, strict=True))


def simpler(calls: Calls) -> Iterator[Calls]:
    """Yields sequences with fewer calls, then with simpler arguments; the last call always stays."""
    for i in range(len(calls.calls) - 1):
        yield replace(calls, calls=calls.calls[:i] + calls.calls[i + 1 :])
    for i, call in enumerate(calls.calls):
        if call.args is not None:
            for args in smaller_values(call.args):
                yield replace(calls, calls=(*calls.calls[:i], replace(call, args=args), *calls.calls[i + 1 :]))


def code(symbol: str, sequences: Sequence[Calls]) -> str:
    """Returns sequences, one behind the other, as Python code.

    Args:
        symbol: of the target.
        sequences: each on an object of its own.
    """
    owner = symbol.rpartition(".")[0]
    lines = []
    for number, sequence in enumerate(sequences, 1):
        variable = owner.rpartition(".")[2].lower() + (str(number) if len(sequences) > 1 else "")
        if sequence.init is not None:
            lines.append(f"{variable} = {_made(owner, sequence.init)}")
        for call in sequence.calls:
            called = f"{variable}.{call.name}" if call.name else symbol
            lines.append(called if call.args is None else f"{called}{_shown(call.args, call.kwargs)}")
    return "\n".join(lines)


def _made(owner: str, init: Any) -> str:
    if isinstance(init, Node) and init.kind == "object":  # a recorded one
        return show(init)
    named = isinstance(init, (dict, Node))
    return f"{owner}{_shown((), init) if named else _shown(init, {})}"


def _shown(args: Any, kwargs: Any) -> str:
    try:
        text = arguments_text(args, items_of(kwargs))
    except ValueError:
        text = ""
    if text and len(text) <= LONGEST_LINE:
        return text
    named = [f"{name}={show(value)}" for name, value in items_of(kwargs).items()]
    return f"({', '.join([*map(show, args), *named])})"
