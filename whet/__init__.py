"""whet makes code faster and proves it.

The command line is ``whet``; the same work as a library is `optimize`, `verify` and `audit`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from whet.agents.optimize import optimize
    from whet.evaluators.audit import audit
    from whet.evaluators.verify import verify

__version__ = "0.1.0"
__all__ = ["__version__", "audit", "optimize", "verify"]


def __getattr__(name: str) -> Any:
    # Resolved on first use, so that `import whet` (and `whet --help`) stays light.
    if name == "optimize":
        from whet.agents.optimize import optimize

        return optimize
    if name == "verify":
        from whet.evaluators.verify import verify

        return verify
    if name == "audit":
        from whet.evaluators.audit import audit

        return audit
    raise AttributeError(f"module 'whet' has no attribute {name!r}")
