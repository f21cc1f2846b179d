"""Rows by problem, for scores: what counts, and what is left out with the reason."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from whet.benchmarks.results import Own, Row


@dataclass(frozen=True, slots=True)
class Grouped:
    """Rows by the problem that they answer.

    Attributes:
        rows: id of a problem that counts -> its samples, in their order.
        excluded: id of a problem that does not count on the machine -> why.
    """

    rows: Mapping[str, tuple[Row, ...]]
    excluded: Mapping[str, str]

    @property
    def failed(self) -> int:
        """Problems that count and have no right answer."""
        return sum(not any(passed(row) for row in rows) for rows in self.rows.values())

    @property
    def fewest(self) -> int:
        """How many samples every problem has at least; 0 without problems."""
        return min((len(rows) for rows in self.rows.values()), default=0)


def grouped(rows: Iterable[Row]) -> Grouped:
    """Groups rows by problem; one sample that is excluded excludes the problem."""
    found: dict[str, list[Row]] = {}
    excluded: dict[str, str] = {}
    for row in rows:
        found.setdefault(row.problem, []).append(row)
        if row.excluded:
            excluded.setdefault(row.problem, row.excluded)
    counted = {id: tuple(sorted(of, key=_sample)) for id, of in found.items() if id not in excluded}
    return Grouped(counted, excluded)


def passed(row: Row) -> bool:
    """Whether the suite's own rule found an answer right."""
    return row.own is not None and row.own.passed


def own_of(row: Row) -> Own:
    """Returns what the suite's own rule says; a row without an answer failed."""
    return row.own or Own(False, "no answer")


def _sample(row: Row) -> int:
    return row.sample
