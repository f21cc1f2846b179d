"""``whet board``: rows of benchmarks as a site, that site on this machine, and the check of rows from elsewhere."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from whet.cli import options as opt
from whet.core.text import count, one_line

if TYPE_CHECKING:
    from whet.benchmarks.board.submission import Checked

MOST_FAULTS = 20
"""Lines on rows that were left out; the site lists more."""


def build(
    results: Annotated[
        list[Path],
        typer.Argument(
            metavar="RESULTS...", show_default=False, help="Files of rows, as `whet bench run` writes them."
        ),
    ],
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="DIR", help="The site; a leaderboard that is there is replaced.")
    ] = Path("site"),
    debug: opt.Debug = False,
) -> int:
    """Make a leaderboard of rows: pages that need no server and no network, and the same as JSON."""
    from whet.benchmarks.board.build import build as make

    built = make(results, output)
    for fault in built.faults[:MOST_FAULTS]:
        print(f"left out: {one_line(fault)}", file=sys.stderr)
    if len(built.faults) > MOST_FAULTS:
        print(f"left out: {count(len(built.faults) - MOST_FAULTS, 'more row')}", file=sys.stderr)
    print(f"{count(built.entries, 'row')}, {count(built.problems, 'problem')}: {one_line(str(built.index))}")
    return 0


def serve(
    folder: Annotated[Path, typer.Argument(metavar="DIR", show_default=False, help="What `whet board build` made.")],
    port: Annotated[int, typer.Option("--port", metavar="N", help="Port of the loopback address; 0 takes any.")] = 8000,
    debug: opt.Debug = False,
) -> int:
    """Show a leaderboard to the browsers of this machine, until Ctrl-C."""
    from whet.benchmarks.board.serve import serving

    with serving(folder, port) as (server, address):
        try:
            print(f"{address} (Ctrl-C ends it)", flush=True)
            server.serve_forever()
        except KeyboardInterrupt:
            print()
    return 0


@opt.takes("python", "sandbox", "unsafe")
def check(
    submission: Annotated[
        Path,
        typer.Argument(
            metavar="SUBMISSION", show_default=False, help="A file of rows, with the folder of its bundles beside it."
        ),
    ],
    root: Annotated[
        Path | None, typer.Option("--root", metavar="DIR", help="Where the suite's own data lies, if it needs any.")
    ] = None,
    signers: opt.Signers = None,
    as_json: opt.Json = False,
    debug: opt.Debug = False,
    **given: Any,
) -> int:
    """Repeat the evidence of each submitted row here, and say which rows can be believed."""
    from whet.benchmarks.board.submission import Belief, Checker
    from whet.core.errors import Exit
    from whet.core.options import Options

    checker = Checker(root=root, signers=signers, options=Options(**given))
    found = list(_told(checker.check(submission), silent=as_json))
    accepted = sum(one.belief is Belief.ACCEPTED for one in found)
    if as_json:
        print(json.dumps(_document(found), indent=2))
    else:
        print(f"{accepted} of {count(len(found), 'row')} accepted")
    return int(Exit.IMPROVED if accepted == len(found) else Exit.NO_IMPROVEMENT)


def _told(found: Iterable[Checked], *, silent: bool) -> Iterator[Checked]:
    """Passes on what was found, and prints a line for each row at once: a repetition takes its time."""
    for one in found:
        if not silent:
            row = one.row
            name = f"{one_line(row.problem, 40)}, {one_line(row.model, 40)}, sample {row.sample}: " if row else ""
            print(f"{name}{one.belief}: {one_line(one.why, 300)}", flush=True)
        yield one


def _document(found: list[Checked]) -> dict[str, object]:
    rows = [
        {
            "suite": one.row.suite if one.row else None,
            "problem": one.row.problem if one.row else None,
            "model": one.row.model if one.row else None,
            "sample": one.row.sample if one.row else None,
            "belief": one.belief.value,
            "why": one.why,
        }
        for one in found
    ]
    return {"schema": "whet.board.check/1", "rows": rows}
