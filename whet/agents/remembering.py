"""What one run is told of earlier ones, and what it leaves to later ones."""

from __future__ import annotations

from collections.abc import Iterable

from pydantic import TypeAdapter

from whet.agents.evaluations import Evaluations
from whet.agents.experience import Experience, Recalled
from whet.agents.lessons import drawn
from whet.agents.words import words_of
from whet.core.events import Event, EventKind, Listener
from whet.core.result import Result
from whet.core.store import Store
from whet.sandbox.toolchains import native

REMEMBERED = "remembered"
RECALLED: TypeAdapter[tuple[Recalled, ...]] = TypeAdapter(tuple[Recalled, ...])


class Remembering:
    """The past of a run.

    Args:
        store: holds all runs.
        run: the run's id.
        evaluations: its candidates.
        metric: what counts.
        repository: that its target belongs to; empty where no earlier run is looked at, and nothing left to later ones.
            What was told before is told again in any case.
        listener: is told where nothing can be searched.
    """

    def __init__(
        self, store: Store, run: str, evaluations: Evaluations, metric: str, repository: str, listener: Listener
    ) -> None:
        self._store = store
        self._run = run
        self._evaluations = evaluations
        self._metric = metric
        self._repository = "" if evaluations.task.untimed else repository
        self._listener = listener
        self._told: tuple[Recalled, ...] | None = None

    def told(self) -> tuple[Recalled, ...]:
        """Returns what earlier runs found out about code like this one's.

        It is looked for once: runs that end meanwhile change nothing of a prompt, of this run or of a replay.
        """
        if self._told is None:
            known = self._store.fact(self._run, REMEMBERED)
            if known is None and self._repository:
                known = RECALLED.dump_python(self._found(), mode="json")
                self._store.set_fact(self._run, REMEMBERED, known)
            self._told = RECALLED.validate_python(known or ())
        return self._told

    def keep(self, ids: Iterable[str], result: Result) -> None:
        """Stores what the run found out; a run that went on after an end replaces what it stored then.

        Args:
            ids: of all candidates, in order.
            result: what it ended in.
        """
        if not self._repository or self._evaluations.profiled(self._evaluations.baseline.id) is None:
            return
        if not (past := Experience(self._store)).lacking:
            entries = drawn(self._run, self._repository, self._evaluations, ids, result)
            past.put(self._run, self._words(), entries)

    def _found(self) -> tuple[Recalled, ...]:
        past = Experience(self._store)
        if past.lacking:
            line = f"what earlier runs found out cannot be searched here ({past.lacking})"
            self._listener(Event(EventKind.STAGE, line, {"stage": "remember"}))
            return ()
        task = self._evaluations.task
        return past.like(self._words(), native.language_of(task, task.source), self._metric, self._repository)

    def _words(self) -> tuple[str, ...]:
        task, baseline = self._evaluations.task, self._evaluations.baseline
        profile = self._evaluations.profile(baseline.id)
        return words_of(native.language_of(task, task.source), task.source, profile.lines)


def nothing_remembered() -> tuple[Recalled, ...]:
    """The past of a run that is told of none."""
    return ()
