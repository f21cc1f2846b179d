"""``whet bench self floats``: whether honest rewrites pass the rule on floats, and less accurate ones do not."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from whet.benchmarks.self.rewrites import HONEST, WRONG, FloatRewrite
from whet.core.task import ERROR_RATIO, Kind, Task
from whet.evaluators.artifacts import Artifact, Builder
from whet.evaluators.compare import difference
from whet.evaluators.finding import Fault
from whet.evaluators.floats.judge import FloatJudge
from whet.evaluators.floats.reference import PythonReference
from whet.evaluators.inputs.source import derive
from whet.evaluators.preloads import preloads
from whet.evaluators.processes import TargetProcess
from whet.sandbox.backends import open_sandbox
from whet.sandbox.inside.codec import encode
from whet.sandbox.interpreter import find_interpreter
from whet.sandbox.protocol import Sandbox

HONEST_INPUTS = 1000
"""Inputs of each honest rewrite. That none of 1000 is rejected bounds the rate of false rejections at 0.3 % (one-sided,
95 %); more inputs bound it more tightly and take longer."""
WRONG_INPUTS = 20
"""Inputs of each wrong rewrite, of which one has to be rejected. More raise the chance that a small error is seen."""
SEED = 20260101
CALL_SECONDS = 20.0
"""Seconds that one call may take; one that takes longer fails the report. A smaller limit could do so on a busy
machine, a larger one only delays it."""
COLUMNS = ("inputs", "bits differed", "judged in full", "rejected", "rejected in a run", "worst ratio", "share")


@dataclass(frozen=True, slots=True)
class RewriteResult:
    """What the rule makes of one rewrite.

    Attributes:
        inputs: how many both were called with.
        differed: of these, outcomes with other bits.
        full: of these, those more than the floor apart and finite alike, for which the truth was asked.
        rejected: by a judge that knows of no earlier input, so that none passes at a glance.
        rejected_in_a_run: by one judge for all inputs, as the differential rung has it.
        ratio: the largest error as a multiple of the baseline's.
        share: the largest error as a share of what was allowed.
        said: of the first rejected input; empty where there was none.
    """

    inputs: int
    differed: int
    full: int
    rejected: int
    rejected_in_a_run: int
    ratio: float
    share: float
    said: str = ""


def report(honest: int = HONEST_INPUTS, wrong: int = WRONG_INPUTS) -> Iterator[str]:
    """Yields the lines of the report while it judges; the last says whether the goals are met.

    Args:
        honest: inputs of each honest rewrite.
        wrong: inputs of each wrong one.
    """
    with closing(open_sandbox("auto", False)) as sandbox:
        passed: dict[str, RewriteResult] = {}
        fell: dict[str, RewriteResult] = {}
        yield from _table("honest rewrite", sandbox, HONEST, honest, passed)
        yield ""
        yield from _table("wrong rewrite", sandbox, WRONG, wrong, fell)
    yield ""
    yield from summary(passed, fell)


def summary(honest: Mapping[str, RewriteResult], wrong: Mapping[str, RewriteResult]) -> Iterator[str]:
    """Yields the false rejections, the wrong rewrites accepted, and whether that is as it should be."""
    falsely = {name: max(one.rejected, one.rejected_in_a_run) for name, one in honest.items()}
    accepted = [name for name, one in wrong.items() if not (one.rejected and one.rejected_in_a_run)]
    yield f"false rejections: {sum(falsely.values())} of {sum(one.inputs for one in honest.values())} inputs"
    yield f"wrong rewrites accepted: {len(accepted)} of {len(wrong)}"
    missed = [f"{name} was rejected" for name, count in falsely.items() if count]
    missed += [f"{name} was accepted" for name in accepted]
    yield (
        f"goals MISSED: {'; '.join(missed)}"
        if missed
        else "goals met: no false rejection, every wrong rewrite rejected"
    )


def judge(sandbox: Sandbox, pair: FloatRewrite, inputs: int) -> RewriteResult:
    """Judges the outcomes of a baseline and its rewrite as the differential rung does."""
    task = Task("rewrite", "python", Kind.FUNCTION, Path("/rewrite/f.py"), pair.baseline, "f", Path("/rewrite"))
    builder = Builder(task, sandbox, find_interpreter(), preloads(task))
    with ExitStack() as stack:
        sides = [stack.enter_context(closing(_started(builder, text))) for text in (pair.baseline, pair.rewrite)]
        reference = stack.enter_context(closing(PythonReference(builder)))
        in_a_run = FloatJudge(ERROR_RATIO, reference)
        rejected = rejected_in_a_run = full = 0
        ratio = share = 0.0
        said = ""
        for number in range(inputs):
            payload = encode(pair.draw(random.Random(derive(SEED, number))))
            expected, actual = (_outcome(process, payload) for process in sides)
            alone = FloatJudge(ERROR_RATIO, reference)
            if fault := difference(expected, actual, task.oracle, partial(alone.where, payload)):
                rejected += 1
                said = said or fault.detail
            if difference(expected, actual, task.oracle, partial(in_a_run.where, payload)):
                rejected_in_a_run += 1
            if seen := alone.evidence():
                full += sum(seen["references"].values())
                ratio = max(ratio, seen["worst_ratio"])
                share = max(share, seen["worst_share_of_allowed"])
        differed = in_a_run.evidence().get("inputs_with_other_bits", 0)
    return RewriteResult(inputs, differed, full, rejected, rejected_in_a_run, ratio, share, said)


def _table(
    kind: str, sandbox: Sandbox, pairs: Mapping[str, FloatRewrite], inputs: int, found: dict[str, RewriteResult]
) -> Iterator[str]:
    yield f"| {kind} | {' | '.join(COLUMNS)} |"
    yield f"{'|---' * (1 + len(COLUMNS))}|"
    for name, pair in pairs.items():
        if pair.lacking:
            yield f"| {name} | not here: {pair.lacking} {'|' * len(COLUMNS)}"
        else:
            found[name] = judge(sandbox, pair, inputs)
            yield row(name, found[name])


def row(name: str, found: RewriteResult) -> str:
    """Returns what was found as a row of the table; no ratio or share where nothing was judged in full."""
    counts = (found.inputs, found.differed, found.full, found.rejected, found.rejected_in_a_run)
    largest = f"{found.ratio:.2g} | {found.share:.2g} |" if found.full else "| |"
    return f"| {' | '.join([name, *map(str, counts)])} | {largest}"


def _started(builder: Builder, source: str) -> TargetProcess:
    artifact = builder.build(source)
    assert isinstance(artifact, Artifact), artifact
    process = artifact.start(worker=0)
    assert not isinstance(process, Fault), process
    return process


def _outcome(process: TargetProcess, payload: bytes) -> bytes:
    answer = process.call(payload, CALL_SECONDS)
    assert not isinstance(answer, Fault), answer
    return answer[0]
