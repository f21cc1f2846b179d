"""Judges versions of a source file of a C or C++ project by the whole project: built, tested, run and timed with each.

Nothing records calls of a compiled function, so no version meets inputs that nobody saw. What stands in for them: the
project's tests, what its command prints, the same under sanitizers, and faults of our own making in that very file,
which must be noticed before any verdict is believed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from itertools import islice

from whet.core.candidate import Candidate
from whet.core.circumstances import Circumstances, TimedInput
from whet.core.errors import BaselineError
from whet.core.evidence import Provenance
from whet.core.helpers import Helpers
from whet.core.options import Options
from whet.core.profile import Profile
from whet.core.task import Commands, Kind, Task
from whet.core.verdict import Reason, Verdict
from whet.evaluators.circumstances import CACHES, CPUINFO, caches, vectors
from whet.evaluators.evidence.provenance import machine, toolchain
from whet.evaluators.finding import Fault, Finding, Passed, Skipped, sound
from whet.evaluators.given_files import read_text
from whet.evaluators.inputs.source import derive
from whet.evaluators.mutants.registry import mutants
from whet.evaluators.repository.end_to_end import EndToEndRequest, end_to_end
from whet.evaluators.repository.native_profiling import compilers_with, profiled
from whet.evaluators.repository.suite_run import BESIDE, Suite
from whet.evaluators.repository.trees import Ground, Snapshot, copied, snapshot
from whet.evaluators.rungs import Check, Timed, climb_rung, climbed, extended
from whet.evaluators.screening import screened
from whet.evaluators.shell import LineResult
from whet.evaluators.timing.instruments import default_instruments
from whet.evaluators.winner import with_labels

SHORTEST = 0.02
"""Seconds of a command below which its start is most of what is timed."""
FAULTS = 6
"""Mutants that are tried at most, until one is noticed."""
SANITIZED = "-g -fsanitize=address,undefined -fno-sanitize-recover=undefined"
LEAKS = "export ASAN_OPTIONS=detect_leaks=0\n"
"""What is never freed is no fault of a change that does not free it either."""


def file_task(ground: Ground, path: str, command: str) -> Task:
    """Returns the task of one source file of a project.

    Args:
        ground: whose survey's root is the project.
        path: of the file, from there.
        command: whose time counts.

    Raises:
        UsageError: the file cannot be read as text.
    """
    root = ground.survey.root
    return Task(
        name=path,
        language="command",
        kind=Kind.PROGRAM,
        path=root / path,
        source=read_text(root / path),
        symbol=None,
        root=root,
        project=root,
        commands=Commands(run=command, build=ground.survey.build or ""),
    )


@dataclass(frozen=True, slots=True)
class _Known:
    """What is known of the project as it stands.

    Attributes:
        ran: its command.
        prints_the_same: whether that prints the same each time.
        sanitized: why it cannot be watched by sanitizers; empty where it can.
    """

    ran: LineResult
    prints_the_same: bool
    sanitized: str


class WholeProject:
    """Judges versions of one file. See `whet.evaluators.protocol.Evaluator`."""

    def __init__(
        self,
        ground: Ground,
        task: Task,
        standing: Snapshot,
        suite: Suite | None,
        options: Options,
        seed: int,
    ) -> None:
        """Runs nothing yet.

        Args:
            ground: where; the root of its survey holds the project as it stands.
            task: of the file; see `file_task`.
            standing: the same project, built.
            suite: its tests; None where there are none.
            options: of the run.
            seed: of the faults that must be noticed.
        """
        assert task.commands is not None, "a project has a command"
        self.task = task
        self._ground = ground
        self._standing = standing
        self._suite = suite
        self._options = options
        self._seed = seed
        self._asked = EndToEndRequest(task.commands.run, options.min_speedup, options.confidence)
        self._known: _Known | None = None

    def validate(self) -> None:
        """See `whet.evaluators.protocol.Evaluator.validate`."""
        first, again = self._run(self._standing), self._run(self._standing)
        for ran in (first, again):
            if not ran.well:
                raise BaselineError(f"'{self._asked.command}' fails before any change: {ran.why}", "command_failed")
        seconds = default_instruments().command_seconds("baseline", 0, first.seconds)
        if seconds < SHORTEST:
            raise BaselineError(
                f"'{self._asked.command}' takes {seconds * 1e3:.0f} ms, too short to time: {SHORTEST * 1e3:.0f} "
                "ms are needed; give one that does more",
                "too_short",
            )
        self._known = _Known(first, first.stdout == again.stdout, "")
        self._expect_noticed()
        why = self._watched(self.task.source)
        self._known = replace(self._known, sanitized=why.detail if why is not None else "")

    @property
    def known(self) -> _Known:
        """What `validate` found."""
        assert self._known is not None, "validate() comes first"
        return self._known

    def _expect_noticed(self) -> None:
        """Returns where tests or output notice a fault in the file.

        Raises:
            BaselineError: they notice none of some.
        """
        tried = 0
        for mutant in islice(mutants(self.task, derive(self._seed, "noticed")), FAULTS):
            with self._built(mutant.candidate.source) as built:
                if isinstance(built, Fault):
                    continue  # a compiler notices what no run has to
                tried += 1
                if isinstance(self._tested(built), Fault) or isinstance(self._compared(built), Fault):
                    return
        raise BaselineError(
            f"nothing would notice a wrong {self.task.filename}: of {tried} faults put into it, neither the tests nor "
            f"the output of '{self._asked.command}' noticed one",
            "vacuous_oracle",
        )

    def provenance(self, keep: Callable[[str], str]) -> Provenance | None:
        """Returns None: a verdict rests on a project that no bundle holds."""
        return None

    def circumstances(self) -> Circumstances:
        """See `whet.evaluators.protocol.Evaluator.circumstances`."""
        tools = toolchain(replace(self.task, language=self.task.written), self._ground.interpreter)
        return Circumstances(
            processor=machine().cpu,
            caches=caches(CACHES),
            interpreter=tools.interpreter,
            packages={},
            compiler=tools.compiler,
            timed=(TimedInput("the command", 0, self.known.ran.seconds),),
            vectors=vectors(CPUINFO),
        )

    def profile(self, candidate: Candidate) -> Profile:
        """See `whet.evaluators.protocol.Evaluator.profile`."""
        return profiled(self._ground, self._asked.command, self.task.filename, candidate.source)

    def announce(self, candidates: Sequence[Candidate]) -> None:
        """Does nothing: all versions meet the same tests and the same command."""

    def check(self, candidate: Candidate) -> Verdict:
        """See `whet.evaluators.protocol.Evaluator.check`."""
        with self._built(candidate.source) as built:
            checks: Mapping[str, Check] = {
                "screen": lambda: screened(self.task, candidate.source),
                "build": lambda: built if isinstance(built, Fault) else Passed("the whole project builds with it"),
                "test": lambda: self._tested(sound(built)),
                "differential": lambda: self._compared(sound(built)),
                "hazard": lambda: self._hazard(candidate.source),
            }
            return climbed(candidate.id, checks, self._options.until)

    def helpers(self, candidate: Candidate, verdict: Verdict) -> Helpers:
        """See `whet.evaluators.protocol.Evaluator.helpers`: a whole project is not taken apart."""
        return Helpers()

    def measure(self, candidate: Candidate, verdict: Verdict, *, looks: int | None = None) -> Verdict:
        """See `whet.evaluators.protocol.Evaluator.measure`; it takes all looks at once."""
        return self._timed(candidate, verdict, "measure")

    def confirm(self, candidate: Candidate, verdict: Verdict) -> Verdict:
        """See `whet.evaluators.protocol.Evaluator.confirm`."""
        found = self._timed(candidate, verdict, "confirm")
        return with_labels(self.task, candidate, found, lambda: self.profile(candidate)) if found.confirmed else found

    def close(self) -> None:
        """Does nothing: what it made is gone when it has been looked at."""

    @contextmanager
    def _built(self, source: str, compilers: Mapping[str, str] | None = None) -> Iterator[Snapshot | Fault]:
        folder = self._ground.survey.root
        made = snapshot(self._ground, folder, BESIDE, replaced={self.task.filename: source}, compilers=compilers)
        if isinstance(made, Fault):
            yield made
            return
        with closing(made):
            yield made

    def _run(self, tree: Snapshot, before: str = "", reserves: bool = False) -> LineResult:
        with copied(self._ground, tree, reserves=reserves) as copy:
            return copy.run(f"{before}{self._asked.command}")

    def _tested(self, built: Snapshot) -> Finding | None:
        if self._suite is None:
            return None
        fault = self._suite.check(self._ground, built)
        return fault or Passed(f"{len(self._suite.expected.passed)} tests of the project pass as before")

    def _compared(self, built: Snapshot) -> Finding:
        ours, theirs = self.known.ran, self._run(built)
        if theirs.code is None:
            return Fault(Reason.TIMEOUT, f"the command does not end with it: {theirs.why}")
        if theirs.code != ours.code:
            return Fault(Reason.WRONG_OUTPUT, f"the command ends otherwise with it: {theirs.why}")
        if not self.known.prints_the_same:
            return Skipped(Reason.NOT_ASKED, "the command itself prints something else each time")
        if theirs.stdout != ours.stdout:
            return Fault(Reason.WRONG_OUTPUT, f"the command prints something else: {_first_difference(ours, theirs)}")
        return Passed(f"the command prints the same {len(ours.stdout)} characters")

    def _hazard(self, source: str) -> Finding:
        if self.known.sanitized:
            return Skipped(Reason.TOOL_MISSING, f"the project as it stands cannot be watched: {self.known.sanitized}")
        return self._watched(source) or Passed("addresses and undefined behaviour watched in the command's run")

    def _watched(self, source: str) -> Fault | None:
        """Runs the command on a build with sanitizers; returns what they report."""
        with self._built(source, compilers_with(SANITIZED)) as built:
            if isinstance(built, Fault):
                return built
            ran = self._run(built, LEAKS, reserves=True)
        if ran.well:
            return None
        return Fault(Reason.MEMORY_ERROR, f"watched by sanitizers: {_report(ran)}")

    def _timed(self, candidate: Candidate, verdict: Verdict, name: str) -> Verdict:
        rung, found = climb_rung(name, lambda: self._pairs(candidate), self._options.until)
        return extended(verdict, rung, found.measurement if isinstance(found, Timed) else None)

    def _pairs(self, candidate: Candidate) -> Timed:
        with self._built(candidate.source) as built:
            return Timed(sound(end_to_end(self._ground, self._asked, self._standing, sound(built))))


def _first_difference(ours: LineResult, theirs: LineResult) -> str:
    for number, (one, other) in enumerate(zip(ours.stdout.splitlines(), theirs.stdout.splitlines(), strict=False), 1):
        if one != other:
            return f"line {number}: {other[:200]!r} instead of {one[:200]!r}"
    return f"{len(theirs.stdout)} characters instead of {len(ours.stdout)}"


def _report(ran: LineResult) -> str:
    lines = [line.strip() for line in ran.stderr.splitlines()]
    said = [line for line in lines if "runtime error:" in line or line.startswith(("SUMMARY:", "ERROR:", "=="))]
    return said[0][:300] if said else ran.why
