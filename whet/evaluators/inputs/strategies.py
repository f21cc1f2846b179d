"""Inputs from type hints: hypothesis strategies that give plain data. No code of the target runs."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from hypothesis import HealthCheck, Phase, configuration, given, seed, settings
from hypothesis import strategies as st
from hypothesis.internal.conjecture import providers

from whet.core.task import Task
from whet.evaluators.inputs.plain_data import instance, read
from whet.evaluators.inputs.type_hints import Parameters, constructor_of, signature_of
from whet.sandbox.inside.codec import encode
from whet.sandbox.inside.decode import Node

Strategy = st.SearchStrategy[Any]

MOST_ITEMS = 12
"""Items of a container, characters of a text and bytes of a `bytes` object that are drawn from a hint at most.
Containers within each other multiply it; a smaller one leaves out faults that only longer values show."""
LETTERS = "abcxyzAB 01-_,.\n\t'éß\u0301\U0001f600"
NOWHERE = "/dev/null/hypothesis"

_turn = threading.Lock()


def strategy_of(task: Task, literals: Iterable[Any]) -> Strategy | None:
    """Returns what draws inputs of a Python function from its hints; None where it is no function of the file.

    Args:
        task: its source is read, never run.
        literals: scalars that the target's text or tests hold; they are drawn often.

    Raises:
        UnknownTypeError: a parameter has no hint, or one that no input can be made of.
    """
    signature = signature_of(task, _Strategies(list(literals)))
    if signature is None:
        return None
    args = _arguments(signature.call)
    if signature.init is None:
        return args.map(lambda both: {"args": both[0], "kwargs": both[1]} if both[1] else both[0])
    made = _arguments(signature.init)
    return st.tuples(made, args).map(lambda both: {"init": both[0][0], "args": both[1][0], "kwargs": both[1][1]})


def constructor_strategy(task: Task) -> Strategy | None:
    """Returns what draws the arguments of the constructor of a method's class, as ``init`` of an input.

    Raises:
        UnknownTypeError: one has no hint, or one that no value can be made of.
    """
    made = constructor_of(task, _Strategies([]))
    return None if made is None else _arguments(made).map(lambda both: both[0])


def draw(strategy: Strategy, number: int, count: int) -> list[Any]:
    """Returns examples of a strategy; the same for the same number.

    Args:
        strategy: of one input.
        number: the seed.
        count: the most that are drawn.
    """
    drawn: list[Any] = []

    @seed(number)
    @settings(
        max_examples=count,
        database=None,
        phases=(Phase.generate,),
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(strategy)
    def collect(value: Any) -> None:
        drawn.append(value)

    with _turn:
        # Else it would keep tables of its own in the user's folder.
        configuration.set_hypothesis_home_dir(NOWHERE)
        _hide_own_modules()
        collect()
    return drawn


def _hide_own_modules() -> None:
    """Keeps hypothesis from drawing constants of whet's own sources, which it would read for that in a checkout.

    They say nothing about the target, to read them takes longer than all else that comes before a verdict, and what a
    seed gives would follow from which of them are imported. There is no public switch for it.
    """
    if isinstance(seen := getattr(providers, "_seen_modules", None), set):
        modules = sys.modules.copy()  # another thread may import meanwhile
        seen.update(id(module) for name, module in modules.items() if name.partition(".")[0] == "whet")


def _arguments(parameters: Parameters[Strategy]) -> Strategy:
    args: Strategy = st.tuples(*parameters.positional.values())
    if parameters.rest is not None:
        args = st.tuples(args, parameters.rest).map(lambda parts: (*parts[0], *parts[1]))
    return st.tuples(args, st.fixed_dictionaries(dict(parameters.named)))


class _Strategies:
    """See `whet.evaluators.inputs.type_hints.Maker`."""

    def __init__(self, literals: list[Any]) -> None:
        ints = sorted({n + d for n in literals if type(n) is int and abs(n) < 2**31 for d in (-1, 0, 1)})
        floats = [x for x in literals if type(x) is float]
        texts = [x for x in literals if type(x) is str and len(x) < 40]
        text = st.lists(st.sampled_from(LETTERS), max_size=MOST_ITEMS).map("".join)
        few = st.sampled_from(["", "a", "b", "ab", "A", "0"])
        some_floats = st.sampled_from([0.0, -0.0, 1.0, 0.5])
        self._scalars: dict[str, Callable[[], Strategy]] = {
            "int": lambda: st.integers(-3, 12) | st.integers(-1000, 1000) | _among(ints),
            "float": lambda: (some_floats | st.floats(-1e6, 1e6) | _among(floats + ints)).map(float),
            "bool": st.booleans,
            "str": lambda: few | text | _among(texts),
            "bytes": lambda: st.binary(max_size=MOST_ITEMS),
            "complex": lambda: st.builds(complex, st.floats(-1e3, 1e3), st.floats(-1e3, 1e3)),
            "None": st.none,
            "bytearray": lambda: st.binary(max_size=MOST_ITEMS).map(bytearray),
            "Any": lambda: st.integers(-3, 12),
            "object": lambda: st.integers(-3, 12),
        }

    def scalar(self, name: str) -> Strategy:
        return self._scalars[name]()

    def among(self, values: Sequence[Any]) -> Strategy:
        return st.sampled_from(values)

    def either(self, parts: Sequence[Strategy]) -> Strategy:
        return st.one_of(*parts)

    def together(self, parts: Sequence[Strategy], cls: str) -> Strategy:
        drawn = st.tuples(*parts)
        return drawn.map(lambda them: Node("tuple", cls, them)) if cls else drawn

    def items(self, kind: str, item: Strategy) -> Strategy:
        drawn = st.lists(item, max_size=MOST_ITEMS)
        made: Mapping[str, Callable[[list[Any]], Any]] = {
            "list": list,
            "tuple": tuple,
            "set": lambda them: Node("set", "", them, True),
            "frozenset": lambda them: Node("frozenset", "", them),
        }
        return drawn.map(made[kind])

    def mapping(self, key: Strategy, value: Strategy) -> Strategy:
        return st.dictionaries(key, value, max_size=MOST_ITEMS)

    def array(self, dtype: str) -> Strategy:
        def made(length_and_cells: tuple[int, list[int]]) -> Any:
            import numpy as np

            length, cells = length_and_cells
            return read(encode(np.resize(np.array(cells or [0]), length).astype(np.dtype(dtype))))

        return st.tuples(st.integers(0, MOST_ITEMS), st.lists(st.integers(-5, 50), max_size=MOST_ITEMS)).map(made)

    def member(self, cls: str, names: Sequence[str]) -> Strategy:
        return st.sampled_from(names).map(lambda member: Node("enum", cls, member))

    def instance(self, cls: str, fields: Mapping[str, Strategy]) -> Strategy:
        return st.fixed_dictionaries(dict(fields)).map(lambda them: instance(cls, list(them.items())))


def _among(values: list[Any]) -> Strategy:
    return st.sampled_from(values) if values else st.nothing()
