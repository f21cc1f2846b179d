"""Follows type hints to what makes values of them. No code of the target runs."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from whet.core.task import Task
from whet.core.trees import expression_of, last_name
from whet.evaluators.screen import Function, find_function, parse

T = TypeVar("T")

DEEPEST = 6
"""How far hints are followed; a class that holds itself ends there."""
SCALARS = {"int", "float", "bool", "str", "bytes", "complex", "bytearray", "None", "Any", "object"}
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
FROZEN = {"frozenset", "FrozenSet"}
TUPLES = {"tuple", "Tuple"}
MAPPINGS = {"dict", "Dict", "Mapping", "MutableMapping"}
ENUMS = {"Enum", "IntEnum", "StrEnum", "Flag", "IntFlag"}


class UnknownTypeError(Exception):
    """A hint is missing, or names a type that no input can be made of; the text is the parameter with its hint."""


class Maker(Protocol[T]):
    """What values of each kind of hint are made with."""

    def scalar(self, name: str) -> T:
        """Makes one of `SCALARS`."""

    def among(self, values: Sequence[Any]) -> T:
        """Makes one of the given literals."""

    def either(self, parts: Sequence[T]) -> T:
        """Makes what one of the parts makes."""

    def together(self, parts: Sequence[T], cls: str) -> T:
        """Makes a tuple, or a named one of the class ``module:name``."""

    def items(self, kind: str, item: T) -> T:
        """Makes a list, tuple, set or frozenset of any length."""

    def mapping(self, key: T, value: T) -> T:
        """Makes a dict."""

    def array(self, dtype: str) -> T:
        """Makes a numpy array."""

    def member(self, cls: str, names: Sequence[str]) -> T:
        """Makes a member of an enumeration."""

    def instance(self, cls: str, fields: Mapping[str, T]) -> T:
        """Makes an instance of a dataclass."""


@dataclass(frozen=True, slots=True)
class Parameters(Generic[T]):
    """What makes the arguments of one call.

    Attributes:
        positional: by the parameters' names.
        named: keyword-only ones.
        rest: what makes a tuple of those that a parameter such as ``*args: int`` takes; None where there is no such.
    """

    positional: Mapping[str, T]
    named: Mapping[str, T]
    rest: T | None = None


@dataclass(frozen=True, slots=True)
class Signature(Generic[T]):
    """What makes an input of a target.

    Attributes:
        call: its arguments.
        init: those of its class; None for a plain function, or where only calls of the constructor tell them.
    """

    call: Parameters[T]
    init: Parameters[T] | None = None


def signature_of(task: Task, maker: Maker[T]) -> Signature[T] | None:
    """Returns what makes inputs of a Python function; None where it is no function of the file.

    Args:
        task: its source is read, never run.
        maker: see `Maker`.

    Raises:
        UnknownTypeError: a parameter has no hint, or one that no input can be made of.
    """
    module = parse(task.source)
    if not isinstance(module, ast.Module) or task.symbol is None:
        return None
    function = find_function(module, task.symbol)
    if function is None:
        return None
    hints = _Hints(module, module_name(task), maker)
    owner = task.symbol.rpartition(".")[0]
    if not owner:
        return Signature(_parameters(hints, function, False))
    marks = {last_name(mark) for mark in function.decorator_list}
    init = initializer(module, owner)
    plain = init is None or marks & {"staticmethod", "classmethod"}
    made: Parameters[T] | None = Parameters({}, {})
    if init is not None and not plain:
        try:
            made = _parameters(hints, init, True)
        except UnknownTypeError:
            if not task.workload.inits:
                raise
            made = None  # objects are made as the tests make them
    return Signature(_parameters(hints, function, "staticmethod" not in marks), made)


def constructor_of(task: Task, maker: Maker[T]) -> Parameters[T] | None:
    """Returns what makes the arguments of the constructor of a method's class; None where it takes none.

    Raises:
        UnknownTypeError: a parameter has no hint, or one that no value can be made of.
    """
    module = parse(task.source)
    owner = (task.symbol or "").rpartition(".")[0]
    init = initializer(module, owner) if isinstance(module, ast.Module) else None
    assert isinstance(module, ast.Module), "it was read before"
    return None if init is None else _parameters(_Hints(module, module_name(task), maker), init, True)


def initializer(module: ast.Module, owner: str) -> Function | None:
    """Returns the constructor of a class: its own, a dataclass's of its fields, or that of a base in its module."""
    if (own := find_function(module, f"{owner}.__init__")) is not None:
        return own
    classes = {node.name: node for node in module.body if isinstance(node, ast.ClassDef)}
    cls = classes.get(owner)
    if cls is None:
        return None
    if "dataclass" in {last_name(mark.func if isinstance(mark, ast.Call) else mark) for mark in cls.decorator_list}:
        return _of_fields(cls)
    bases = (base.id for base in cls.bases if isinstance(base, ast.Name) and base.id in classes and base.id != owner)
    return next((found for base in bases if (found := initializer(module, base)) is not None), None)


def _of_fields(cls: ast.ClassDef) -> Function:
    fields = [node for node in cls.body if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)]
    fields = [node for node in fields if last_name(getattr(node.annotation, "value", node.annotation)) != "ClassVar"]
    args = [ast.arg("self"), *(ast.arg(node.target.id, node.annotation) for node in fields)]  # type: ignore[union-attr]
    defaults = [node.value for node in fields if node.value is not None]
    spec = ast.arguments([], args, None, [], [], None, defaults)
    return ast.FunctionDef("__init__", spec, [ast.Pass()], [], None)


def hints_of(task: Task) -> str:
    """Returns the parameters of a target with their hints, as its file writes them."""
    module = parse(task.source)
    if not isinstance(module, ast.Module) or task.symbol is None:
        return ""
    function = find_function(module, task.symbol)
    if function is None:
        return ""
    spec = function.args
    parameters = [_written(arg) for arg in (*spec.posonlyargs, *spec.args) if arg.arg not in ("self", "cls")]
    rest = [f"*{_written(spec.vararg)}"] if spec.vararg is not None else []
    return ", ".join((*parameters, *rest, *map(_written, spec.kwonlyargs)))


def module_name(task: Task) -> str:
    """Returns what the target's module is called where it is loaded."""
    parts = task.filename.removesuffix(".py").split("/")
    inits = ["/".join([*parts[: i + 1], "__init__.py"]) for i in range(len(parts) - 1)]
    return ".".join(parts) if inits and all(init in task.support for init in inits) else parts[-1]


def _parameters(hints: _Hints[T], function: Function, bound: bool) -> Parameters[T]:
    """Returns what makes the arguments; those with a default and no hint are left out."""
    spec = function.args
    positional = [*spec.posonlyargs, *spec.args][1 if bound else 0 :]
    required = len(positional) - len(spec.defaults)
    taken: dict[str, T] = {}
    for i, arg in enumerate(positional):
        if arg.annotation is None and i >= required:
            break
        taken[arg.arg] = hints.of(arg)
    named = {
        arg.arg: hints.of(arg)
        for arg, default in zip(spec.kwonlyargs, spec.kw_defaults, strict=True)
        if default is None or arg.annotation is not None
    }
    hinted = spec.vararg is not None and spec.vararg.annotation is not None
    rest = hints.many(spec.vararg) if spec.vararg and hinted and len(taken) == len(positional) else None
    return Parameters(taken, named, rest)


class _Hints(Generic[T]):
    """Follows the hints of one module."""

    def __init__(self, module: ast.Module, name: str, maker: Maker[T]) -> None:
        self.name = name
        self.maker = maker
        self.classes = {node.name: node for node in module.body if isinstance(node, ast.ClassDef)}
        self.aliases: Mapping[str, ast.expr] = {
            target.id: node.value
            for node in module.body
            if isinstance(node, ast.Assign)
            for target in node.targets
            if isinstance(target, ast.Name)
        }

    def of(self, parameter: ast.arg) -> T:
        """Returns what makes values of a parameter.

        Raises:
            UnknownTypeError: its hint is missing, or not known.
        """
        try:
            return self.value(parameter.annotation)
        except UnknownTypeError:
            raise UnknownTypeError(_written(parameter)) from None

    def many(self, parameter: ast.arg) -> T:
        """Returns what makes tuples of values of a parameter, see `of`."""
        return self.maker.items("tuple", self.of(parameter))

    def value(self, hint: ast.expr | None, depth: int = 0) -> T:
        """Returns what makes values of a hint.

        Raises:
            UnknownTypeError: it is missing, or not known.
        """
        if hint is None or depth > DEEPEST:
            raise UnknownTypeError
        if isinstance(hint, ast.Constant):
            if hint.value is None:
                return self.maker.scalar("None")
            if isinstance(hint.value, str):
                return self.value(expression_of(hint.value), depth)
        if isinstance(hint, ast.BinOp) and isinstance(hint.op, ast.BitOr):
            return self.maker.either([self.value(hint.left, depth), self.value(hint.right, depth)])
        if isinstance(hint, ast.Subscript):
            inner = hint.slice.elts if isinstance(hint.slice, ast.Tuple) else [hint.slice]
            return self.generic(last_name(hint.value), list(inner), depth + 1)
        name = last_name(hint)
        if name in SCALARS:
            return self.maker.scalar(name)
        if name in self.aliases:
            return self.value(self.aliases[name], depth + 1)
        if name in self.classes:
            return self.instances(self.classes[name], depth + 1)
        return self.generic(name, [], depth + 1)

    def generic(self, name: str, inner: list[ast.expr], depth: int) -> T:
        """Returns what makes containers of the inner hints."""
        maker = self.maker
        if name == "Literal":
            return maker.among([ast.literal_eval(item) for item in inner])
        if name in ("ndarray", "NDArray"):
            known = (DTYPES[n] for item in inner for n in map(last_name, ast.walk(item)) if n in DTYPES)
            return maker.array(next(known, "<f8"))
        if name in ("Optional", "Union"):
            parts = [self.value(item, depth) for item in inner]
            return maker.either([*parts, *([maker.scalar("None")] if name == "Optional" else [])])
        if name in ("Annotated", "Final"):
            return self.value(inner[0], depth)
        if name in TUPLES and inner and not _is_ellipsis(inner[-1]):
            return maker.together([self.value(item, depth) for item in inner], "")
        any_int: list[ast.expr] = [ast.Name("int")]
        if name in MAPPINGS:
            key, value = (inner or any_int * 2)[:2]
            return maker.mapping(self.value(key, depth), self.value(value, depth))
        for kind, names in (("list", LISTS), ("set", SETS), ("frozenset", FROZEN), ("tuple", TUPLES)):
            if name in names:
                return maker.items(kind, self.value((inner or any_int)[0], depth))
        raise UnknownTypeError

    def instances(self, cls: ast.ClassDef, depth: int) -> T:
        """Returns what makes members of an enumeration, or instances of a dataclass or named tuple."""
        name = f"{self.name}:{cls.name}"
        bases = set(map(last_name, cls.bases))
        if bases & ENUMS:
            members = [
                target.id
                for node in cls.body
                if isinstance(node, ast.Assign)
                for target in node.targets
                if isinstance(target, ast.Name) and not target.id.startswith("_")
            ]
            if members:
                return self.maker.member(name, members)
        fields = {
            node.target.id: self.value(node.annotation, depth)
            for node in cls.body
            if isinstance(node, ast.AnnAssign)
            and isinstance(node.target, ast.Name)
            and last_name(getattr(node.annotation, "value", node.annotation)) != "ClassVar"
        }
        methods = {node.name for node in cls.body if isinstance(node, ast.FunctionDef)}
        if "NamedTuple" in bases:
            return self.maker.together(list(fields.values()), name)
        marks = {last_name(mark.func if isinstance(mark, ast.Call) else mark) for mark in cls.decorator_list}
        if "dataclass" not in marks or bases or methods & {"__post_init__", "__init__", "__new__"}:
            raise UnknownTypeError
        return self.maker.instance(name, fields)


def _written(parameter: ast.arg) -> str:
    hint = parameter.annotation
    return parameter.arg if hint is None else f"{parameter.arg}: {ast.unparse(hint)}"


def _is_ellipsis(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is ...
