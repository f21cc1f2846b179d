"""Which modules a task's processes will import: what a warm worker had better have imported before."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import PurePosixPath

from whet.core.task import Kind, Task
from whet.evaluators.finding import Fault
from whet.evaluators.screen import parse


def preloads(task: Task) -> tuple[str, ...]:
    """Returns what the task's own files import at their top, neither the standard library's nor the task's own.

    An import that stands in a function happens in the call, so it is left there.
    """
    if task.kind is not Kind.FUNCTION:
        return ()
    sources = [task.source, *(text for path, text in task.support.items() if path.endswith(".py"))]
    own = {part.removesuffix(".py") for path in (task.filename, *task.support) for part in PurePosixPath(path).parts}
    found = {name for source in sources for name in _imported(source)}
    return tuple(sorted(name for name in found if name.partition(".")[0] not in own | sys.stdlib_module_names))


def _imported(source: str) -> Iterator[str]:
    module = parse(source)
    if isinstance(module, Fault):
        return
    for statement in module.body:
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            continue
        for node in ast.walk(statement):
            if isinstance(node, ast.Import):
                yield from (alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
                yield node.module
