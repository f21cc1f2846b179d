"""Which worker does which piece of work, and what came of it; knows nothing of how workers are reached."""

from __future__ import annotations

import itertools
import math
import threading
import time
from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from queue import Empty, SimpleQueue

from whet.core.errors import SandboxError
from whet.sandbox.workers.base import End, Host, HostStatus, Work, WorkResult
from whet.sandbox.workers.errors import raised
from whet.sandbox.workers.places import HostRecord, Line, Piece, Seat, line_of
from whet.sandbox.workers.serve import WorkReply

MOST_DEATHS, MOST_ATTEMPTS = 3, 10
"""Workers that may die of a piece of work, and those that may begin it where whole hosts die."""
Inbox = SimpleQueue[WorkResult | SandboxError]


class Dispatcher(ABC):
    """An `Executor` whose workers are reached by what derives from it."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._tickets = itertools.count(1)
        self._pieces: dict[int, Piece] = {}
        self._outcomes: dict[int, WorkResult] = {}
        self._inboxes: dict[int, Inbox] = {}
        self._lines: dict[object, Line] = {}
        self._places: dict[str, HostRecord] = {}
        self._idle: dict[Seat, None] = {}
        self._gone: SandboxError | None = None
        self._closed = False

    # what there is to be done by those that derive from it

    @abstractmethod
    def _begin(self, seat: Seat, piece: Piece) -> None:
        """Has a seat do a piece of work, at once; `_ended` or `_died` is called when it is over."""

    @abstractmethod
    def _abandon(self, seat: Seat, piece: Piece) -> None:
        """Has a seat end what it does, at once; it says when that is over, as ever."""

    # the executor

    def submit(self, work: Work) -> int:
        """See `Executor.submit`."""
        with self._lock:
            self._expect_there()
            piece = Piece(next(self._tickets), work)
            self._pieces[piece.ticket] = piece
            line = self._queue(piece)
            self._fill(list(self._idle))
            if line.pieces and (why := line.hopeless(self._places.values())):
                self._refuse(line, why)
            return piece.ticket

    def as_completed(self, tickets: Collection[int], seconds: float = math.inf) -> Iterator[WorkResult]:
        """See `Executor.as_completed`."""
        deadline = time.monotonic() + seconds
        inbox: Inbox = SimpleQueue()
        left = self._awaited(tickets, inbox)
        try:
            while left:
                try:
                    found = inbox.get(timeout=None if seconds == math.inf else max(0.0, deadline - time.monotonic()))
                except Empty:
                    return
                if isinstance(found, SandboxError):
                    raise found
                left.discard(found.ticket)
                yield found
        finally:
            self._unawaited(left, inbox)

    def cancel(self, tickets: Collection[int]) -> None:
        """See `Executor.cancel`."""
        with self._lock:
            pieces = [self._pieces[ticket] for ticket in tickets if ticket in self._pieces]
            for piece in pieces:
                piece.cancelled = True
            seats = [seat for place in self._places.values() for seat in place.busy if not seat.forsaken]
            doing = {seat.piece: seat for seat in seats}
            self._drop_cancelled()
            for piece in pieces:
                if seat := doing.get(piece):
                    self._abandon(seat, piece)
                else:
                    self._finish(piece, WorkResult(piece.ticket, End.CANCELLED, attempts=piece.attempts))

    def hosts(self) -> tuple[Host, ...]:
        """See `Executor.hosts`."""
        with self._lock:
            queued: dict[str, int] = defaultdict(int)
            for line in self._lines.values():
                queued[line.needs.host] += len(line.pieces)
            return tuple(place.told(queued[place.name]) for place in self._places.values())

    @property
    def slots(self) -> int:
        """See `Executor.slots`."""
        with self._lock:
            return sum(len(place.seats) for place in self._places.values() if place.standing is HostStatus.READY)

    @property
    def waiting(self) -> int:
        """See `Executor.waiting`."""
        with self._lock:
            return sum(len(line.pieces) for line in self._lines.values())

    def close(self) -> None:
        """See `Executor.close`."""
        with self._lock:
            self._closed = True
            self._gone = self._gone or SandboxError("the workers of this driver are closed")
            self._lines.clear()
            for piece in list(self._pieces.values()):
                self._finish(piece, WorkResult(piece.ticket, End.CANCELLED, attempts=piece.attempts))

    # what those that derive from it tell

    def _join(self, place: HostRecord, slots: int) -> None:
        """Takes a host, with seats, among those that work."""
        with self._lock:
            place.seats = [Seat(place, number) for number in range(slots)]
            self._places[place.name] = place
            self._idle.update(dict.fromkeys(place.seats))
            self._fill(place.seats)

    def _ended(self, seat: Seat, answer: WorkReply) -> None:
        """A worker answered."""
        with self._lock:
            piece, place = self._freed(seat)
            if piece is None:
                return
            place.worked += answer.seconds
            place.done += 1
            told = WorkResult(piece.ticket, End.DONE, answer.result, "", None, place.name, answer.seconds)
            if answer.raised is not None:
                error = raised(answer.raised)
                place.failures[type(error).__name__] += 1
                told = WorkResult(piece.ticket, End.FAILED, None, str(error), answer.raised, place.name, answer.seconds)
            self._finish(piece, told, begun=True)
            self._fill([seat])

    def _died(self, seat: Seat, cause: str, *, blamed: bool = True) -> None:
        """A worker died, with its host or alone; blamed is the work that it did."""
        with self._lock:
            piece, place = self._freed(seat)
            if piece is None:
                return
            place.failures[cause] += 1
            self._again(piece, place, cause, blamed=blamed)
            self._fill(list(self._idle))

    def _leave(self, place: HostRecord, standing: HostStatus, why: str, cause: str, *, gone: bool = False) -> None:
        """A host gets no work any more; what it was doing is done elsewhere.

        Args:
            place: the host.
            standing: how it stands from now on.
            why: it does.
            cause: of the failure of what it was doing.
            gone: whether what worked there is gone, with its seats. Whatever works there next has seats of its own:
                through one that was left, work would reach a worker that has other work already.
        """
        with self._lock:
            place.stand(standing, why)
            for seat in place.busy:
                if seat.piece is not None and not seat.forsaken:
                    seat.forsaken = True
                    self._abandon(seat, seat.piece)
                    if not seat.piece.probe:
                        place.failures[cause] += 1
                        self._again(seat.piece, place, cause, blamed=False)
            if gone:
                for seat in place.seats:
                    self._idle.pop(seat, None)
                place.seats = []
            self._fill(list(self._idle))

    def _fail(self, error: SandboxError) -> None:
        """All workers are out of reach."""
        with self._lock:
            if self._gone is None:
                self._gone = error
                for inbox in {id(inbox): inbox for inbox in self._inboxes.values()}.values():
                    inbox.put(error)

    # inside, with the lock held

    def _expect_there(self) -> None:
        if self._gone is not None:
            raise self._gone

    def _queue(self, piece: Piece, *, first: bool = False) -> Line:
        line = self._lines.setdefault(line_of(piece.work.needs), Line(piece.work.needs))
        if first:
            line.pieces.appendleft(piece)
        else:
            line.pieces.append(piece)
        return line

    def _fill(self, seats: Iterable[Seat]) -> None:
        """Gives work to seats that have none."""
        if self._closed:
            return
        for seat in seats:
            if seat in self._idle and (piece := self._next(seat)) is not None:
                del self._idle[seat]
                seat.piece, seat.begun, seat.forsaken = piece, time.monotonic(), False
                piece.attempts += 1
                piece.waited = seat.begun - piece.since
                self._begin(seat, piece)

    def _next(self, seat: Seat) -> Piece | None:
        """Returns what a seat is to do: what has waited longest of all that its host may do."""
        if seat.place.standing is not HostStatus.READY:
            return None
        lines = [line for line in self._lines.values() if line.may_begin(seat.place)]
        if not lines:
            return None
        line = min(lines, key=lambda line: line.pieces[0].ticket)
        piece = line.pieces.popleft()
        if not line.pieces:
            del self._lines[line_of(line.needs)]
        return piece

    def _freed(self, seat: Seat) -> tuple[Piece | None, HostRecord]:
        """Returns what a seat did, that it does no longer; None where that is not wanted from it any more."""
        piece, seat.piece = seat.piece, None
        if seat in seat.place.seats:
            self._idle[seat] = None
        if piece is None or seat.forsaken or piece.ticket not in self._pieces:
            self._fill([seat])
            return None, seat.place
        if piece.cancelled:
            self._finish(piece, WorkResult(piece.ticket, End.CANCELLED, host=seat.place.name), begun=True)
            self._fill([seat])
            return None, seat.place
        return piece, seat.place

    def _again(self, piece: Piece, place: HostRecord, cause: str, *, blamed: bool) -> None:
        piece.deaths += blamed
        if piece.cancelled:
            self._finish(piece, WorkResult(piece.ticket, End.CANCELLED, host=place.name), begun=True)
        elif piece.deaths >= MOST_DEATHS or piece.attempts >= MOST_ATTEMPTS:
            error = f"{cause} {piece.attempts} times, each time that the work was begun; last on {place.name}"
            self._finish(piece, WorkResult(piece.ticket, End.LOST, error=error, host=place.name), begun=True)
        else:
            self._queue(piece, first=True)

    def _despair(self) -> None:
        """Gives up work that no host will do; to be called every second or so."""
        with self._lock:
            for line in list(self._lines.values()):
                if why := line.hopeless(self._places.values()):
                    self._refuse(line, why)

    def _drop_cancelled(self) -> None:
        for key, line in list(self._lines.items()):
            kept = [piece for piece in line.pieces if not piece.cancelled]
            line.pieces.clear()
            line.pieces.extend(kept)
            if not kept:
                del self._lines[key]

    def _refuse(self, line: Line, why: str) -> None:
        del self._lines[line_of(line.needs)]
        for piece in line.pieces:
            self._finish(piece, WorkResult(piece.ticket, End.UNPLACED, error=why, attempts=piece.attempts))

    def _finish(self, piece: Piece, outcome: WorkResult, *, begun: bool = False) -> None:
        if begun:
            outcome = replace(outcome, waited=piece.waited, attempts=piece.attempts)
        del self._pieces[piece.ticket]
        if inbox := self._inboxes.pop(piece.ticket, None):
            inbox.put(outcome)
        else:
            self._outcomes[piece.ticket] = outcome

    def _awaited(self, tickets: Collection[int], inbox: Inbox) -> set[int]:
        """Has outcomes put into an inbox; returns those that are to come."""
        with self._lock:
            left = {ticket for ticket in tickets if ticket in self._pieces or ticket in self._outcomes}
            for ticket in left:
                if ticket in self._outcomes:
                    inbox.put(self._outcomes.pop(ticket))
                elif self._gone is not None:
                    inbox.put(self._gone)
                    break
                else:
                    self._inboxes[ticket] = inbox
            return left

    def _unawaited(self, left: set[int], inbox: Inbox) -> None:
        """Keeps for others what nobody took out of an inbox."""
        with self._lock:
            for ticket in left:
                self._inboxes.pop(ticket, None)
            while not inbox.empty():
                if isinstance(found := inbox.get(), WorkResult):
                    self._outcomes[found.ticket] = found
