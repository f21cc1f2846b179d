"""The ladders that a worker keeps open between pieces of work, each beside a baseline that it validated itself."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from whet.core.candidate import Candidate
from whet.core.errors import UsageError
from whet.core.events import Event
from whet.core.options import Options
from whet.core.plain import from_plain
from whet.core.store import Store
from whet.core.task import Task
from whet.evaluators.ladder import Ladder, open_ladder
from whet.evaluators.remote.opening import Opening, task_of
from whet.sandbox.workers.base import WorkerContext

LADDERS = "ladders"
MOST = 2
"""Each has a sandbox with warm processes."""


class OpenLadder:
    """An open ladder.

    Attributes:
        ladder: it.
        heard: what it told about the baseline, as lines.
    """

    def __init__(self, task: Task, opening: Opening, store: Store) -> None:
        self.heard: list[str] = []
        self.ladder: Ladder = open_ladder(
            task,
            from_plain(Options, opening.options),
            opening.seed,
            self._hear,
            explain=opening.explain,
            store=store,
        )
        self._validated = False
        self._batch: tuple[str, ...] = ()
        self._left: set[str] = set()

    def _hear(self, event: Event) -> None:
        self.heard.append(event.text)

    def validate(self) -> None:
        """Validates the baseline, once.

        Raises:
            BaselineError: no verdict could rest on it.
        """
        if not self._validated:
            self.ladder.validate()
            self._validated = True

    def join(self, id: str, batch: Sequence[Candidate]) -> None:
        """Announces a candidate's batch, unless it stands announced and the candidate was not checked in it."""
        ids = tuple(sorted(one.id for one in batch))
        if ids != self._batch or id not in self._left:
            self.ladder.announce(batch)
            self._batch, self._left = ids, set(ids)
        self._left.discard(id)

    def close(self) -> None:
        """Ends the ladder."""
        self.ladder.close()


class Ladders:
    """The newest ladders of a worker, by what opened them."""

    def __init__(self) -> None:
        self._open: dict[str, OpenLadder] = {}

    @staticmethod
    def of(bench: WorkerContext) -> Ladders:
        """Returns those of a worker."""
        found: Ladders = bench.kept.setdefault(LADDERS, Ladders())
        return found

    @contextmanager
    def lent(self, bench: WorkerContext, opening: Opening) -> Iterator[OpenLadder]:
        """Gives the ladder of an opening; one in which anything broke is not used again."""
        name = str(opening)
        opened = self._open.pop(name, None) or self._opened(bench, opening)
        try:
            yield opened
        except BaseException:
            opened.close()
            raise
        self._open[name] = opened

    def rename(self, opening: Opening, known: Opening) -> None:
        """Has a ladder answer to another opening: that of the task as it was made ready."""
        self._open[str(known)] = self._open.pop(str(opening))

    def __len__(self) -> int:
        return len(self._open)

    def close(self) -> None:
        """Ends all of them."""
        while self._open:
            self._open.popitem()[1].close()

    def _opened(self, bench: WorkerContext, opening: Opening) -> OpenLadder:
        while len(self._open) >= MOST:
            self._open.pop(next(iter(self._open))).close()
        task = task_of(bench.store, opening.task)
        if task.tests is not None and not task.root.is_dir():
            raise UsageError(f"host {bench.host} has no folder {task.root}, in which the tests of {task.name} run")
        return OpenLadder(task, opening, bench.store)
