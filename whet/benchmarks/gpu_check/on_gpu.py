"""The steps on a GPU: the whole ladder, and a profile of what is right."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Protocol

from whet.agents.bottlenecks import roofline_of
from whet.agents.hardware import GpuCard
from whet.agents.kernels import card_of, speeds
from whet.benchmarks.gpu_check.findings import (
    CORRECTNESS,
    NOT_RUN,
    ON_DEVICE,
    PROFILE,
    TIMING,
    AnswerResult,
    Figures,
    StepResult,
    unrun,
)
from whet.benchmarks.gpu_check.profiling import Profiled, profiled
from whet.benchmarks.gpu_check.rows import GOOD, Row
from whet.core.candidate import Candidate
from whet.core.circumstances import Circumstances
from whet.core.errors import BaselineError, UsageError
from whet.core.events import null_listener
from whet.core.measurement import Speedup
from whet.core.options import Options
from whet.core.verdict import Reason, Rung, Verdict
from whet.evaluators.judged import climb
from whet.evaluators.ladder import Ladder, open_ladder
from whet.evaluators.targets import read_task

COMPILED = "torch.compile"
"""How the names of compiled baselines begin."""
RIGHT = "right"
WRONG = (Reason.WRONG_OUTPUT.value, Reason.NONDETERMINISTIC.value)
"""What is found without a clock."""


def check(rows: Sequence[Row], options: Options) -> Iterator[AnswerResult]:
    """Yields what comes of the answers to one kernel.

    Args:
        rows: its answers.
        options: sandbox and device.
    """
    return _judged(rows, options, ON_DEVICE, _Judge.found)


def compare(rows: Sequence[Row], options: Options) -> Iterator[AnswerResult]:
    """Yields whether the answers to one kernel are right, without timing any; see `check`."""
    return _judged(rows, replace(options, until="hazard"), (CORRECTNESS,), _Judge.compared)


def _judged(
    rows: Sequence[Row], options: Options, steps: tuple[str, ...], judge: Callable[[_Judge, Row], AnswerResult]
) -> Iterator[AnswerResult]:
    try:
        ladder = open_ladder(read_task(str(rows[0].problem), options), options, secrets.randbits(63))
    except UsageError as error:
        yield from (unrun(row, steps, str(error)) for row in rows)
        return
    with closing(ladder):
        try:
            ladder.validate()
        except BaselineError as error:
            yield from (unrun(row, steps, f"the baseline cannot be used: {error}") for row in rows)
            return
        of_kernel = _Judge(ladder, ladder.circumstances(), options.arch)
        for row in rows:
            yield judge(of_kernel, row)


@dataclass(frozen=True, slots=True)
class _Judge:
    """Judges the answers to one kernel.

    Attributes:
        ladder: of the kernel, validated.
        place: what its calls cost.
        arch: of the GPU.
    """

    ladder: Ladder
    place: Circumstances
    arch: str | None

    def compared(self, row: Row) -> AnswerResult:
        """Takes one answer up the ladder as far as nothing is timed."""
        failed = self.ladder.check(Candidate(row.source)).failed
        words = words_of_correctness(row.expected)
        came = StepResult(RIGHT, expected=words) if failed is None else StepResult(_word(failed), failed.detail, words)
        return AnswerResult(row, {CORRECTNESS: came})

    def found(self, row: Row) -> AnswerResult:
        """Takes one answer up the ladder, and profiles it where it is known to be good."""
        verdict = climb(self.ladder, Candidate(row.source), null_listener)
        steps = judged(verdict)
        kernels = None
        if row.kind == GOOD and verdict.correct:
            # A plain process: only what is known to be good runs in one.
            kernels = profiled(self.ladder, row.source)
            steps[PROFILE] = StepResult(kernels.source or NOT_RUN, kernels.note)
        speedup = verdict.measurement.speedup if verdict.measurement is not None else None
        return AnswerResult(row, steps, word_of(verdict, row.expected), figures(self.place, speedup, kernels))


def words_of_correctness(expected: tuple[str, ...]) -> tuple[str, ...]:
    """Returns what may come of an answer before it is timed: a cheat on a clock is right until then."""
    wrong = tuple(word for word in expected if word in WRONG)
    return wrong if len(wrong) == len(expected) else (RIGHT, *wrong)


def judged(verdict: Verdict) -> dict[str, StepResult]:
    """Returns what the rungs come to: whether an answer is right, and whether it was timed."""
    failed = verdict.failed
    if failed is not None and failed.name not in ("measure", "confirm"):
        return {CORRECTNESS: StepResult(_word(failed), failed.detail)}
    steps = {CORRECTNESS: StepResult(RIGHT)}
    if verdict.measurement is not None:
        return {**steps, TIMING: StepResult(verdict.measurement.outcome.value)}
    if failed is not None:
        return {**steps, TIMING: StepResult(_word(failed), failed.detail)}
    untimed = verdict.rung("measure")
    return {**steps, TIMING: StepResult(NOT_RUN, untimed.detail if untimed is not None else "it was not reached")}


def _word(failed: Rung) -> str:
    return failed.reason.value if failed.reason is not None else failed.status.value


def word_of(verdict: Verdict, expected: tuple[str, ...]) -> StepResult:
    """Returns what a verdict comes to in a word."""
    failed = verdict.failed
    if failed is not None:
        return StepResult(_word(failed), failed.detail, expected)
    if verdict.improved:
        return StepResult("improved", expected=expected)
    return StepResult(NOT_RUN, "it was not timed", expected)


def figures(place: Circumstances, speedup: Speedup | None, kernels: Profiled | None) -> Figures:
    """Returns the speedups with their intervals, and how near to its roofline an answer is."""
    eager, compiled = against(speedup)
    call = None
    if speedup is not None and eager is not None:
        # What the problem itself takes was measured in eager mode, whatever the headline is against.
        rows = speeds(place, replace(speedup, ratio=eager.ratio, workloads=()))
        call = max((row.roofline.share for row in rows if row.roofline is not None), default=None)
    alone = _alone(place, card_of(place), kernels) if kernels is not None and kernels.seconds else None
    return Figures(_shown(eager), _shown(compiled), call, alone)


class Ratio(Protocol):
    """A speedup with its interval."""

    @property
    def ratio(self) -> float:
        """Baseline / candidate."""

    @property
    def low(self) -> float:
        """Lower end of the interval."""

    @property
    def high(self) -> float:
        """Upper end of the interval."""


def against(speedup: Speedup | None) -> tuple[Ratio | None, Ratio | None]:
    """Returns the speedups over eager and over compiled PyTorch, each over the fastest of its kind."""
    if speedup is None:
        return None, None
    several = speedup.baselines
    eager: list[Ratio] = [one for one in several if not one.name.startswith(COMPILED)]
    compiled = [one for one in several if one.name.startswith(COMPILED)]
    return _least(eager or [speedup]), _least(compiled)


def _least(found: Sequence[Ratio]) -> Ratio | None:
    return min(found, key=lambda one: one.ratio, default=None)


def _shown(found: Ratio | None) -> str:
    return f"{found.ratio:.2f}x ({found.low:.2f} to {found.high:.2f})" if found is not None else ""


def _alone(place: Circumstances, card: GpuCard | None, kernels: Profiled) -> float | None:
    cost = place.timed[-1].cost if place.timed else None
    found = roofline_of(cost, kernels.seconds, card) if cost is not None else None
    return found.share if found is not None else None
