"""How the next candidates are chosen: one file a strategy, and one line here."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from whet.agents.strategies.base import Strategy
from whet.agents.strategies.refine import Refine
from whet.core.config import one_of

STRATEGIES: Mapping[str, Callable[[], Strategy]] = {"auto": Refine, "refine": Refine}
"""By the name after ``--strategy``."""


def open_strategy(name: str) -> Strategy:
    """Returns the named strategy.

    Raises:
        UsageError: there is none with this name.
    """
    one_of("--strategy", name, tuple(STRATEGIES))
    return STRATEGIES[name]()
