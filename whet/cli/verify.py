"""``whet verify``: the ladder alone, on anybody's rewrite."""

from __future__ import annotations

import typer

from whet.cli import options as opt
from whet.core.errors import UsageError


def verify(
    ctx: typer.Context,
    target: opt.Target,
    candidate: opt.CandidateFile = None,
    patch: opt.PatchFile = None,
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
    """Judge a rewrite: is it right, and is it faster? No model is needed."""
    if (candidate is None) == (patch is None):
        raise UsageError("verify takes either --candidate FILE or --patch FILE")

    from whet.cli.progress import watching
    from whet.cli.render import show_result
    from whet.core.config import Budget
    from whet.evaluators.verify import verify as judge

    with watching(ctx.obj, Budget(), silent=as_json) as listener:
        result = judge(**opt.given(ctx), listener=listener)
    return show_result(result, as_json=as_json)
