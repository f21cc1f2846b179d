"""``whet store``: where runs live."""

from __future__ import annotations

import json
from contextlib import closing

from whet.cli import options as opt


def show(as_json: opt.Json = False, debug: opt.Debug = False) -> int:
    """Show what the runs are stored in: the database, its schema, how many runs, how large."""
    from whet.core.database.schema import VERSION
    from whet.core.store import Store
    from whet.core.text import count

    with closing(Store()) as store:
        runs = store.runs()
        kind, name, size = store.kind.value, store.name, store.size
    running = sum(run.status == "running" for run in runs)
    if as_json:
        told = {"kind": kind, "where": name, "schema": VERSION, "runs": len(runs), "running": running, "bytes": size}
        print(json.dumps(told, indent=2))
        return 0
    print(f"{kind}: {name}")
    print(f"schema {VERSION}, {count(len(runs), 'run')}, {running} under way, {size / 1e6:.1f} MB")
    return 0


def migrate(debug: opt.Debug = False) -> int:
    """Bring a store of an older whet to the schema of this one; opening it does so too, unless runs are under way."""
    from whet.core.database import open_database
    from whet.core.database.schema import VERSION
    from whet.core.database.schema import migrate as bring
    from whet.core.store import default_home

    with closing(open_database(default_home().resolve())) as database:
        print(f"the store {database.name} {_done(bring(database), VERSION)}")
    return 0


def _done(before: int, now: int) -> str:
    if before == now:
        return f"is of schema {now} already"
    return f"was of schema {before} and is now of {now}" if before else f"is new, of schema {now}"
