"""The document that `optimize` and `verify` end in: schema ``whet.result/1``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from whet.core.candidate import Candidate
from whet.core.condition import Condition
from whet.core.errors import Exit
from whet.core.front import FrontRow
from whet.core.measurement import Measurement, Speedup
from whet.core.plain import to_plain
from whet.core.task import Task
from whet.core.verdict import Rung, Verdict

SCHEMA = "whet.result/1"


class Status(StrEnum):
    """How a run ended."""

    IMPROVED = "improved"
    NO_IMPROVEMENT = "no_improvement"
    BUDGET_EXHAUSTED = "budget_exhausted"
    BASELINE_INVALID = "baseline_invalid"
    REJECTED = "rejected"


EXIT_OF = {
    Status.IMPROVED: Exit.IMPROVED,
    Status.NO_IMPROVEMENT: Exit.NO_IMPROVEMENT,
    Status.REJECTED: Exit.NO_IMPROVEMENT,
    Status.BUDGET_EXHAUSTED: Exit.BUDGET,
    Status.BASELINE_INVALID: Exit.BASELINE,
}


def status_of(verdict: Verdict) -> Status:
    """Returns what a verdict on one rewrite comes to."""
    if verdict.rejected:
        return Status.REJECTED
    return Status.IMPROVED if verdict.confirmed else Status.NO_IMPROVEMENT


@dataclass(frozen=True, slots=True)
class Winner:
    """The candidate that a result is about.

    Attributes:
        id: SHA-256 of its source.
        parent: id of what it was made from, if known.
        origin: who made it.
        labels: what kind of win it was found to be; what its author claims where nothing was found.
        diff: against the baseline.
        source: its text.
        claimed: what kind of win its author says it is.
    """

    id: str
    parent: str | None
    origin: str
    labels: tuple[str, ...]
    diff: str
    source: str
    claimed: tuple[str, ...] = ()

    @classmethod
    def of(cls, candidate: Candidate, task: Task, measurement: Measurement | None = None) -> Winner:
        """Describes a candidate with its diff against the task's baseline.

        Args:
            candidate: with the labels that its author claims.
            task: whose target it replaces.
            measurement: with the labels that were found, which go before any claim.
        """
        diff = candidate.diff(task.source, task.filename)
        found = measurement.labels if measurement is not None else ()
        labels = found or candidate.labels
        return cls(
            candidate.id, candidate.parent, candidate.origin, labels, diff, candidate.source, claimed=candidate.labels
        )


@dataclass(frozen=True, slots=True)
class Counts:
    """How many candidates there were, and what became of them."""

    proposed: int = 0
    distinct: int = 0
    correct: int = 0
    rejected: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Tokens:
    """Tokens of model calls; ``cached`` is the part of ``input`` that was read from a cache."""

    input: int = 0
    cached: int = 0
    output: int = 0

    @property
    def cached_share(self) -> float:
        """The part of all that was read, 0 to 1."""
        return self.cached / self.input if self.input else 0.0

    def __add__(self, other: Tokens) -> Tokens:
        return Tokens(self.input + other.input, self.cached + other.cached, self.output + other.output)


@dataclass(frozen=True, slots=True)
class ModelCost:
    """What the calls to one model cost; ``usd`` is None where its price was unknown."""

    usd: float | None = 0.0
    calls: int = 0
    tokens: Tokens = Tokens()

    def __add__(self, other: ModelCost) -> ModelCost:
        usd = None if self.usd is None or other.usd is None else self.usd + other.usd
        return ModelCost(usd, self.calls + other.calls, self.tokens + other.tokens)


@dataclass(frozen=True, slots=True)
class Cost:
    """What the models cost; ``usd_complete`` is false where a price was unknown.

    ``models`` is what each of them cost, by its name without the address of its server: results are published.
    """

    usd: float = 0.0
    usd_complete: bool = True
    calls: int = 0
    tokens: Tokens = Tokens()
    models: Mapping[str, ModelCost] = field(default_factory=dict)

    @staticmethod
    def of(model: str, cost: ModelCost) -> Cost:
        """Returns what one model cost."""
        name = model.partition("@http")[0]
        return Cost(cost.usd or 0.0, cost.usd is not None, cost.calls, cost.tokens, {name: cost})

    def __add__(self, other: Cost) -> Cost:
        models = dict(self.models)
        for model, cost in other.models.items():
            models[model] = models.get(model, ModelCost()) + cost
        return Cost(
            self.usd + other.usd,
            self.usd_complete and other.usd_complete,
            self.calls + other.calls,
            self.tokens + other.tokens,
            models,
        )


@dataclass(frozen=True, slots=True)
class TaskName:
    """The task, as the document names it."""

    name: str
    language: str
    target: str


@dataclass(frozen=True, slots=True)
class Result:
    """The outcome of `optimize` or `verify`.

    Attributes:
        run: id of the run.
        task: what was to be made faster.
        status: how it ended.
        speedup: the confirmed figures; None where nothing could be timed.
        candidate: the winner, or the candidate that was judged.
        rungs: what that candidate went through.
        candidates: counts over all candidates.
        cost: of the models.
        seconds: wall time of the run.
        message: one line on why it ended so.
        front: where several metrics were asked for, the texts that no other is shown to be better than.
        quick: whether each figure rests on one look at few turns; see ``--quick``.
        conditions: what has to hold for the candidate to behave as the original does, and is not known to.
    """

    run: str
    task: TaskName
    status: Status
    speedup: Speedup | None
    candidate: Winner | None
    rungs: tuple[Rung, ...]
    candidates: Counts
    cost: Cost
    seconds: float
    message: str = ""
    front: tuple[FrontRow, ...] = ()
    quick: bool = False
    conditions: tuple[Condition, ...] = ()

    @property
    def exit_code(self) -> Exit:
        """The exit code of a command that ends in this result."""
        return EXIT_OF[self.status]

    def to_json(self) -> dict[str, Any]:
        """Returns the document as plain JSON data."""
        document: dict[str, Any] = {"schema": SCHEMA, **to_plain(self)}
        if document["candidate"] is not None:
            del document["candidate"]["source"]
        for rung in document["rungs"]:
            evidence = rung.pop("evidence")
            if "protocol" in evidence:
                rung["protocol"] = evidence["protocol"]
            rung["seconds"] = round(rung["seconds"], 4)
        return document
