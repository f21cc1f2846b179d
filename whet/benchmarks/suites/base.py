"""The seam between the suites and the one harness that runs them all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from whet.benchmarks.lab.base import Lab
from whet.benchmarks.results import Own, Row
from whet.core.errors import UsageError


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a suite's data is from, for ``whet bench fetch-help``.

    Attributes:
        source: who publishes it, and where: an address for people; nothing is downloaded.
        licence: of the data, as published; ``unknown`` where it is not stated.
        files: what must lie under the given path: a pattern of `pathlib.Path.glob` -> what it is.
        notes: what to mind, a line each.
    """

    source: str
    licence: str
    files: Mapping[str, str]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Problem:
    """One item of a suite.

    Attributes:
        id: as the suite has it, as text; unique within the suite.
        name: for people.
        language: of its answers, as a task's.
        unchanged: the text that an answer replaces: the slow program, or the reference where there is no slower one.
        known_best: the best answer that the suite knows; None where it knows none.
        data: the suite's own plain data of it, which `Suite.judge` needs.
        digest: SHA-256 of what the suite's files say of it.
        group: a level or set within the suite; empty where it has none.
        needs: a device or tool that judging it takes, such as ``cuda`` or ``mpi``; empty for none.
    """

    id: str
    name: str
    language: str
    unchanged: str
    known_best: str | None
    data: Mapping[str, Any]
    digest: str
    group: str = ""
    needs: str = ""


@dataclass(frozen=True, slots=True)
class Reading:
    """What the given path holds.

    Attributes:
        problems: those that can be read, in the suite's order.
        faults: one line for each item that cannot be: a truncated row, an unknown version, an id that was there before.
    """

    problems: tuple[Problem, ...]
    faults: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Figure:
    """One number of a suite's score.

    Attributes:
        name: as the suite calls it: ``eff@1``, ``%OPT``.
        value: the number; NaN where nothing counts.
        n: problems in its denominator, failures among them.
        better: ``higher`` or ``lower``.
        low: of a 95 % interval over problems; None where none is told.
        high: of it.
        note: how it differs from the suite's own scorer, where it does.
        unit: such as ``%``, ``x`` or ``s``; empty for a plain number.
        headline: whether rows are ranked by it; exactly one figure of a score is.
    """

    name: str
    value: float
    n: int
    better: str = "higher"
    low: float | None = None
    high: float | None = None
    note: str = ""
    unit: str = ""
    headline: bool = False


@dataclass(frozen=True, slots=True)
class Score:
    """What the rows of one model, strategy and budget come to.

    Attributes:
        figures: by the suite's definitions.
        spread: of the speedups by the suite's own figures: minimum, quartiles and maximum; empty where there is none.
        failed: problems without a right answer, which stay in the denominators.
        excluded: problems that do not count on this machine: id -> why.
    """

    figures: tuple[Figure, ...]
    spread: tuple[float, ...] = ()
    failed: int = 0
    excluded: Mapping[str, str] = field(default_factory=dict)


class Suite(Protocol):
    """A benchmark suite. One object a suite, without state; `whet.benchmarks.suites.registry` lists them."""

    @property
    def name(self) -> str:
        """As the user writes it after ``whet bench run``."""

    @property
    def title(self) -> str:
        """One line for people."""

    @property
    def status(self) -> str:
        """``real data read``, ``published score reproduced`` or ``format only``: how far the adapter was tried."""

    @property
    def origin(self) -> Origin:
        """Where its data is from."""

    def read(self, root: Path) -> Reading:
        """Reads the suite's own files under a path.

        Raises:
            UsageError: what must be there is missing, or no item of it can be read.
        """

    def write_target(self, problem: Problem, folder: Path) -> str:
        """Writes a problem as a target of whet into an empty folder, and returns what ``whet verify`` takes for it.

        Its baseline is ``problem.unchanged``; hostile data stays data: nothing of it is run here.

        Raises:
            NoTarget: whet's ladder takes no problem of this kind; only `judge` tells of answers to it.
        """

    def judge(self, problem: Problem, answer: str, lab: Lab) -> Own:
        """Judges an answer by the suite's own rule, the suite's own baseline measured beside it.

        Raises:
            Unusable: the suite's own reference fails on this machine: the problem is excluded, not counted.
        """

    def score(self, rows: Sequence[Row]) -> Score:
        """Returns the suite's score of the rows of one model, strategy and budget, several samples a problem."""

    def export(self, rows: Sequence[Row], folder: Path) -> Path | None:
        """Writes rows in the suite's own format of results; None where the suite has none."""

    def imported(self, file: Path) -> Score | None:
        """Returns the score of a file of results in the suite's own format; None where it is not one of those.

        Raises:
            UsageError: it is one, and cannot be read.
        """


@runtime_checkable
class ByVerdict(Protocol):
    """A suite whose own rule is whet's verdict, so that one climb up the ladder serves both."""

    def own_of(self, result: Mapping[str, Any]) -> Own:
        """Returns what a verdict, the document ``whet.result/1``, comes to.

        Raises:
            Unusable: the baseline fails on this machine.
        """


@runtime_checkable
class Answered(Protocol):
    """A suite that has a format of its own for answers: models' outputs that others publish."""

    def answers(self, file: Path, problems: Sequence[Problem]) -> Mapping[tuple[str, int], str]:
        """Returns the answers of a file in that format: (problem, sample) -> text.

        Raises:
            UsageError: it is no such file.
        """


class NoTarget(UsageError):
    """A problem of a kind that whet's ladder does not take: only the suite's own rule judges answers to it."""


class Unusable(Exception):
    """A problem's own reference or data fails on this machine; the message says how."""
