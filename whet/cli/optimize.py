"""``whet optimize``: the main job."""

from __future__ import annotations

import typer

from whet.cli import options as opt


def optimize(
    ctx: typer.Context,
    target: opt.Target,
    model: opt.Model = None,
    judge_model: opt.JudgeModel = None,
    takeover: opt.Takeover = None,
    known_best: opt.KnownBestFile = None,
    strategy: opt.Strategy = "auto",
    rounds: opt.Rounds = 8,
    candidates: opt.Candidates = 4,
    budget_usd: opt.BudgetUsd = None,
    budget_tokens: opt.BudgetTokens = None,
    budget_calls: opt.BudgetCalls = None,
    budget_candidates: opt.BudgetCandidates = None,
    budget_seconds: opt.BudgetSeconds = None,
    interactive: opt.Interactive = False,
    apply: opt.Apply = False,
    output: opt.Output = None,
    workload: opt.Workload = None,
    tests: opt.Tests = None,
    record: opt.Record = None,
    project: opt.Project = None,
    metric: opt.Metric = "time",
    max_memory: opt.MaxMemory = None,
    max_time: opt.MaxTime = None,
    min_speedup: opt.MinSpeedup = 1.01,
    confidence: opt.Confidence = 0.99,
    quick: opt.Quick = False,
    cores: opt.Cores = 1,
    until: opt.Until = None,
    python: opt.Python = None,
    device: opt.Device = "auto",
    arch: opt.Arch = None,
    sandbox: opt.Sandbox = "auto",
    unsafe: opt.Unsafe = False,
    workers: opt.Spread = 2,
    seed: opt.Seed = None,
    root: opt.Root = None,
    run: opt.Whole = None,
    top: opt.Top = None,
    min_share: opt.MinShare = None,
    changed: opt.Changed = None,
    protocol: opt.Protocol = None,
    torch_flags: opt.TorchFlags = None,
    as_json: opt.Json = False,
    debug: opt.Debug = False,
) -> int:
    """Make a function, a program or the hot functions of a repository faster, and prove it."""
    from whet.core.errors import UsageError
    from whet.evaluators.repository.folder import is_repository

    if is_repository(target):
        if interactive:
            raise UsageError("--interactive goes with one function, program or kernel, not with a repository's folder")
        if known_best is not None:
            raise UsageError("--known-best goes with one function, program or kernel, not with a repository's folder")
        if isinstance(workers, str):
            raise UsageError(f"--workers {workers} goes with one function, program or kernel; give a number here")
        from whet.cli.repository import optimize_repository

        return optimize_repository(ctx, target, as_json=as_json)

    from whet.agents.optimize import optimize as work
    from whet.cli.interactive import terminal
    from whet.cli.progress import watching
    from whet.cli.render import show_winner
    from whet.core.config import Budget

    budget = Budget(budget_usd, budget_tokens, budget_calls, budget_candidates, budget_seconds)
    person = terminal(as_json=as_json) if interactive else None
    with watching(ctx.obj, budget, silent=as_json, plain=interactive) as listener:
        result = work(**opt.given(ctx), listener=listener, person=person, began=ctx.obj.began)
    return show_winner(result, as_json=as_json)
