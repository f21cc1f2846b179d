"""The usual protocol, for comparison: a few random inputs of one size, and one flat tolerance for every float.

It is what most published suites do (KernelBench: 5 random inputs of one shape, ``allclose`` with 1e-2).
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace

from whet.core.candidate import Candidate
from whet.core.errors import BaselineError
from whet.core.task import Kind, OracleRule, Tolerance
from whet.evaluators.artifacts import Artifact
from whet.evaluators.compare import plain_difference, stdout_difference
from whet.evaluators.finding import RungEndedError, sound
from whet.evaluators.inputs.source import Input, derive
from whet.evaluators.ladder import Ladder
from whet.evaluators.outcomes import decode_call, decode_run

DRAWS = 5
"""Inputs of the largest size, or cases: as many as KernelBench draws. More would make a stricter protocol than the
usual one."""
TOLERANCE = Tolerance(rtol=1e-2, atol=1e-2)
"""KernelBench's, for every float. A smaller one would make a stricter protocol than the usual one."""
HASH_SEED = 1


class UsualProtocol:
    """Judges candidates of one task by the usual protocol. Safe for several threads."""

    def __init__(self, ladder: Ladder, seed: int) -> None:
        self._ladder = ladder
        self._inputs = _inputs(ladder, seed)
        try:
            self._expected = self._answers(ladder.baseline.artifact)
        except RungEndedError as ended:
            said = f"{ladder.task.target} failed on a timed size: {ended.finding.detail}"
            raise BaselineError(said, "crash") from None

    def rejects(self, candidate: Candidate) -> bool:
        """Whether it finds anything wrong with a candidate that builds."""
        try:
            answers = self._answers(self._ladder.builder.built(candidate.source))
        except RungEndedError:
            return True
        return any(self._differ(ours, theirs) for ours, theirs in zip(self._expected, answers, strict=True))

    def _answers(self, artifact: Artifact) -> list[bytes]:
        with closing(sound(artifact.start(hash_seed=HASH_SEED, worker=0))) as process:
            limit = self._ladder.baseline.limit
            return [sound(process.call(item.payload, limit))[0] for item in self._inputs]

    def _differ(self, expected: bytes, actual: bytes) -> bool:
        """Compares results alone: arguments after the call, printed text and the like are not looked at."""
        if self._ladder.task.kind is Kind.PROGRAM:
            ours, theirs = decode_run(expected), decode_run(actual)
            return ours.code != theirs.code or stdout_difference(ours.stdout, theirs.stdout, OracleRule()) is not None
        mine, other = (replace(decode_call(one), after=(), instance=None, stdout="") for one in (expected, actual))
        return plain_difference(mine, other, OracleRule(tolerance=TOLERANCE)) is not None


def _inputs(ladder: Ladder, seed: int) -> Sequence[Input]:
    source = ladder.source
    if source.sizes:
        return source.draw(source.sizes[-1], [derive(seed, i) for i in range(DRAWS)])
    return source.cases[-DRAWS:] or source.recorded[-DRAWS:] or source.typed(seed, DRAWS)
