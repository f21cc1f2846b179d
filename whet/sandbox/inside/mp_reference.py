"""Python's floats with more bits: what the baseline would have computed without its own rounding, or nearly.

In a process of its own, which runs nothing but the baseline, floats become `Float`, and complex numbers `Complex`:
subclasses that carry a number of mpmath beside their double. Literals, quotients of integers and the functions of
`math` and `cmath` make such numbers too, numpy's and torch's arrays get the next wider type. What cannot be done so
stays a double: the result is a better one only where more bits were kept all the way.
"""

from __future__ import annotations

import ast
import builtins
import cmath as _cmath
import fractions
import math as _math
import operator
import sys
import types
from functools import lru_cache
from importlib.machinery import SourceFileLoader

import mpmath

from . import codec

TYPE_CHECKING = False
if TYPE_CHECKING:  # `typing` itself would cost each start 8 ms
    from collections.abc import Callable
    from typing import Any

mp = mpmath.mp
UNARY = ("neg", "pos", "abs")
BINARY = ("add", "sub", "mul", "truediv", "mod", "floordiv", "pow")
ORDER = ("eq", "ne", "lt", "le", "gt", "ge")
REAL = [
    "sqrt",
    "exp",
    "expm1",
    "log1p",
    "log2",
    "log10",
    "sin",
    "cos",
    "tan",
    "asin",
    "acos",
    "atan",
    "atan2",
    "sinh",
    "cosh",
    "tanh",
    "asinh",
    "acosh",
    "atanh",
    "hypot",
    "erf",
    "erfc",
    "gamma",
    "cbrt",
    "degrees",
    "radians",
    "pow",
]
COMPLEX = [
    "exp",
    "sqrt",
    "sin",
    "cos",
    "tan",
    "asin",
    "acos",
    "atan",
    "sinh",
    "cosh",
    "tanh",
    "asinh",
    "acosh",
    "atanh",
    "log10",
]


def _raw(value: Any) -> Any:
    """Returns a number as mpmath takes it; None for anything else."""
    kind = type(value)
    if kind is Float or kind is Complex:
        return value.exact
    if kind is float or kind is int or kind is bool or kind is complex:
        return mp.convert(value)
    if isinstance(value, fractions.Fraction):
        return mp.mpf(value.numerator) / value.denominator
    if isinstance(value, (int, float, complex)):
        return mp.convert(complex(value) if isinstance(value, complex) else value + type(value)(0))
    return None


class Float(float):
    """A float that knows more digits of itself."""

    __slots__ = ("exact",)
    if TYPE_CHECKING:
        exact: Any

    def __new__(cls, value: Any) -> Any:
        exact = value if isinstance(value, mp.mpf) else _raw(value)
        if exact is None:
            return float(value)
        self = float.__new__(cls, exact)
        self.exact = exact
        return self

    def __reduce__(self) -> Any:
        return float, (float.__float__(self),)

    def __int__(self) -> int:
        return int(self.exact) if mp.isfinite(self.exact) else float.__int__(self)

    __trunc__ = __int__

    def __floor__(self) -> int:
        return int(mp.floor(self.exact)) if mp.isfinite(self.exact) else float.__floor__(self)

    def __ceil__(self) -> int:
        return int(mp.ceil(self.exact)) if mp.isfinite(self.exact) else float.__ceil__(self)

    def __round__(self, digits: Any = None) -> Any:
        return float.__round__(self) if digits is None else Float(float.__round__(self, digits))

    def __divmod__(self, other: Any) -> Any:
        return self // other, self % other

    def is_integer(self) -> bool:
        return bool(mp.isint(self.exact))

    def as_integer_ratio(self) -> tuple[int, int]:
        sign, mantissa, exponent, _ = self.exact._mpf_
        ratio = fractions.Fraction(-int(mantissa) if sign else int(mantissa)) * fractions.Fraction(2) ** exponent
        return ratio.numerator, ratio.denominator

    def conjugate(self) -> Any:
        return self

    @property
    def real(self) -> Any:
        return self

    __hash__ = float.__hash__


class Complex(complex):
    """A complex number that knows more digits of itself."""

    exact: Any

    def __new__(cls, value: Any) -> Any:
        self = complex.__new__(cls, value)
        self.exact = mp.mpc(value)
        return self

    def conjugate(self) -> Any:
        return Complex(mp.conj(self.exact))

    @property
    def real(self) -> Any:
        return Float(self.exact.real)

    @property
    def imag(self) -> Any:
        return Float(self.exact.imag)

    __hash__ = complex.__hash__


def number(value: Any) -> Any:
    """Returns what Python would hold a number of mpmath in."""
    return Complex(value) if isinstance(value, mp.mpc) else Float(value)


def _install_operators(cls: Any, base: Any) -> None:
    def binary(name: str, swapped: bool) -> Callable[[Any, Any], Any]:
        native = getattr(base, f"__{'r' if swapped else ''}{name}__", None)
        compute = getattr(operator, name)

        def method(self: Any, other: Any) -> Any:
            theirs = _raw(other)
            if theirs is None or native is None:
                return NotImplemented
            pair = (theirs, self.exact) if swapped else (self.exact, theirs)
            if name in ("mod", "floordiv"):
                return number(mp.floor(pair[0] / pair[1]) if name == "floordiv" else pair[0] % pair[1])
            if name == "pow":
                return power(*(number(one) for one in pair))
            return number(compute(*pair))

        return method

    for name in BINARY:
        setattr(cls, f"__{name}__", binary(name, False))
        setattr(cls, f"__r{name}__", binary(name, True))
    for name in UNARY:
        compute = getattr(operator, name)
        setattr(cls, f"__{name}__", lambda self, compute=compute: number(compute(self.exact)))
    for name in ORDER:
        compute = getattr(operator, name)
        if base is complex and name not in ("eq", "ne"):
            continue

        def method(self: Any, other: Any, compute: Any = compute) -> Any:
            theirs = _raw(other)
            return NotImplemented if theirs is None else bool(compute(self.exact, theirs))

        setattr(cls, f"__{name}__", method)


_install_operators(Float, float)
_install_operators(Complex, complex)


def quotient(a: Any, b: Any) -> Any:
    """``a / b``, which makes a float of two integers."""
    return Float(a) / b if type(a) is int and type(b) is int else a / b


def power(a: Any, b: Any) -> Any:
    """``a ** b``; what Python refuses is refused as it does."""
    if type(a) is int and type(b) is int:
        return a**b if b >= 0 else Float(a) ** b
    if not isinstance(a, (Float, Complex)) and not isinstance(b, (Float, Complex)):
        return a**b
    plain = _plain(a) ** _plain(b)  # raises what it raises
    exact = mp.power(_raw(a), _raw(b)) if _finite(plain) else plain
    return number(exact if isinstance(plain, complex) or not isinstance(exact, mp.mpc) else exact.real)


def _plain(value: Any) -> Any:
    return complex.__complex__(value) if isinstance(value, Complex) else float(value) if type(value) is Float else value


def _finite(value: Any) -> bool:
    return _cmath.isfinite(value)


def _wrapped(native: Any, compute: Any) -> Callable[..., Any]:
    def function(*values: Any) -> Any:
        raws = [_raw(value) for value in values]
        found = native(*map(_plain, values))  # raises what it raises
        if None in raws or not _finite(found):
            return found
        return number(compute(*raws))

    return function


def _modules() -> dict[str, types.ModuleType]:
    """Returns `math` and `cmath` with functions that keep more bits."""
    made = {}
    for real, names in ((_math, REAL), (_cmath, COMPLEX)):
        module = types.ModuleType(real.__name__)
        module.__dict__.update(vars(real))
        for name in names:
            compute = _OTHERS.get(name) or getattr(mp, name, None)
            if hasattr(real, name) and compute is not None:
                setattr(module, name, _wrapped(getattr(real, name), compute))
        made[real.__name__] = module
    math, cmath = made["math"], made["cmath"]
    math.log = _wrapped(_math.log, mp.log)  # type: ignore[attr-defined]
    cmath.log = _wrapped(_cmath.log, lambda *values: mp.mpc(mp.log(*values)))  # type: ignore[attr-defined]
    cmath.phase = _wrapped(_cmath.phase, mp.arg)  # type: ignore[attr-defined]
    cmath.rect = _wrapped(_cmath.rect, lambda r, phi: mp.mpc(r * mp.cos(phi), r * mp.sin(phi)))  # type: ignore[attr-defined]
    cmath.polar = lambda z: (abs(z), cmath.phase(z))  # type: ignore[attr-defined]
    math.fsum = lambda values: Float(mp.fsum(_raw(value) for value in values))  # type: ignore[attr-defined]
    math.prod = lambda values, *, start=1: _product(values, start)  # type: ignore[attr-defined]
    math.dist = lambda p, q: Float(mp.sqrt(mp.fsum((_raw(a) - _raw(b)) ** 2 for a, b in zip(p, q))))  # type: ignore[attr-defined]  # noqa: B905
    math.sumprod = lambda p, q: sum(a * b for a, b in zip(p, q))  # type: ignore[attr-defined]  # noqa: B905
    math.fabs = lambda value: abs(Float(value))  # type: ignore[attr-defined]
    math.floor = lambda value: value.__floor__() if isinstance(value, Float) else _math.floor(value)  # type: ignore[attr-defined]
    math.ceil = lambda value: value.__ceil__() if isinstance(value, Float) else _math.ceil(value)  # type: ignore[attr-defined]
    math.pi, math.e, math.tau = (Float(_math.pi), Float(_math.e), Float(_math.tau))  # type: ignore[attr-defined]
    return made


def _product(values: Any, start: Any) -> Any:
    for value in values:
        start = start * value
    return start


_OTHERS: dict[str, Any] = {
    "log2": lambda x: mp.log(x, 2),
    "cbrt": lambda x: mp.sign(x) * mp.root(abs(x), 3),
    "degrees": lambda x: x * 180 / mp.mpf(_math.pi),
    "radians": lambda x: x * mp.mpf(_math.pi) / 180,
    "pow": mp.power,
    "hypot": lambda *values: mp.sqrt(mp.fsum(value * value for value in values)),
    "log10": lambda x: mp.log(x) / mp.log(10),
}


class _Rewrite(ast.NodeTransformer):
    """Has a source make numbers with more bits where it would make floats."""

    def visit_Constant(self, node: ast.Constant) -> ast.expr:
        if not isinstance(node.value, (float, complex)):
            return node
        return self.call("literal", node, node)

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        self.generic_visit(node)
        name = {ast.Div: "quotient", ast.Pow: "power"}.get(type(node.op))
        return self.call(name, node, node.left, node.right) if name else node

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.stmt:
        self.generic_visit(node)
        if not isinstance(node.op, ast.Div) or not isinstance(node.target, ast.Name):
            return node
        name = ast.copy_location(ast.Name(node.target.id, ast.Load()), node)
        return ast.copy_location(ast.Assign([node.target], self.call("divided", node, name, node.value)), node)

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        if isinstance(node.func, ast.Name) and node.func.id == "float" and len(node.args) == 1:
            return self.call("as_float", node, *node.args)
        return node

    def visit_MatchValue(self, node: ast.MatchValue) -> ast.AST:
        return node

    def call(self, name: str, where: ast.expr | ast.stmt, *args: ast.expr) -> ast.expr:
        made = ast.Call(ast.Name(f"__whet_{name}__", ast.Load()), list(args), [])
        return ast.fix_missing_locations(ast.copy_location(made, where))


def divided(a: Any, b: Any) -> Any:
    """``a /= b``."""
    return quotient(a, b) if type(a) is int else operator.itruediv(a, b)  # type: ignore[no-untyped-call]


def as_float(value: Any) -> Any:
    """``float(value)``."""
    if isinstance(value, Float):
        return value
    plain = float(value)
    return plain if not isinstance(value, (int, float, str)) else Float(value if isinstance(value, int) else plain)


@lru_cache(maxsize=4096)
def literal(value: Any) -> Any:
    """A number that stands in the source."""
    return Complex(value) if isinstance(value, complex) else Float(value)


def install(tree: str, bits: int) -> None:
    """Has the modules below ``tree``, and what is called from them, compute with that many bits from now on."""
    mp.prec = bits
    sys.modules.update(_modules())
    for helper in (quotient, power, divided, as_float, literal):
        setattr(builtins, f"__whet_{helper.__name__}__", helper)
    native = SourceFileLoader.source_to_code

    def source_to_code(self: Any, data: Any, path: Any, *, _optimize: int = -1) -> Any:
        if not str(path).startswith(tree):
            return native(self, data, path, _optimize=_optimize)
        module = _Rewrite().visit(ast.parse(data, path))
        return compile(module, path, "exec", dont_inherit=True, optimize=_optimize)

    SourceFileLoader.source_to_code = source_to_code  # type: ignore[method-assign]
    codec.SCALARS[Float] = lambda w, v: w.node(b"o", "precise", "float", _halves(v.exact))
    codec.SCALARS[Complex] = lambda w, v: w.node(
        b"o", "precise", "complex", (*_halves(v.exact.real), *_halves(v.exact.imag))
    )


def use(bits: int) -> None:
    """Computes with that many bits from now on."""
    mp.prec = bits
    literal.cache_clear()


def _halves(exact: Any) -> tuple[float, float]:
    high = float(exact)
    return (high, float(exact - high)) if _math.isfinite(high) else (high, 0.0)
