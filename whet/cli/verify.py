"""``whet verify``: the ladder alone, on anybody's rewrite."""

from __future__ import annotations

from typing import Any

import typer

from whet.cli import options as opt
from whet.core.errors import UsageError


@opt.takes(*opt.SHARED)
def verify(
    ctx: typer.Context,
    target: opt.JudgedTarget = None,
    candidate: opt.CandidateFile = None,
    patch: opt.PatchFile = None,
    evidence: opt.Evidence = None,
    signers: opt.Signers = None,
    rev: opt.Revisions = None,
    run: opt.Whole = None,
    as_json: opt.Json = False,
    debug: opt.Debug = False,
    **given: Any,
) -> int:
    """Judge a rewrite, or a change between two revisions: right, and faster? Or repeat evidence. No model is needed."""
    if rev is not None:
        from whet.cli.repository import verify_revisions

        return verify_revisions(ctx, target or ".", as_json=as_json)
    if evidence is None and (candidate is None) == (patch is None):
        raise UsageError("verify takes either --candidate FILE or --patch FILE, or --evidence FILE alone")

    from whet.cli.progress import watching
    from whet.cli.render import show_result
    from whet.cli.replication import show_replication
    from whet.core.evidence import Replication
    from whet.core.options import Budget
    from whet.evaluators.verify import verify as judge

    with watching(ctx.obj, Budget(), silent=as_json) as listener:
        found = judge(**opt.given(ctx), listener=listener)
    if isinstance(found, Replication):
        return show_replication(found, as_json=as_json)
    return show_result(found, as_json=as_json)
