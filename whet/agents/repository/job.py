"""What a run on a repository is: all that it takes to start it again, by its id alone."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from whet.agents.budget import default_budget
from whet.agents.job import absolute_spec
from whet.agents.models.reach import expect_reachable
from whet.agents.models.registry import open_model
from whet.agents.prices import load_prices
from whet.agents.strategies import open_strategy
from whet.core.config import ProjectConfig
from whet.core.errors import UsageError
from whet.core.options import Budget, Options
from whet.core.repository import Survey
from whet.evaluators.repository.asked import looked_around, settings_of
from whet.evaluators.repository.ranking import MIN_SHARE
from whet.evaluators.repository.revisions import Checkout

TOP, ROUNDS, CANDIDATES = 5, 8, 4
"""Functions that are tried, rounds of each, and candidates of a round where nothing else is asked for: 160 candidates
at most. The time and cost of a run grow with each; smaller values leave hot functions or rewrites untried."""


@dataclass(frozen=True, slots=True)
class RepositoryJob:
    """All that it takes to start a run on a repository again.

    Attributes:
        root: the folder that was asked for.
        head: hash of the commit that is made faster.
        base: hash of the commit since which a function must have changed; None for all of them.
        targets: functions that alone are tried; none for all of them.
        survey: of the folder; its ``run`` is the command whose time counts.
        options: of the search for each function; their paths are absolute.
        model: the Coder's, as after ``--model``.
        judge_model: the Judge's.
        strategy: as after ``--strategy``.
        rounds: of one function, at most.
        candidates: asked for a round.
        budget: caps on all functions together.
        top: functions that are tried, at most.
        min_share: of the command's time: what takes less is not tried.
        apply: whether the improved files replace those of the checkout.
        takeover: drafts in the Coder's place once that stalls; empty where nobody does.
    """

    root: Path
    head: str
    base: str | None
    targets: tuple[str, ...]
    survey: Survey
    options: Options
    model: str
    judge_model: str
    strategy: str
    rounds: int
    candidates: int
    budget: Budget
    top: int
    min_share: float
    apply: bool
    takeover: str = ""

    @property
    def command(self) -> str:
        """The command whose time counts."""
        assert self.survey.run is not None, "a job has a command"
        return self.survey.run


@dataclass(frozen=True, slots=True)
class Wish:
    """What a user asks of a run on a repository; None leaves it to the configuration, then to the defaults.

    Attributes:
        run: the command whose time counts.
        tests: the command that tests it.
        changed: only functions that changed since this revision left the current one.
        targets: only these functions, as ``path::symbol`` from the folder.
        top: functions that are tried, at most.
        min_share: of the command's time: what takes less is not tried.
        model: the Coder's.
        judge_model: the Judge's.
        takeover: drafts in the Coder's place once that stalls.
        strategy: how the next candidates are chosen.
        rounds: of one function, at most.
        candidates: asked for a round.
        budget_usd: cap in US dollars, on the whole run as are the other caps.
        budget_tokens: cap on input and output tokens together.
        budget_calls: cap on model calls.
        budget_candidates: cap on distinct candidates evaluated.
        budget_seconds: cap on wall time.
        apply: write the improved files into the checkout.
    """

    run: str | None = None
    tests: str | None = None
    changed: str | None = None
    targets: Sequence[str] = ()
    top: int | None = None
    min_share: float | None = None
    model: str | None = None
    judge_model: str | None = None
    takeover: str | None = None
    strategy: str | None = None
    rounds: int | None = None
    candidates: int | None = None
    budget_usd: float | None = None
    budget_tokens: int | None = None
    budget_calls: int | None = None
    budget_candidates: int | None = None
    budget_seconds: float | None = None
    apply: bool = False


def job_of(checkout: Checkout, config: ProjectConfig, wish: Wish, options: dict[str, Any]) -> RepositoryJob:
    """Returns the job that a user's words, the configuration and the defaults come to, in this order.

    Args:
        checkout: of the repository.
        config: its own.
        wish: what the user asked for.
        options: fields of `whet.core.options.Options` that the user gave.

    Raises:
        UsageError: an option cannot be used, or nothing says which command's time counts.
    """
    for name, least in (("top", 1), ("rounds", 1), ("candidates", 1)):
        if (number := getattr(wish, name)) is not None and number < least:
            raise UsageError(f"--{name} {number} is below {least}")
    if wish.min_share is not None and not 0.0 <= wish.min_share <= 1.0:
        raise UsageError(f"--min-share {wish.min_share:g} is outside 0 to 1; give 0.01 for 1 %")
    around = looked_around(checkout.root, config, wish.run, wish.tests)
    budget = Budget(*(_first(wish, config, f"budget_{field.name}") for field in fields(Budget)))
    model = absolute_spec(wish.model or config.model or os.environ.get("WHET_MODEL") or "catalogue")
    judge = absolute_spec(wish.judge_model or config.judge_model or model)
    assert isinstance(model, str)
    assert isinstance(judge, str)
    takeover = absolute_spec(wish.takeover or "")
    assert isinstance(takeover, str)
    models = [open_model(spec, config=config) for spec in dict.fromkeys((model, judge, takeover)) if spec]
    expect_reachable(*models)
    strategy = _first(wish, config, "strategy") or "auto"
    open_strategy(strategy)
    return RepositoryJob(
        root=checkout.root,
        head=checkout.head,
        base=None if wish.changed is None else checkout.merge_base(wish.changed, "HEAD"),
        targets=tuple(wish.targets),
        survey=around,
        options=settings_of(config, options, around),
        model=model,
        judge_model=judge,
        strategy=strategy,
        rounds=_first(wish, config, "rounds") or ROUNDS,
        candidates=_first(wish, config, "candidates") or CANDIDATES,
        budget=default_budget(budget, models, load_prices(config.prices)),
        top=_first(wish, config, "top") or TOP,
        min_share=MIN_SHARE if (share := _first(wish, config, "min_share")) is None else share,
        apply=wish.apply,
        takeover=takeover,
    )


def _first(wish: Wish, config: ProjectConfig, name: str) -> Any:
    value = getattr(wish, name)
    return getattr(config, name) if value is None else value
