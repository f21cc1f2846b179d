"""Judges kernels in PTX as far as that goes without a device: their text, ptxas, and their machine code.

What only a device can show, right results among it, reads skipped, with the reason ``no_device``.
"""

from __future__ import annotations

from collections.abc import Mapping

from whet.core.candidate import Candidate, content_id
from whet.core.errors import BaselineError
from whet.core.options import Options
from whet.core.profile import Profile
from whet.core.verdict import Reason, Rung, RungStatus
from whet.evaluators.artifacts import Builder
from whet.evaluators.finding import Fault, Finding, Passed, Skipped, sound
from whet.evaluators.kernels.device import chosen_arch
from whet.evaluators.kernels.deviceless import NOT_HERE
from whet.evaluators.profilers.static_facts import lines
from whet.evaluators.ptx.assembling import assemble_ptx
from whet.evaluators.ptx.examine import PtxReport, build_finding, examine
from whet.evaluators.ptx.text import screen
from whet.evaluators.rungs import Check

RUNS_NOWHERE = f"{NOT_HERE}, and PTX runs nowhere else"


class PtxKernels:
    """Judges the answers to one task in PTX. See `whet.evaluators.apart.Apart`."""

    def __init__(self, builder: Builder, options: Options) -> None:
        self._task = builder.task
        self._sandbox = builder.sandbox
        self._interpreter = builder.interpreter
        self._arch = chosen_arch(options)
        self._reports: dict[str, PtxReport | Fault | Skipped] = {}

    def expect_assembled(self) -> None:
        """Returns where the target as it stands can be assembled, or nothing here can tell.

        Raises:
            BaselineError: ptxas refuses it.
        """
        found = assemble_ptx(self._sandbox, self._interpreter, self._task.source, self._arch)
        if isinstance(found, Fault):
            told = found.detail.splitlines()[0]
            raise BaselineError(f"{self._task.path} does not assemble for {self._arch}: {told}", found.reason.value)

    def judges(self, candidate: Candidate) -> bool:
        """See `Apart.judges`: all of them."""
        return True

    def checks(self, candidate: Candidate, seed: int) -> Mapping[str, Check]:
        """See `Apart.checks`; nothing is run, so nothing is drawn."""
        return {
            "screen": lambda: self.screen(candidate.source),
            "build": lambda: self.build(candidate),
            "differential": lambda: Skipped(Reason.NO_DEVICE, RUNS_NOWHERE),
            "hazard": lambda: Skipped(Reason.NO_DEVICE, NOT_HERE),
        }

    def untimed(self, name: str) -> Rung:
        """See `Apart.untimed`."""
        return Rung(name, RungStatus.SKIPPED, Reason.NO_DEVICE, f"{NOT_HERE}: it cannot be timed")

    def profile(self, candidate: Candidate) -> Profile:
        """See `Apart.profile`."""
        found = self._examined(candidate.source)
        if not isinstance(found, PtxReport):
            return Profile((), "static facts", found.detail)
        original = candidate.source == self._task.source
        told = "\n".join(lines(found.kernels)) if original else build_finding(found).detail
        return Profile((), "static facts", f"nothing was timed for this; ptxas tells:\n{told}")

    def close(self) -> None:
        """See `Apart.close`."""

    def screen(self, source: str) -> Passed:
        """Returns where a candidate's text holds what it must, and nothing that it may not.

        Raises:
            RungEndedError: it does not.
        """
        sound(screen(source, self._task.source))
        return Passed("has the kernels of the original, and nothing that reaches beyond a launch")

    def build(self, candidate: Candidate) -> Finding:
        """Returns what ptxas makes of a candidate, beside what it makes of the original."""
        found = self._examined(candidate.source)
        return build_finding(found) if isinstance(found, PtxReport) else found

    def _examined(self, source: str) -> PtxReport | Fault | Skipped:
        identity = content_id(source)
        if identity not in self._reports:
            self._reports[identity] = examine(self._sandbox, self._interpreter, source, self._task.source, self._arch)
        return self._reports[identity]
