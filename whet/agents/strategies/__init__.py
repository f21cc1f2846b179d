"""How the next candidates are chosen: one file a strategy, and one line here."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from whet.agents.strategies.auto import Auto
from whet.agents.strategies.base import Strategy
from whet.agents.strategies.beam import Beam
from whet.agents.strategies.best_of import BestOf
from whet.agents.strategies.evolve import Evolve
from whet.agents.strategies.refine import Refine
from whet.core.options import one_of

STRATEGIES: Mapping[str, Callable[[], Strategy]] = {
    "auto": Auto,
    "refine": Refine,
    "best-of": BestOf,
    "beam": Beam,
    "evolve": Evolve,
}
"""By the name after ``--strategy``."""


def open_strategy(name: str, *, free: bool = False) -> Strategy:
    """Returns the named strategy.

    Args:
        name: as after ``--strategy``.
        free: whether the Coder's answers cost nothing: ``auto`` then has nothing to save, and is ``refine``.

    Raises:
        UsageError: there is none with this name.
    """
    one_of("--strategy", name, tuple(STRATEGIES))
    return STRATEGIES["refine" if name == "auto" and free else name]()
