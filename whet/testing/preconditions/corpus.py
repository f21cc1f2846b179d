"""Reads the corpus: ``NAME.toml`` holds a function, its workload, a wrong rewrite and an honest one.

Those of ``rows`` need what the function does not, and so do those of ``protocols``: each of these asks an argument, or
what is in it, for something that the function does without. Those of ``slow`` are wrong on small inputs, or between the
listed sizes, of a function that is slow on large ones.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

ROWS, PROTOCOLS, SLOW = (Path(__file__).parent / name for name in ("rows", "protocols", "slow"))


@dataclass(frozen=True, slots=True)
class RewritePair:
    """Two rewrites of one function.

    Attributes:
        name: of the row.
        note: what the wrong one changes, in a line.
        target: text of the function's file, which holds it as its first function.
        workload: text of its workload file.
        wrong: a rewrite that is right on what the workload draws only.
        honest: a rewrite that is right wherever the function is.
        expects: needs of the wrong one, each with the parameters that it may be told of.
    """

    name: str
    note: str
    target: str
    workload: str
    wrong: str
    honest: str
    expects: Mapping[str, tuple[str, ...]]

    @property
    def symbol(self) -> str:
        """The function's name."""
        return self.target.partition("def ")[2].partition("(")[0]


def pairs(folder: Path = ROWS) -> tuple[RewritePair, ...]:
    """Returns all rows of a folder, by name."""
    return tuple(_pair(path) for path in sorted(folder.glob("*.toml")))


def _pair(path: Path) -> RewritePair:
    row = tomllib.loads(path.read_text(encoding="utf-8"))
    expects = {need: tuple(parameters) for need, parameters in row["expects"].items()}
    return RewritePair(path.stem, row["note"], expects=expects, **row["texts"])
