"""``whet runs``: past runs."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from whet.cli import options as opt
from whet.cli.run_list import opened_store, summary

if TYPE_CHECKING:
    from whet.core.store import RunRecord, Store


REPOSITORY = "repository"
"""The command of a run on a whole repository."""


def show(
    run: opt.RunArgument,
    html: Annotated[
        Path | None,
        typer.Option("--html", metavar="FILE", help="Write a report of it as one HTML page to this file; - is stdout."),
    ] = None,
    markdown: Annotated[
        Path | None,
        typer.Option("--markdown", metavar="FILE", help="The same of a repository's run, as Markdown; - is stdout."),
    ] = None,
    as_json: opt.Json = False,
    debug: opt.Debug = False,
) -> int:
    """Show what happened in a run: every prompt, reply, verdict and cost, in order; or a report of it."""
    from whet.cli import transcript
    from whet.core.errors import UsageError

    if (html is not None) + (markdown is not None) + as_json > 1:
        raise UsageError("--html and --markdown write a report, and --json the data; give one of them")
    if html is not None:
        return _report(run, "--html", html)
    if markdown is not None:
        return _report(run, "--markdown", markdown)
    with opened_store() as store:
        record = store.run(run)
        told = transcript.shown(store, record)
    if as_json:
        print(json.dumps({**summary(record), **told}, indent=2))
    else:
        print("\n".join(transcript.lines(record, told)))
    return 0


def resume(
    ctx: typer.Context,
    run: opt.RunArgument,
    workers: Annotated[
        str | None,
        typer.Option(
            "--workers",
            metavar="NAME",
            help="Who evaluates from now on: here, local[:N], ray or ray://HOST:PORT; else who did before.",
        ),
    ] = None,
    as_json: opt.Json = False,
    debug: opt.Debug = False,
) -> int:
    """Go on with an interrupted run; no recorded reply is asked for again."""
    from whet.agents.optimize import resume as work
    from whet.cli.interactive import terminal
    from whet.cli.progress import watching
    from whet.cli.render import show_winner
    from whet.cli.repository import resume_repository
    from whet.core.errors import UsageError
    from whet.core.options import Budget

    with opened_store() as store:
        record = store.run(run)
    if record.command == REPOSITORY:
        if workers is not None:
            raise UsageError("--workers goes with a run on one function, program or kernel, not on a repository")
        return resume_repository(ctx, run, as_json=as_json)
    budget = Budget(**record.request.get("budget", {}))
    # A run that is over and a replay ask nobody; a run that would is refused where nobody can be.
    asks = bool(record.request.get("interactive")) and sys.stdin.isatty() and not as_json
    person = terminal(as_json=as_json) if asks else None
    with watching(ctx.obj, budget, silent=as_json, plain=asks) as listener:
        result = work(run, cluster="" if workers == "here" else workers, listener=listener, person=person)
    return show_winner(result, as_json=as_json)


def replay(
    ctx: typer.Context,
    run: opt.RunArgument,
    remeasure: Annotated[bool, typer.Option("--remeasure", help="Time the winner anew.")] = False,
    as_json: opt.Json = False,
    debug: opt.Debug = False,
) -> int:
    """Repeat a finished run from its record, at no cost."""
    from whet.agents.optimize import replay as work
    from whet.cli.progress import watching
    from whet.cli.render import show_winner
    from whet.core.options import Budget

    with watching(ctx.obj, Budget(), silent=as_json) as listener:
        result = work(run, remeasure=remeasure, listener=listener)
    return show_winner(result, as_json=as_json)


def export(
    runs: opt.Runs = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write to this file, not to stdout.")
    ] = None,
    form: Annotated[
        str | None,
        typer.Option(
            "--format",
            metavar="NAME",
            help="Write training data instead, as JSON Lines: sft, rrhf, dpo or fault-pairs.",
        ),
    ] = None,
    all_runs: Annotated[bool, typer.Option("--all", help="With --format: of all runs.")] = False,
    licence: Annotated[
        str | None,
        typer.Option("--licence", metavar="SPDX", help="With --format: the licence of the code; else it says unknown."),
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
    """Write all that is recorded of a run as one JSON document, its evidence as a bundle, or runs as training data."""
    from whet.cli import transcript
    from whet.core.errors import UsageError

    if form is not None:
        if evidence is not None or sign is not None:
            raise UsageError("--format writes training data, and --evidence a bundle; give one of them")
        return _export_lines(runs or [], all_runs, form, licence, output)
    if all_runs or licence is not None:
        raise UsageError("--all and --licence go with --format NAME")
    if not runs or len(runs) > 1:
        raise UsageError("give the ID of one run, as whet runs list names it")
    (run,) = runs
    if evidence is not None:
        if output is not None:
            raise UsageError("--output takes the whole record, and --evidence the bundle; give one of them")
        return _export_evidence(run, evidence, sign)
    if sign is not None:
        raise UsageError("--sign goes with --evidence FILE")
    with opened_store() as store:
        document = json.dumps(transcript.document(store, store.run(run)), indent=2)
    if output is None:
        print(document)
        return 0
    return _written("--output", output, f"{document}\n")


def _export_lines(runs: list[str], all_runs: bool, form: str, licence: str | None, output: Path | None) -> int:
    """Writes training data; a file that is there is left as it is."""
    from whet.agents.learning.export import UNKNOWN
    from whet.agents.learning.export import export as exported
    from whet.core.errors import UsageError
    from whet.core.text import count

    if all_runs == bool(runs):
        raise UsageError("give the ID of each run, or --all for all of them")
    if output is not None and output.exists():
        raise UsageError(f"--output {output} exists; give another name, or remove it")
    with opened_store() as store:
        records = store.runs() if all_runs else [store.run(run) for run in dict.fromkeys(runs)]
        newest = sorted(records, key=lambda record: record.started, reverse=True)
        found = exported(store, newest, form, licence=licence or UNKNOWN, named=not all_runs)
    if found.private:
        left_out = f"{count(found.private, 'text')} with a folder of yours, or what looks like a key, left out"
        print(left_out, file=sys.stderr)
    text = "".join(f"{line}\n" for line in found.lines)
    if output is None:
        sys.stdout.buffer.write(text.encode())
        return 0
    return _written("--output", output, text)


def _report(run: str, option: str, file: Path) -> int:
    with opened_store() as store:
        text = _reported(store, store.run(run), option)
    if str(file) == "-":
        sys.stdout.buffer.write(text.encode())
        return 0
    return _written(option, file, text)


def _reported(store: Store, record: RunRecord, option: str) -> str:
    """Returns the report of a run.

    Raises:
        UsageError: there is none in this form.
    """
    from whet.core.errors import UsageError

    if record.command == REPOSITORY:
        from whet.agents.repository.run import so_far
        from whet.cli.report.repository import repository_page
        from whet.cli.report.repository_markdown import repository_markdown

        told = so_far(store, record)
        return repository_page(told) if option == "--html" else repository_markdown(told)
    if option == "--markdown":
        raise UsageError("--markdown is for runs on repositories; give --html FILE")
    if record.command not in ("optimize", "verify"):
        raise UsageError(f"run {record.id} is of whet {record.command}, which has no page; leave out --html")
    from whet.cli.report.page import page

    return page(store, record)


def _written(option: str, file: Path, text: str) -> int:
    from whet.core.errors import UsageError

    try:
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{option} {file} cannot be written: {error.strerror}") from None
    return 0


def _export_evidence(run: str, file: Path, key: Path | None) -> int:
    from dataclasses import replace

    from whet.evaluators.evidence.bundle import write_bundle
    from whet.evaluators.evidence.record import bundle_of
    from whet.evaluators.evidence.signing import sign

    with opened_store() as store:
        bundle = bundle_of(store, run)
    if key is not None:
        bundle = replace(bundle, signature=sign(bundle.manifest, key))
    write_bundle(bundle, file)
    return 0
