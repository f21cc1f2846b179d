"""Work done by other processes of this host."""

from __future__ import annotations

import os
import socket
import threading

from whet.core.errors import UsageError
from whet.sandbox.workers.dispatch import Dispatcher
from whet.sandbox.workers.labels import labels_here
from whet.sandbox.workers.places import HostRecord, Piece, Seat
from whet.sandbox.workers.process import Worker, WorkerDiedError


class Local(Dispatcher):
    """An `Executor` of processes of this host, one for each slot; each is started when it is first needed."""

    def __init__(self, slots: int = 0) -> None:
        """Makes the slots.

        Args:
            slots: pieces of work done at once; 0 for as many as there are processors.
        """
        super().__init__()
        if slots < 0:
            raise UsageError(f"{slots} local workers cannot be had; ask for 1 or more")
        slots = slots or len(os.sched_getaffinity(0))
        place = HostRecord(socket.gethostname(), labels_here())
        self._workers = [Worker(place.name) for _ in range(slots)]
        self._join(place, slots)

    def close(self) -> None:
        """See `Executor.close`."""
        super().close()
        closing = [threading.Thread(target=worker.close) for worker in self._workers]
        for thread in closing:
            thread.start()
        for thread in closing:
            thread.join()

    def _begin(self, seat: Seat, piece: Piece) -> None:
        # No pool: its threads would keep a driver that is interrupted from ending.
        threading.Thread(target=self._do, args=(seat, piece), name="whet-worker", daemon=True).start()

    def _abandon(self, seat: Seat, piece: Piece) -> None:
        self._workers[seat.number].end(piece.ticket)

    def _do(self, seat: Seat, piece: Piece) -> None:
        try:
            answer = self._workers[seat.number].do(piece.order)
        except WorkerDiedError as error:
            self._died(seat, "worker died", blamed=error.begun)
        else:
            self._ended(seat, answer)
