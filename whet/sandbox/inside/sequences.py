"""Makes calls in a row on one object, or of one function; after each, its state and that of its module go out."""

from __future__ import annotations

from .codec import LAZY, CodecError, encode
from .decode import decode
from .invocation import EAGER, _Forced, invoke, stored

TYPE_CHECKING = False
if TYPE_CHECKING:  # `typing` itself would cost each start 8 ms
    from collections.abc import Iterator
    from typing import Any

    from .capture import Capture
    from .invocation import Target

LARGEST = 1 << 16
"""Bytes of a value outside of objects that is looked at after each call; a larger one is a table rather than state."""
MUTABLE = ("collections", "array", "numpy")
"""Modules whose containers may hold state."""
INIT = "__init__"


def call_sequence(target: Target, payload: bytes, capture: Capture) -> tuple[bytes, int]:
    """Returns what came of each call of a sequence, and the nanoseconds that all of them took.

    Args:
        target: the function, or the method whose class the object is of.
        payload: ``{"init": ..., "calls": [(name, args, kwargs), ...]}``, encoded. Of a function, all names are
            empty; with None for its arguments, a name is that of an attribute that is read.
        capture: what it prints.

    Returns:
        The outcome is (names of all values outside of objects, what came of each call). What came of a call is its
        outcome as `invocation.stored` has it, and the values outside of objects that are no more as they were before
        the first call, by their names and encoded. The object is made by a call of its own; where that raises, it is
        the only one.
    """
    given = decode(payload, target.resolve)
    outside = Outside(target)
    found = []
    total = 0
    receiver = None
    calls = given["calls"]
    if target.bound:
        kind, receiver, value, total = invoke(_Making(target), given["init"], (), {})  # type: ignore[arg-type]
        found.append((stored(kind, None, receiver, value, capture.take()), outside.changed()))
        calls = calls if kind == "value" else []
    for name, args, kwargs in calls:
        kind, _, value, spent = invoke(_SequenceStep(target, receiver, name), None, args, kwargs)  # type: ignore[arg-type]
        total += spent
        found.append((stored(kind, (args, kwargs), receiver, value, capture.take()), outside.changed()))
    return encode((sorted(outside.before), found)), total


class _Making:
    """The making of an object, as `invoke` takes a target."""

    def __init__(self, target: Target) -> None:
        self.target = target
        self.path = target.path

    def call(self, init: Any, args: Any, kwargs: Any) -> tuple[Any, Any]:
        return self.target.receiver(init), None


class _SequenceStep:
    """One call on an object, or of a function, as `invoke` takes a target."""

    def __init__(self, target: Target, receiver: Any, name: str) -> None:
        self.target = target
        self.path = target.path
        self.receiver = receiver
        self.name = name

    def call(self, init: Any, args: Any, kwargs: Any) -> tuple[Any, Any]:
        called = self.target.function if self.receiver is None else getattr(self.receiver, self.name)
        result = called if args is None else called(*args, **kwargs)
        if type(result) not in EAGER and isinstance(result, LAZY):
            result = _Forced(list(result))
        return self.receiver, result


class Outside:
    """The values that outlive calls without belonging to an object.

    They are globals of the target's module, attributes of its classes and of the target itself, variables that the
    target closes over, and defaults of its parameters: of plain data, or objects of the module's own classes.

    Attributes:
        before: each as it was, encoded, by its name.
        tables: names of those that are too large to be looked at.
    """

    def __init__(self, target: Target) -> None:
        self.target = target
        found = dict(self._read())
        self.before = {name: data for name, data in found.items() if len(data) <= LARGEST}
        self.tables = found.keys() - self.before.keys()

    def changed(self) -> list[tuple[str, bytes]]:
        """Returns those that are not as they were."""
        now = [(name, data) for name, data in self._read() if name not in self.tables]
        return [(name, data) for name, data in now if self.before.get(name) != data]

    def _read(self) -> Iterator[tuple[str, bytes]]:
        for name, value in self._values():
            if self._plain(value):
                try:
                    yield name, encode(value)
                except (CodecError, RecursionError):
                    continue

    def _plain(self, value: Any) -> bool:
        cls = type(value)
        module = cls.__module__
        return cls in EAGER or module.partition(".")[0] in MUTABLE or module == self.target.module.__name__

    def _values(self) -> Iterator[tuple[str, Any]]:
        for name, value in list(vars(self.target.module).items()):
            if name.startswith("__"):
                continue
            if not isinstance(value, type):
                yield f"the global {name}", value
            elif value.__module__ == self.target.module.__name__:
                for field, item in list(vars(value).items()):
                    if not field.startswith("__"):
                        yield f"the class attribute {name}.{field}", item
        yield from self._of_function()

    def _of_function(self) -> Iterator[tuple[str, Any]]:
        symbol = self.target.symbol
        function = self.target.function
        while function is not None:
            for name, value in list(getattr(function, "__dict__", {}).items()):
                if name != "__wrapped__":
                    yield f"the attribute {symbol}.{name}", value
            code = getattr(function, "__code__", None)
            if code is not None:
                names = code.co_varnames[: code.co_argcount]
                defaults = function.__defaults__ or ()
                for name, value in zip(names[len(names) - len(defaults) :], defaults):  # noqa: B905 (3.10 inside)
                    yield f"the default of {symbol}'s parameter {name}", value
                for name, cell in zip(code.co_freevars, function.__closure__ or ()):  # noqa: B905 (3.10 inside)
                    try:
                        yield f"the variable {name} that {symbol} closes over", cell.cell_contents
                    except ValueError:  # not filled yet
                        continue
            function = getattr(function, "__wrapped__", None)
