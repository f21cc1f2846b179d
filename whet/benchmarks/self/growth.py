"""What a long run stores, with verdicts as large as real ones."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from whet.benchmarks.self.rehearsal import Rehearsal
from whet.core.candidate import Candidate
from whet.core.events import Event, EventKind
from whet.core.options import Options
from whet.core.plain import to_plain
from whet.core.store import Store
from whet.core.verdict import Verdict
from whet.evaluators.ladder import open_ladder
from whet.evaluators.targets import read_task

ROUNDS = 100
"""Rounds of the run: bytes a round are the slope over all but the first share of them. More steady it and take
longer."""
FIRST = 0.2
"""The share of the rounds after which what does not grow has its size: pages, and the evidence that may still win."""
SLOW = """\
def distinct(xs):
    seen = []
    for x in xs:
        if x not in seen:
            seen.append(x)
    return seen
"""
FAST = """\
def distinct(xs):
    return list(dict.fromkeys(xs))
"""
WORKLOAD = """\
sizes = [10, 1000, 1500]

def make_input(size, rng):
    return ([rng.randrange(size) for _ in range(size)],)
"""


@dataclass(frozen=True, slots=True)
class Growth:
    """What a run stored, round by round.

    Attributes:
        rounds: the numbers of the rounds at whose end was looked.
        stored: bytes in use in the database, checkpoints included, at each of those.
        candidates: bytes of them that hold the candidates' own texts.
    """

    rounds: tuple[int, ...]
    stored: tuple[int, ...]
    candidates: tuple[int, ...]

    @property
    def beside(self) -> tuple[int, ...]:
        """Bytes beside the candidates' own texts."""
        return tuple(all - own for all, own in zip(self.stored, self.candidates, strict=True))

    def slope(self, begin: float = FIRST, end: float = 1.0) -> float:
        """Returns bytes a round beside the candidates' own texts: the least-squares line over a stretch of the rounds.

        Args:
            begin: of the stretch, as a share of the rounds.
            end: of the stretch.
        """
        import numpy as np

        stretch = slice(int(begin * len(self.rounds)), int(end * len(self.rounds)))
        return float(np.polyfit(self.rounds[stretch], self.beside[stretch], 1)[0])


def real_verdict(folder: Path) -> Verdict:
    """Returns the ladder's verdict on a faster rewrite, up to its measurement.

    Args:
        folder: gets the target and its workload.
    """
    (folder / "slow.py").write_text(SLOW, encoding="utf-8")
    (folder / "workload.py").write_text(WORKLOAD, encoding="utf-8")
    task = read_task(f"{folder / 'slow.py'}::distinct", Options())
    ladder = open_ladder(task, Options(), 1)
    try:
        ladder.validate()
        return ladder.measure(Candidate(FAST), ladder.check(Candidate(FAST)))
    finally:
        ladder.close()


def grow(script: Rehearsal) -> Growth:
    """Runs a script and looks at the database after each round."""
    rounds: list[int] = []
    sizes: list[tuple[int, int]] = []
    store = Store(script.home)

    def listen(event: Event) -> None:
        if event.kind is EventKind.ROUND and event.data["round"] > 1:
            rounds.append(event.data["round"] - 1)
            sizes.append(_size(store))

    try:
        script.work(listen)
    finally:
        store.close()
    return Growth(tuple(rounds), tuple(size for size, _ in sizes), tuple(own for _, own in sizes))


def _size(store: Store) -> tuple[int, int]:
    """Returns bytes of the database, and those of them that hold candidates' texts."""
    with store.connection() as db:
        (pages,) = db.execute("PRAGMA page_count").fetchone()
        (page,) = db.execute("PRAGMA page_size").fetchone()
        (own,) = db.execute(
            "SELECT total(length(data)) FROM texts JOIN facts ON facts.key = 'candidate:' || lower(hex(texts.name))"
        ).fetchone()
    return pages * page, int(own)


def report(folder: Path, rounds: int = ROUNDS) -> Iterator[str]:
    """Yields what a run of so many rounds stores.

    Args:
        folder: for what the run leaves.
        rounds: of the run.
    """
    template = real_verdict(folder)
    assert template.measurement is not None, template.rungs[-1].detail
    large = len(json.dumps(to_plain(template)))
    yield (
        f"growth: {rounds} rounds of 4 candidates, all right and measured; each verdict as large as a real one of "
        f"{large / 1000:.0f} kB: that of a rewrite of a small function, its hashes, seeds and samples drawn anew"
    )
    found = grow(Rehearsal(folder / "growth", folder / "target.py", rounds, template=template))
    halves = found.slope(FIRST, (FIRST + 1) / 2), found.slope((FIRST + 1) / 2)
    yield (
        f"  database after {found.rounds[-1]} rounds: {found.stored[-1] / 1000:.0f} kB, of which candidates' own texts "
        f"{found.candidates[-1] / 1000:.0f} kB; checkpoints are in it"
    )
    yield (
        f"  beside those texts: {found.slope() / 1000:.1f} kB a round (goal 20); earlier half {halves[0] / 1000:.1f}, "
        f"later half {halves[1] / 1000:.1f}"
    )
