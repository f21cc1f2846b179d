"""The board of a run that several drivers share: what they tell one another through the store.

Whoever works on a job holds a lock of the store, which is free again when its process dies, and leaves a note of what
it began. The next driver finds the note without its holder, and goes on with the whet run that it names. Rows stand in
the store before they stand in any file.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Any

from whet.agents.calls import Calls
from whet.benchmarks.results import Row
from whet.benchmarks.runner.board import Claim, expect_money, expect_time, most_usd
from whet.benchmarks.runner.joining import expect_equal
from whet.benchmarks.runner.request import BenchRequest, ProblemSample
from whet.benchmarks.runner.rows import Key, line_of
from whet.core.errors import UsageError, WhetError
from whet.core.plain import from_plain
from whet.core.store import Store
from whet.core.turns import alone

PLAN, BEGAN, SPENT = "plan", "began", "spent"
"""Names of facts."""


@dataclass(frozen=True, slots=True)
class Note:
    """What a driver leaves of a job that it began.

    Attributes:
        machine: the kind of it: a run goes on only where its figures can be compared.
        run: the whet run that works on the job; empty until there is one.
    """

    machine: str
    run: str = ""


class JoinedBoard:
    """A board in the store, and the journal of which whet run belongs to which row. Safe for several threads.

    Args:
        store: that the drivers share.
        name: of the run.
        asked: of the run.
        machine: the kind of this one; see `whet.benchmarks.results.Machine.kind`.
    """

    def __init__(self, store: Store, name: str, asked: BenchRequest, machine: str) -> None:
        self._store = store
        self._asked = asked
        self._machine = machine
        self._run = name
        self._name = f"join-{name}"
        self._open, self._rows = f"{self._name}:open", f"{self._name}:rows"
        self._runs: dict[Key, str] = {}

    def begin(self, plan: Mapping[str, Any]) -> None:
        """Begins the run, or joins it.

        Raises:
            UsageError: it was begun with another plan.
        """
        with self._alone():
            known = self._store.fact(self._name, PLAN)
            if known is None:
                with self._store.on_disk():
                    self._store.set_fact(self._name, BEGAN, self._store.now())
                    self._store.set_fact(self._name, PLAN, plan)
                return
        expect_equal(self._run, known, plan)

    def expect_known(self, rows: Iterable[Row]) -> None:
        """Expects that rows of a file are this run's.

        Raises:
            UsageError: one is not.
        """
        for row in rows:
            if self._row(_digest(row.key)) != row:
                raise UsageError(
                    f"the file holds a row of {row.problem!r}, sample {row.sample}, that is not of the joined run "
                    f"'{self._run}'; give another -o FILE"
                )

    @property
    def usd(self) -> float:
        """What all rows of all drivers cost so far."""
        return float(self._store.fact(self._name, SPENT) or 0.0)

    def claim(self, job: ProblemSample, begin: bool = True) -> Row | Claim:
        """Returns the row of a job, or whose turn it is; see `whet.benchmarks.runner.board.Board.claim`."""
        digest = self._digest(job)
        if (row := self._row(digest)) is not None:
            return row
        with self._alone():
            if (row := self._row(digest)) is not None:
                return row
            notes = self._notes()
            if self._is_under_way(digest, notes.get(digest)):
                return Claim.THEIRS
            if not begin:
                return Claim.NOBODYS
            if not self._has_room(notes, digest):
                return Claim.THEIRS
            if digest not in notes:
                self._store.set_fact(self._open, digest, asdict(Note(self._machine)))
            self._store.hold(self._lock(digest))
            return Claim.OURS

    def settle(self, job: ProblemSample, row: Row) -> Row:
        """Stores a row, unless one is there; returns the one that is there then.

        Raises:
            ValueError: a figure of the row is no plain data.
        """
        digest, document = self._digest(job), json.loads(line_of(row))
        with self._alone():
            known = self._row(digest)
            if known is None:
                with self._store.on_disk():
                    self._store.set_fact(self._rows, digest, document)
                    self._store.set_fact(self._name, SPENT, self.usd + row.cost.usd)
                    self._store.drop_fact(self._open, digest)
        self._store.release(self._lock(digest))
        return known or row

    def drop(self, job: ProblemSample) -> None:
        """Lets go of a job of ours; its note says what it cost, and what to go on with."""
        self._store.release(self._lock(self._digest(job)))

    # the journal

    def run_of(self, key: Key) -> str | None:
        """Returns the run that was begun for a row of ours.

        Raises:
            WhetError: another kind of machine began it.
        """
        if key not in self._runs:
            note = self._notes().get(_digest(key))
            if note is None or not note.run:
                return None
            if note.machine != self._machine:
                raise WhetError(f"begun on a machine of another kind ({note.machine}); a driver on one goes on with it")
            self._runs[key] = note.run
        return self._runs[key]

    def note(self, key: Key, run: str) -> None:
        """Remembers the run of a row of ours; it is on the disk when this returns."""
        with self._store.on_disk():
            self._store.set_fact(self._open, _digest(key), asdict(Note(self._machine, run)))
        self._runs[key] = run

    # parts

    @contextmanager
    def _alone(self) -> Iterator[None]:
        with alone(self._store, self._name):
            yield

    def _digest(self, job: ProblemSample) -> str:
        return _digest(job.key(self._asked))

    def _lock(self, digest: str) -> str:
        return f"{self._name}:{digest[:32]}"

    def _row(self, digest: str) -> Row | None:
        document = self._store.fact(self._rows, digest)
        return None if document is None else from_plain(Row, document)

    def _notes(self) -> dict[str, Note]:
        """Returns the notes of all jobs that were begun and are not done: those under way, and those left over."""
        return {digest: from_plain(Note, note) for digest, note in self._store.facts(self._open).items()}

    def _is_under_way(self, digest: str, note: Note | None) -> bool:
        """Whether a process works on a job. The locks of one that dies need not all be free at one moment."""
        if note is None:
            return False
        if not self._store.hold(self._lock(digest)):
            return True
        self._store.release(self._lock(digest))
        return bool(note.run) and self._store.run(note.run).status == "running"

    def _has_room(self, notes: Mapping[str, Note], digest: str) -> bool:
        """Whether the caps leave room for a job now; else they may once others are done.

        Raises:
            BudgetError: they never will.
        """
        expect_time(self._asked, self._store.now() - (self._store.fact(self._name, BEGAN) or 0.0))
        if (most := most_usd(self._asked)) is None:
            return True
        spent, reserved = self.usd, 0.0
        for other, note in notes.items():
            if other == digest:
                continue  # its cap covers what it spent before
            if self._is_under_way(other, note):
                reserved += most
            elif note.run:
                spent += Calls(self._store, note.run).cost().usd
        expect_money(self._asked, spent, most)
        return spent + reserved + most <= (self._asked.total.usd or 0.0)


def _digest(key: Key) -> str:
    return hashlib.sha256(json.dumps(key).encode()).hexdigest()
