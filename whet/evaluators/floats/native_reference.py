"""The baseline of a native function as a source of truth: compiled with wider types, and on inputs near a given one.

Its text is compiled behind macros that make each ``float`` a ``double``, or each of both a ``long double``, and the
mathematical functions theirs. A text that this breaks, as intrinsics do, has no truth; what is then allowed follows
from what the baseline makes of inputs that are off by a last place.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from whet.core.signature import Signature
from whet.evaluators.artifacts import Artifact, Builder
from whet.evaluators.finding import Fault
from whet.evaluators.floats.leaves import Groups
from whet.evaluators.floats.reference import BITS, RUN_LIMIT, floats_of
from whet.evaluators.processes import FunctionProcess, TargetProcess
from whet.sandbox.inside.codec import Elements, encode
from whet.sandbox.inside.decode import Node, decode

HEADERS = {
    "c": ("math.h", "stdlib.h", "string.h", "stdint.h", "stddef.h", "stdbool.h", "float.h", "stdio.h", "limits.h"),
    "cpp": (
        "cmath", "cstdlib", "cstring", "cstdint", "cstddef", "cfloat", "cstdio", "climits", "algorithm", "array",
        "functional", "limits", "map", "numeric", "queue", "string", "tuple", "unordered_map", "utility", "vector",
    ),
}  # fmt: skip
"""Included before the macros, so that none of them reaches what a header says."""
MATH = (
    "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cbrt", "ceil", "copysign", "cos", "cosh", "erf",
    "erfc", "exp", "exp2", "expm1", "fabs", "fdim", "floor", "fma", "fmax", "fmin", "fmod", "hypot", "ldexp",
    "lgamma", "log", "log10", "log1p", "log2", "logb", "lrint", "lround", "nearbyint", "nextafter", "pow",
    "remainder", "rint", "round", "scalbn", "sin", "sinh", "sqrt", "tan", "tanh", "tgamma", "trunc",
)  # fmt: skip
FLAGS = ("-O1", "-ffp-contract=off")


def widened(source: str, language: str, signature: Signature) -> tuple[str, Signature]:
    """Returns a text that computes with wider floats, and its contract.

    Args:
        source: of the function.
        language: c or cpp.
        signature: of the function.
    """
    twice = any(one.type == "float64" for one in signature.arguments) or signature.returns == "float64"
    lines = [f"#include <{header}>" for header in HEADERS[language]]
    lines.append("#define float double")
    suffix = "l" if twice else ""
    lines += [f"#define {name}f {name}{suffix}" for name in MATH]
    if twice:
        lines += ["#define double long double", *(f"#define {name} {name}l" for name in MATH)]
    wider = {"float32": "longdouble" if twice else "float64", "float64": "longdouble"}
    types = [replace(one, type=wider.get(one.type, one.type)) for one in signature.arguments]
    returns = wider.get(signature.returns, signature.returns) if signature.returns else None
    return "\n".join([*lines, "#line 1", source]), replace(signature, arguments=tuple(types), returns=returns)


class NativeReference:
    """Two processes of the baseline: one as it is, one with wider floats. For one thread at a time."""

    def __init__(self, builder: Builder) -> None:
        signature = builder.task.signature
        assert signature is not None, "a native function has a contract"
        self._signature = signature
        self._builder = builder
        self._wide: TargetProcess | Fault | None = None
        self._plain: TargetProcess | Fault | None = None

    def truth(self, payload: bytes, bits: int = BITS, arguments: bool = True) -> Groups | None:
        """Returns the floats of what the baseline makes of an input with wider floats; None where it cannot be had.

        Other numbers of bits than the most cannot be had.
        """
        if bits != BITS or self._builder.task.support:  # other files would keep their narrow floats
            return None
        if self._wide is None:
            task = self._builder.task
            source, signature = widened(*task.original, self._signature)
            wide = replace(
                task, source=source, language=task.original[1], reference=None, signature=signature, flags=FLAGS
            )
            self._wide = _started(Builder(wide, self._builder.sandbox, self._builder.interpreter, layouts=1), source)
        found, self._wide = _called(self._wide, payload)
        return found

    def near(self, payload: bytes, seed: int) -> tuple[bytes, float] | None:
        """Returns an input whose floats are off by a last place, and the sum of the magnitudes of the given one's."""
        rng = np.random.default_rng(seed)
        total = 0.0
        moved: list[Any] = []
        for argument, value in zip(self._signature.given, decode(payload), strict=True):
            if not argument.type.startswith("float"):
                moved.append(_kept(value))
                continue
            given = _floats(value, argument.type)
            total += float(np.abs(given[np.isfinite(given)], dtype=np.float64).sum())
            towards = np.where(rng.random(given.shape) < 0.5, -np.inf, np.inf).astype(given.dtype)
            near = np.nextafter(given, towards)
            moved.append(Elements(near.dtype.str, near.tobytes()) if argument.buffer else float(near[0]))
        return encode(tuple(moved)), total

    def plain(self, payload: bytes) -> Groups | None:
        """Returns the floats of the baseline's outcome on an input."""
        if self._plain is None:
            self._plain = _started(self._builder, self._builder.task.original[0])
        found, self._plain = _called(self._plain, payload)
        return found

    def spent(self) -> float:
        """See `whet.evaluators.floats.reference.Reference.spent`."""
        return sum(
            process.session.cpu() or 0.0
            for process in (self._wide, self._plain)
            if isinstance(process, FunctionProcess)
        )

    def close(self) -> None:
        """Ends both."""
        for process in (self._wide, self._plain):
            if process is not None and not isinstance(process, Fault):
                process.close()
        self._wide = self._plain = None


def _started(builder: Builder, source: str) -> TargetProcess | Fault:
    built = builder.build(source)
    return built.start(worker=0) if isinstance(built, Artifact) else built


def _called(process: TargetProcess | Fault, payload: bytes) -> tuple[Groups | None, TargetProcess | Fault | None]:
    """Returns the floats of an outcome, and the process; a new one is started next where it has ended."""
    if isinstance(process, Fault):
        return None, process
    answer = process.call(payload, RUN_LIMIT)
    return (None, None) if isinstance(answer, Fault) else (floats_of(answer[0]), process)


def _kept(value: Any) -> Any:
    """Returns a value of an input so that it can be written again."""
    if not isinstance(value, Node):
        return value
    if value.kind == "ndarray":
        return Elements(value.state[0], value.state[2])
    code, data = value.state
    return Elements(np.dtype(code).str, data)


def _floats(value: Any, kind: str) -> np.ndarray[Any, np.dtype[Any]]:
    kept = _kept(value)
    if isinstance(kept, Elements):
        return np.frombuffer(kept.data, kept.dtype)
    if isinstance(kept, bytes):
        return np.frombuffer(kept, kind)
    return np.atleast_1d(np.asarray(kept, kind))
