"""Judges answers for another instruction set: their reference runs here, they run in an emulator.

Nothing that an emulator runs is timed; how many instructions a call takes is counted, and says little of time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from whet.core.candidate import Candidate
from whet.core.profile import Profile
from whet.core.task import Task
from whet.core.verdict import Reason, Rung, RungStatus
from whet.evaluators.assembly.lint import NO_TRANSLATION, lint
from whet.evaluators.assembly.routines import Routines
from whet.evaluators.finding import Fault, Finding, Passed
from whet.evaluators.rungs import OF_A_TRANSLATION, Check
from whet.sandbox.toolchains import native

Checks = Callable[[Candidate, int], Mapping[str, Check]]
"""From a candidate and the seed of its batch to the rungs before measuring."""


class Emulated:
    """Judges the answers to a task whose time is not measured. See `whet.evaluators.apart.Apart`."""

    def __init__(self, task: Task, checks: Checks) -> None:
        self._checks = checks
        self._reason, self._why = Reason.UNSUPPORTED_CPU, f"{task.isa} is emulated here"
        if not task.emulated:
            self._reason, self._why = Reason.NOT_ASKED, OF_A_TRANSLATION

    def judges(self, candidate: Candidate) -> bool:
        """See `Apart.judges`: all of them."""
        return True

    def checks(self, candidate: Candidate, seed: int) -> Mapping[str, Check]:
        """See `Apart.checks`."""
        return self._checks(candidate, seed)

    def untimed(self, name: str) -> Rung:
        """See `Apart.untimed`."""
        why = f"{self._why}, and an emulator's time is no score"
        return Rung(name, RungStatus.SKIPPED, self._reason, self._why if self._reason is Reason.NOT_ASKED else why)

    def profile(self, candidate: Candidate) -> Profile:
        """See `Apart.profile`."""
        return Profile((), "none", f"{self._why}, so nothing was timed")

    def close(self) -> None:
        """See `Apart.close`."""


class RoutineChecks:
    """The rungs of a routine; see `Checks`."""

    def __init__(self, task: Task, routines: Routines) -> None:
        self._task = task
        self._routines = routines

    def __call__(self, candidate: Candidate, seed: int) -> Mapping[str, Check]:
        """Returns the rungs."""
        return {
            "screen": lambda: self._screen(candidate),
            "build": lambda: self._build(candidate),
            "differential": lambda: self._routines.check(candidate.source, seed),
            "prove": lambda: self._routines.prove(candidate.source),
        }

    def _screen(self, candidate: Candidate) -> Finding:
        if native.language_of(self._task, candidate.source) != "asm":
            if self._task.translated:
                return Fault(Reason.FORBIDDEN_CONSTRUCT, NO_TRANSLATION)
            return Passed("nothing to parse before the compiler does")
        fault = lint(candidate.source, self._task.symbol or "", self._task.isa)
        return fault or Passed("holds one function, and nothing that reaches elsewhere")

    def _build(self, candidate: Candidate) -> Finding:
        if missing := self._routines.lacking():
            return missing
        self._routines.assembled(candidate.source)
        return Passed("compiles")
