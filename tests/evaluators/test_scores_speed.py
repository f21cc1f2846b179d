"""Scoring is quick: a hundred thousand samples of each kind in less than five seconds of CPU time."""

from __future__ import annotations

import math
import random
import time
from collections.abc import Callable, Iterable

import pytest

from whet.evaluators.scores import enamel, kernelbench, pie
from whet.evaluators.scores.common import Mean, best_of_k, bootstrap, leave_one_out, proportion_interval, spread

SAMPLES = 100_000
MOST_SECONDS = 5.0


def enamel_like(rng: random.Random) -> Callable[[], Iterable[float]]:
    """Returns what scores 200 problems of 500 samples, each with three levels of four cases."""
    references = [[rng.uniform(0.01, 0.1) for _ in range(4)] for _ in range(3)]
    times = [[[rng.uniform(0.01, 0.3) for _ in range(4)] for _ in range(3)] for _ in range(SAMPLES)]

    def score() -> Iterable[float]:
        efficiencies = [enamel.efficiency(one, references) for one in times]
        problems = [efficiencies[i : i + 500] for i in range(0, SAMPLES, 500)]
        at_one = [best_of_k(problem, 1) for problem in problems]
        return *(enamel.eff_at_k(problems, k) for k in (1, 10, 100)), *bootstrap(at_one), *spread(at_one)

    return score


def pie_like(rng: random.Random) -> Callable[[], Iterable[float]]:
    """Returns what scores 1,000 slow programs of 100 rewrites."""
    sources = [rng.uniform(1, 10) for _ in range(SAMPLES // 100)]
    rows = [[rng.choice((math.inf, rng.uniform(0.5, 12))) for _ in range(100)] for _ in sources]

    def score() -> Iterable[float]:
        figures = []
        for k in (1, 8, 100):
            speedups = [pie.speedup(source, row, k) for source, row in zip(sources, rows, strict=True)]
            expected = [pie.expected_speedup(source, row, k) for source, row in zip(sources, rows, strict=True)]
            figures += [pie.percent_optimised(speedups, threshold) for threshold in pie.THRESHOLDS]
            figures += [pie.percent_correct(rows, k), *bootstrap(expected), *leave_one_out(speedups), *spread(speedups)]
        return figures

    return score


def kernelbench_like(rng: random.Random) -> Callable[[], Iterable[float]]:
    """Returns what scores 100,000 problems of one sample."""
    speedups = [rng.choice((0.0, rng.lognormvariate(0, 1))) for _ in range(SAMPLES)]

    def score() -> Iterable[float]:
        correct = [speedup for speedup in speedups if speedup]
        figures = [kernelbench.fast_p(speedups, p) for p in kernelbench.POINTS]
        figures += [kernelbench.geometric_mean_of_correct(speedups), *leave_one_out(correct, Mean.GEOMETRIC)]
        figures += [*bootstrap(correct, Mean.GEOMETRIC), *proportion_interval(len(correct), SAMPLES), *spread(correct)]
        return [*figures, *(share for _, share in kernelbench.curve(speedups))]

    return score


@pytest.mark.corpus
@pytest.mark.parametrize("kind", [enamel_like, pie_like, kernelbench_like])
def test_a_hundred_thousand_samples(kind, capsys):
    score = kind(random.Random(9))
    began = time.process_time()
    figures = list(score())
    took = time.process_time() - began
    with capsys.disabled():
        print(f"\n{kind.__name__}: {SAMPLES:,} samples scored in {took:.2f} s of CPU time")
    assert all(map(math.isfinite, figures))
    assert took < MOST_SECONDS
