"""What the attempts of one run on a repository have in common."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from whet.agents.history import Stopwatch
from whet.agents.repository.job import RepositoryJob
from whet.core.events import Listener
from whet.core.repository import HotFunction
from whet.core.store import Store
from whet.evaluators.repository.end_to_end import EndToEndRequest
from whet.evaluators.repository.revisions import Worktree
from whet.evaluators.repository.suite_run import Suite
from whet.evaluators.repository.trees import Ground


@dataclass(frozen=True, slots=True)
class AttemptContext:
    """What the attempts of one run have in common.

    Attributes:
        store: where runs live.
        run: id of the whole run.
        job: what was asked for.
        command: whose time counts.
        worktree: where wins are put in place.
        ground: where copies of it run.
        suite: its tests; None where there are none.
        functions: the hot ones, in their order.
        reach: which tests reach which target.
        watch: the seconds that the run was worked on.
        listener: hears what happens.
    """

    store: Store
    run: str
    job: RepositoryJob
    command: str
    worktree: Worktree
    ground: Ground
    suite: Suite | None
    functions: Sequence[HotFunction]
    reach: Mapping[str, tuple[str, ...]]
    watch: Stopwatch
    listener: Listener

    @property
    def asked(self) -> EndToEndRequest:
        """What is measured of the whole command: any gain counts there, for most of its time is spent elsewhere."""
        return EndToEndRequest(self.command, 1.0, self.job.options.confidence)
