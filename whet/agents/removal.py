"""Deletes past runs with all that belongs to them."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass

from whet.agents.checkpoints import forget
from whet.agents.experience import Experience
from whet.agents.repository.run import WORKTREES
from whet.core.removal import Collected, collect_texts, drop_run
from whet.core.store import RunRecord, Store


@dataclass(frozen=True, slots=True)
class Removed:
    """What was deleted.

    Attributes:
        runs: their ids.
        kept: those that a process works on; they stay.
        texts: what was collected after that.
    """

    runs: tuple[str, ...]
    kept: tuple[str, ...]
    texts: Collected


def remove(store: Store, runs: Sequence[str]) -> Removed:
    """Deletes runs, what later runs would have been told of them, and the texts that nothing else refers to.

    A run that a process works on stays.
    """
    experience = Experience(store)
    removed, kept = [], []
    for run in runs:
        if not store.hold(run):
            kept.append(run)
            continue
        experience.forget(run)
        forget(store, run)
        shutil.rmtree(store.home / WORKTREES / run, ignore_errors=True)
        drop_run(store, run)
        store.release(run)
        removed.append(run)
    collected = collect_texts(store)
    if removed and not collected.busy:
        store.compact()
    return Removed(tuple(removed), tuple(kept), collected)


def outdated(
    records: Sequence[RunRecord], now: float, older_than: float | None, keep: int | None
) -> tuple[RunRecord, ...]:
    """Returns the runs to be pruned: begun longer ago than ``older_than``, and not among the newest ``keep``.

    Args:
        records: of all runs.
        now: in seconds since the epoch.
        older_than: seconds; None for any age.
        keep: None for none.
    """
    newest = sorted(records, key=lambda one: (one.started, one.id), reverse=True)[keep or 0 :]
    return tuple(
        one for one in newest if one.status != "running" and (older_than is None or now - one.started > older_than)
    )
