"""``whet runs``: past runs."""

from __future__ import annotations

from whet.cli import options as opt


def list_runs(as_json: opt.Json = False, debug: opt.Debug = False) -> int:
    """List the runs, newest first."""
    return 0


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
