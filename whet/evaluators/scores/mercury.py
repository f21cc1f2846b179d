"""Mercury's Beyond: how far along the range of people's runtimes a program lies.

Source: Du et al., "Mercury: A Code Efficiency Benchmark for Code Large Language Models" (NeurIPS 2024);
Elfsong/Mercury, src/evaluator.py. Runtimes are seconds; those of the task's own solutions are taken on the machine
that scores.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from whet.evaluators.scores.common import mean


def beyond(runtime: float, references: Sequence[float]) -> float:
    """Returns Beyond of one sample as the paper defines it, 0 to 1.

    ``b = (max R - clip(r, min R, max R)) / (max R - min R)``, and 0 for a failed sample. Where all solutions take the
    same time the paper says nothing: a right sample then has 1.

    Args:
        runtime: r, of the sample; infinite where it failed.
        references: R, of the task's own solutions.

    Raises:
        ValueError: there is no reference.
    """
    slowest, fastest = _ends(references)
    if not math.isfinite(runtime):
        return 0.0
    if slowest == fastest:
        return 1.0
    return (slowest - min(max(runtime, fastest), slowest)) / (slowest - fastest)


def beyond_as_coded(runtime: float, references: Sequence[float]) -> float:
    """Returns Beyond of one sample as the published evaluator computes it: only to explain its figures.

    It limits the *numerator* to 0 to 1 second and divides afterwards. So a program that beats all solutions has more
    than 1, and where the range is wide even the best has less: with R = [1, 2, 5] a runtime of 1 s gets 0.25.

    Raises:
        ValueError: there is no reference.
        ZeroDivisionError: all references took the same time.
    """
    slowest, fastest = _ends(references)
    return min(max(slowest - runtime, 0.0), 1.0) / (slowest - fastest)


def _ends(references: Sequence[float]) -> tuple[float, float]:
    if not references:
        raise ValueError("no solution of the task itself ran")
    return max(references), min(references)


def score(tasks: Iterable[Sequence[float]]) -> float:
    """Returns a model's Beyond: the mean over tasks of the mean over samples.

    The published evaluator counts the first sample of each task only.
    """
    return mean(mean(samples) for samples in tasks)
