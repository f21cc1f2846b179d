"""whet makes code faster and proves it.

The command line is ``whet``; the same work as a library is `optimize`, `verify` and `audit`. What ``__all__`` names is
public; ``docs/library.md`` says what else.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from whet.agents.optimize import optimize
    from whet.core.about import __version__
    from whet.core.audit import Audit
    from whet.core.errors import (
        BaselineError,
        BudgetError,
        NoInputsError,
        SandboxError,
        StoreError,
        UnaskedError,
        UsageError,
        WhetError,
    )
    from whet.core.events import Event
    from whet.core.evidence import Replication
    from whet.core.result import Result
    from whet.evaluators.audit import audit
    from whet.evaluators.evidence.bundle import Contradiction
    from whet.evaluators.verify import verify

__all__ = [
    "Audit",
    "BaselineError",
    "BudgetError",
    "Contradiction",
    "Event",
    "NoInputsError",
    "Replication",
    "Result",
    "SandboxError",
    "StoreError",
    "UnaskedError",
    "UsageError",
    "WhetError",
    "__version__",
    "audit",
    "optimize",
    "verify",
]
_MODULES = {
    "__version__": "core.about",
    "optimize": "agents.optimize",
    "verify": "evaluators.verify",
    "audit": "evaluators.audit",
    "Audit": "core.audit",
    "Contradiction": "evaluators.evidence.bundle",
    "Event": "core.events",
    "Replication": "core.evidence",
    "Result": "core.result",
}
"""Where a name is defined; the other errors are in `whet.core.errors`."""


if not TYPE_CHECKING:  # a checker would take any name for one of ours

    def __getattr__(name: str) -> Any:
        # Resolved on first use, so that `import whet` (and `whet --help`) stays light.
        if name in __all__:
            return getattr(import_module(f"whet.{_MODULES.get(name, 'core.errors')}"), name)
        raise AttributeError(f"module 'whet' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
