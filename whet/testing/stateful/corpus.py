"""Reads the corpus: a folder of ``rewrites`` each is a target with a ``wrong`` and an ``honest`` rewrite of it.

They were written before the comparison of states that is to tell them apart.
"""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from whet.core.candidate import Candidate
from whet.core.options import Options
from whet.core.verdict import Rung
from whet.evaluators.ladder import open_ladder
from whet.evaluators.targets import read_task

REWRITES = Path(__file__).parent / "rewrites"
LAST = "differential"
"""No clock decides about these."""


def names() -> list[str]:
    """Returns the names of all targets."""
    return sorted(folder.name for folder in REWRITES.iterdir() if (folder / "whet.toml").is_file())


def judged(name: str, seed: int) -> dict[str, Rung]:
    """Returns the last rung that each rewrite of a target climbs to, by the rewrite's name.

    Args:
        name: of the target.
        seed: of the inputs.
    """
    folder, options = REWRITES / name, Options(until=LAST)
    found = {}
    with closing(open_ladder(read_task(str(folder), options), options, seed)) as ladder:
        ladder.validate()
        for side in ("wrong", "honest"):
            (file,) = folder.glob(f"{side}.*")
            verdict = ladder.check(Candidate(file.read_text(encoding="utf-8")))
            found[side] = verdict.failed or next(rung for rung in verdict.rungs if rung.name == LAST)
    return found
