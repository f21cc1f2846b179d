"""A repository as it is looked at, what was tried in it, and the document that a run ends in: ``whet.repository/1``."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from whet.core.condition import Condition
from whet.core.errors import Exit
from whet.core.measurement import Measurement, Speedup
from whet.core.plain import to_plain
from whet.core.result import EXIT_OF, Cost, Status

SCHEMA = "whet.repository/1"
HOT_SPOTS = "whet.hotspots/1"


class ProjectKind(StrEnum):
    """How a repository is built."""

    PYTHON = "python"
    CMAKE = "cmake"
    MAKE = "make"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class HotFunction:
    """A function of a repository, and what it takes of a command's time; all shares are 0 to 1.

    Attributes:
        path: of its file, from the repository's root.
        symbol: ``function`` or ``Class.method``; None where the whole file is the target.
        line: its first line, decorators included.
        end: its last line.
        language: python, c or cpp.
        own: the share spent in it, with the calls that it makes into code which is not the repository's.
        total: the share spent in it and in all that it calls.
        calls: how often it was called; 0 where the profiler does not tell.
        headroom: the part of that share which may be saved, as far as can be told beforehand.
        skipped: why it is not tried; empty where it is.
        edits: the catalogue's edits that change something in it, by name.
    """

    path: str
    symbol: str | None
    line: int
    end: int
    language: str
    own: float
    total: float
    calls: int
    headroom: float
    skipped: str = ""
    edits: tuple[str, ...] = ()

    @property
    def target(self) -> str:
        """The function as `whet optimize` takes it, from the repository's root."""
        return self.path if self.symbol is None else f"{self.path}::{self.symbol}"

    @property
    def saving(self) -> float:
        """The share of the command's time that may be saved in it."""
        return self.own * self.headroom


@dataclass(frozen=True, slots=True)
class HotSpots:
    """Where a repository's command spends its time.

    Attributes:
        root: the folder.
        command: whose time it is.
        functions: those that would be tried, in their order; then those that would be left alone.
        notes: what a user should know, one line each.
    """

    root: str
    command: str
    functions: tuple[HotFunction, ...]
    notes: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Returns the document ``whet.hotspots/1``."""
        document: dict[str, Any] = to_plain(self)
        return {"schema": HOT_SPOTS, **document}


@dataclass(frozen=True, slots=True)
class Survey:
    """What a look around a repository found, and what its configuration says.

    Attributes:
        root: its top folder.
        kind: how it is built.
        packages: folders that its own imports start from, relative to the root: ``src`` or ``.``.
        tests: the command that tests it; None where there is none.
        run: the command whose time counts; None where there is none.
        python: the interpreter of its environment; None is whet's own.
        ignore: globs of files that are left alone, from the root.
        notes: what a user should know, one line each.
        build: the command that makes a native project, before it is tested or run; None where there is none.
    """

    root: Path
    kind: ProjectKind
    packages: tuple[str, ...]
    tests: str | None
    run: str | None
    python: Path | None
    ignore: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    build: str | None = None


@dataclass(frozen=True, slots=True)
class SuiteOutcome:
    """What the repository's own tests gave before any change.

    Attributes:
        command: that ran them.
        passed: tests that passed each time.
        failing: tests that never passed.
        flaky: tests that did not end alike each time.
        seconds: of one run.
    """

    command: str
    passed: tuple[str, ...]
    failing: tuple[str, ...] = ()
    flaky: tuple[str, ...] = ()
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Attempt:
    """What became of one function.

    Attributes:
        function: that was tried.
        run: id of the run that tried it; None where none was begun.
        status: how that run ended; ``skipped`` where none was begun.
        speedup: of the function by itself.
        kept: whether its win stands on the branch.
        why: one line.
        labels: what kind of win it is.
        diff: of the best candidate, against the function's file.
        end_to_end: the command before and after it; None where that was not measured.
        commit: the hash of its commit.
        conditions: what has to hold for the function to behave as before, and is not known to.
    """

    function: HotFunction
    run: str | None
    status: str
    speedup: Speedup | None = None
    kept: bool = False
    why: str = ""
    labels: tuple[str, ...] = ()
    diff: str = ""
    end_to_end: Measurement | None = None
    commit: str | None = None
    conditions: tuple[Condition, ...] = ()


@dataclass(frozen=True, slots=True)
class RepositoryResult:
    """The outcome of `optimize` on a repository.

    Attributes:
        run: id of the run.
        root: the user's checkout.
        head: the commit that was optimised.
        branch: that holds the wins; None where there are none.
        command: whose time counts.
        status: how the run ended.
        end_to_end: the command at the head against the branch; None where nothing was kept.
        tests: what passed before any change; None where there are no tests.
        functions: by time that may be saved, then those that were skipped.
        attempts: in the order in which they were made.
        cost: of the models.
        seconds: wall time of the run.
        message: one line on why it ended so.
        notes: what a user should know, one line each.
    """

    run: str
    root: str
    head: str
    branch: str | None
    command: str
    status: Status
    end_to_end: Measurement | None
    tests: SuiteOutcome | None
    functions: tuple[HotFunction, ...]
    attempts: tuple[Attempt, ...]
    cost: Cost
    seconds: float
    message: str = ""
    notes: tuple[str, ...] = ()

    @property
    def exit_code(self) -> Exit:
        """The exit code of a command that ends in this result."""
        return EXIT_OF[self.status]

    def to_json(self) -> dict[str, Any]:
        """Returns the document as plain JSON data."""
        return {"schema": SCHEMA, **to_plain(self)}
