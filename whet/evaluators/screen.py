"""The first look: does a Python candidate parse, and does it still have the target's signature?"""

from __future__ import annotations

import ast

from whet.core.errors import nearest
from whet.core.trees import parse_python
from whet.core.verdict import Reason
from whet.evaluators.finding import Fault, RungEndedError, sound

Function = ast.FunctionDef | ast.AsyncFunctionDef


def parse(source: str) -> ast.Module | Fault:
    """Parses a source text."""
    try:
        return parse_python(source)
    except SyntaxError as error:
        return Fault(Reason.SYNTAX_ERROR, f"line {error.lineno}: {error.msg}")
    except (ValueError, RecursionError, MemoryError) as error:  # NUL bytes; nested without end
        return Fault(Reason.SYNTAX_ERROR, str(error) or type(error).__name__)


def find_function(module: ast.Module, symbol: str) -> Function | None:
    """Returns the definition of ``function`` or ``Class.method``: the last one, as in a running program."""
    body: list[ast.stmt] = module.body
    *owners, name = symbol.split(".")
    for owner in owners:
        classes = [node for node in body if isinstance(node, ast.ClassDef) and node.name == owner]
        if not classes:
            return None
        body = classes[-1].body
    found = [node for node in body if isinstance(node, Function) and node.name == name]
    return found[-1] if found else None


def symbols(module: ast.Module) -> list[str]:
    """Returns all functions and methods that could be targets."""
    names = [node.name for node in module.body if isinstance(node, Function)]
    for owner in module.body:
        if isinstance(owner, ast.ClassDef):
            names += [f"{owner.name}.{node.name}" for node in owner.body if isinstance(node, Function)]
    return names


def parameters(function: Function) -> list[str]:
    """Returns the parameters as a caller sees them: names, kinds, and which have defaults."""
    args = function.args
    positional = [*args.posonlyargs, *args.args]
    required = len(positional) - len(args.defaults)
    names = [f"{arg.arg}{'=' if i >= required else ''}" for i, arg in enumerate(positional)]
    if args.posonlyargs:
        names.insert(len(args.posonlyargs), "/")
    if args.vararg or args.kwonlyargs:
        names.append("*" if args.vararg is None else f"*{args.vararg.arg}")
    defaults = zip(args.kwonlyargs, args.kw_defaults, strict=True)
    names += [f"{arg.arg}{'' if default is None else '='}" for arg, default in defaults]
    if args.kwarg:
        names.append(f"**{args.kwarg.arg}")
    return names


def expect_replaceable(source: str, baseline: str, symbol: str | None) -> None:
    """Returns where a text can be run in the baseline's place.

    Args:
        source: the candidate's text.
        baseline: the text that it replaces.
        symbol: of the function that both define; None where no function is called.

    Raises:
        RungEndedError: it cannot: it does not parse, or its function takes other arguments.
    """
    parsed = sound(parse(source))
    if symbol is None:
        return
    theirs, ours = find_function(parsed, symbol), find_function(parse_python(baseline), symbol)
    if theirs is None and not _binds(parsed, symbol.partition(".")[0]):
        missing = f"it defines no {symbol}{nearest(symbol, symbols(parsed))}"
        raise RungEndedError(Fault(Reason.BUILD_ERROR, missing))
    if theirs is not None and ours is not None and parameters(ours) != parameters(theirs):
        before, after = ", ".join(parameters(ours)), ", ".join(parameters(theirs))
        raise RungEndedError(Fault(Reason.BUILD_ERROR, f"the signature changed from ({before}) to ({after})"))


def _binds(module: ast.Module, name: str) -> bool:
    """Returns whether a name may be bound in another way, by an assignment or an import: loading will tell."""
    imports = (node.names for node in ast.walk(module) if isinstance(node, ast.Import | ast.ImportFrom))
    return any(isinstance(node, ast.Name) and node.id == name for node in ast.walk(module)) or any(
        (alias.asname or alias.name) == name for names in imports for alias in names
    )
