"""``whet bench``: suites of benchmarks."""

from __future__ import annotations

import json
import shlex
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from whet.cli import options as opt
from whet.core.errors import Exit, UsageError
from whet.core.options import CAPS
from whet.core.text import count, one_line

Suite = Annotated[str, typer.Argument(metavar="SUITE", show_default=False, help="As `whet bench list` names it.")]
Root = Annotated[Path | None, typer.Option("--root", metavar="DIR", help="Where the suite's own data lies.")]


def list_suites(as_json: opt.Json = False, debug: opt.Debug = False) -> int:
    """List the suites: how far each was tried, and what must lie where."""
    from whet.benchmarks.suites.registry import MODULES, suite_named

    suites = [suite_named(name) for name in sorted(MODULES)]
    if as_json:
        rows = [{"suite": one.name, "title": one.title, "status": one.status, **asdict(one.origin)} for one in suites]
        print(json.dumps(rows, indent=2))
        return 0
    for suite in suites:
        print(f"{suite.name:<16}{suite.status:<28}{suite.title}")
        files = ", ".join(suite.origin.files)
        print(f"{'':<16}{f'under --root: {files}' if files else 'needs no data'}")
    return 0


def fetch_help(suite: Suite, root: Root = None, debug: opt.Debug = False) -> int:
    """Say where the data of a suite is to be had, and check what is there. Nothing is downloaded."""
    from whet.benchmarks.runner.plan import read_suite
    from whet.benchmarks.suites.registry import suite_named

    found = suite_named(suite)
    origin = found.origin
    print(f"{found.name}: {found.title}")
    print(f"from      {origin.source}")
    print(f"licence   {origin.licence}")
    for pattern, meaning in origin.files.items():
        print(f"file      {pattern}: {meaning}")
    for note in origin.notes:
        print(f"note      {note}")
    if root is None and origin.files:
        print(f"check it  whet bench fetch-help {found.name} --root DIR")
        return 0
    reading = read_suite(found, root)
    groups = sorted({problem.group for problem in reading.problems if problem.group})
    told = f" in {', '.join(map(one_line, groups))}" if groups else ""
    print(f"found     {count(len(reading.problems), 'problem')}{told}")
    for fault in reading.faults:
        print(f"fault     {one_line(fault)}")
    return 0


JUDGED = ("min_speedup", "confidence", "cores", "until", "python", "device", "arch", "sandbox", "unsafe", "seed")
"""Options of the verdicts."""


@opt.takes(*CAPS, *JUDGED)
def run(
    ctx: typer.Context,
    suite: Suite,
    root: Root = None,
    model: Annotated[
        str | None,
        typer.Option(
            "--model",
            metavar="MODEL",
            help="Who answers: a model as for `whet optimize`; or unchanged, known-best, or answers:FILE, JSON lines "
            "of problem, sample and answer. Else the configuration, WHET_MODEL, catalogue.",
        ),
    ] = None,
    samples: Annotated[
        int | None, typer.Option("--samples", metavar="K", help="Answers to each problem; else 1, or what FILE has.")
    ] = None,
    ids: Annotated[str | None, typer.Option("--ids", metavar="IDS", help="These problems alone, with commas.")] = None,
    groups: Annotated[
        str | None, typer.Option("--groups", metavar="NAMES", help="Problems of these groups alone, with commas.")
    ] = None,
    limit: Annotated[int | None, typer.Option("--limit", metavar="N", help="The first so many of them.")] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            "--resume",
            metavar="FILE",
            help="Append the rows to this file; what stands in it is not done again. Else SUITE.jsonl.",
        ),
    ] = None,
    export: Annotated[
        Path | None, typer.Option("--export", metavar="DIR", help="Write the suite's own format of results there too.")
    ] = None,
    workers: Annotated[
        Any,
        typer.Option(
            "--workers",
            metavar=opt.WORKERS,
            parser=opt.workers_of,
            help="Problems worked on side by side; or who gives whet's verdicts: other processes, or a Ray cluster.",
        ),
    ] = 1,
    verdict: Annotated[
        bool, typer.Option("--verdict/--no-verdict", help="Have whet judge given answers too, or the own rule alone.")
    ] = True,
    total_usd: Annotated[
        float | None, typer.Option("--total-usd", metavar="USD", help="Cap on what all answers together may cost.")
    ] = None,
    total_seconds: Annotated[
        float | None, typer.Option("--total-seconds", metavar="S", help="Begin no further problem after so long.")
    ] = None,
    join: Annotated[
        str | None,
        typer.Option(
            "--join",
            metavar="NAME",
            help="Share the work with all drivers that give this name on the same store; each FILE gets all rows.",
        ),
    ] = None,
    judge_model: opt.JudgeModel = None,
    strategy: opt.Strategy = "auto",
    rounds: opt.Rounds = 8,
    candidates: opt.Candidates = 4,
    debug: opt.Debug = False,
    **given: Any,
) -> int:
    """Answer a suite's problems, judge each by the suite's own rule and by whet, and keep a row of each."""
    from whet.benchmarks.runner.answers import given_answers
    from whet.benchmarks.runner.models import expect_model
    from whet.benchmarks.runner.plan import chosen, read_suite
    from whet.benchmarks.runner.request import BenchRequest, LoopSettings, Total
    from whet.benchmarks.runner.run import opened
    from whet.benchmarks.suites.registry import suite_named
    from whet.cli.bench_progress import following
    from whet.core.options import Options

    found = suite_named(suite)
    cluster = workers if isinstance(workers, str) else ""
    options = Options(**{name: given[name] for name in JUDGED}, cluster=cluster)
    reading = read_suite(found, root)
    problems = chosen(reading.problems, _words(ids), _words(groups), limit)
    answers = given_answers(model or "", reading.problems, found)
    budget = opt.budget_of(given)
    asked = BenchRequest(
        suite=found,
        answers=answers or expect_model(LoopSettings(model or "", judge_model, strategy, rounds, candidates, budget)),
        options=options,
        verdict=verdict,
        total=Total(total_usd, total_seconds),
        workers=1 if isinstance(workers, str) else workers,
        join=join,
    )
    file = output or Path(f"{found.name}.jsonl")
    again = shlex.join(["whet", *sys.argv[1:]])
    ctx.obj.resume = again
    for fault in reading.faults:
        print(f"left out: {one_line(fault)}")
    with opened(asked, problems, samples or (answers.samples if answers else 1), file) as work:
        with following(work) as tell:
            for done in work.work():
                tell(done)
        errors, stopped = work.errors, work.stopped
    ctx.obj.resume = None
    if export is not None:
        _export(found.name, file, asked.labels, export)
    print(f"rows in {file}; score them: whet bench score {shlex.quote(str(file))}")
    if stopped or errors:
        why = stopped or f"{count(errors, 'answer')} could not be judged"
        print(one_line(f"{why}; go on with: {again}"), file=sys.stderr)
        return int(Exit.BUDGET if stopped else Exit.INTERNAL)
    return 0


def _words(text: str | None) -> tuple[str, ...]:
    return tuple(word.strip() for word in text.split(",") if word.strip()) if text else ()


def _export(name: str, file: Path, labels: tuple[str, str, str], folder: Path) -> None:
    from whet.benchmarks.runner.rows import read_rows
    from whet.benchmarks.suites.registry import suite_named

    rows = [
        row for row in read_rows(file).rows if (row.model, row.strategy, row.budget) == labels and row.suite == name
    ]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        written = suite_named(name).export(rows, folder)
    except OSError as error:
        raise UsageError(f"--export {folder} cannot be written: {error.strerror}") from None
    print(f"results in {written}" if written else f"{name} has no format of results but the rows")


def score(
    files: Annotated[
        list[Path],
        typer.Argument(metavar="FILE...", show_default=False, help="Rows of whet bench run, or a suite's own results."),
    ],
    as_json: opt.Json = False,
    debug: opt.Debug = False,
) -> int:
    """Score results by each suite's own definition, with whet's verdict beside it."""
    from whet.benchmarks.runner.standings import scored
    from whet.cli.bench_tables import table

    found = scored(files)
    if as_json:
        print(json.dumps(found.to_json(), indent=2, allow_nan=False))
        return 0
    for line in table(found):
        print(line)
    return 0
