"""Checks a model before the first problem is begun, and settles what is left open of it."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

from whet.agents.budget import default_budget
from whet.agents.job import absolute_spec
from whet.agents.models.registry import open_model
from whet.agents.prices import load_prices
from whet.agents.strategies import open_strategy
from whet.benchmarks.runner.request import LoopSettings
from whet.core.config import load_project_config
from whet.core.errors import UsageError


def expect_model(loop: LoopSettings) -> LoopSettings:
    """Returns a loop whose models, strategy and budget can be used, with the caps that hold by default.

    Raises:
        UsageError: one of them cannot.
    """
    for option, number in (("--rounds", loop.rounds), ("--candidates", loop.candidates)):
        if number < 1:
            raise UsageError(f"{option} {number} is below 1")
    open_strategy(loop.strategy)
    config = load_project_config(Path.cwd())
    coder = loop.model or config.model or os.environ.get("WHET_MODEL") or "catalogue"
    judge = loop.judge_model or config.judge_model
    specs = [spec if not isinstance(spec, str) else absolute_spec(spec) for spec in (coder, judge) if spec]
    for spec in specs:
        if isinstance(spec, str) and spec.startswith(("replay:", "manual:")):
            raise UsageError(f"--model {spec.partition(':')[0]}:... answers for one run, and a suite takes many")
    models = [open_model(spec, config=config) if isinstance(spec, str) else spec for spec in specs]
    budget = default_budget(loop.budget, models, load_prices(config.prices))
    return replace(loop, model=specs[0], judge_model=specs[1] if judge else None, budget=budget)
