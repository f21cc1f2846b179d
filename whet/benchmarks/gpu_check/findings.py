"""What came of each step of each answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from whet.benchmarks.gpu_check.rows import Row

NOT_RUN = "NOT RUN"
ENVIRONMENT, BUILD, INTERPRETER = "environment", "build", "interpreter"
CORRECTNESS, TIMING, PROFILE = "correctness", "timing", "profile"
DEVICE_FREE = (BUILD, INTERPRETER)
ON_DEVICE = (CORRECTNESS, TIMING, PROFILE)


@dataclass(frozen=True, slots=True)
class StepResult:
    """What came of one step.

    Attributes:
        word: ``passed``, a reason and the like; `NOT_RUN` where it could not run.
        detail: in a few lines.
        expected: words that may come; empty where any may.
    """

    word: str
    detail: str = ""
    expected: tuple[str, ...] = ()

    @property
    def ran(self) -> bool:
        """Whether the step could run."""
        return self.word != NOT_RUN

    @property
    def fits(self) -> bool:
        """Whether it came out as it must."""
        return self.ran and (not self.expected or self.word in self.expected)


@dataclass(frozen=True, slots=True)
class Figures:
    """What was measured of an answer.

    Attributes:
        eager: speedup over eager PyTorch with its interval, as people read it; empty where there is none.
        compiled: over the fastest code of torch.compile.
        call: share of the roofline that a whole call reaches, 0 to 1; None where it is not known.
        kernels: share that its kernels alone reach.
    """

    eager: str = ""
    compiled: str = ""
    call: float | None = None
    kernels: float | None = None


@dataclass(frozen=True, slots=True)
class AnswerResult:
    """One answer with what came of it.

    Attributes:
        row: the answer.
        steps: step -> its result; a step that makes no sense for it is not there.
        verdict: of the whole ladder on a GPU; None where there was none.
        figures: what was measured.
    """

    row: Row
    steps: Mapping[str, StepResult]
    verdict: StepResult | None = None
    figures: Figures = field(default_factory=Figures)


def unrun(row: Row, steps: tuple[str, ...], why: str) -> AnswerResult:
    """Returns an answer none of whose steps could run."""
    wanted = (step for step in steps if step != INTERPRETER or row.interpreted)
    return AnswerResult(row, {step: StepResult(NOT_RUN, why) for step in wanted})
