"""What the model calls of a run go through."""

from __future__ import annotations

from dataclasses import dataclass, replace

from whet.agents.asking import Asking
from whet.agents.budget import BudgetMeter
from whet.agents.history import Caps, Stopwatch
from whet.agents.job import RunRequest
from whet.agents.ledger import Ledger
from whet.agents.limits import ProviderGates
from whet.agents.prices import Prices
from whet.core.config import ProjectConfig
from whet.core.database.base import DatabaseKind
from whet.core.store import Store


@dataclass(frozen=True, slots=True)
class Desk:
    """What the calls of a run go through."""

    ledger: Ledger
    caps: Caps
    watch: Stopwatch

    @staticmethod
    def of(store: Store, run: str, job: RunRequest, config: ProjectConfig, began: float | None = None) -> Desk:
        """Returns that of a run.

        Args:
            store: holds the run.
            run: its id.
            job: what it is.
            config: the project's.
            began: when the work began, by ``time.monotonic``; None is now.
        """
        watch = Stopwatch(store, run, began)
        budget = job.budget
        if budget.seconds is not None:
            budget = replace(budget, seconds=max(0.0, budget.seconds - watch.seconds))
        meter = BudgetMeter(budget, Prices(job.prices))
        shared = store if job.shared or store.kind is DatabaseKind.POSTGRESQL else None
        ledger = Ledger(store, run, meter, ProviderGates(config.providers, shared=shared))
        return Desk(ledger, Caps(store, run, None if job.replays else meter), watch)

    @property
    def asking(self) -> Asking:
        """Asks several questions at once."""
        return Asking(self.ledger, self.caps)
