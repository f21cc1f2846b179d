"""``whet runs``: past runs."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from whet.cli import options as opt
from whet.cli.text import one_line

if TYPE_CHECKING:
    from whet.core.store import RunRecord, Store


def list_runs(as_json: opt.Json = False, debug: opt.Debug = False) -> int:
    """List the runs, newest first."""
    with _store() as store:
        rows = [summary(record) for record in store.runs()]
    if as_json:
        print(json.dumps(rows, indent=2))
        return 0
    for row in rows:
        print(f"{row['run']}  {row['result'] or row['status']:<17}  {one_line(row['target'])}")
    if not rows:
        print("no runs yet; begin with: whet optimize TARGET")
    return 0


def show(run: opt.Run, as_json: opt.Json = False, debug: opt.Debug = False) -> int:
    """Show what happened in a run: every prompt, reply, verdict and cost, in order."""
    from whet.cli import transcript

    with _store() as store:
        record = store.run(run)
        events = transcript.events(store, run)
    if as_json:
        print(json.dumps({**summary(record), "events": events}, indent=2))
    else:
        print("\n".join(transcript.lines(record, events)))
    return 0


def resume(ctx: typer.Context, run: opt.Run, as_json: opt.Json = False, debug: opt.Debug = False) -> int:
    """Go on with an interrupted run; no recorded reply is asked for again."""
    from whet.agents.optimize import resume as work
    from whet.cli.progress import watching
    from whet.cli.render import show_result
    from whet.core.config import Budget

    with _store() as store:
        budget = Budget(**store.run(run).request.get("budget", {}))
    with watching(ctx.obj, budget, silent=as_json) as listener:
        result = work(run, listener=listener)
    return show_result(result, as_json=as_json)


def replay(
    ctx: typer.Context,
    run: opt.Run,
    remeasure: Annotated[bool, typer.Option("--remeasure", help="Time the winner anew.")] = False,
    as_json: opt.Json = False,
    debug: opt.Debug = False,
) -> int:
    """Repeat a finished run from its record, at no cost."""
    from whet.agents.optimize import replay as work
    from whet.cli.progress import watching
    from whet.cli.render import show_result
    from whet.core.config import Budget

    with watching(ctx.obj, Budget(), silent=as_json) as listener:
        result = work(run, remeasure=remeasure, listener=listener)
    return show_result(result, as_json=as_json)


def export(
    run: opt.Run,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write to this file, not to stdout.")
    ] = None,
    evidence: Annotated[
        Path | None,
        typer.Option(
            "--evidence", metavar="FILE", help="Write the evidence of the verdict, which `whet verify` repeats, to it."
        ),
    ] = None,
    sign: Annotated[
        Path | None, typer.Option("--sign", metavar="KEYFILE", help="Sign that evidence with this ssh key.")
    ] = None,
    debug: opt.Debug = False,
) -> int:
    """Write all that is recorded of a run as one JSON document, or the evidence of its verdict as a bundle."""
    from whet.cli import transcript
    from whet.core.errors import UsageError

    if evidence is not None:
        if output is not None:
            raise UsageError("--output takes the whole record, and --evidence the bundle; give one of them")
        return _export_evidence(run, evidence, sign)
    if sign is not None:
        raise UsageError("--sign goes with --evidence FILE")
    with _store() as store:
        document = json.dumps(transcript.document(store, store.run(run)), indent=2)
    if output is None:
        print(document)
        return 0
    try:
        output.write_text(f"{document}\n", encoding="utf-8")
    except OSError as error:
        raise UsageError(f"--output {output} cannot be written: {error.strerror}") from None
    return 0


def _export_evidence(run: str, file: Path, key: Path | None) -> int:
    from dataclasses import replace

    from whet.evaluators.evidence.bundle import write_bundle
    from whet.evaluators.evidence.record import bundle_of
    from whet.evaluators.evidence.signing import sign

    with _store() as store:
        bundle = bundle_of(store, run)
    if key is not None:
        bundle = replace(bundle, signature=sign(bundle.manifest, key))
    write_bundle(bundle, file)
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


@contextmanager
def _store() -> Iterator[Store]:
    from whet.core.store import Store

    store = Store()
    try:
        yield store
    finally:
        store.close()
