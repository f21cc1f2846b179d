"""``whet bot``: the pull-request bot, as a server for a GitHub App and as a step of a workflow."""

from __future__ import annotations

import json
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from whet.cli import options as opt
from whet.core.errors import UsageError

if TYPE_CHECKING:
    from whet.bot.settings import JobLimits

Model = Annotated[str, typer.Option("--model", metavar="MODEL", help="Who proposes, as for `whet optimize`.")]
BudgetUsd = Annotated[
    float, typer.Option("--budget-usd", metavar="USD", help="Cap on what the models of one job may cost.")
]
BudgetSeconds = Annotated[float, typer.Option("--budget-seconds", metavar="S", help="Cap on the wall time of one job.")]
Top = Annotated[int, typer.Option("--top", metavar="N", help="Functions of one pull request that are looked at.")]


def _limits(
    model: str, budget_usd: float, budget_seconds: float, rounds: int, top: int, sandbox: str, python: Path | None
) -> JobLimits:
    from whet.bot.settings import JobLimits

    for option, value in (("--rounds", rounds), ("--top", top), ("--budget-seconds", budget_seconds)):
        if value < 1:
            raise UsageError(f"{option} {value:g} is below 1")
    if budget_usd < 0:
        raise UsageError(f"--budget-usd {budget_usd:g} is negative")
    if sandbox == "none":
        raise UsageError("the bot runs strangers' code: --sandbox none is not for it")
    return JobLimits(
        model, budget_usd, budget_seconds, rounds, top, sandbox, None if python is None else python.absolute()
    )


class Stage(StrEnum):
    """Parts of an Action's work."""

    ALL = "all"
    WORK = "work"
    POST = "post"


@opt.takes("python", "sandbox")
def serve(
    host: Annotated[str, typer.Option("--host", metavar="ADDRESS", help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", metavar="N", help="0 takes any that is free.")] = 8000,
    processes: Annotated[
        int, typer.Option("--processes", metavar="N", help="Processes that work on what arrives; 0 accepts only.")
    ] = 1,
    model: Model = "catalogue",
    budget_usd: BudgetUsd = 1.0,
    budget_seconds: BudgetSeconds = 3600.0,
    rounds: opt.Rounds = 3,
    top: Top = 5,
    workers: opt.Spread = 2,
    debug: opt.Debug = False,
    **given: Any,
) -> int:
    """Answer a GitHub App's webhooks, until Ctrl-C."""
    from whet.bot.redact import start_log
    from whet.bot.serve import serve as work
    from whet.bot.settings import Places

    if processes < 0:
        raise UsageError(f"--processes {processes} is below 0")
    limits = replace(_limits(model, budget_usd, budget_seconds, rounds, top, **given), workers=str(workers))
    start_log()
    work(host, port, processes, Places.read(), limits)
    return 0


def queue(as_json: opt.Json = False, debug: opt.Debug = False) -> int:
    """Show how many deliveries were accepted, and how far the jobs are."""
    from whet.bot.queue import Queue
    from whet.bot.settings import Places

    waiting = Queue(Places.read().folder)
    counts = waiting.counts()
    waiting.close()
    if as_json:
        print(json.dumps(counts, indent=2))
    else:
        print(
            f"{counts['deliveries']} deliveries; jobs: "
            + ", ".join(f"{n} {name}" for name, n in counts["jobs"].items())
        )
    return 0


@opt.takes("python", "sandbox")
def action(
    stage: Annotated[
        Stage,
        typer.Option("--stage", help="work: find out, with a token that reads; post: post what that found; or all."),
    ] = Stage.ALL,
    findings: Annotated[
        Path, typer.Option("--findings", metavar="FILE", help="Written by the stage work, read by the stage post.")
    ] = Path("whet-findings.json"),
    model: Model = "catalogue",
    budget_usd: BudgetUsd = 1.0,
    budget_seconds: BudgetSeconds = 3600.0,
    rounds: opt.Rounds = 3,
    top: Top = 5,
    debug: opt.Debug = False,
    **given: Any,
) -> int:
    """Answer the event of a GitHub workflow: GITHUB_EVENT_NAME, GITHUB_EVENT_PATH and GITHUB_TOKEN."""
    from whet.bot.action import act
    from whet.bot.redact import start_log

    limits = _limits(model, budget_usd, budget_seconds, rounds, top, **given)
    start_log()
    print(act(stage.value, findings, limits))
    return 0
