"""Takes the sharing out of an outcome: what is there twice becomes two equal values.

An input of ours that was edited may hold one object twice. Whether the original's result then shares it too says
nothing of what its callers may rely on, so there a result is compared by its values alone.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from whet.evaluators.floats.elements import ARRAYS
from whet.evaluators.outcomes import CallOutcome
from whet.sandbox.inside.decode import Node, Ref

MOST_VALUES = 100_000
"""Values that a result may become: what shares within what it shares doubles with each level."""
CYCLE = "cycle"
SHARES = 5
"""Place of ``shares`` in the state of an array; see `whet.sandbox.inside.arrays`."""


class TooLarge(Exception):
    """A result without its sharing would have more than `MOST_VALUES` values."""


def unshared(outcome: CallOutcome) -> CallOutcome:
    """Returns an outcome whose instance and value share nothing, neither within nor with the arguments.

    Raises:
        TooLarge: it cannot be told so.
        LookupError: it refers to what is not there.
    """
    numbered: list[Any] = []
    for part in (outcome.after, outcome.instance, outcome.value):
        _number(part, numbered)
    copier = _Copier(numbered)
    return replace(outcome, instance=copier.copy(outcome.instance), value=copier.copy(outcome.value))


def _number(value: Any, numbered: list[Any]) -> None:
    """Adds the containers of a value in the order in which they were written."""
    if isinstance(value, (list, bytearray)):
        numbered.append(value)
    if isinstance(value, (list, tuple)):
        for item in value:
            _number(item, numbered)
    elif isinstance(value, Node):
        if value.numbered:
            numbered.append(value)
        if value.kind == "dict":
            for _, key, item in value.state:
                _number(key, numbered)
                _number(item, numbered)
        elif value.kind not in ("set", "frozenset"):  # the elements of those have numbers of their own
            _number(value.state, numbered)


class _Copier:
    def __init__(self, numbered: list[Any]) -> None:
        self._numbered = numbered
        self._within: list[int] = []
        self._left = MOST_VALUES

    def copy(self, value: Any) -> Any:
        self._left -= 1
        if self._left < 0:
            raise TooLarge
        if isinstance(value, Ref):
            return self.copy(self._numbered[value.index])
        if isinstance(value, Node):
            return self._inside(value, self._node)
        if isinstance(value, list):
            return self._inside(value, lambda items: [self.copy(item) for item in items])
        if isinstance(value, tuple):
            return tuple(self.copy(item) for item in value)
        return value

    def _inside(self, value: Any, copied: Any) -> Any:
        """Copies a container, unless it holds itself: then how many levels further up it is stands in its place."""
        if id(value) in self._within:
            return Node(CYCLE, "", len(self._within) - self._within.index(id(value)))
        self._within.append(id(value))
        made = copied(value)
        self._within.pop()
        return made

    def _node(self, node: Node) -> Node:
        if node.kind in ("set", "frozenset"):
            return node
        if node.kind == "dict":
            state: Any = [(name, self.copy(key), self.copy(item)) for name, key, item in node.state]
        else:
            state = self.copy(node.state)
            if node.kind in ARRAYS and len(state) > SHARES:
                state = (*state[:SHARES], None, *state[SHARES + 1 :])
        return Node(node.kind, node.name, state, node.numbered)
