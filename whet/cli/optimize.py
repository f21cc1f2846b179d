"""``whet optimize``: the main job."""

from __future__ import annotations

import typer

from whet.cli import options as opt


def optimize(
    ctx: typer.Context,
    target: opt.Target,
    model: opt.Model = None,
    judge_model: opt.JudgeModel = None,
    strategy: opt.Strategy = "auto",
    rounds: opt.Rounds = 8,
    candidates: opt.Candidates = 4,
    budget_usd: opt.BudgetUsd = None,
    budget_tokens: opt.BudgetTokens = None,
    budget_calls: opt.BudgetCalls = None,
    budget_candidates: opt.BudgetCandidates = None,
    budget_seconds: opt.BudgetSeconds = None,
    apply: opt.Apply = False,
    output: opt.Output = None,
    workload: opt.Workload = None,
    tests: opt.Tests = None,
    metric: opt.Metric = "time",
    min_speedup: opt.MinSpeedup = 1.01,
    confidence: opt.Confidence = 0.99,
    cores: opt.Cores = 1,
    until: opt.Until = None,
    python: opt.Python = None,
    device: opt.Device = "auto",
    sandbox: opt.Sandbox = "auto",
    unsafe: opt.Unsafe = False,
    workers: opt.Workers = 2,
    seed: opt.Seed = None,
    as_json: opt.Json = False,
    debug: opt.Debug = False,
) -> int:
    """Make a function or a program faster, and prove it."""
    from whet.agents.optimize import optimize as work
    from whet.cli.progress import watching
    from whet.cli.render import show_result
    from whet.core.config import Budget

    budget = Budget(budget_usd, budget_tokens, budget_calls, budget_candidates, budget_seconds)
    with watching(ctx.obj, budget, silent=as_json) as listener:
        result = work(**opt.given(ctx), listener=listener)
    return show_result(result, as_json=as_json)
