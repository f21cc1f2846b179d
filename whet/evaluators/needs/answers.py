"""Answers to inputs that nobody promised: each may take little CPU time, however busy the machine is."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import closing

from whet.core.verdict import Reason
from whet.evaluators.finding import Fault
from whet.evaluators.inputs.plain_data import read, write
from whet.evaluators.inputs.source import Input
from whet.evaluators.oracle import Oracle
from whet.evaluators.pairs import Side
from whet.evaluators.processes import CallResult
from whet.sandbox.inside.codec import CodecError
from whet.sandbox.protocol import CpuLimit

BASELINE_SECONDS = 0.2
"""CPU seconds that the baseline may take for one. What lets it run longer is no input that it takes."""
CANDIDATE_SECONDS = 2.0
"""The same for the candidate."""
WAIT = 0.5
"""Seconds by the clock after which an input is met again, with CPU time counted: counting it takes some ms a call."""


def answers_of(side: Side, payloads: Sequence[bytes], seconds: float, way: str = "call") -> Generator[CallResult]:
    """Yields an answer for each input.

    Args:
        side: who is asked.
        payloads: the inputs.
        seconds: of CPU time that each may take.
        way: see `whet.evaluators.processes.TargetProcess.calls`.
    """
    with closing(side.calls(payloads, WAIT, way)) as answers:
        for payload, answer in zip(payloads, answers, strict=True):
            if isinstance(answer, Fault) and answer.reason is Reason.TIMEOUT:
                with closing(side.another()) as other, closing(other.calls([payload], CpuLimit(seconds), way)) as late:
                    yield next(late)
            else:
                yield answer


def same_result(oracle: Oracle, item: Input, before: bytes, now: bytes) -> bool:
    """Whether two outcomes agree, whatever the arguments are after the call."""
    try:
        found = oracle.compare(item, _without_arguments(before), _without_arguments(now))
    except CodecError:  # arrays that share memory
        return False
    return found is None


def _without_arguments(outcome: bytes) -> bytes:
    """Returns an outcome without what the arguments are after the call."""
    kind, _, instance, value, stdout = read(outcome)
    return write((kind, None, instance, value, stdout))
