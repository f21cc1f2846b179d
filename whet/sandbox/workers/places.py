"""What a driver keeps of the hosts that work for it, of work on its way, and of which may go where."""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from whet.sandbox.workers.base import Host, HostStatus, Needs, Work
from whet.sandbox.workers.serve import WorkOrder

PATIENCE_SECONDS = 60.0
"""For a host that work needs, and that was there, to be well again."""


@dataclass(eq=False, slots=True)
class Piece:
    """A piece of work that has not come to its end.

    Attributes:
        ticket: of it.
        work: what it is.
        since: when it was submitted.
        probe: whether it asks for the health of its host, and is nobody's ticket.
        attempts: workers that began it.
        deaths: of those that died of it, or might have.
        waited: seconds until the last of them began.
        cancelled: whether nobody wants it any more.
    """

    ticket: int
    work: Work
    since: float = field(default_factory=time.monotonic)
    probe: bool = False
    attempts: int = 0
    deaths: int = 0
    waited: float = 0.0
    cancelled: bool = False

    @property
    def order(self) -> WorkOrder:
        """It, as a worker gets it."""
        return WorkOrder(self.ticket, self.work.key, self.work.call, self.work.argument)


@dataclass(eq=False, slots=True)
class Seat:
    """Where a host does one piece of work at a time.

    Attributes:
        place: the host.
        number: of it there.
        piece: that it does.
        begun: when.
        forsaken: whether that piece is done elsewhere by now.
    """

    place: HostRecord
    number: int
    piece: Piece | None = None
    begun: float = 0.0
    forsaken: bool = False


@dataclass(eq=False, slots=True)
class HostRecord:
    """What a driver keeps of a host; see `whet.sandbox.workers.base.Host`.

    Attributes:
        name: of it.
        labels: of it.
        standing: whether it gets work.
        why: it gets none.
        changed: when that was last another.
        seats: of it.
        done: pieces of work.
        failures: by cause.
        worked: seconds.
        since: when it came.
    """

    name: str
    labels: Mapping[str, str]
    standing: HostStatus = HostStatus.READY
    why: str = ""
    changed: float = field(default_factory=time.monotonic)
    seats: list[Seat] = field(default_factory=list)
    done: int = 0
    failures: Counter[str] = field(default_factory=Counter)
    worked: float = 0.0
    since: float = field(default_factory=time.monotonic)

    @property
    def busy(self) -> list[Seat]:
        """The seats with work."""
        return [seat for seat in self.seats if seat.piece is not None]

    @property
    def measuring(self) -> bool:
        """Whether something is measured there, on the one core that measurements are made on."""
        return any(seat.piece is not None and seat.piece.work.needs.timing for seat in self.seats)

    def stand(self, standing: HostStatus, why: str = "") -> None:
        """Changes its standing."""
        if standing is not self.standing:
            self.changed = time.monotonic()
        self.standing, self.why = standing, why

    def told(self, queued: int) -> Host:
        """Returns it as others see it."""
        return Host(
            self.name,
            dict(self.labels),
            self.standing,
            self.why,
            len(self.seats),
            len(self.busy),
            queued,
            self.done,
            dict(self.failures),
            self.worked,
            time.monotonic() - self.since,
        )


class Line:
    """Work that waits, all of it with the same needs."""

    def __init__(self, needs: Needs) -> None:
        self.needs = needs
        self.pieces: deque[Piece] = deque()

    def fits(self, place: HostRecord) -> bool:
        """Whether a host has what the work needs."""
        needs = self.needs
        named = not needs.host or needs.host == place.name
        return named and all(place.labels.get(name) == value for name, value in needs.labels.items())

    def may_begin(self, place: HostRecord) -> bool:
        """Whether a host may begin with it now."""
        return bool(self.pieces) and self.fits(place) and not (self.needs.timing and place.measuring)

    def hopeless(self, places: Iterable[HostRecord], patience: float = PATIENCE_SECONDS) -> str:
        """Returns why no host will do it; empty while one may."""
        places = list(places)
        fit = [place for place in places if self.fits(place)]
        late = time.monotonic() - patience
        if any(place.standing is HostStatus.READY or place.changed > late for place in fit):
            return ""
        if fit:
            return "; ".join(f"host {place.name} gets no work: {place.why}" for place in fit)
        if self.needs.host and not any(place.name == self.needs.host for place in places):
            return f"no host is called {self.needs.host}; there are {', '.join(place.name for place in places)}"
        alive = {_labels(place.labels) for place in places if place.standing is not HostStatus.LOST}
        there = "; ".join(sorted(alive)) or "nothing: there is none"
        return f"no host has {_labels(self.needs.labels) or 'joined'}; the hosts have: {there}"


def line_of(needs: Needs) -> tuple[object, ...]:
    """Returns what work that may wait in one line has in common."""
    return (*sorted(needs.labels.items()), needs.timing, needs.host)


def _labels(labels: Mapping[str, str]) -> str:
    return ", ".join(f"{name}={value}" for name, value in sorted(labels.items()))
