"""What objects methods are called on, where a workload gives arguments alone.

Constructors are read, in the target's file and in its tests, and never run out here; recorded calls bring objects.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from whet.core.errors import NoInputsError
from whet.core.task import Task
from whet.evaluators.finding import Fault
from whet.evaluators.inputs.plain_data import read, write
from whet.evaluators.inputs.type_hints import UnknownTypeError, initializer
from whet.evaluators.languages.registry import takes_objects
from whet.evaluators.screen import Function, find_function, parse
from whet.sandbox.inside.decode import Node

DRAWN = 24
"""Objects that type hints give, or recorded calls: as many different ones are enough for calls that differ too."""
UNBOUND = frozenset({"staticmethod", "classmethod"})


class Constructors:
    """Gives inputs of a method an object, where they have none. Safe for several threads.

    Args:
        task: whose inputs they are.
        seed: of what is drawn from type hints.
    """

    def __init__(self, task: Task, seed: int) -> None:
        self._task = task
        self._needed = _needed(task)
        self._adds = False
        self._known: Sequence[Any] = () if self._needed is None else self._drawn(seed)

    def _drawn(self, seed: int) -> Sequence[Any]:
        from whet.evaluators.inputs.strategies import constructor_strategy, draw  # hypothesis takes 0.3 s to import

        known = [*(read(payload) for payload in self._task.workload.inits), *self._receivers()]
        try:
            strategy = constructor_strategy(self._task)
        except UnknownTypeError:
            return known
        return [*known, *(draw(strategy, seed, DRAWN) if strategy is not None else ())]

    def _receivers(self) -> Iterator[Any]:
        """Yields objects that recorded calls were made on, from all over the recording."""
        recorded = self._task.workload.recorded
        for payload in recorded[:: max(1, math.ceil(len(recorded) / DRAWN))]:
            value = read(payload)
            if isinstance(value, Node):
                yield from (item for _, name, item in value.state if name == "init")

    def completed(self, payload: bytes, seed: int) -> bytes:
        """Returns an input with an object to call the method on.

        Args:
            payload: the input.
            seed: chooses the object.

        Raises:
            NoInputsError: it has none, and nothing tells how one is made.
        """
        if self._needed is None:
            return payload
        value = read(payload)
        if isinstance(value, Node) and any(name == "init" for _, name, _ in value.state):
            return payload
        if not self._known:
            raise NoInputsError(self._complaint())
        self._adds = True
        init = random.Random(seed).choice(self._known)
        items = [("", "init", init), *(value.state if isinstance(value, Node) else [("", "args", value)])]
        return write(Node("dict", "", items, True))

    def without(self, payload: bytes) -> bytes:
        """Returns an input as the workload gave it: without the object that `completed` gave it, if it did."""
        if not self._adds:
            return payload
        value = read(payload)
        items = [item for item in value.state if item[1] != "init"]
        if len(items) == 1:
            return write(items[0][2])
        return write(Node("dict", "", items, True))

    def _complaint(self) -> str:
        assert self._needed is not None, "else no object is missing"
        owner = (self._task.symbol or "").rpartition(".")[0]
        taken = ", ".join(required(self._needed))
        return (
            f"{self._task.name} is a method, and {owner}({taken}) needs arguments that the inputs do not have: have "
            'make_input return {"init": (...), "args": (...)}, give the parameters of __init__ type hints, or '
            "--record CMD"
        )


def required(init: Function) -> list[str]:
    """Returns the parameters of a constructor, but for the object itself, that have no default."""
    spec = init.args
    positional = [arg.arg for arg in (*spec.posonlyargs, *spec.args)]
    named = [arg.arg for arg, default in zip(spec.kwonlyargs, spec.kw_defaults, strict=True) if default is None]
    return positional[1 : len(positional) - len(spec.defaults)] + named


def _needed(task: Task) -> Function | None:
    """Returns the constructor of a method's class, where it has to be given something; None for anything else."""
    if not takes_objects(task):
        return None
    owner, _, _ = (task.symbol or "").rpartition(".")
    module = parse(task.source)
    if not owner or isinstance(module, Fault):
        return None
    method = find_function(module, task.symbol or "")
    marks = {getattr(mark, "id", "") for mark in method.decorator_list} if method is not None else UNBOUND
    init = None if marks & UNBOUND else initializer(module, owner)
    return init if init is not None and required(init) else None


def constructor_arguments(args: Sequence[Any], kwargs: Mapping[str, Any], init: Function | None) -> Any:
    """Returns the arguments of a constructor in the form of ``init``: a tuple, or a dict of names; None if neither."""
    if not kwargs:
        return tuple(args)
    names = [] if init is None else [arg.arg for arg in (*init.args.posonlyargs, *init.args.args)][1:]
    return {**dict(zip(names, args, strict=False)), **kwargs} if len(names) >= len(args) else None
