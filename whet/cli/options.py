"""The options of the command line: names and help, shared by the commands.

What a library call takes too is declared in `whet.core.options`: `takes` makes options of it.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import fields
from inspect import Parameter
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer

from whet.core.errors import UsageError
from whet.core.options import CAPS, Budget, Options, declared

CommandFunction = TypeVar("CommandFunction", bound=Callable[..., int])

SHARED = tuple(field.name for field in fields(Options) if field.name not in ("to", "cluster"))
"""Options of a verdict; the others are of `transpile` alone, and a form of ``--workers``."""


def takes(*names: str) -> Callable[[CommandFunction], CommandFunction]:
    """Returns a decorator that gives a command options as they are declared, in the place of its ``**given``.

    They come before those for the output. A command may declare one of them itself, in another form.
    """

    def with_options(command: CommandFunction) -> CommandFunction:
        own = inspect.signature(command, eval_str=True).parameters
        kept = [parameter for parameter in own.values() if parameter.kind is not Parameter.VAR_KEYWORD]
        made = [_parameter(name) for name in names if name not in own]
        last = next((place for place, parameter in enumerate(kept) if parameter.name in SHOWN[:2]), len(kept))
        parameters = [*kept[:last], *made, *kept[last:]]
        command.__signature__ = inspect.Signature(parameters, return_annotation=int)  # type: ignore[attr-defined]
        return command

    return with_options


def _parameter(name: str) -> Parameter:
    kind, field = (Budget, CAPS[name]) if name in CAPS else (Options, name)
    type, said = declared(kind)[field]
    option = typer.Option(f"--{name.replace('_', '-')}", metavar=said.metavar or None, help=said.help)
    default = next(one.default for one in fields(kind) if one.name == field)
    return Parameter(name, Parameter.POSITIONAL_OR_KEYWORD, default=default, annotation=Annotated[type, option])


def budget_of(given: dict[str, Any]) -> Budget:
    """Returns the caps among a command's options."""
    return Budget(**{name: given[option] for option, name in CAPS.items()})


def _set_debug(ctx: typer.Context, asked: bool) -> None:
    if asked and ctx.obj is not None:
        ctx.obj.debug = True


Debug = Annotated[
    bool,
    typer.Option("--debug", callback=_set_debug, is_eager=True, help="Show a traceback with an error."),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document and nothing else.")]
Target = Annotated[
    str,
    typer.Argument(
        metavar="TARGET",
        show_default=False,
        help="file.py::function, file.py::Class.method, a program (.py, .c, .cpp) over stdin and stdout, "
        "a folder with whet.toml, a repository's folder, or a kernel problem: a file of KernelBench's, "
        "kernelbench:LEVEL/ID, or a task folder of robust-kbench.",
    ),
]

# What `optimize` and `verify` share, and other commands take some of: see `takes`.

WORKERS = "N|local[:N]|ray[://HOST:PORT]"


def workers_of(text: str | int) -> str | int:
    """Returns what stands after ``--workers``: a number of candidates, or who evaluates them.

    Raises:
        UsageError: it is neither.
    """
    given = str(text)
    if given.isdecimal():
        return int(given)
    if given.partition(":")[0] in ("local", "ray"):
        return given
    raise UsageError(f"--workers takes N, local, local:N, ray or ray://HOST:PORT, not '{given}'")


Spread = Annotated[
    Any,
    typer.Option(
        "--workers",
        metavar=WORKERS,
        parser=workers_of,
        help="Candidates checked side by side; or who evaluates them: other processes, or the hosts of a Ray cluster.",
    ),
]
# Of `optimize` alone.
Model = Annotated[
    str | None,
    typer.Option(
        "--model",
        metavar="MODEL",
        help="Who proposes: catalogue, anthropic:NAME, openai:NAME[@BASE_URL], manual:DIR, replay:RUN, "
        "or a comma-separated list. Else the configuration, WHET_MODEL, catalogue.",
    ),
]
JudgeModel = Annotated[
    str | None, typer.Option("--judge-model", metavar="MODEL", help="Who judges; else the same as --model.")
]
Takeover = Annotated[
    str | None,
    typer.Option(
        "--takeover", metavar="MODEL", help="Who proposes in the place of --model once that stalls; else nobody."
    ),
]
KnownBestFile = Annotated[
    Path | None,
    typer.Option(
        "--known-best",
        metavar="FILE",
        help="A version known to be good: timed first, shown to no model; the run ends once it comes up to that.",
    ),
]
Strategy = Annotated[
    str,
    typer.Option(
        "--strategy", metavar="NAME", help="How the next candidates are chosen: auto, refine, best-of, beam or evolve."
    ),
]
Rounds = Annotated[int, typer.Option("--rounds", metavar="N", help="Turns of the loop at most.")]
Candidates = Annotated[int, typer.Option("--candidates", metavar="N", help="Candidates a round.")]
Interactive = Annotated[
    bool, typer.Option("--interactive", help="Ask you before each round: hints, edits, rejections, pinned lines.")
]
Apply = Annotated[bool, typer.Option("--apply", help="Write the verified improvement into the target's file.")]
Output = Annotated[
    Path | None,
    typer.Option("--output", "-o", metavar="FILE", help="Write the whole improved source to this file."),
]

# Of repositories alone.
Whole = Annotated[
    str | None,
    typer.Option("--run", metavar="CMD", help="Of a repository: the command whose time counts, such as a benchmark."),
]
Top = Annotated[
    int | None, typer.Option("--top", metavar="N", help="Of a repository: hot functions that are tried; else 5.")
]
MinShare = Annotated[
    float | None,
    typer.Option(
        "--min-share", metavar="SHARE", help="Of a repository: what takes less of its time is left; else 0.01."
    ),
]
Changed = Annotated[
    str | None,
    typer.Option("--changed", metavar="BASE", help="Of a repository: only functions that changed since this revision."),
]

# Of `verify` alone.
Revisions = Annotated[
    str | None,
    typer.Option(
        "--rev", metavar="A..B", help="Judge a change of a repository: what B did to A. TARGET is then its folder."
    ),
]
JudgedTarget = Annotated[
    str | None,
    typer.Argument(
        metavar="[TARGET]",
        show_default=False,
        help="file.py::function, file.py::Class.method, a program (.py, .c, .cpp) over stdin and stdout, "
        "a folder with whet.toml, or a kernel problem, as after `whet optimize`; none with --evidence.",
    ),
]
Evidence = Annotated[
    Path | None,
    typer.Option("--evidence", metavar="FILE", help="Repeat the verdict of a bundle that `whet runs export` wrote."),
]
Signers = Annotated[
    Path | None,
    typer.Option("--signers", metavar="FILE", help="Allowed signers of that bundle, in the form of ssh-keygen."),
]
CandidateFile = Annotated[
    Path | None,
    typer.Option("--candidate", metavar="FILE", help="A full replacement of the target's file."),
]
PatchFile = Annotated[
    Path | None,
    typer.Option("--patch", metavar="FILE", help="A unified diff of the target's file, by diff -u or git diff."),
]

# Of `audit` alone.
Mutants = Annotated[int, typer.Option("--mutants", metavar="N", help="Mutants of the target to try at most.")]

# Of `profile` alone.
PrivilegedCounters = Annotated[
    bool,
    typer.Option(
        "--privileged-counters",
        help="Count hardware events too, in a sandbox that is loosened for that; it says how.",
    ),
]


def known_runs(incomplete: str) -> list[str]:
    """Returns the ids of runs that begin so, for a shell's completion."""
    from whet.core.store import Store

    store = Store()
    try:
        return [record.id for record in store.runs() if record.id.startswith(incomplete)]
    finally:
        store.close()


RunArgument = Annotated[
    str,
    typer.Argument(
        metavar="ID",
        show_default=False,
        autocompletion=known_runs,
        help="The run, as `whet runs list` names it.",
    ),
]

Runs = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="ID",
        show_default=False,
        autocompletion=known_runs,
        help="The runs, as `whet runs list` names them; one, but for --format.",
    ),
]


REPOSITORY = ("run", "top", "min_share", "changed", "rev")
"""Parameters that mean something for a repository alone."""
SHOWN = ("as_json", "debug", "interactive")


def given(ctx: typer.Context) -> dict[str, Any]:
    """Returns a command's parameters as the library takes them; those of the command line alone are left out.

    Raises:
        UsageError: one of them is for a repository, which the target is not.
    """
    if other := next((name for name in REPOSITORY if ctx.params.get(name) is not None), None):
        raise UsageError(f"--{other.replace('_', '-')} goes with a repository's folder")
    return spread({name: value for name, value in ctx.params.items() if name not in (*SHOWN, *REPOSITORY)})


def spread(params: dict[str, Any]) -> dict[str, Any]:
    """Returns parameters with ``--workers`` as the options have it: ``workers``, or ``cluster``."""
    workers = params.pop("workers", None)
    if workers is None:
        return params
    return {**params, "cluster" if isinstance(workers, str) else "workers": workers}


def written(ctx: typer.Context) -> dict[str, Any]:
    """Returns what the user wrote after a command, but for the target: what is there by default is left out."""
    asked = {name for name in ctx.params if getattr(ctx.get_parameter_source(name), "name", "") == "COMMANDLINE"}
    return {name: value for name, value in ctx.params.items() if name in asked and name not in (*SHOWN, "target")}
