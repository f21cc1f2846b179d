"""``whet optimize``: the main job."""

from __future__ import annotations

from typing import Any

import typer

from whet.cli import options as opt
from whet.core.options import CAPS


@opt.takes(*CAPS, *opt.SHARED)
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
    interactive: opt.Interactive = False,
    apply: opt.Apply = False,
    output: opt.Output = None,
    workers: opt.Spread = 2,
    run: opt.Whole = None,
    top: opt.Top = None,
    min_share: opt.MinShare = None,
    changed: opt.Changed = None,
    as_json: opt.Json = False,
    debug: opt.Debug = False,
    **given: Any,
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

    budget = opt.budget_of(given)
    person = terminal(as_json=as_json) if interactive else None
    with watching(ctx.obj, budget, silent=as_json, plain=interactive) as listener:
        result = work(**opt.given(ctx), listener=listener, person=person, began=ctx.obj.began)
    return show_winner(result, as_json=as_json)
