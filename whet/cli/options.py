"""The options of the command line: names and help, shared by the commands.

Defaults stand in the commands' signatures; a test holds them to those of `whet.core.config`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer


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
        "or a folder with whet.toml.",
    ),
]

# What `optimize` and `verify` share: the fields of `whet.core.config.Options`.
Workload = Annotated[
    Path | None,
    typer.Option("--workload", metavar="PATH", help="Workload file, or folder of NAME.in and NAME.out."),
]
Tests = Annotated[
    str | None,
    typer.Option("--tests", metavar="CMD", help="The target's own test command, such as 'pytest -q'."),
]
Metric = Annotated[
    str, typer.Option("--metric", metavar="NAME", help="What is to be improved: time, memory, instructions or energy.")
]
MinSpeedup = Annotated[
    float, typer.Option("--min-speedup", metavar="RATIO", help="The smallest ratio that counts as faster.")
]
Confidence = Annotated[
    float, typer.Option("--confidence", metavar="SHARE", help="Confidence of intervals and decisions.")
]
Cores = Annotated[int, typer.Option("--cores", metavar="N", help="Cores that both sides may use.")]
Until = Annotated[str | None, typer.Option("--until", metavar="RUNG", help="The last rung of the ladder to climb.")]
Python = Annotated[
    Path | None,
    typer.Option("--python", metavar="PATH", help="Interpreter that candidates run on; else whet's own."),
]
Device = Annotated[str, typer.Option("--device", metavar="NAME", help="auto, cpu or cuda.")]
Sandbox = Annotated[
    str, typer.Option("--sandbox", metavar="NAME", help="auto, docker, bubblewrap, or none with --unsafe.")
]
Unsafe = Annotated[
    bool, typer.Option("--unsafe", help="Allow --sandbox none: candidates then run with your own rights.")
]
Workers = Annotated[int, typer.Option("--workers", metavar="N", help="Candidates checked side by side.")]
Seed = Annotated[
    int | None,
    typer.Option("--seed", metavar="N", help="Seed of the inputs, never shown to a candidate; else drawn."),
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
Strategy = Annotated[
    str,
    typer.Option("--strategy", metavar="NAME", help="How the next candidates are chosen: auto or refine."),
]
Rounds = Annotated[int, typer.Option("--rounds", metavar="N", help="Turns of the loop at most.")]
Candidates = Annotated[int, typer.Option("--candidates", metavar="N", help="Candidates a round.")]
BudgetUsd = Annotated[float | None, typer.Option("--budget-usd", metavar="USD", help="Cap on what models may cost.")]
BudgetTokens = Annotated[
    int | None, typer.Option("--budget-tokens", metavar="N", help="Cap on tokens, input and output together.")
]
BudgetCalls = Annotated[int | None, typer.Option("--budget-calls", metavar="N", help="Cap on model calls.")]
BudgetCandidates = Annotated[
    int | None,
    typer.Option("--budget-candidates", metavar="N", help="Cap on distinct candidates evaluated."),
]
BudgetSeconds = Annotated[float | None, typer.Option("--budget-seconds", metavar="S", help="Cap on wall time.")]
Apply = Annotated[bool, typer.Option("--apply", help="Write the verified improvement into the target's file.")]
Output = Annotated[
    Path | None,
    typer.Option("--output", "-o", metavar="FILE", help="Write the whole improved source to this file."),
]

# Of `verify` alone.
JudgedTarget = Annotated[
    str | None,
    typer.Argument(
        metavar="[TARGET]",
        show_default=False,
        help="file.py::function, file.py::Class.method, a program (.py, .c, .cpp) over stdin and stdout, "
        "or a folder with whet.toml; none with --evidence.",
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
    Path | None, typer.Option("--patch", metavar="FILE", help="A unified diff against the target's file.")
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

Run = Annotated[str, typer.Argument(metavar="ID", show_default=False, help="The run, as `whet runs list` names it.")]


def given(ctx: typer.Context) -> dict[str, Any]:
    """Returns a command's parameters as the library takes them; those of the command line alone are left out."""
    return {name: value for name, value in ctx.params.items() if name not in ("as_json", "debug")}
