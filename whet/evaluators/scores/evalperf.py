"""EvalPerf's Differential Performance Score: in which cluster of known solutions a sample lies.

Source: Liu et al., "Evaluating Language Models for Efficient Code Generation" (COLM 2024); evalplus/evalplus,
evalplus/evalperf.py; win rates: evalplus/evalplus.github.io, results/evalperf/stats.py. Costs are instruction counts.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import combinations

from whet.evaluators.scores.common import mean

MIN_CORRECT = 10
"""A task counts from so many right samples on."""
MAX_PROFILED = 20
"""So many right samples of a task are measured at most: the first ones."""

Tasks = Mapping[str, float | None]
"""A model's score of each task; None for one with too few right samples."""


def matching_cluster(count: float, references: Sequence[float]) -> int:
    """Returns the index of the fastest reference that a sample is no slower than; -1 where it is slower than all.

    Args:
        count: of the sample; infinite for an error or a timeout.
        references: counts of the reference solutions, slow to fast. Where that order is inverted on this machine the
            last one that matches counts, as in the suite's lazy mode (its strict mode gives up).
    """
    return max((index for index, reference in enumerate(references) if count <= reference), default=-1)


def dps(count: float, references: Sequence[float], scores: Sequence[float]) -> float:
    """Returns DPS of one right sample, 0 to 100: the score of its cluster, the share of solutions that it beats.

    Args:
        count: of the sample; infinite for an error or a timeout.
        references: as for `matching_cluster`.
        scores: of the references, ascending.
    """
    index = matching_cluster(count, references)
    return scores[index] if index >= 0 else 0.0


def dps_norm(count: float, references: Sequence[float]) -> float:
    """Returns DPS_norm of one right sample, 0 to 100: ``100 * rank / clusters``, each cluster weighing the same."""
    return 100.0 * (matching_cluster(count, references) + 1) / len(references)


def task_score(scores: Sequence[float], correct: int, min_correct: int = MIN_CORRECT) -> float | None:
    """Returns a task's score: the mean over its profiled samples; None where too few samples are right.

    Wrong samples do not count against DPS, so that tasks a model mostly fails vanish from its mean. Rank models on
    `common` tasks, or beside pass@1.

    Args:
        scores: of the profiled samples.
        correct: right samples of the task, profiled or not.
        min_correct: the least for the task to count.
    """
    return mean(scores) if correct >= min_correct else None


def model_score(tasks: Tasks) -> float:
    """Returns a model's DPS (or DPS_norm): the mean over the tasks that have one; NaN where none has."""
    return mean(score for score in tasks.values() if score is not None)


def common(ours: Tasks, theirs: Tasks) -> list[tuple[float, float]]:
    """Returns both models' scores of the tasks that both have one for."""
    pairs = ((score, theirs.get(task)) for task, score in ours.items())
    return [(one, other) for one, other in pairs if one is not None and other is not None]


def task_win_rates(models: Mapping[str, Tasks]) -> dict[str, float]:
    """Returns each model's share of won comparisons with every other model on every common task, ties one half.

    NaN for a model that shares no task with another.
    """
    wins = dict.fromkeys(models, 0.0)
    rounds = dict.fromkeys(models, 0)
    for one, other in combinations(models, 2):
        pairs = common(models[one], models[other])
        won = math.fsum(_won(ours, theirs) for ours, theirs in pairs)
        wins[one] += won
        wins[other] += len(pairs) - won
        rounds[one] += len(pairs)
        rounds[other] += len(pairs)
    return {name: wins[name] / rounds[name] if rounds[name] else math.nan for name in models}


def model_win_rates(models: Mapping[str, Tasks]) -> dict[str, float]:
    """Returns each model's share of other models that it beats by the mean over their common tasks, ties one half.

    A pair without a common task counts for neither; the published script divides by zero there, and compares by DPS
    whichever metric it is asked for. NaN for a model that shares no task with another.
    """
    wins: dict[str, list[float]] = {name: [] for name in models}
    for one, other in combinations(models, 2):
        if pairs := common(models[one], models[other]):
            won = _won(mean(ours for ours, _ in pairs), mean(theirs for _, theirs in pairs))
            wins[one].append(won)
            wins[other].append(1.0 - won)
    return {name: mean(won) for name, won in wins.items()}


def _won(ours: float, theirs: float) -> float:
    return float(ours > theirs) + 0.5 * (ours == theirs)
