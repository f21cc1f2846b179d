"""What the ladder found for one candidate."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from whet.core.measurement import Measurement
from whet.core.rungs import TIMED, place


class RungStatus(StrEnum):
    """How one rung ended."""

    PASSED = "passed"
    FAILED = "failed"
    SKIPPED = "skipped"
    INCONCLUSIVE = "inconclusive"


class Reason(StrEnum):
    """Why a rung failed, or why it was skipped. One vocabulary for reports, prompts and tests."""

    SYNTAX_ERROR = "syntax_error"
    BUILD_ERROR = "build_error"
    CRASH = "crash"
    TIMEOUT = "timeout"
    OUT_OF_MEMORY = "out_of_memory"
    WRONG_OUTPUT = "wrong_output"
    WRONG_EXCEPTION = "wrong_exception"
    MUTATED_INPUT = "mutated_input"
    NONDETERMINISTIC = "nondeterministic"
    TEST_FAILURE = "test_failure"
    MEMORY_ERROR = "memory_error"
    ABI_VIOLATION = "abi_violation"
    COUNTEREXAMPLE = "counterexample"
    FORBIDDEN_CONSTRUCT = "forbidden_construct"
    NOT_FASTER = "not_faster"
    SLOWER = "slower"
    OVER_LIMIT = "over_limit"
    CHEATING = "cheating"
    SANDBOX_VIOLATION = "sandbox_violation"
    OUTPUT_FLOOD = "output_flood"
    PINNED = "pinned"

    NO_DEVICE = "no_device"
    TOOL_MISSING = "tool_missing"
    UNSUPPORTED_CPU = "unsupported_cpu"
    NOT_ASKED = "not_asked"


NO_GAIN = frozenset({Reason.NOT_FASTER, Reason.SLOWER, Reason.OVER_LIMIT})
"""Reasons of a candidate that is right, and no better."""


@dataclass(frozen=True, slots=True)
class Rung:
    """The outcome of one check.

    Attributes:
        name: one of `RUNGS`, or that of a plug-in.
        status: how it ended.
        reason: a code where it failed or was skipped; ``nondeterministic`` where it is inconclusive because the
            baseline failed or differed from itself.
        detail: one or a few lines for people and for the Coder: diagnostics, the failing input.
        seconds: wall time that the check took.
        evidence: plain JSON data from which the check can be repeated.
    """

    name: str
    status: RungStatus
    reason: Reason | None = None
    detail: str = ""
    seconds: float = 0.0
    evidence: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Verdict:
    """All rungs that a candidate climbed, the last one being the one it fell from, if any."""

    candidate: str
    rungs: tuple[Rung, ...]
    measurement: Measurement | None = None

    @property
    def failed(self) -> Rung | None:
        """The rung that the candidate fell from, if any."""
        return next((rung for rung in self.rungs if rung.status is RungStatus.FAILED), None)

    @property
    def undecided(self) -> Rung | None:
        """The rung that said neither yes nor no, since the baseline failed it or differed from itself, if any."""
        return next((rung for rung in self.rungs if rung.status is RungStatus.INCONCLUSIVE and rung.reason), None)

    @property
    def rejected(self) -> bool:
        """Whether something was found wrong with it."""
        return self.failed is not None and self.failed.reason not in NO_GAIN

    @property
    def correct(self) -> bool:
        """Whether it was checked and nothing was found wrong with it. A right candidate may still be slow."""
        return not self.rejected and (self.undecided is None or self.undecided.name in TIMED)

    @property
    def improved(self) -> bool:
        """Whether it was shown to be faster, and enough inputs were compared of which none showed anything wrong."""
        faster = self.measurement is not None and self.measurement.faster
        return self.failed is None and faster and not self.too_few_inputs

    @property
    def too_few_inputs(self) -> bool:
        """Whether too few inputs were compared to call it right."""
        compared = self.rung("differential")
        return compared is not None and compared.status is RungStatus.INCONCLUSIVE

    @property
    def confirmed(self) -> bool:
        """Whether it was shown to be faster twice, the second time on unseen inputs."""
        confirm = self.rung("confirm")
        return self.improved and confirm is not None and confirm.status is RungStatus.PASSED

    def thinned(self) -> Verdict:
        """Returns it without raw evidence: hashes of inputs, samples, names of tests.

        Figures, seeds, hints and conditions stay.
        """
        measurement = replace(self.measurement, raw={}) if self.measurement is not None else None
        return replace(self, rungs=tuple(map(_thinned, self.rungs)), measurement=measurement)

    def until(self, name: str) -> Verdict:
        """Returns what was known before a rung, which gives the measurement or comes before that."""
        return Verdict(self.candidate, tuple(rung for rung in self.rungs if place(rung.name) < place(name)))

    def rung(self, name: str) -> Rung | None:
        """Returns the named rung, or None where it was not reached."""
        return next((rung for rung in self.rungs if rung.name == name), None)


def _thinned(rung: Rung) -> Rung:
    kept = {
        name: value
        for name, value in rung.evidence.items()
        if name in ("hints", "protocol", "conditions") or not isinstance(value, Mapping | list | tuple)
    }
    return replace(rung, evidence=kept)
