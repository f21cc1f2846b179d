"""Hosts that are asked for their health: one with a fault gets no work until it is well again."""

from __future__ import annotations

from whet.sandbox.workers.base import HostStatus, Needs, Work
from whet.sandbox.workers.dispatch import Dispatcher
from whet.sandbox.workers.errors import raised
from whet.sandbox.workers.health import Moment, now
from whet.sandbox.workers.places import HostRecord, Piece, Seat
from whet.sandbox.workers.quarantine import Quarantine
from whet.sandbox.workers.serve import WorkReply

PROBE = "whet.sandbox.workers.health:probe"
PROBE_SECONDS = 60.0
"""After which a probe has not answered."""
FAULT = "health probe failed"


class Probing(Dispatcher):
    """A `Dispatcher` that probes hosts when they join, while they are idle and after a worker died there."""

    def __init__(self, probe: str = PROBE) -> None:
        """Has no hosts yet.

        Args:
            probe: the function that looks at a host; see `whet.sandbox.workers.health.probe`.
        """
        super().__init__()
        self._probe = probe
        self._quarantine = Quarantine()
        self._wanted: set[str] = set()
        self._probed: dict[Seat, Moment] = {}

    def _look(self) -> None:
        """Has hosts probed that are due; to be called every second or so."""
        with self._lock:
            for seat, sent_at in list(self._probed.items()):
                if now().ticks - sent_at.ticks > PROBE_SECONDS and seat.piece is not None and not seat.forsaken:
                    seat.forsaken = True
                    self._abandon(seat, seat.piece)
                    self._fault(seat.place, f"its health probe has not answered in {PROBE_SECONDS:g} s")
            at = now()
            for place in self._places.values():
                idle = not place.busy and place.standing is not HostStatus.LOST
                if idle and place.seats and self._quarantine.due(place.name, at):
                    self._wanted.add(place.name)
            self._fill(list(self._idle))

    def _next(self, seat: Seat) -> Piece | None:
        place = seat.place
        if place.name not in self._wanted or place.standing is HostStatus.LOST or place.measuring:
            return super()._next(seat)
        self._wanted.discard(place.name)
        self._probed[seat] = now()
        return Piece(next(self._tickets), Work("", self._probe, {}, Needs(timing=True)), probe=True)

    def _ended(self, seat: Seat, answer: WorkReply) -> None:
        with self._lock:
            if (sent_at := self._probed.pop(seat, None)) is None:
                super()._ended(seat, answer)
                return
            if not seat.forsaken:
                self._judge(seat.place, answer, sent_at)
            self._freed(seat)

    def _died(self, seat: Seat, cause: str, *, blamed: bool = True) -> None:
        with self._lock:
            if self._probed.pop(seat, None) is None:
                if seat.piece is not None and not seat.piece.cancelled:
                    self._wanted.add(seat.place.name)
                super()._died(seat, cause, blamed=blamed)
                return
            if not seat.forsaken:
                self._fault(seat.place, f"its health probe ended early: {cause}")
            self._freed(seat)

    def _judge(self, place: HostRecord, answer: WorkReply, sent_at: Moment) -> None:
        if answer.raised is not None:
            self._fault(place, f"its health probe failed: {raised(answer.raised)}")
        elif why := self._quarantine.judge(place.name, answer.result, sent_at, now()):
            self._leave(place, HostStatus.QUARANTINED, why, FAULT)
        elif place.standing is not HostStatus.LOST:
            place.stand(HostStatus.READY)
            self._fill(place.seats)

    def _fault(self, place: HostRecord, why: str) -> None:
        if place.standing is not HostStatus.LOST:
            self._leave(place, HostStatus.QUARANTINED, self._quarantine.blame(place.name, why, now()), FAULT)
