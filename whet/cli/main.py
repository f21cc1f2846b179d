"""The command line: ``whet``. Whatever is heavy is imported inside the commands."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Sequence
from typing import Annotated, Any

import typer
from typer.completion import shell_complete
from typer.core import TyperGroup

from whet.cli import (
    audit,
    bench,
    bench_self,
    board,
    bot,
    doctor,
    init,
    optimize,
    profile,
    run_list,
    runs,
    store,
    transpile,
    verify,
)
from whet.cli.errors import Invocation, guarded
from whet.cli.mcp.command import mcp
from whet.cli.options import Debug
from whet.core.about import __version__
from whet.core.errors import UsageError, nearest

COMPLETE = "_WHET_COMPLETE"
"""Set by the script of `--show-completion` while a shell asks what may follow."""


class Commands(TyperGroup):
    """A group of commands that answers an unknown one with the nearest known."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Finds the command that the arguments begin with."""
        if args and args[0] not in self.commands and not ctx.resilient_parsing:
            mend = nearest(args[0], self.commands) or f"; it has {', '.join(self.commands)}"
            raise UsageError(f"'{ctx.command_path}' has no command '{args[0]}'{mend}")
        return super().resolve_command(ctx, args)


def _print_version(asked: bool) -> None:
    if asked:
        print(f"whet {__version__}")
        raise typer.Exit


def _group(help: str, *, completes: bool = False) -> typer.Typer:
    return typer.Typer(
        cls=Commands,
        help=help,
        add_completion=completes,
        rich_markup_mode=None,
        context_settings={"help_option_names": ["--help", "-h"]},
    )


app = _group("Makes code faster and proves it.", completes=True)


@app.callback()
def whet(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version and exit."),
    ] = False,
    debug: Debug = False,
) -> None:
    """Makes code faster and proves it."""


app.command("doctor")(doctor.doctor)
app.command("optimize")(optimize.optimize)
app.command("verify")(verify.verify)
app.command("audit")(audit.audit)
app.command("profile")(profile.profile)
app.command("transpile")(transpile.transpile)
app.command("init")(init.init)
app.command("mcp")(mcp)

past = _group("Past runs: list, show, resume, replay, export and delete them.")
past.command("list")(run_list.list_runs)
past.command("show")(runs.show)
past.command("resume")(runs.resume)
past.command("replay")(runs.replay)
past.command("export")(runs.export)
past.command("delete")(run_list.delete)
past.command("prune")(run_list.prune)
app.add_typer(past, name="runs")

stores = _group("Where runs live: show it, and migrate what an older whet wrote.")
stores.command("show")(store.show)
stores.command("migrate")(store.migrate)
app.add_typer(stores, name="store")

benchmarks = _group("Benchmarks: suites of others and of whet, and whet itself.")
benchmarks.command("list")(bench.list_suites)
benchmarks.command("fetch-help")(bench.fetch_help)
benchmarks.command("run")(bench.run)
benchmarks.command("score")(bench.score)
benchmarks.command("self")(bench_self.measure_self)
app.add_typer(benchmarks, name="bench")

boards = _group("The leaderboard: build it, show it, and check rows from elsewhere.")
boards.command("build")(board.build)
boards.command("serve")(board.serve)
boards.command("check")(board.check)
app.add_typer(boards, name="board")

pull_requests = _group("The pull-request bot: a server for a GitHub App, or a step of a workflow.")
pull_requests.command("serve")(bot.serve)
pull_requests.command("queue")(bot.queue)
pull_requests.command("action")(bot.action)
app.add_typer(pull_requests, name="bot")


def main(arguments: Sequence[str] | None = None, session: Invocation | None = None) -> int:
    """Runs the command line and returns its exit code.

    Args:
        arguments: what follows the program's name; by default the process's own.
        session: what the caller brings; None is a fresh one.
    """
    words = list(sys.argv[1:] if arguments is None else arguments) or ["--help"]
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    session = session or Invocation()

    def work() -> int:
        command = typer.main.get_command(app)
        if instruction := os.environ.get(COMPLETE):
            return shell_complete(command, {}, "whet", COMPLETE, instruction)
        with command.make_context("whet", words, obj=session) as context:
            return int(command.invoke(context) or 0)

    return guarded(session, work)
