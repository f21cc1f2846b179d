"""``whet board check``: somebody's rows, each of which is believed only after its evidence was repeated here.

A submission is a file of rows as ``whet bench run`` writes it, with the folder of its bundles beside it. Whoever made
it may have written anything into it.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

from whet.benchmarks.board.answers import ResultDocument, bundle_beside, file_hash, read_told
from whet.benchmarks.lab.base import Lab
from whet.benchmarks.results import Own, Row
from whet.benchmarks.runner.rows import read_rows
from whet.benchmarks.suites.base import ByVerdict, Problem, Suite, Unusable
from whet.benchmarks.suites.registry import suite_named
from whet.core.candidate import Candidate
from whet.core.errors import BaselineError, UsageError
from whet.core.events import Listener, null_listener
from whet.core.evidence import Replication
from whet.core.options import Options
from whet.core.plain import to_plain
from whet.core.result import Status
from whet.evaluators.evidence.bundle import Bundle, Contradiction, read_bundle
from whet.evaluators.evidence.record import CANDIDATE, TESTS, texts_of
from whet.evaluators.evidence.replication import replicate
from whet.evaluators.targets import read_task

BY_MACHINE = frozenset({"ratio", "workloads"})
"""What may honestly differ where the processor does."""
FIGURES = ("ratio", "low", "high", "confidence", "metric", "processes", "samples", "baseline")


class Belief(StrEnum):
    """What came of a submitted row."""

    ACCEPTED = "accepted"
    CONTRADICTED = "contradicted"
    NOT_REPEATABLE = "not repeatable here"


@dataclass(frozen=True, slots=True)
class Checked:
    """One row of a submission; ``row`` is None for a line that is no row."""

    row: Row | None
    belief: Belief
    why: str


class _Doubt(Exception):
    """Why a row is not accepted."""

    def __init__(self, belief: Belief, why: str) -> None:
        super().__init__(why)
        self.belief = belief


@dataclass
class Checker:
    """What the checks of one submission share.

    Attributes:
        root: where a suite's own data lies; None where no suite of the submission needs any.
        options: of whoever checks; those of the evidence replace most of them.
        signers: a file of allowed signers; None asks for none.
        home: the state directory; None is the default one.
        suite_of: suite by its name.
        listener: hears what happens.
    """

    root: Path | None = None
    options: Options = field(default_factory=Options)
    signers: Path | None = None
    home: Path | None = None
    suite_of: Callable[[str], Suite] = suite_named
    listener: Listener = null_listener
    _problems: dict[str, Mapping[str, Problem]] = field(default_factory=dict, init=False)
    _repeated: dict[str, Replication] = field(default_factory=dict, init=False)
    _lab: Lab | None = field(default=None, init=False)

    def check(self, file: Path) -> Iterator[Checked]:
        """Yields what came of each row, as soon as that is known.

        Raises:
            UsageError: the file cannot be read or holds no row, or a suite's data cannot be read.
        """
        found = read_rows(file)
        for fault in found.faults:
            yield Checked(None, Belief.CONTRADICTED, fault)
        if file.stat().st_size > found.whole:
            yield Checked(None, Belief.CONTRADICTED, "the last line is not whole")
        if not found.rows and not found.faults:
            raise UsageError(f"{file} holds no rows")
        try:
            for row in found.rows:
                try:
                    yield Checked(row, Belief.ACCEPTED, self._accepted(row, file))
                except _Doubt as doubt:
                    yield Checked(row, doubt.belief, str(doubt))
        finally:
            if self._lab is not None:
                self._lab.close()

    def _accepted(self, row: Row, file: Path) -> str:
        """Returns what a row was accepted for.

        Raises:
            _Doubt: it is not.
        """
        try:
            suite = self.suite_of(row.suite)
        except UsageError as error:
            raise _Doubt(Belief.NOT_REPEATABLE, str(error)) from None
        try:
            told = read_told(row.result)
        except ValueError as error:
            raise _Doubt(Belief.CONTRADICTED, str(error)) from None
        if row.excluded:
            raise _Doubt(Belief.NOT_REPEATABLE, "that the problem does not count there cannot be told from here")
        if not row.evidence and not _claims(row, told):
            return "it claims nothing"
        bundle = _bundle(row, file)
        _expect_same_claim(row, told, bundle)
        _expect_same_care(bundle, self.options)
        problem = self._problem(suite, row)
        self._expect_same_problem(suite, problem, bundle)
        self._expect_same_own(suite, problem, row)
        path = bundle_beside(file, row)
        assert path is not None
        return self._repeat(row.evidence, path)

    def _problem(self, suite: Suite, row: Row) -> Problem:
        if suite.name not in self._problems:
            if self.root is None and suite.origin.files:
                raise _Doubt(
                    Belief.NOT_REPEATABLE,
                    f"whether its evidence is about this problem takes --root, {suite.name}'s data",
                )
            reading = suite.read(self.root or Path())
            self._problems[suite.name] = {problem.id: problem for problem in reading.problems}
        problem = self._problems[suite.name].get(row.problem)
        if problem is None:
            raise _Doubt(Belief.CONTRADICTED, f"{suite.name} has no such problem here")
        if problem.digest != row.data:
            raise _Doubt(Belief.NOT_REPEATABLE, "the problem's data here is of another revision")
        return problem

    def _expect_same_problem(self, suite: Suite, problem: Problem, bundle: Bundle) -> None:
        """Raises _Doubt where the evidence is about another baseline, workload or oracle than the problem's."""
        with tempfile.TemporaryDirectory(prefix="whet-board-") as folder:
            try:
                task = read_task(suite.write_target(problem, Path(folder)), self.options)
            except (BaselineError, UsageError) as error:
                raise _Doubt(Belief.NOT_REPEATABLE, f"the problem cannot be used here: {error}") from None
        ours, theirs = (
            {name: data for name, data in texts.items() if not name.startswith((f"{CANDIDATE}/", f"{TESTS}/"))}
            for texts in (texts_of(task, Candidate("")), bundle.texts)
        )
        recorded = bundle.record.task
        asked = (task.language, task.kind, task.symbol, task.oracle, task.workload.sizes, task.signature, task.flags)
        flags = bundle.record.provenance.toolchain.flags
        rules = (recorded.language, recorded.kind, recorded.symbol, recorded.oracle, recorded.sizes, recorded.signature)
        other = sorted(name for name in ours.keys() | theirs.keys() if ours.get(name) != theirs.get(name))
        if other or asked != (*rules, flags):
            what = f": {', '.join(other[:3])}" if other else ""
            raise _Doubt(Belief.CONTRADICTED, f"its evidence is about another problem{what}")

    def _expect_same_own(self, suite: Suite, problem: Problem, row: Row) -> None:
        """Raises _Doubt where the suite's own rule says something else than the row."""
        try:
            if isinstance(suite, ByVerdict) and row.result is not None:
                if suite.own_of(row.result) != row.own:
                    raise _Doubt(Belief.CONTRADICTED, "its own figures do not follow from its verdict")
                return
            self._lab = self._lab or Lab(self.options)
            own = suite.judge(problem, row.answer, self._lab)
        except Unusable as error:
            raise _Doubt(Belief.NOT_REPEATABLE, f"the suite's own reference fails here: {error}") from None
        if row.own is None or own.passed != row.own.passed:
            said = _words(row.own), _words(own)
            raise _Doubt(Belief.CONTRADICTED, f"the suite's own rule: {said[0]} there, {said[1]} here")

    def _repeat(self, hash: str, path: Path) -> str:
        if hash not in self._repeated:
            try:
                self._repeated[hash] = replicate(path, self.signers, self.options, self.home, self.listener)
            except Contradiction as error:
                raise _Doubt(Belief.CONTRADICTED, _without(str(error), path)) from None
            except (BaselineError, UsageError) as error:
                raise _Doubt(Belief.NOT_REPEATABLE, _without(str(error), path)) from None
        found = self._repeated[hash]
        differing = {row.name for row in found.compared if row.agrees is False}
        elsewhere = any(row.name == "processor" and row.recorded != row.here for row in found.surroundings)
        if differing and not (differing <= BY_MACHINE and elsewhere):
            raise _Doubt(Belief.CONTRADICTED, f"repeated here, it differs: {', '.join(sorted(differing))}")
        left = [row for row in found.compared if row.agrees is not True and row.name in ("verdict", "ratio")]
        if left:
            why = left[0].note or "it could not be compared"
            raise _Doubt(Belief.NOT_REPEATABLE, f"{left[0].name}: {why}")
        return f"repeated here; {found.authorship}"


def _claims(row: Row, told: ResultDocument | None) -> bool:
    """Whether a row says that something is right or better."""
    return (row.own is not None and row.own.passed) or (told is not None and told.status is Status.IMPROVED)


def _bundle(row: Row, file: Path) -> Bundle:
    if not row.evidence:
        raise _Doubt(Belief.NOT_REPEATABLE, "it names no evidence")
    path = bundle_beside(file, row)
    if path is None:
        raise _Doubt(Belief.NOT_REPEATABLE, "its evidence does not lie beside the rows")
    if file_hash(path) != row.evidence:
        raise _Doubt(Belief.CONTRADICTED, "its evidence has another SHA-256 than the row says")
    try:
        return read_bundle(path)
    except (Contradiction, UsageError) as error:
        raise _Doubt(Belief.CONTRADICTED, _without(str(error), path)) from None


def _expect_same_claim(row: Row, told: ResultDocument | None, bundle: Bundle) -> None:
    """Raises _Doubt where the evidence is about another answer, or says something else of it."""
    record = bundle.record
    if Candidate(row.answer).id != record.candidate.id:
        raise _Doubt(Belief.CONTRADICTED, "its evidence is about another answer")
    if told is None:
        raise _Doubt(Belief.CONTRADICTED, "it has evidence of a verdict, and no verdict")
    for status in (Status.IMPROVED, Status.REJECTED):
        if (told.status is status) is not (record.status is status):
            raise _Doubt(Belief.CONTRADICTED, f"it says {told.status}, its evidence {record.status}")
    if told.speedup is not None:
        claimed = told.speedup.model_dump()
        proved: Mapping[str, Any] = to_plain(record.speedup) if record.speedup is not None else {}
        other = [name for name in FIGURES if claimed[name] != proved.get(name)]
        if other:
            raise _Doubt(Belief.CONTRADICTED, f"its speedup is not that of its evidence: {', '.join(other)}")


def _expect_same_care(bundle: Bundle, options: Options) -> None:
    """Raises _Doubt where less was asked for than a leaderboard asks for."""
    asked = bundle.record.settings
    for name in ("confidence", "min_speedup"):
        if getattr(asked, name) < getattr(options, name):
            raise _Doubt(
                Belief.CONTRADICTED,
                f"its evidence was made with --{name.replace('_', '-')} {getattr(asked, name):g}; "
                f"a row takes {getattr(options, name):g}",
            )


def _without(message: str, path: Path) -> str:
    """Returns what is wrong with a bundle without where it lies."""
    return message.replace(str(path), path.name[:12])


def _words(own: Own | None) -> str:
    return "no answer" if own is None else "right" if own.passed else "failed"
