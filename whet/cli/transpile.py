"""``whet transpile``: an assembly routine for another instruction set."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from whet.cli import options as opt
from whet.core.options import CAPS

Isa = Annotated[str, typer.Option("--to", metavar="ISA", help="aarch64, riscv64 or x86_64.")]


@opt.takes(*CAPS, "workload", "python", "sandbox", "unsafe", "workers", "seed")
def transpile(
    ctx: typer.Context,
    target: Annotated[str, typer.Argument(metavar="FILE", help="The assembly, beside the whet.toml of its routine.")],
    to: Isa,
    model: opt.Model = None,
    judge_model: opt.JudgeModel = None,
    strategy: opt.Strategy = "auto",
    rounds: opt.Rounds = 8,
    candidates: opt.Candidates = 4,
    output: opt.Output = None,
    as_json: opt.Json = False,
    debug: opt.Debug = False,
    **given: Any,
) -> int:
    """Translate an assembly routine to another instruction set, and prove what it does.

    Ends with 0 where a right translation was found. Nothing is timed.
    """
    from whet.agents.optimize import optimize as work
    from whet.cli.progress import watching
    from whet.cli.render import show_winner

    with watching(ctx.obj, opt.budget_of(given), silent=as_json) as listener:
        result = work(**opt.given(ctx), listener=listener)
    return show_winner(result, as_json=as_json)
