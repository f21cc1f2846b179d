"""Candidates that were announced together: they meet the same inputs, which the baseline meets once for all of them.

Inputs are fresh and secret for a candidate only if they were drawn after it existed. So a batch is made before any of
its inputs is drawn, and of candidates that all exist; nobody joins it later. Its seed follows from the ids of all of
them: a batch that is announced again after a kill meets the same inputs, any other batch meets others.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

from whet.evaluators.examination import Examination
from whet.evaluators.inputs.source import derive

HASH_SEEDS = 2
"""How many hash seeds the candidates of a run are checked under; each needs warm workers of its own."""


def hash_seeds(seed: int, *purpose: object) -> tuple[int, ...]:
    """Returns the hash seeds of a run, which no candidate can foresee; a purpose's own comes first."""
    first = derive(seed, *purpose, "hash") % HASH_SEEDS
    return tuple(derive(seed, "hash", (first + number) % HASH_SEEDS) % 2**31 for number in range(HASH_SEEDS))


class Batch:
    """Candidates that meet the same inputs.

    Attributes:
        seed: of the inputs.
        hash_seed: of the processes that meet them.
        other_hash_seed: of processes that meet them once more.
    """

    def __init__(self, seed: int, ids: Iterable[str], examine: Callable[[int, int], Examination]) -> None:
        digest = hashlib.sha256("\0".join(sorted(ids)).encode()).hexdigest()
        self.seed = derive(seed, "differential", digest)
        self.hash_seed, self.other_hash_seed = hash_seeds(seed, "differential", digest)
        self._examine = examine
        self._examination: Examination | None = None
        self._lock = threading.Lock()

    @property
    def examination(self) -> Examination:
        """What the baseline makes of the inputs; begun by whoever asks first."""
        with self._lock:
            if self._examination is None:
                self._examination = self._examine(self.seed, self.hash_seed)
            return self._examination

    def close(self) -> None:
        """Ends the baseline's process."""
        with self._lock:
            if self._examination is not None:
                self._examination.close()
                self._examination = None


class Batches:
    """The batch that was announced last, and those whose candidates are still under way. Safe for several threads."""

    def __init__(self, seed: int, examine: Callable[[int, int], Examination]) -> None:
        """Starts without any.

        Args:
            seed: of the run.
            examine: makes an examination from a seed and a hash seed.
        """
        self._seed = seed
        self._examine = examine
        self._lock = threading.Lock()
        self._announced: dict[str, Batch] = {}
        self._busy: dict[Batch, int] = {}

    def announce(self, ids: Iterable[str]) -> None:
        """Makes a batch, in the place of the one before; see `whet.evaluators.protocol.Evaluator.announce`."""
        ids = list(ids)
        self._replace(dict.fromkeys(ids, self._batch(ids)))

    def alone(self, id: str) -> Batch:
        """Returns a batch for a candidate that meets no inputs yet."""
        return self._batch([id])

    @contextmanager
    def joined(self, id: str) -> Iterator[Batch]:
        """Gives the batch of a candidate that is checked now; one that nobody announced is a batch of its own.

        So is one that comes a second time.
        """
        with self._lock:
            batch = self._announced.pop(id, None) or self._batch([id])
            self._busy[batch] = self._busy.get(batch, 0) + 1
        try:
            yield batch
        finally:
            with self._lock:
                self._busy[batch] -= 1
                if not self._busy[batch]:
                    del self._busy[batch]
                done = batch not in self._busy and batch not in self._announced.values()
            if done:
                batch.close()

    def close(self) -> None:
        """Ends the processes of baselines that nobody uses; the others end with their last candidate."""
        self._replace({})

    def _replace(self, announced: dict[str, Batch]) -> None:
        with self._lock:
            idle = set(self._announced.values()) - self._busy.keys()
            self._announced = announced
        for batch in idle:
            batch.close()

    def _batch(self, ids: Iterable[str]) -> Batch:
        return Batch(self._seed, ids, self._examine)
