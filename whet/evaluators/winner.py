"""What is said of a confirmed candidate beside its verdict: what is counted of it, and what kind of win it is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from whet.core.candidate import Candidate
from whet.core.plain import to_plain
from whet.core.profile import Profile
from whet.core.task import Task
from whet.core.verdict import Verdict
from whet.evaluators.artifacts import Builder
from whet.evaluators.counting import counters
from whet.evaluators.inputs.source import Input
from whet.evaluators.labels.registry import evidence, labels, settled
from whet.evaluators.rungs import with_evidence


def with_counters(builder: Builder, candidate: Candidate, verdict: Verdict, inputs: Sequence[Input]) -> Verdict:
    """Adds to the evidence of the last rung what is counted of both sides on the same inputs."""
    texts = {"baseline": builder.task.source, "candidate": candidate.source}
    # Nothing here is compared by the clock, and what simulates a processor is slow: both sides run at once.
    with ThreadPoolExecutor(len(texts)) as pool:
        found = dict(zip(texts, pool.map(lambda text: counters(builder, text, inputs), texts.values()), strict=True))
    return with_evidence(verdict, counters=to_plain(found))


def with_labels(task: Task, candidate: Candidate, verdict: Verdict, profile: Callable[[], Profile]) -> Verdict:
    """Adds what kind of win it is, from the change and from the figures, to the evidence of the last rung.

    Args:
        task: whose candidate it is.
        candidate: that was confirmed.
        verdict: with its measurement.
        profile: looks at the candidate, where a label wants that.
    """
    assert verdict.measurement is not None
    found = settled(labels(task.written, candidate.source, task.source), verdict)
    measurement = replace(verdict.measurement, labels=tuple(one.label.value for one in found))
    return replace(with_evidence(verdict, labels=evidence(found, profile)), measurement=measurement)
