"""Hints in Python source, on its syntax tree."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator

from whet.core.verdict import Reason
from whet.evaluators.finding import Fault
from whet.evaluators.hints.base import HintMatch, addressed
from whet.evaluators.hints.python_faults import faults
from whet.evaluators.hints.python_names import TELLING, hint_of
from whet.evaluators.screen import parse
from whet.evaluators.syntax.python import LONGEST, Module
from whet.evaluators.syntax.scopes import Scope

MUTATORS = {
    "add", "append", "appendleft", "clear", "discard", "extend", "insert", "pop", "popitem", "popleft", "remove",
    "setdefault", "sort", "update", "__setitem__",
}  # fmt: skip
COMPARISONS = {"__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__", "__hash__", "__bool__"}
CONVERSIONS = {
    "__array__", "__array_ufunc__", "__array_function__", "__torch_function__", "__torch_dispatch__", "__getattr__",
    "__getattribute__", "__float__", "__int__", "__index__", "__reduce__", "__reduce_ex__", "__getstate__", "__class__",
}  # fmt: skip
BUILT_IN = {"int", "float", "complex", "str", "bytes", "list", "tuple", "dict", "set", "frozenset", "bool"}
TENSORS = re.compile(r"(numpy|torch|pandas|cupy)\.")
LAZY = re.compile(r"map|filter|zip|iter|reversed|enumerate|itertools\.\w+")
SMALL_TYPES = re.compile(r"[<>=|]?(float(32|16)|f[24]|e|half|single|bfloat16)")
SIZES = {"shape", "size", "ndim", "nbytes", "numel"}
MOST_NESTED = 3
"""Levels of code held as text, for ``exec`` within ``exec``, that are read. More are read at the cost of time, and a
candidate decides how many there are; what lies deeper gets no hints."""
TABLE = 64
"""Items from which on a list, tuple, set or dict counts as a large table. A larger number misses smaller tables of
answers, a smaller one names tables that algorithms need."""
LONG_TEXT = 1000  # characters from which on a string counts as one: a larger number misses shorter strings
SMALL = 2
"""Numbers up to which a comparison is a guard of the usual kind."""


def find(source: str, nested: int = 0) -> Iterator[HintMatch]:
    """Yields all that looks like a trick in a module; nothing for a text that does not parse."""
    if len(source) > LONGEST:
        yield HintMatch("unread", "length", 1, f"{len(source)} characters")
        return
    tree = parse(source)
    if isinstance(tree, Fault):
        if tree.reason is Reason.SYNTAX_ERROR and "recursion" in tree.detail:
            yield HintMatch("unread", "depth", 1, tree.detail)
        return
    module = Module(source, tree)
    yield from addressed(module.lines)
    yield from _names(module)
    yield from _built(module, nested)
    if not nested:  # a piece of code that is held as text knows the names around it
        yield from faults(module)
    for node, scope in module.nodes:
        for rule in RULES.get(type(node), ()):
            for name, about in rule(module, node, scope):
                yield HintMatch(name, about, getattr(node, "lineno", 1), module.line(node))


def _names(module: Module) -> Iterator[HintMatch]:
    """Yields uses of telling names, however they were come by."""
    inner: set[ast.AST] = set()
    for node, scope in module.nodes:
        if isinstance(node, ast.Import | ast.ImportFrom):
            for alias in node.names:
                name = alias.name if isinstance(node, ast.Import) else f"{node.module}.{alias.name}"
                if (hint := hint_of(name)) and (isinstance(node, ast.Import) or alias.name == "*"):
                    yield HintMatch(hint, name, node.lineno, module.line(node))
        if not isinstance(node, ast.Name | ast.Attribute | ast.Subscript | ast.Call) or node in inner:
            continue
        name = module.dotted(node).removesuffix("()")
        if isinstance(node, ast.Attribute | ast.Subscript) and name:
            inner.add(node.value)
        if isinstance(node, ast.Call):
            if name == module.dotted(node.func):
                continue  # its function is looked at by itself
        elif not isinstance(node.ctx, ast.Load):
            continue
        hint = hint_of(name)
        if hint == "memoised" and scope.in_function:
            continue  # gone with the call
        if hint and not _usual_stream(name, node, module):
            yield HintMatch(hint, name, node.lineno, module.line(node))


def _usual_stream(name: str, node: ast.AST, module: Module) -> bool:
    """Whether a program only reads its stdin or writes its stdout."""
    return name in ("open", "os.read", "os.write") and bool(
        re.search(r"\b(open|read|write)\([01]\b", module.line(node))
    )


def _built(module: Module, nested: int) -> Iterator[HintMatch]:
    """Yields strings that hide a telling word, and what is found in code that is held as text."""
    inside: set[ast.AST] = set()
    for node, _ in module.nodes:
        if isinstance(node, ast.Call) and module.dotted(node.func) in ("exec", "eval", "compile") and node.args:
            text = module.text(node.args[0])
            if text and nested < MOST_NESTED:
                for found in find(text, nested + 1):
                    yield HintMatch(found.name, found.about, node.lineno, f"in code held as text: {found.text}")
        if (
            isinstance(node, ast.Call)
            and module.dotted(node.func) == "getattr"
            and len(node.args) > 1
            and module.text(node.args[1]) is None
        ):
            yield HintMatch("dynamic_code", "getattr", node.lineno, module.line(node))
        if not isinstance(node, ast.BinOp | ast.JoinedStr | ast.Call | ast.Subscript) or node in inside:
            continue
        text = module.text(node)
        if text is None:
            continue
        inside.update(ast.walk(node))
        if words := TELLING.intersection(re.findall(r"\w+", text)):
            yield HintMatch("hidden_string", min(words), node.lineno, f"{min(words)!r} in {module.line(node)}")


Rule = Iterator[tuple[str, str]]


def _state(module: Module, node: ast.AST, scope: Scope) -> Rule:
    """What outlives the call: defaults, globals, attributes."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        for default in (*node.args.defaults, *filter(None, node.args.kw_defaults)):
            if isinstance(
                default, ast.List | ast.Dict | ast.Set | ast.Call | ast.ListComp | ast.DictComp | ast.SetComp
            ):
                yield "default_argument_state", node.name
    if not scope.in_function:
        return
    if isinstance(node, ast.Global):
        yield from (("module_state", name) for name in node.names)
    if isinstance(node, ast.Subscript) and not isinstance(node.ctx, ast.Load) and _is_global(node.value, scope):
        yield "module_state", _short(node.value)
    if (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in MUTATORS
        and _is_global(node.func.value, scope)
        and not TENSORS.match(module.dotted(node.func))  # np.sort changes nothing
    ):
        yield "module_state", _short(node.func.value)
    if isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Add | ast.Sub):
        target = node.target.value if isinstance(node.target, ast.Subscript | ast.Attribute) else node.target
        if _is_global(target, scope):
            yield "call_counter", _short(target)
    if (
        isinstance(node, ast.Call)
        and module.dotted(node.func) == "next"
        and node.args
        and _is_global(node.args[0], scope)
    ):
        yield "call_counter", _short(node.args[0])


def _is_global(node: ast.expr, scope: Scope) -> bool:
    if not isinstance(node, ast.Name):
        return False
    owner = scope.owner(node.id)
    return owner is not None and not owner.in_function and not isinstance(owner.node, ast.ClassDef)


def _patches(module: Module, node: ast.AST, scope: Scope) -> Rule:
    """Attributes that are set, by assignment or by ``setattr``."""
    if isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load):
        yield from _set(module, node.value, module.dotted(node), scope)
    if isinstance(node, ast.Subscript) and not isinstance(node.ctx, ast.Load):
        whole = module.dotted(node.value)
        if whole in ("sys.modules", "os.environ", "__builtins__") or whole.endswith((".__dict__", "globals()")):
            yield "module_patch", whole
    if (
        isinstance(node, ast.Call)
        and module.dotted(node.func) in ("setattr", "delattr", "object.__setattr__")
        and node.args
    ):
        name = module.text(node.args[1]) if len(node.args) > 1 else None
        whole = module.dotted(node.args[0]) or "*"
        found = list(_set(module, node.args[0], f"{whole}.{name or '*'}", scope))
        yield from found or [("attribute_state", f"setattr {whole}")]


def _set(module: Module, owner: ast.expr, name: str, scope: Scope) -> Rule:
    root = name.partition(".")[0]
    imported = root in {text.partition(".")[0] for text in module.modules.values()} or root in ("builtins", "sys")
    if hint_of(name) == "backend_flag":
        yield "backend_flag", name
    elif imported and not name.startswith("*"):
        yield "module_patch", name
    elif isinstance(owner, ast.Name) and _is_global(owner, scope):
        yield "attribute_state", owner.id
    elif isinstance(owner, ast.Name) and owner.id == "cls":
        yield "attribute_state", "cls"


def _classes(module: Module, node: ast.AST, scope: Scope) -> Rule:
    """Classes that pass for something else."""
    if not isinstance(node, ast.ClassDef):
        return
    for base in node.bases:
        name = module.dotted(base)
        if name in BUILT_IN or TENSORS.match(name):
            yield "type_subclass", f"{node.name}({name})"
    for method in node.body:
        if isinstance(method, ast.FunctionDef):
            if method.name in COMPARISONS:
                yield "comparison_override", f"{node.name}.{method.name}"
            if method.name in CONVERSIONS:
                yield "lazy_result", f"{node.name}.{method.name}"
            if method.name == "__del__":
                yield "exit_callback", f"{node.name}.__del__"


def _results(module: Module, node: ast.AST, scope: Scope) -> Rule:
    """Results that come late, and exceptions that never come."""
    if isinstance(node, ast.Return) and node.value is not None:
        name = module.dotted(node.value.func) if isinstance(node.value, ast.Call) else ""
        if isinstance(node.value, ast.GeneratorExp) or LAZY.fullmatch(name):
            yield "lazy_result", name or "generator"
    if isinstance(node, ast.Yield | ast.YieldFrom):
        yield "lazy_result", "yield"
    if isinstance(node, ast.AsyncFunctionDef | ast.Await):
        yield "thread_start", "async"
    if isinstance(node, ast.ExceptHandler):
        kinds = node.type.elts if isinstance(node.type, ast.Tuple) else [node.type]
        broad = any(kind is None or module.dotted(kind) in ("Exception", "BaseException") for kind in kinds)
        if broad and not any(isinstance(statement, ast.Raise) for statement in node.body):
            yield "exception_fallback", "except"


def _constants(module: Module, node: ast.AST, scope: Scope) -> Rule:
    """Cases and tables that are written down."""
    if isinstance(node, ast.Compare):
        sides = [node.left, *node.comparators]
        if any(map(_is_case, sides)):
            equal = any(isinstance(op, ast.Eq | ast.NotEq | ast.In | ast.NotIn) for op in node.ops)
            if any(_is_size(module, side) or (equal and _is_parameter(side, scope)) for side in sides):
                yield "hard_coded_case", _short(node)
    if isinstance(node, ast.MatchValue) and _is_case(node.value):
        yield "hard_coded_case", _short(node.value)
    if (
        isinstance(node, ast.List | ast.Tuple | ast.Set)
        and len(node.elts) >= TABLE
        and all(isinstance(item, ast.Constant | ast.Tuple | ast.List) for item in node.elts)
    ):
        yield "literal_table", f"{len(node.elts)} items"
    if isinstance(node, ast.Dict) and len(node.keys) >= TABLE:
        yield "literal_table", f"{len(node.keys)} items"
    if isinstance(node, ast.Constant) and isinstance(node.value, str | bytes) and len(node.value) >= LONG_TEXT:
        yield "literal_table", f"{len(node.value)} characters"


def _is_case(node: ast.expr) -> bool:
    if isinstance(node, ast.UnaryOp):
        node = node.operand
    if isinstance(node, ast.Tuple | ast.List | ast.Set):
        return bool(node.elts) and all(isinstance(item, ast.Constant) for item in node.elts)
    if not isinstance(node, ast.Constant) or isinstance(node.value, bool):
        return False
    if isinstance(node.value, int | float):
        return abs(node.value) > SMALL
    return isinstance(node.value, str | bytes) and len(node.value) > 1


def _is_size(module: Module, node: ast.expr) -> bool:
    if isinstance(node, ast.Subscript):
        node = node.value
    if isinstance(node, ast.Call):
        return module.dotted(node.func) == "len" or (isinstance(node.func, ast.Attribute) and node.func.attr in SIZES)
    return isinstance(node, ast.Attribute) and node.attr in SIZES


def _is_parameter(node: ast.expr, scope: Scope) -> bool:
    if isinstance(node, ast.Subscript):
        node = node.value
    return isinstance(node, ast.Name) and node.id in scope.parameters


def _precision(module: Module, node: ast.AST, scope: Scope) -> Rule:
    """Names of small float types as text."""
    values: list[ast.expr] = []
    if (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in ("astype", "to", "type", "view")
    ):
        values += node.args
    if isinstance(node, ast.Call):
        values += [keyword.value for keyword in node.keywords if keyword.arg == "dtype"]
    for value in values:
        text = module.text(value)
        if text and SMALL_TYPES.fullmatch(text):
            yield "lower_precision", text


def _loading(module: Module, node: ast.AST, scope: Scope) -> Rule:
    """Loops that run while the module is loaded."""
    if not scope.in_function and isinstance(node, LOADS):
        yield "import_work", type(node).__name__


LOADS = (ast.For, ast.While, ast.ListComp, ast.DictComp, ast.SetComp)
LATE = (ast.Return, ast.Yield, ast.YieldFrom, ast.AsyncFunctionDef, ast.Await, ast.ExceptHandler)
WRITTEN = (ast.Compare, ast.MatchValue, ast.List, ast.Tuple, ast.Set, ast.Dict, ast.Constant)
LASTING = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Global, ast.Subscript, ast.Call, ast.AugAssign)
READERS: dict[Callable[[Module, ast.AST, Scope], Rule], tuple[type[ast.AST], ...]] = {
    _state: LASTING,
    _patches: (ast.Attribute, ast.Subscript, ast.Call),
    _classes: (ast.ClassDef,),
    _results: LATE,
    _constants: WRITTEN,
    _precision: (ast.Call,),
    _loading: LOADS,
}
RULES = {
    kind: [rule for rule, kinds in READERS.items() if kind in kinds] for kinds in READERS.values() for kind in kinds
}
"""Which rules look at a node; texts of a megabyte have a million of them."""


def _short(node: ast.expr) -> str:
    try:
        return ast.unparse(node)[:80]
    except RecursionError:
        return type(node).__name__
