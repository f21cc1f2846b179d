"""What a function does with a name: bound, changed, read, handed on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum, auto
from functools import lru_cache
from itertools import takewhile

import libcst as cst

from whet.agents.catalogue.python.source import PythonSource, Scope, last_name

READING_METHODS = frozenset({
    "capitalize", "casefold", "copy", "count", "decode", "difference", "encode", "endswith", "find",
    "format", "get", "index", "intersection", "isalnum", "isalpha", "isdigit", "isdisjoint", "islower",
    "isspace", "issubset", "issuperset", "istitle", "isupper", "items", "join", "keys", "ljust", "lower",
    "lstrip", "most_common", "partition", "replace", "rfind", "rindex", "rjust", "rpartition", "rsplit",
    "rstrip", "split", "splitlines", "startswith", "strip", "swapcase", "title", "translate", "union",
    "upper", "values", "zfill"
})  # fmt: skip
PURE_FUNCTIONS = frozenset({
    "abs", "all", "any", "ascii", "bin", "bool", "bytes", "chr", "complex", "Counter", "defaultdict",
    "deque", "dict", "divmod", "enumerate", "filter", "float", "format", "frozenset", "hash", "hex",
    "int", "isinstance", "len", "list", "map", "max", "min", "oct", "ord", "OrderedDict", "pow", "print",
    "range", "repr", "reversed", "round", "set", "slice", "sorted", "str", "sum", "tuple", "type", "zip"
})  # fmt: skip


class How(Enum):
    """What one occurrence of a name is."""

    BIND = auto()
    AUGMENT = auto()
    STORE = auto()
    CALL = auto()
    METHOD = auto()
    ATTRIBUTE = auto()
    ITEM = auto()
    ARGUMENT = auto()
    MEMBER = auto()
    ITERATE = auto()
    TRUTH = auto()
    OPERAND = auto()
    RETURN = auto()
    CAPTURED = auto()
    OTHER = auto()


_HARMLESS = frozenset({How.CALL, How.ATTRIBUTE, How.ITEM, How.MEMBER, How.ITERATE, How.TRUTH, How.OPERAND, How.RETURN})


@dataclass(frozen=True, slots=True)
class Use:
    """One occurrence of a name.

    Attributes:
        node: the name.
        how: what it is.
        word: the method called on it, or the function that it is handed to.
        site: the call, subscript, comparison or statement that it is part of.
    """

    node: cst.Name
    how: How
    site: cst.CSTNode
    word: str = ""

    @property
    def reads(self) -> bool:
        """Whether it can neither change the object nor hand it to somebody who might."""
        if self.how is How.METHOD:
            return self.word in READING_METHODS
        if self.how is How.ARGUMENT:
            return self.word in PURE_FUNCTIONS or self.word in READING_METHODS
        return self.how in _HARMLESS

    def calls(self, *methods: str) -> bool:
        """Whether it is a call of one of these methods."""
        return self.how is How.METHOD and self.word in methods


def uses(source: PythonSource, scope: Scope, name: str) -> list[Use]:
    """Returns all occurrences of a name in a scope; ``CAPTURED`` in inner functions that share it."""
    return list(_uses(source, scope, name))


@lru_cache(maxsize=16_384)  # the edits ask for the same names again and again
def _uses(source: PythonSource, scope: Scope, name: str) -> tuple[Use, ...]:
    own = source.names(scope, nested=False).get(name, ())
    everywhere = source.names(scope).get(name, ())
    found = [_describe(source, node) for node in own if _is_variable(source, node)]
    if len(everywhere) > len(own):
        found.extend(_captured(source, scope, name, set(everywhere) - set(own)))
    return tuple(found)


def _captured(source: PythonSource, scope: Scope, name: str, inner: set[cst.Name]) -> Iterator[Use]:
    for node in inner:
        if not _is_variable(source, node):
            continue
        between = [
            above
            for above in takewhile(lambda above: above is not scope, source.ancestors(node))
            if isinstance(above, cst.FunctionDef)
        ]
        if not any(_owns(source, function, name) for function in between):
            yield Use(node, How.CAPTURED, between[-1] if between else node)


def within(source: PythonSource, found: Iterable[Use], region: cst.CSTNode) -> list[Use]:
    """Returns those uses that stand in a part of the tree."""
    return [use for use in found if use.node is region or region in source.ancestors(use.node)]


def bindings(found: Iterable[Use]) -> list[Use]:
    """Returns those uses that bind the name."""
    return [use for use in found if use.how is How.BIND]


def parameter(scope: Scope, name: str) -> cst.Param | None:
    """Returns the parameter of a function that has this name, if any."""
    if isinstance(scope, cst.Module):
        return None
    lists = scope.params
    every = [*lists.posonly_params, *lists.params, *lists.kwonly_params]
    return next((each for each in every if each.name.value == name), None)


def free_names(source: PythonSource, expression: cst.CSTNode) -> set[str]:
    """Returns the variables that an expression reads."""
    return {node.value for node in source.walk(expression) if isinstance(node, cst.Name) and _is_variable(source, node)}


def leaves_unread(source: PythonSource, scope: Scope, loop: cst.CSTNode, names: Iterable[str]) -> bool:
    """Whether nothing reads the values that a loop over some variables leaves behind."""
    return all(_needs_no_rest(source, loop, use) for name in names for use in uses(source, scope, name))


def _needs_no_rest(source: PythonSource, loop: cst.CSTNode, use: Use) -> bool:
    around = list(source.ancestors(use.node))
    if any(use.node.value in _loop_variables(source, above) for above in around):
        return True
    comes_again = any(isinstance(above, cst.For | cst.While) for above in source.ancestors(loop) if above in around)
    return use.how is not How.CAPTURED and source.line(use.node) < source.line(loop) and not comes_again


def _loop_variables(source: PythonSource, node: cst.CSTNode) -> set[str]:
    """Returns the variables that a loop, or a comprehension's clauses, give values to."""
    if isinstance(node, cst.For):
        return free_names(source, node.target)
    found: set[str] = set()
    clause = node.for_in if isinstance(node, cst.ListComp | cst.SetComp | cst.DictComp | cst.GeneratorExp) else None
    while clause is not None:
        found |= free_names(source, clause.target)
        clause = clause.inner_for_in
    return found


def only_argument(call: cst.CSTNode) -> cst.BaseExpression | None:
    """Returns ``x`` of a call ``f(x)``; None for every other node."""
    arguments = call.args if isinstance(call, cst.Call) else ()
    if len(arguments) != 1 or arguments[0].star or arguments[0].keyword:
        return None
    return arguments[0].value


def names_in(source: PythonSource, scope: Scope) -> Iterator[str]:
    """Yields each variable of a scope once, in the order of the text."""
    for name, nodes in source.names(scope, nested=False).items():
        if any(_is_variable(source, node) for node in nodes):
            yield name


def _is_variable(source: PythonSource, node: cst.Name) -> bool:
    above = source.parent(node)
    if isinstance(above, cst.Attribute):
        return above.attr is not node
    if isinstance(above, cst.Arg):
        return above.keyword is not node
    if isinstance(above, cst.FunctionDef | cst.ClassDef | cst.ImportAlias | cst.Param):
        return isinstance(above, cst.Param) and above.default is node
    return not any(isinstance(each, cst.Annotation) for each in source.ancestors(node))


def _owns(source: PythonSource, function: cst.FunctionDef, name: str) -> bool:
    """Whether a name of a function is its own: a parameter, or bound in it and not declared global or nonlocal."""
    if parameter(function, name) is not None:
        return True
    nodes = source.names(function, nested=False).get(name, ())
    if any(isinstance(source.parent(node), cst.NameItem) for node in nodes):
        return False
    return any(_is_variable(source, node) and _describe(source, node).how is How.BIND for node in nodes)


def _describe(source: PythonSource, node: cst.Name) -> Use:
    here: cst.CSTNode = node
    above = source.parent(here)
    while isinstance(above, cst.Attribute | cst.Subscript) and above.value is here:
        here, above = above, source.parent(above)
    if here is not node:
        return _describe_part(source, node, here, above)
    how, word, site = How.OTHER, "", above or node
    match above:
        case cst.AssignTarget() | cst.AnnAssign() | cst.NamedExpr() | cst.For() | cst.CompFor() if above.target is node:
            how = How.BIND
        case cst.AugAssign() if above.target is node:
            how = How.AUGMENT
        case cst.For() | cst.CompFor() if above.iter is node:
            how = How.ITERATE
        case cst.If() | cst.While() | cst.IfExp() | cst.CompIf() if above.test is node:
            how = How.TRUTH
        case cst.UnaryOperation(operator=cst.Not()):
            how = How.TRUTH
        case cst.BooleanOperation() if _is_tested(source, above):
            how = How.TRUTH
        case cst.BinaryOperation() | cst.UnaryOperation() | cst.Comparison() | cst.Index() | cst.Slice():
            how = How.OPERAND
        case cst.FormattedStringExpression():
            how = How.OPERAND
        case cst.Return():
            how = How.RETURN
        case cst.ComparisonTarget(operator=cst.In() | cst.NotIn()):
            how, site = How.MEMBER, source.parent(above) or above
        case cst.ComparisonTarget():
            how = How.OPERAND
        case cst.Call():
            how = How.CALL
        case cst.Arg():
            call = source.parent(above)
            if isinstance(call, cst.Call):
                how, word, site = How.ARGUMENT, last_name(call.func), call
        case cst.AsName() | cst.ExceptHandler() | cst.Del() | cst.NameItem():
            how = How.BIND
        case cst.Element() | cst.StarredElement() if _is_target(source, above):
            how = How.BIND
        case cst.Element() if isinstance(source.parent(source.parent(above) or above), cst.Return):
            how = How.RETURN
        case _:
            pass
    return Use(node, how, site, word)


def _describe_part(source: PythonSource, node: cst.Name, part: cst.CSTNode, above: cst.CSTNode | None) -> Use:
    """Describes ``name.a``, ``name[i]`` and longer chains."""
    if isinstance(above, cst.Call) and above.func is part and isinstance(part, cst.Attribute):
        method = part.attr.value
        if part.value is node:
            return Use(node, How.METHOD, above, method)
        return Use(node, How.ITEM if method in READING_METHODS else How.STORE, above)
    stored = (
        isinstance(above, cst.AssignTarget | cst.AugAssign | cst.AnnAssign | cst.For | cst.CompFor)
        and above.target is part
    ) or isinstance(above, cst.Del | cst.AsName)
    if stored or (isinstance(above, cst.Element | cst.StarredElement) and _is_target(source, above)):
        return Use(node, How.STORE, part)
    return Use(node, How.ITEM if isinstance(part, cst.Subscript) else How.ATTRIBUTE, part)


def _is_tested(source: PythonSource, condition: cst.CSTNode) -> bool:
    """Whether ``x and y`` is only asked for its truth, so that it hands on neither."""
    above = source.parent(condition)
    while isinstance(above, cst.BooleanOperation):
        condition, above = above, source.parent(above)
    if isinstance(above, cst.If | cst.While | cst.IfExp | cst.CompIf):
        return above.test is condition
    return isinstance(above, cst.UnaryOperation) and isinstance(above.operator, cst.Not)


def _is_target(source: PythonSource, element: cst.CSTNode) -> bool:
    here = element
    for above in source.ancestors(element):
        if isinstance(above, cst.AssignTarget | cst.For | cst.CompFor | cst.NamedExpr):
            return above.target is here
        if not isinstance(above, cst.Tuple | cst.List | cst.Element | cst.StarredElement | cst.AsName):
            return isinstance(above, cst.Del | cst.WithItem)
        here = above
    return False
