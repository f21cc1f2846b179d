"""``whet bench self loop``: what a run loses when it is killed, what the loop costs, and what it stores."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from functools import reduce
from operator import add
from pathlib import Path

from whet.benchmarks.self import growth, waits
from whet.benchmarks.self.kills import Tally, kill_runs
from whet.benchmarks.self.rehearsal import Rehearsal

RUNS, KILLS = 20, 10
"""Runs that are killed, and kills that each is cut up for: some more or less come of it."""


def report() -> Iterator[str]:
    """Yields the lines of the report while it measures."""
    with tempfile.TemporaryDirectory(prefix="whet-self-") as folder:
        place = Path(folder)
        # The sandbox's unprivileged user reads the target.
        place.chmod(0o755)
        yield from waits.report(place)
        yield from killed(place / "killed", RUNS, KILLS)
        yield from growth.report(place)
    from whet.benchmarks.self import verdicts

    yield from verdicts.report()


def killed(folder: Path, runs: int, kills: int, least: int = RUNS * KILLS) -> Iterator[str]:
    """Yields what kills at random moments came to.

    Args:
        folder: for what the runs leave.
        runs: at least so many.
        kills: about so many a run.
        least: kills in all; more runs are killed until there are so many.
    """
    folder.mkdir()
    script = Rehearsal(folder, folder / "target.py", 4, 2, 0.005, 0.005)
    tallies: list[Tally] = []
    for tally in kill_runs(folder, script, kills):
        tallies.append(tally)
        if len(tallies) >= runs and sum(one.kills for one in tallies) >= least:
            break
    total = reduce(add, tallies)
    yield f"{total.kills} kills (kill -9 at random moments) of {len(tallies)} runs; when they fell, {total.recorded}"
    yield f"  replies and verdicts were recorded, and {total.unknown} calls under way"
    yield f"  recorded replies asked for again: {total.asked_again}; finished evaluations repeated: {total.repeated}"
    yield f"  questions that no ledger knows: {total.unaccounted}; runs that ended otherwise: {total.others}"
