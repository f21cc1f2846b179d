"""Labels of Python changes, from the two syntax trees."""

from __future__ import annotations

import ast
import re
import sys
from collections import Counter

from whet.evaluators.finding import Fault
from whet.evaluators.hints.python import find
from whet.evaluators.labels import native
from whet.evaluators.labels.base import Features
from whet.evaluators.screen import parse
from whet.evaluators.syntax.python import LONGEST, Module
from whet.evaluators.syntax.scopes import Function, Scope

STRUCTURES = {
    "set": "set", "frozenset": "set", "dict": "dict", "dict.fromkeys": "dict", "collections.defaultdict": "dict",
    "collections.Counter": "dict", "collections.OrderedDict": "dict", "collections.deque": "deque",
    "array.array": "array", "bytearray": "bytearray", "queue.PriorityQueue": "heap", "memoryview": "memoryview",
    "collections.ChainMap": "dict",
}  # fmt: skip
FAMILIES = {"heapq.": "heap", "bisect.": "sorted list", "sortedcontainers.": "sorted list"}
ARRAYS = ("numpy.", "torch.", "cupy.", "jax.")
HEAVY = re.compile(
    r"(numpy|torch|cupy|jax\.numpy)\.((linalg|fft|special)\.\w+|dot|matmul|einsum|tensordot|convolve|correlate|sort|argsort"
    r"|unique|searchsorted|histogram|bincount|interp|polyfit|lexsort|partition|argpartition|bmm|mm|topk|nn\.functional\.\w+)"
)
KERNELS = re.compile(
    r"numba\.(jit|njit|vectorize|guvectorize|stencil|cuda\.jit)|triton\.jit|cupy\.(RawKernel|ElementwiseKernel|ReductionKernel)"
    r"|torch\.utils\.cpp_extension\.\w+|ctypes\.(CDLL|cdll)\b.*|whet_native\.\w+|cffi\.\w+|cython\.\w+|pythran\.\w+"
)
FLAGS = re.compile(r"torch\.compile|torch\.jit\.\w+|torch\.backends\.cudnn\.benchmark|.*\.benchmark")
LOOSER = re.compile(r".*allow_tf32|.*set_float32_matmul_precision")
HELPERS = re.compile(
    r"(sum|min|max|any|all|sorted|map|filter|zip|enumerate|divmod|pow|reversed|itertools\.\w+|functools\.reduce|operator\.\w+"
    r"|math\.\w+|statistics\.\w+|re\.\w+|struct\.\w+|\*\.(join|translate|count|find|index|replace|split|sort|extend|update"
    r"|intersection|union|difference|most_common))"
)
WHOLE = {
    "sum", "min", "max", "any", "all", "sorted", "set", "frozenset", "dict.fromkeys", "collections.Counter",
    "heapq.nsmallest", "heapq.nlargest", "heapq.heapify", "filter",
}  # fmt: skip
SCANS = {"index", "count", "remove", "insert"}
MAPS = {"map", "imap", "imap_unordered", "starmap"}
LOOPS = (ast.For, ast.While, ast.AsyncFor)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def read(source: str, other: str) -> Features:
    """Returns the features of the parts of ``source`` that do not stand in ``other``."""
    tree, reference = (parse(text) if len(text) <= LONGEST else Fault for text in (source, other))
    if not isinstance(tree, ast.Module) or not isinstance(reference, ast.Module):
        return Features()
    module = Module(source, tree)
    same = Counter(map(_key, _units(reference)))
    changed: list[ast.stmt] = []
    for unit in _units(tree):
        key = _key(unit)
        if same[key] > 0:
            same[key] -= 1
        else:
            changed.append(unit)
    found = Features()
    scopes = dict(module.nodes)
    for unit in changed:
        _structure(module, unit, found, scopes)
    _inline(changed, found)
    for hint in find(source):
        if hint.name == "lower_precision":
            found.precision.setdefault(hint.about.rpartition(".")[2], set()).add(hint.line)
        elif hint.name == "backend_flag" and LOOSER.fullmatch(hint.about):
            found.precision.setdefault(hint.about, set()).add(hint.line)
        elif hint.name == "backend_flag" and FLAGS.fullmatch(hint.about):
            found.flags.setdefault(hint.about, set()).add(hint.line)
    return found


def _inline(changed: list[ast.stmt], found: Features) -> None:
    """Adds the vector instructions of C++ that stands in the text; no statement of Python is their like."""
    for node in (node for unit in changed for node in ast.walk(unit)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and "#include" in node.value:
            for name, lines in native.reader("cpp")(node.value, "").vectors.items():
                found.vectors.setdefault(name, set()).update(line + node.lineno - 1 for line in lines)


def _units(tree: ast.Module) -> list[ast.stmt]:
    """Returns functions, methods and other statements, each by itself; imports are read apart."""
    units: list[ast.stmt] = []
    for statement in tree.body:
        units += statement.body if isinstance(statement, ast.ClassDef) else [statement]
    return [unit for unit in units if not isinstance(unit, ast.Import | ast.ImportFrom)]


def _key(unit: ast.stmt) -> str:
    try:
        return ast.dump(unit)
    except RecursionError:
        return f"{type(unit).__name__} at {unit.lineno}"


def _structure(module: Module, unit: ast.stmt, found: Features, scopes: dict[ast.AST, Scope]) -> None:
    """Adds the features of one statement."""
    waiting: list[tuple[ast.AST, int, bool]] = [(unit, 0, False)]
    while waiting:
        node, depth, loop = waiting.pop()
        inner = depth
        if isinstance(node, LOOPS):
            found.statements += 1
            inner, loop = depth + 1, True
            _bounds(node, found)
        elif isinstance(node, COMPREHENSIONS):
            inner = depth + len(node.generators)
        elif isinstance(node, Function):
            inner, loop = 0, False
        elif isinstance(node, ast.Call) and _scans(module, node):
            inner = depth + 1
        if inner > depth:
            found.loops += inner - depth
            found.depth = max(found.depth, inner)
        if loop and isinstance(node, ast.Break | ast.Return):
            found.leaves += 1
        _node(module, node, found, scopes, inner > 0)
        waiting += [(child, inner, loop) for child in ast.iter_child_nodes(node)]


def _scans(module: Module, node: ast.Call) -> bool:
    """Whether a call goes through a whole sequence; one over a comprehension is counted there."""
    if not node.args or any(isinstance(arg, COMPREHENSIONS) for arg in node.args):
        return False
    name = module.dotted(node.func)
    if name in WHOLE or name.rpartition(".")[2] in MAPS:
        return True
    return isinstance(node.func, ast.Attribute) and node.func.attr in SCANS


def _bounds(node: ast.AST, found: Features) -> None:
    if isinstance(node, ast.While):
        found.conditions[_nameless(node.test)] += 1
    elif (
        isinstance(node, ast.For)
        and isinstance(node.iter, ast.Call)
        and isinstance(node.iter.func, ast.Name)
        and node.iter.func.id == "range"
    ):
        found.ranges[_nameless(node.iter)] += 1


def _nameless(node: ast.expr) -> str:
    """Returns an expression as text in which names, and lengths of names, are all the same."""
    try:
        text = ast.unparse(node)
    except RecursionError:
        return ""
    kept = r"\b(?!range\b|len\b|isqrt\b|sqrt\b|int\b|math\b|and\b|or\b|not\b)[A-Za-z_]\w*"
    return re.sub(r"range\(0, ", "range(", re.sub(r"len\(n\)", "n", re.sub(kept, "n", text)))[:80]


def _node(module: Module, node: ast.AST, found: Features, scopes: dict[ast.AST, Scope], looped: bool) -> None:
    line = getattr(node, "lineno", 0)
    if isinstance(node, ast.Set | ast.SetComp):
        found.structures.setdefault("set", set()).add(line)
    elif isinstance(node, ast.Dict | ast.DictComp):
        found.structures.setdefault("dict", set()).add(line)
    elif isinstance(node, ast.AugAssign) and looped and isinstance(node.op, ast.Add) and _is_text(node.value):
        found.appended += 1
    elif isinstance(node, ast.FunctionDef):
        if any(isinstance(inner, ast.Name) and inner.id == node.name for stmt in node.body for inner in ast.walk(stmt)):
            found.recursive.add(node.name)
        _caches(module, node, found, scopes)
    elif isinstance(node, ast.Call):
        _call(module, node, found, line)
    if isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Load):
        name = module.dotted(node)
        if KERNELS.fullmatch(name):
            found.kernels.setdefault(name, set()).add(line)
        if FLAGS.fullmatch(name) and not name.startswith("*"):
            found.flags.setdefault(name, set()).add(line)


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.JoinedStr) or any(
        (isinstance(part, ast.Constant) and isinstance(part.value, str))
        or (isinstance(part, ast.Call) and isinstance(part.func, ast.Name) and part.func.id in ("str", "chr", "repr"))
        for part in ast.walk(node)
    )


def _call(module: Module, node: ast.Call, found: Features, line: int) -> None:
    name = module.dotted(node.func)
    root = name.partition(".")[0]
    family = next((kind for prefix, kind in FAMILIES.items() if name.startswith(prefix)), None)
    if kind := STRUCTURES.get(name, family):
        found.structures.setdefault(kind, set()).add(line)
    elif name.startswith(ARRAYS):
        (found.libraries if HEAVY.fullmatch(name) else found.vectors).setdefault(name, set()).add(line)
    elif "." in name and root in _roots(module) and root not in sys.stdlib_module_names:
        if not KERNELS.fullmatch(name.removesuffix("()")):
            found.libraries.setdefault(name, set()).add(line)
    elif HELPERS.fullmatch(name):
        found.helpers.setdefault(name, set()).add(line)


def _roots(module: Module) -> set[str]:
    return {name.partition(".")[0] for name in module.modules.values()}


def _caches(module: Module, node: ast.FunctionDef, found: Features, scopes: dict[ast.AST, Scope]) -> None:
    """Adds a cache that ends with the call: a decorated inner function, or a dict that is asked before it is filled."""
    if node in scopes and scopes[node].in_function:
        for decorator in node.decorator_list:
            name = module.dotted(decorator).removesuffix("()")
            if name in ("functools.lru_cache", "functools.cache"):
                found.caches.setdefault(name, set()).add(node.lineno)
    asked: set[str] = set()
    filled: dict[str, int] = {}
    for inner in ast.walk(node):
        if isinstance(inner, ast.Compare) and isinstance(inner.ops[0], ast.In | ast.NotIn):
            asked |= {side.id for side in inner.comparators if isinstance(side, ast.Name)}
        elif isinstance(inner, ast.Call) and isinstance(inner.func, ast.Attribute) and inner.func.attr == "get":
            asked |= {inner.func.value.id} if isinstance(inner.func.value, ast.Name) else set()
        elif isinstance(inner, ast.Assign):
            for target in inner.targets:
                if (
                    isinstance(target, ast.Subscript)
                    and isinstance(target.value, ast.Name)
                    and _computes(inner.value, target.value.id)
                ):
                    filled[target.value.id] = inner.lineno
    for name in asked & filled.keys():
        scope = scopes.get(node.body[0])
        owner = scope.owner(name) if scope is not None else None
        if owner is not None and owner.in_function:
            found.caches.setdefault("dict of results", set()).add(filled[name])


def _computes(node: ast.expr, kept: str) -> bool:
    """Whether a value comes from a call on something, and not from what is kept already."""
    names = {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
    return kept not in names and any(isinstance(part, ast.Call) and part.args for part in ast.walk(node))
