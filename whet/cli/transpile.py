"""``whet transpile``: an assembly routine for another instruction set."""

from __future__ import annotations

from typing import Annotated

import typer

from whet.cli import options as opt

Isa = Annotated[str, typer.Option("--to", metavar="ISA", help="aarch64, riscv64 or x86_64.")]


def transpile(
    ctx: typer.Context,
    target: Annotated[str, typer.Argument(metavar="FILE", help="The assembly, beside the whet.toml of its routine.")],
    to: Isa,
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
    output: opt.Output = None,
    workload: opt.Workload = None,
    python: opt.Python = None,
    sandbox: opt.Sandbox = "auto",
    unsafe: opt.Unsafe = False,
    workers: opt.Workers = 2,
    seed: opt.Seed = None,
    as_json: opt.Json = False,
    debug: opt.Debug = False,
) -> int:
    """Translate an assembly routine to another instruction set, and prove what it does.

    Ends with 0 where a right translation was found. Nothing is timed.
    """
    from whet.agents.optimize import optimize as work
    from whet.cli.progress import watching
    from whet.cli.render import show_winner
    from whet.core.config import Budget

    budget = Budget(budget_usd, budget_tokens, budget_calls, budget_candidates, budget_seconds)
    with watching(ctx.obj, budget, silent=as_json) as listener:
        result = work(**opt.given(ctx), listener=listener)
    return show_winner(result, as_json=as_json)
