"""Inputs from type hints: hypothesis strategies that give plain data. No code of the target runs."""

from __future__ import annotations

import ast
import threading
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from hypothesis import HealthCheck, Phase, configuration, given, seed, settings
from hypothesis import strategies as st

from whet.core.task import Task
from whet.evaluators.inputs.plain_data import instance, read
from whet.evaluators.screen import Function, find_function, parse
from whet.sandbox.inside.codec import encode
from whet.sandbox.inside.decode import Node

Strategy = st.SearchStrategy[Any]

MOST_ITEMS = 12
DEEPEST = 6
"""How far hints are followed; a class that holds itself ends there."""
LETTERS = "abcxyzAB 01-_,.\n\t'éß\u0301\U0001f600"
DTYPES = {
    "float64": "<f8",
    "float32": "<f4",
    "int64": "<i8",
    "int32": "<i4",
    "uint8": "|u1",
    "bool_": "|b1",
    "float": "<f8",
}
LISTS = {"list", "List", "Sequence", "MutableSequence", "Iterable", "Collection", "Reversible"}
SETS = {"set", "Set", "MutableSet", "AbstractSet"}
MAPPINGS = {"dict", "Dict", "Mapping", "MutableMapping"}
NOWHERE = "/dev/null/hypothesis"
ENUMS = {"Enum", "IntEnum", "StrEnum", "Flag", "IntFlag"}

_turn = threading.Lock()


class UnknownTypeError(Exception):
    """A hint is missing, or names a type that no input can be made of."""


def strategy_of(task: Task, literals: Iterable[Any]) -> Strategy | None:
    """Returns what draws inputs of a Python function from its hints; None where they do not suffice.

    Args:
        task: its source is read, never run.
        literals: scalars that the target's text or tests hold; they are drawn often.
    """
    module = parse(task.source)
    if not isinstance(module, ast.Module) or task.symbol is None:
        return None
    function = find_function(module, task.symbol)
    if function is None:
        return None
    hints = _Hints(module, _module_name(task), list(literals))
    owner = task.symbol.rpartition(".")[0]
    try:
        if not owner:
            return _call(hints, function, False)
        plain = any(getattr(mark, "id", "") in ("staticmethod", "classmethod") for mark in function.decorator_list)
        init = find_function(module, f"{owner}.__init__")
        made = _arguments(hints, init, True) if init is not None and not plain else st.just(((), {}))
        args = _arguments(
            hints, function, not any(getattr(m, "id", "") == "staticmethod" for m in function.decorator_list)
        )
        return st.tuples(made, args).map(lambda both: {"init": both[0][0], "args": both[1][0], "kwargs": both[1][1]})
    except UnknownTypeError:
        return None


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
        collect()
    return drawn


def _module_name(task: Task) -> str:
    """Returns what the target's module is called where it is loaded."""
    parts = task.filename.removesuffix(".py").split("/")
    inits = ["/".join([*parts[: i + 1], "__init__.py"]) for i in range(len(parts) - 1)]
    return ".".join(parts) if inits and all(init in task.support for init in inits) else parts[-1]


def _call(hints: _Hints, function: Function, bound: bool) -> Strategy:
    return _arguments(hints, function, bound).map(
        lambda both: {"args": both[0], "kwargs": both[1]} if both[1] else both[0]
    )


def _arguments(hints: _Hints, function: Function, bound: bool) -> Strategy:
    """Returns what draws (positional, named) arguments; those with a default and no hint are left out."""
    spec = function.args
    positional = [*spec.posonlyargs, *spec.args][1 if bound else 0 :]
    required = len(positional) - len(spec.defaults)
    taken = []
    for i, arg in enumerate(positional):
        if arg.annotation is None and i >= required:
            break
        taken.append(hints.strategy(arg.annotation))
    named = {
        arg.arg: hints.strategy(arg.annotation)
        for arg, default in zip(spec.kwonlyargs, spec.kw_defaults, strict=True)
        if default is None or arg.annotation is not None
    }
    return st.tuples(st.tuples(*taken), st.fixed_dictionaries(named))


class _Hints:
    """Follows the hints of one module."""

    def __init__(self, module: ast.Module, name: str, literals: list[Any]) -> None:
        self.name = name
        self.classes = {node.name: node for node in module.body if isinstance(node, ast.ClassDef)}
        self.aliases: Mapping[str, ast.expr] = {
            target.id: node.value
            for node in module.body
            if isinstance(node, ast.Assign)
            for target in node.targets
            if isinstance(target, ast.Name)
        }
        ints = sorted({n + d for n in literals if type(n) is int and abs(n) < 2**31 for d in (-1, 0, 1)})
        floats = [x for x in literals if type(x) is float]
        texts = [x for x in literals if type(x) is str and len(x) < 40]
        text = st.lists(st.sampled_from(LETTERS), max_size=MOST_ITEMS).map("".join)
        few = st.sampled_from(["", "a", "b", "ab", "A", "0"])
        self.scalars: dict[str, Callable[[], Strategy]] = {
            "int": lambda: st.integers(-3, 12) | st.integers(-1000, 1000) | _among(ints),
            "float": lambda: st.sampled_from([0.0, -0.0, 1.0, 0.5]) | st.floats(-1e6, 1e6) | _among(floats + ints),
            "bool": st.booleans,
            "str": lambda: few | text | _among(texts),
            "bytes": lambda: st.binary(max_size=MOST_ITEMS),
            "complex": lambda: st.builds(complex, st.floats(-1e3, 1e3), st.floats(-1e3, 1e3)),
            "None": st.none,
            "bytearray": lambda: st.binary(max_size=MOST_ITEMS).map(bytearray),
            "Any": lambda: st.integers(-3, 12),
            "object": lambda: st.integers(-3, 12),
        }

    def strategy(self, hint: ast.expr | None, depth: int = 0) -> Strategy:
        """Returns what draws values of a hint.

        Raises:
            UnknownTypeError: it is missing, or not known.
        """
        if hint is None or depth > DEEPEST:
            raise UnknownTypeError
        if isinstance(hint, ast.Constant):
            if hint.value is None:
                return st.none()
            if isinstance(hint.value, str):
                return self.strategy(_expression(hint.value), depth)
        if isinstance(hint, ast.BinOp) and isinstance(hint.op, ast.BitOr):
            return self.strategy(hint.left, depth) | self.strategy(hint.right, depth)
        if isinstance(hint, ast.Subscript):
            inner = hint.slice.elts if isinstance(hint.slice, ast.Tuple) else [hint.slice]
            return self.generic(_name(hint.value), list(inner), depth + 1)
        name = _name(hint)
        if name in self.scalars:
            return self.floats() if name == "float" else self.scalars[name]()
        if name in self.aliases:
            return self.strategy(self.aliases[name], depth + 1)
        if name in self.classes:
            return self.instances(self.classes[name], depth + 1)
        return self.generic(name, [], depth + 1)

    def floats(self) -> Strategy:
        return self.scalars["float"]().map(float)

    def generic(self, name: str, inner: list[ast.expr], depth: int) -> Strategy:
        """Returns what draws containers of the inner hints."""
        if name == "Literal":
            return st.sampled_from([ast.literal_eval(item) for item in inner])
        if name in ("ndarray", "NDArray"):
            return _arrays(
                next((DTYPES[n] for item in inner for n in map(_name, ast.walk(item)) if n in DTYPES), "<f8")
            )
        if name in ("Optional", "Union"):
            return st.one_of(
                *(self.strategy(item, depth) for item in inner), *([st.none()] if name == "Optional" else [])
            )
        if name in ("Annotated", "Final"):
            return self.strategy(inner[0], depth)
        if name in ("tuple", "Tuple") and inner and not _is_ellipsis(inner[-1]):
            return st.tuples(*(self.strategy(item, depth) for item in inner))
        any_int = [ast.Name("int")]
        if name in MAPPINGS:
            key, value = (inner or any_int * 2)[:2]
            return st.dictionaries(self.strategy(key, depth), self.strategy(value, depth), max_size=MOST_ITEMS)
        if name in LISTS or name in SETS or name in ("tuple", "Tuple", "frozenset", "FrozenSet"):
            items = st.lists(self.strategy((inner or any_int)[0], depth), max_size=MOST_ITEMS)
            if name in LISTS:
                return items
            if name in SETS:
                return items.map(lambda them: Node("set", "", them, True))
            return items.map(tuple if name in ("tuple", "Tuple") else lambda them: Node("frozenset", "", them))
        raise UnknownTypeError

    def instances(self, cls: ast.ClassDef, depth: int) -> Strategy:
        """Returns what draws members of an enumeration, or instances of a dataclass or named tuple."""
        name = f"{self.name}:{cls.name}"
        bases = set(map(_name, cls.bases))
        if bases & ENUMS:
            members = [
                target.id
                for node in cls.body
                if isinstance(node, ast.Assign)
                for target in node.targets
                if isinstance(target, ast.Name) and not target.id.startswith("_")
            ]
            if members:
                return st.sampled_from(members).map(lambda member: Node("enum", name, member))
        fields = {
            node.target.id: self.strategy(node.annotation, depth)
            for node in cls.body
            if isinstance(node, ast.AnnAssign)
            and isinstance(node.target, ast.Name)
            and _name(getattr(node.annotation, "value", node.annotation)) != "ClassVar"
        }
        methods = {node.name for node in cls.body if isinstance(node, ast.FunctionDef)}
        if "NamedTuple" in bases:
            return st.tuples(*fields.values()).map(lambda them: Node("tuple", name, them))
        marks = {_name(mark.func if isinstance(mark, ast.Call) else mark) for mark in cls.decorator_list}
        if "dataclass" not in marks or bases or methods & {"__post_init__", "__init__", "__new__"}:
            raise UnknownTypeError
        return st.fixed_dictionaries(fields).map(lambda them: instance(name, list(them.items())))


def _arrays(dtype: str) -> Strategy:
    def made(length_and_cells: tuple[int, list[int]]) -> Any:
        import numpy as np

        length, cells = length_and_cells
        return read(encode(np.resize(np.array(cells or [0]), length).astype(np.dtype(dtype))))

    return st.tuples(st.integers(0, MOST_ITEMS), st.lists(st.integers(-5, 50), max_size=MOST_ITEMS)).map(made)


def _among(values: list[Any]) -> Strategy:
    return st.sampled_from(values) if values else st.nothing()


def _expression(text: str) -> ast.expr | None:
    try:
        return ast.parse(text, mode="eval").body
    except SyntaxError:
        return None


def _name(node: ast.AST) -> str:
    """Returns the last part of a dotted name; empty for anything else."""
    return getattr(node, "attr", getattr(node, "id", "")) or ""


def _is_ellipsis(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is ...
