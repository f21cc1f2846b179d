"""``whet runs list``, ``delete`` and ``prune``: which runs there are, and the end of those that nobody needs."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from whet.cli import options as opt
from whet.core.errors import UsageError
from whet.core.text import count, duration, one_line, parse_duration, times

if TYPE_CHECKING:
    from whet.agents.removal import Removed
    from whet.core.store import RunRecord, Store

HEADS = ("run", "result", "speedup", "age", "target")
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Delete without asking.")]


def list_runs(as_json: opt.Json = False, debug: opt.Debug = False) -> int:
    """List the runs, newest first: what came of each, the speedup, its age and its target."""
    with opened_store() as store:
        records, now = store.runs(), store.now()
    if as_json:
        print(json.dumps([summary(record) for record in records], indent=2))
        return 0
    if not records:
        print("no runs yet; begin with: whet optimize TARGET")
        return 0
    for line in table(records, now):
        print(line)
    return 0


def delete(
    runs: Annotated[
        list[str],
        typer.Argument(
            metavar="ID...",
            show_default=False,
            autocompletion=opt.known_runs,
            help="The runs, as `whet runs list` names them.",
        ),
    ],
    yes: Yes = False,
    as_json: opt.Json = False,
    debug: opt.Debug = False,
) -> int:
    """Delete runs with all that is recorded of them; what cannot be undone is asked about first."""
    from whet.agents.removal import remove

    with opened_store() as store:
        records = [store.run(run) for run in dict.fromkeys(runs)]
        _expect_idle([record.id for record in records if record.status == "running"])
        if not _agreed(records, store.now(), yes=yes, as_json=as_json):
            return 0
        removed = remove(store, [record.id for record in records])
    return _told(removed, as_json=as_json)


def prune(
    older_than: Annotated[
        str | None, typer.Option("--older-than", metavar="AGE", help="Runs begun longer ago: 30d, 12h, 45m, 90s.")
    ] = None,
    keep: Annotated[
        int | None, typer.Option("--keep", metavar="N", help="Not the newest N, however old they are.")
    ] = None,
    yes: Yes = False,
    as_json: opt.Json = False,
    debug: opt.Debug = False,
) -> int:
    """Delete old runs, interrupted ones too, and all that only they refer to; never a run under way."""
    if older_than is None and keep is None:
        raise UsageError("say which runs: --older-than 30d, --keep 20, or both")
    if keep is not None and keep < 0:
        raise UsageError(f"--keep {keep} is below 0")
    try:
        age = None if older_than is None else parse_duration(older_than)
    except ValueError as error:
        raise UsageError(f"--older-than: {error}") from None
    from whet.agents.removal import outdated, remove

    with opened_store() as store:
        now = store.now()
        records = outdated(store.runs(), now, age, keep)
        if not _agreed(records, now, yes=yes, as_json=as_json):
            return 0
        removed = remove(store, [record.id for record in records])
    return _told(removed, as_json=as_json)


def _expect_idle(running: Sequence[str]) -> None:
    if running:
        raise UsageError(f"run {running[0]} is being worked on; end it first, with Ctrl-C where it runs")


def _agreed(records: Sequence[RunRecord], now: float, *, yes: bool, as_json: bool) -> bool:
    """Returns whether the runs are to be deleted: asks on a terminal."""
    if yes or not records:
        return True
    if as_json or not sys.stdin.isatty():
        raise UsageError(f"this deletes {count(len(records), 'run')} for good; give --yes where nobody can be asked")
    for line in table(records, now):
        print(line)
    return typer.confirm(f"delete {count(len(records), 'run')} for good?", default=False)


def _told(removed: Removed, *, as_json: bool) -> int:
    texts = removed.texts
    if as_json:
        document = {
            "deleted": list(removed.runs),
            "kept": list(removed.kept),
            "texts": texts.texts,
            "bytes": texts.bytes,
            "under_way": list(texts.busy),
        }
        print(json.dumps(document, indent=2))
        return 0
    for run in removed.kept:
        print(f"kept {run}: it is being worked on")
    print(f"deleted {count(len(removed.runs), 'run')}")
    if texts.busy:
        print(f"their texts stay until the next time: {count(len(texts.busy), 'run')} under way may need them")
    elif texts.texts:
        from whet.core.profile import in_bytes  # takes as long as all other imports of the command line

        print(f"and {count(texts.texts, 'text')} that nothing refers to any more, {in_bytes(texts.bytes)}")
    return 0


def summary(record: RunRecord) -> dict[str, Any]:
    """Returns what a list says of one run."""
    result: Mapping[str, Any] = record.result or {}
    # Of a repository it is that of the whole command.
    whole = (result.get("end_to_end") or {}).get("speedup")
    return {
        "run": record.id,
        "target": record.target,
        "status": record.status,
        "result": result.get("status"),
        "speedup": result.get("speedup") or whole,
        "started": datetime.fromtimestamp(record.started, UTC).isoformat(timespec="seconds"),
        "seconds": result.get("seconds"),
        "cost": result.get("cost"),
    }


def table(records: Sequence[RunRecord], now: float) -> Iterator[str]:
    """Yields the lines of a table of runs.

    Args:
        records: of the runs.
        now: in seconds since the epoch.
    """
    rows = [HEADS, *(_row(record, now) for record in records)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()


def _row(record: RunRecord, now: float) -> tuple[str, ...]:
    told = summary(record)
    return (
        record.id,
        told["result"] or record.status,
        times(told["speedup"]["ratio"]) if told["speedup"] else "-",
        duration(now - record.started),
        one_line(_near(record.target), 200),
    )


def _near(target: str) -> str:
    """Returns a target's path from the current folder where it lies below it."""
    here = f"{Path.cwd()}/"
    return target.removeprefix(here) if target.startswith(here) else target


@contextmanager
def opened_store() -> Iterator[Store]:
    """Gives the store that the environment names, and closes it."""
    from whet.core.store import Store

    store = Store()
    try:
        yield store
    finally:
        store.close()
