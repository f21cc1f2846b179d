"""``whet runs``: past runs."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

from whet.cli import options as opt
from whet.cli.text import one_line

if TYPE_CHECKING:
    from whet.core.store import RunRecord


def list_runs(as_json: opt.Json = False, debug: opt.Debug = False) -> int:
    """List the runs, newest first."""
    from whet.core.store import Store

    rows = [summary(record) for record in Store().runs()]
    if as_json:
        print(json.dumps(rows, indent=2))
        return 0
    for row in rows:
        outcome = row["result"] or row["status"]
        print(f"{row['run']}  {outcome:<18}{one_line(row['target'])}")
    if not rows:
        print("no runs yet; begin with: whet optimize TARGET")
    return 0


def summary(record: RunRecord) -> dict[str, Any]:
    """Returns what a list says of one run."""
    result: Mapping[str, Any] = record.result or {}
    return {
        "run": record.id,
        "target": record.target,
        "status": record.status,
        "result": result.get("status"),
        "started": datetime.fromtimestamp(record.started, UTC).isoformat(timespec="seconds"),
        "seconds": result.get("seconds"),
        "cost": result.get("cost"),
    }


def show(run: opt.Run, as_json: opt.Json = False, debug: opt.Debug = False) -> int:
    """Show what happened in a run: every prompt, reply, verdict and cost, in order."""
    return 0


def resume(run: opt.Run, as_json: opt.Json = False, debug: opt.Debug = False) -> int:
    """Go on with an interrupted run; no recorded reply is asked for again."""
    return 0


def replay(run: opt.Run, as_json: opt.Json = False, debug: opt.Debug = False) -> int:
    """Repeat a run from its record, at no cost."""
    return 0


def export(run: opt.Run, debug: opt.Debug = False) -> int:
    """Write one JSON document with all that is recorded of a run."""
    return 0
