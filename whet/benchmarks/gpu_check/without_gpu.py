"""The steps that need no GPU: compiled for a named one, and Triton run by its interpreter."""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Sequence
from contextlib import closing

from whet.benchmarks.gpu_check.findings import BUILD, DEVICE_FREE, INTERPRETER, NOT_RUN, AnswerResult, StepResult, unrun
from whet.benchmarks.gpu_check.rows import PASSED, Row
from whet.core.candidate import Candidate
from whet.core.errors import UsageError
from whet.core.options import Options
from whet.core.verdict import Rung, RungStatus, Verdict
from whet.evaluators.ladder import open_ladder
from whet.evaluators.targets import read_task


def check(rows: Sequence[Row], options: Options) -> Iterator[AnswerResult]:
    """Yields what comes of the answers to one kernel.

    Args:
        rows: its answers.
        options: sandbox and architecture; the device is the CPU, whatever is here.
    """
    try:
        ladder = open_ladder(read_task(str(rows[0].problem), options), options, secrets.randbits(63))
    except UsageError as error:
        yield from (unrun(row, DEVICE_FREE, str(error)) for row in rows)
        return
    with closing(ladder):
        for row in rows:
            yield AnswerResult(row, outcomes(row, ladder.check(Candidate(row.source))))


def outcomes(row: Row, verdict: Verdict) -> dict[str, StepResult]:
    """Returns what the rungs of a machine without a GPU come to."""
    found = {BUILD: outcome(verdict.rung("build") or verdict.failed, (PASSED,))}
    if row.interpreted:
        found[INTERPRETER] = outcome(verdict.rung("differential"), row.interpreted)
    return found


def outcome(rung: Rung | None, expected: tuple[str, ...]) -> StepResult:
    """Returns what a rung comes to; one that was skipped could not run, unless that was expected."""
    if rung is None:
        return StepResult(NOT_RUN, "it was not reached", expected)
    word = PASSED if rung.status is RungStatus.PASSED or rung.reason is None else rung.reason.value
    if rung.status is RungStatus.SKIPPED and word not in expected:
        return StepResult(NOT_RUN, rung.detail, expected)
    return StepResult(word, rung.detail, expected)
