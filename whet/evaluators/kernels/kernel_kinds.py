"""Whose the kernels are that a GPU ran: the answer's own, a library's, or those of torch's compiler."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any

from whet.evaluators.finding import Fault
from whet.evaluators.screen import parse

LAUNCH_BOUNDS = re.compile(r"__launch_bounds__\s*\([^)]*\)")
GLOBAL = re.compile(r"__global__\b[^({;]*?(\w+)\s*\(")
NAMESPACES = re.compile(r"\b(at|c10|cub|thrust|cutlass|cublas\w*|cudnn\w*|cusparse\w*|cusolver\w*|cufft\w*|nccl\w*)::")
VENDORS = re.compile(r"^_?(maxwell|volta|turing|ampere|ada|hopper|blackwell|sm\d+|cublas|cudnn|cutlass|nccl)\w*_")
"""How kernels of cuBLAS, cuDNN and CUTLASS are called that stand in no namespace: ``ampere_sgemm_128x64_nn``."""
FAMILIES = re.compile(r"gemm|gemv|splitK|xmma|winograd|implicit_convolve|fmha|flash_(fwd|bwd)|nch?wTo|nhwcTo", re.I)
COMPILED = re.compile(r"^triton_(poi|red|per|tem|mm|for|unk)_")
"""How torch's compiler calls what it makes: pointwise, reductions, templates."""
COPIES = re.compile(r"^(Memcpy|Memset)\b")
SHOWN = 8
"""Kernels that the evidence lists, the longest-running first; shares count all. More lengthen the evidence."""


class Owner(StrEnum):
    """Whose a kernel is."""

    OWN = "own"
    LIBRARY = "library"
    COMPILER = "compiler"
    COPY = "copies"
    OTHER = "other"


def own_kernels(source: str) -> frozenset[str]:
    """Returns the names of the kernels that an answer's text defines, in CUDA and in Triton."""
    text = LAUNCH_BOUNDS.sub("", source)
    found = {match[1] for match in GLOBAL.finditer(text)}
    module = parse(source)
    if not isinstance(module, Fault):
        functions = (node for node in ast.walk(module) if isinstance(node, ast.FunctionDef))
        found |= {one.name for one in functions if any(map(_jit, one.decorator_list))}
    return frozenset(found)


def _jit(decorator: ast.expr) -> bool:
    decorator = decorator.func if isinstance(decorator, ast.Call) else decorator
    return (decorator.attr if isinstance(decorator, ast.Attribute) else getattr(decorator, "id", "")) == "jit"


def bare(name: str) -> str:
    """Returns the name of a kernel without result, namespaces, parameters and arguments of templates."""
    name = name.replace("(anonymous namespace)::", "").removeprefix("void ")
    return re.split(r"[<(]", name, maxsplit=1)[0].split("::")[-1].split()[-1] if name.strip() else ""


def owner(name: str, own: frozenset[str]) -> Owner:
    """Returns whose a kernel is, by its name as the profiler tells it.

    An answer that calls its kernel as a library's gains nothing by it: that counts as the library's.

    Args:
        name: of the kernel.
        own: those that the answer defines.
    """
    simple = bare(name)
    if COPIES.match(name):
        return Owner.COPY
    if NAMESPACES.search(re.split(r"[<(]", name, maxsplit=1)[0]) or VENDORS.match(simple):
        return Owner.LIBRARY
    if simple in own:
        return Owner.OWN
    if COMPILED.match(simple):
        return Owner.COMPILER
    return Owner.LIBRARY if FAMILIES.search(simple) else Owner.OTHER


def shares(rows: Sequence[tuple[str, int, int]], source: str) -> Mapping[str, Any] | None:
    """Returns what part of a GPU's time an answer's own kernels take, as plain data; None where it ran nothing.

    Args:
        rows: name, nanoseconds and launches of each kernel.
        source: the answer's text.
    """
    own = own_kernels(source)
    total = sum(spent for _, spent, _ in rows)
    if not total:
        return None
    found = dict.fromkeys(map(str, Owner), 0)
    for name, spent, _ in rows:
        found[owner(name, own)] += spent
    return {
        "defines": sorted(own),
        "shares": {name: round(spent / total, 4) for name, spent in found.items()},
        "kernels": [
            {"name": name, "owner": str(owner(name, own)), "share": round(spent / total, 4), "launches": launches}
            for name, spent, launches in rows[:SHOWN]
        ],
    }
