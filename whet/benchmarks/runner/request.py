"""What is asked of one ``whet bench run``."""

from __future__ import annotations

from dataclasses import dataclass, field, fields

from whet.agents.models.base import Model
from whet.benchmarks.runner.answers import AnswerSources
from whet.benchmarks.runner.rows import Key
from whet.benchmarks.suites.base import Problem, Suite
from whet.core.options import Budget, Options
from whet.core.text import count
from whet.evaluators.evidence.record import WEB_ADDRESS

TOLD = ("until", "cores", "min_speedup", "confidence", "device")
"""Options that change what a row says: rows of unlike ones are not one standing."""
UNITS = {"usd": "USD", "tokens": "tokens", "calls": "calls", "candidates": "distinct candidates", "seconds": "s"}


@dataclass(frozen=True, slots=True)
class LoopSettings:
    """How a model works on one problem; see `whet.agents.optimize.optimize`.

    Attributes:
        model: the Coder's.
        judge_model: the Judge's; None takes the Coder's.
        strategy: how the next candidates are chosen.
        rounds: at most.
        candidates: asked for a round.
        budget: caps on one sample of one problem.
    """

    model: str | Model
    judge_model: str | Model | None = None
    strategy: str = "auto"
    rounds: int = 8
    candidates: int = 4
    budget: Budget = field(default_factory=Budget)

    @property
    def name(self) -> str:
        """The model's name without the address of a server."""
        judge = "" if self.judge_model is None else f", judged by {_named(self.judge_model)}"
        return f"{_named(self.model)}{judge}"

    @property
    def words(self) -> str:
        """The caps in words."""
        caps = ((UNITS[one.name], getattr(self.budget, one.name)) for one in fields(Budget))
        told = [f"{cap:g} {unit}" for unit, cap in caps if cap is not None]
        return ", ".join([f"{count(self.rounds, 'round')} of {self.candidates}", *told])


def _named(model: str | Model) -> str:
    return WEB_ADDRESS.sub("", model if isinstance(model, str) else model.name)


@dataclass(frozen=True, slots=True)
class Total:
    """Caps on all problems together; None means no cap.

    Attributes:
        usd: what models may cost, the rows of the file that were there before among it; of a joined run by all drivers.
        seconds: wall time, counted from the start of the command, or of a joined run's first driver; no problem is
            begun after it.
    """

    usd: float | None = None
    seconds: float | None = None


@dataclass(frozen=True, slots=True)
class BenchRequest:
    """What is asked of one run.

    Attributes:
        suite: whose problems are worked on.
        answers: where answers come from: a model in its loop, or given ones.
        options: of the ladder and of the suite's own rule.
        verdict: whether whet judges given answers too; what a model proposes climbs the ladder anyway.
        total: caps on all of it.
        workers: problems worked on side by side.
        join: name of the run that drivers share; None for one by itself.
    """

    suite: Suite
    answers: LoopSettings | AnswerSources
    options: Options
    verdict: bool = True
    total: Total = field(default_factory=Total)
    workers: int = 1
    join: str | None = None

    @property
    def labels(self) -> tuple[str, str, str]:
        """Model, strategy and budget, as rows have them; the budget tells options too that are not the default ones."""
        told = [
            f"{one.name.replace('_', '-')} {getattr(self.options, one.name)}"
            for one in fields(Options)
            if one.name in TOLD and getattr(self.options, one.name) != one.default
        ]
        if isinstance(self.answers, AnswerSources):
            return self.answers.name, "", ", ".join(told)
        return self.answers.name, self.answers.strategy, ", ".join([self.answers.words, *told])


@dataclass(frozen=True, slots=True)
class ProblemSample:
    """One answer to be had to one problem."""

    problem: Problem
    sample: int

    def key(self, asked: BenchRequest) -> Key:
        """Returns the key of its row; see `whet.benchmarks.results.Row.key`."""
        return (asked.suite.name, self.problem.digest, self.problem.id, *asked.labels, self.sample)
