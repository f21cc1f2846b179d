"""Answers what is asked of a torch module beside its outcomes: what a call costs, needs, launches or takes when hot.

No verdict waits for such an answer, so what is raised on the way is told: a process that ends for it says nothing.
"""

from __future__ import annotations

from .cost import cost
from .hot import hot_calls
from .kernel_times import kernel_times
from .needs import needs

TYPE_CHECKING = False
if TYPE_CHECKING:  # `typing` itself would cost each start 8 ms
    from typing import Any

    from .module_target import ModuleTarget

FAILED = "failed"
"""What an answer begins with in the place of its question's name, where something was raised."""
MOST_SAID = 300
"""Characters of what was raised."""


def answer(target: ModuleTarget, operation: str, words: tuple[Any, ...]) -> tuple[Any, ...]:
    """Returns the answer to ``cost``, ``needs``, ``hot`` or ``kernels``, or what was raised on the way to it."""
    try:
        if operation == "cost":
            return operation, *cost(target, *words)
        if operation == "needs":
            return operation, *needs(target, *words)
        if operation == "hot":
            return operation, hot_calls(target, *words)
        return operation, kernel_times(target, *words)
    except Exception as error:
        return FAILED, f"{type(error).__name__}: {error}"[:MOST_SAID]
