"""``whet mcp``: whet's tools for coding agents."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from whet.cli import options as opt
from whet.core.errors import UsageError

Below = Annotated[
    Path, typer.Option("--root", metavar="DIR", help="Tools reach files below this folder alone, links resolved.")
]
AllowPaid = Annotated[
    bool, typer.Option("--allow-paid", help="Let `optimize` take models that cost money; else it takes the free ones.")
]
MostUsd = Annotated[
    float | None,
    typer.Option("--budget-usd", metavar="USD", help="The most that one call of `optimize` may cost; else 1 USD."),
]


@opt.takes("python")
def mcp(
    root: Below = Path(),
    allow_paid: AllowPaid = False,
    budget_usd: MostUsd = None,
    debug: opt.Debug = False,
    **given: Any,
) -> int:
    """Serve verify, profile, audit, optimize and show_run to a coding agent, over stdin and stdout."""
    from whet.cli.mcp.arguments import Grant

    try:
        from whet.cli.mcp.server import serve
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("mcp", "mcp_types"):
            raise
        raise UsageError("whet mcp needs the SDK of the protocol: pip install 'whet[mcp]'") from None
    if not root.is_dir():
        raise UsageError(f"--root {root}: no such folder")
    if budget_usd is not None and budget_usd < 0:
        raise UsageError(f"--budget-usd {budget_usd:g} is negative")
    python = given["python"]
    serve(Grant(root.resolve(), allow_paid, budget_usd, python.expanduser().absolute() if python else None))
    return 0
