"""Objects that do a part of what the value behind them does, and no more; or all of it, and note what is asked of them.

They are no instances of the value's class: what insists on that class refuses them. An operation that they lack is
missing from their class, so that Python falls back, or raises, as it does for any object without it. In outcomes the
value stands in their place.
"""

from __future__ import annotations

from .codec import STAND_INS, encode

TYPE_CHECKING = False
if TYPE_CHECKING:  # `typing` itself would cost each start 8 ms
    from collections.abc import Callable
    from typing import Any

    from .capture import Capture

NARROWED = "narrowed"
"""The kind of these objects in plain data: (value, names), see `narrowed`."""
SLICE = "[:]"
"""Stands beside the names of methods: `__getitem__` with a slice."""
COPY = "__reduce_ex__"
"""What copying and pickling ask for."""
OPERATORS = {"add": "+", "sub": "-", "mul": "*", "truediv": "/", "floordiv": "//", "mod": "%", "pow": "**",
             "matmul": "@", "and": "&", "or": "|", "xor": "^", "lshift": "<<", "rshift": ">>"}  # fmt: skip
COMPARISONS = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
PREFIXES = {"neg": "-", "pos": "+", "invert": "~"}
FUNCTIONS = ("hash", "len", "bool", "iter", "reversed", "int", "float", "complex", "str", "repr", "next")

METHODS: dict[str, tuple[str, str]] = {
    **{f"__{name}__": ("self, other", f"self._plain {sign} plain(other)") for name, sign in COMPARISONS.items()},
    **{f"__{name}__": ("self, other", f"Only(self._plain {sign} plain(other))") for name, sign in OPERATORS.items()},
    **{f"__r{name}__": ("self, other", f"Only(plain(other) {sign} self._plain)") for name, sign in OPERATORS.items()},
    **{f"__{name}__": ("self", f"Only({sign}self._plain)") for name, sign in PREFIXES.items()},
    **{f"__{name}__": ("self", f"{name}(self._plain)") for name in FUNCTIONS},
    **{f"__{name}__": ("self", f"self._plain.__{name}__()") for name in ("index", "trunc", "floor", "ceil")},
    "__abs__": ("self", "Only(abs(self._plain))"),
    "__pow__": ("self, other, *modulus", "Only(pow(self._plain, plain(other), *modulus))"),
    "__round__": ("self, *given", "round(self._plain, *given)"),
    "__divmod__": ("self, other", "divmod(self._plain, plain(other))"),
    "__rdivmod__": ("self, other", "divmod(plain(other), self._plain)"),
    "__format__": ("self, how", "format(self._plain, how)"),
    "__contains__": ("self, other", "plain(other) in self._plain"),
    "__getitem__": ("self, key", "self._plain[plain(key)]"),
    "__setitem__": ("self, key, new", "self._plain.__setitem__(plain(key), new)"),
    "__delitem__": ("self, key", "self._plain.__delitem__(plain(key))"),
    "__call__": ("self, *given, **named", "self._plain(*given, **named)"),
    "__enter__": ("self", "self._plain.__enter__()"),
    "__exit__": ("self, *given", "self._plain.__exit__(*given)"),
}
"""How each method is passed on to the value: its parameters, and an expression. What is calculated with such an object
is one like it."""
CALCULATED = (int, float, complex)
ONE_ITEM = "self._plain[__import__('operator').index(key)]"
"""What `__getitem__` of a sequence does that has no slices."""
BY_DEFAULT = ("__ne__", "__lt__", "__le__", "__gt__", "__ge__")
"""Methods that `object` has, and that do nothing there which Python does not do without them."""
SEQUENCES = (list, tuple, str, bytes)

ASKED: dict[str, None] = {}
"""Names of the methods and attributes that were asked of objects that note it."""
_made: dict[tuple[type, tuple[str, ...] | None], type] = {}


def narrowed(value: Any, names: tuple[str, ...] | None) -> Any:
    """Returns an object that does what a value does, as far as names of methods and attributes go.

    Args:
        value: what is behind it.
        names: what it may be asked for; None for everything, which is noted in `ASKED`.
    """
    cls = type(value)
    known = _made.get((cls, names))
    if known is None:
        known = _made[cls, names] = _class(cls, names)
        STAND_INS.add(known)
    one = known()
    object.__setattr__(one, "_plain", value)
    return one


def plain(one: Any) -> Any:
    """Returns the value behind an object; anything else as it is."""
    return one._plain if type(one) in STAND_INS else one


def forwarding(name: str, names: tuple[str, ...] | None, sequence: bool) -> str:
    """Returns the source of a method that passes a call on.

    Args:
        name: of the method.
        names: what may be asked for; None for everything.
        sequence: whether the value behind is a sequence, of which there are slices.
    """
    parameters, expression = METHODS[name]
    if name == "__getitem__" and sequence and names is not None and SLICE not in names:
        expression = ONE_ITEM
    return f"lambda {parameters}: {expression}"


def methods_of(cls: type, names: tuple[str, ...] | None) -> list[str]:
    """Returns which methods an object before a value of a class has."""
    return [name for name in METHODS if (names is None or name in names) and _has(cls, name)]


def _has(cls: type, name: str) -> bool:
    """Whether a class has a method of its instances; its own class may have one of that name too."""
    found = next((base for base in cls.__mro__ if name in vars(base)), None)
    return found is not None and vars(found)[name] is not None and not (found is object and name in BY_DEFAULT)


def _class(cls: type, names: tuple[str, ...] | None) -> type:
    """Makes the class of objects before values of a class."""

    def calculated(value: Any) -> Any:
        return narrowed(value, names) if type(value) in CALCULATED or type(value) is cls else value

    body: dict[str, Any] = {"__slots__": ("_plain",), "__hash__": None, "__reduce__": None, COPY: None}
    known = {"plain": plain, "Only": calculated}
    for name in methods_of(cls, names):
        method = eval(forwarding(name, names, issubclass(cls, SEQUENCES)), known)  # a text of `METHODS`
        body[name] = method if names is not None else _noting(name, method)
    if names is None or COPY in names:
        for name, method in _copying(names).items():
            body[name] = method if names is not None else _noting(COPY, method)
    body["__getattr__"] = _reading(cls, names)
    body["__setattr__"] = _writing(cls, names)
    return type("Only", (), body)


def _noting(name: str, method: Callable[..., Any]) -> Callable[..., Any]:
    def noted(self: Any, *given: Any, **named: Any) -> Any:
        ASKED[SLICE if name == "__getitem__" and isinstance(given[0], slice) else name] = None
        return method(self, *given, **named)

    return noted


def _copying(names: tuple[str, ...] | None) -> dict[str, Callable[..., Any]]:
    import copy

    return {
        "__copy__": lambda self: narrowed(copy.copy(self._plain), names),
        "__deepcopy__": lambda self, made: narrowed(copy.deepcopy(self._plain, made), names),
        COPY: lambda self, protocol: (narrowed, (self._plain, names)),
    }


def _reading(cls: type, names: tuple[str, ...] | None) -> Callable[[Any, str], Any]:
    def read(self: Any, name: str) -> Any:
        if name.startswith("__") or (names is not None and name not in names):
            raise AttributeError(f"'{cls.__name__}' object has no attribute '{name}'")
        if names is None and hasattr(self._plain, name):
            ASKED[name] = None
        return getattr(self._plain, name)

    return read


def _writing(cls: type, names: tuple[str, ...] | None) -> Callable[[Any, str, Any], None]:
    def write(self: Any, name: str, value: Any) -> None:
        if names is not None and name not in names:
            raise AttributeError(f"'{cls.__name__}' object has no attribute '{name}'")
        if names is None:
            ASKED[name] = None
        setattr(self._plain, name, value)

    return write


def call_asked(
    call_once: Callable[[Any, bytes, Capture], tuple[bytes, int]], target: Any, payload: bytes, capture: Capture
) -> tuple[bytes, int]:
    """Calls once by `invocation.call_once`; the outcome is that of the call, and what was asked of objects."""
    ASKED.clear()
    outcome, spent = call_once(target, payload, capture)
    return encode((outcome, tuple(ASKED))), spent
