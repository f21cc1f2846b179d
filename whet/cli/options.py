"""The options of the command line: names and help, shared by the commands.

Defaults stand in the commands' signatures; a test holds them to those of `whet.core.config`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from whet.core.errors import UsageError


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

# What `optimize` and `verify` share: the fields of `whet.core.config.Options`.
Workload = Annotated[
    Path | None,
    typer.Option("--workload", metavar="PATH", help="Workload file, or folder of NAME.in and NAME.out."),
]
Tests = Annotated[
    str | None,
    typer.Option("--tests", metavar="CMD", help="The target's own test command, such as 'pytest -q'."),
]
Record = Annotated[
    str | None,
    typer.Option(
        "--record",
        metavar="CMD",
        help="Run this once, such as 'pytest -q' or 'python script.py', and take its calls of the target as inputs.",
    ),
]
Project = Annotated[
    Path | None,
    typer.Option(
        "--project",
        metavar="DIR",
        help="The folder whose copy --tests and --record run in; else the current one, or the target's project.",
    ),
]
Metric = Annotated[
    str,
    typer.Option(
        "--metric",
        metavar="NAMES",
        help="Less time, cpu, memory, instructions, energy, or more throughput; of several (a,b), the first decides.",
    ),
]
MaxMemory = Annotated[
    str | None,
    typer.Option("--max-memory", metavar="LIMIT", help="Peak memory at most: 1.1x the original's, or 512MiB."),
]
MaxTime = Annotated[str | None, typer.Option("--max-time", metavar="LIMIT", help="Time at most: 1.05x the original's.")]
MinSpeedup = Annotated[
    float, typer.Option("--min-speedup", metavar="RATIO", help="The smallest ratio that counts as faster.")
]
Confidence = Annotated[
    float, typer.Option("--confidence", metavar="SHARE", help="Confidence of intervals and decisions.")
]
Quick = Annotated[
    bool,
    typer.Option("--quick", help="Decide at one look of eight turns: sooner, with a wider interval; marked as such."),
]
Cores = Annotated[int, typer.Option("--cores", metavar="N", help="Cores that both sides may use.")]
Until = Annotated[str | None, typer.Option("--until", metavar="RUNG", help="The last rung of the ladder to climb.")]
Python = Annotated[
    Path | None,
    typer.Option(
        "--python",
        metavar="PATH",
        help="Interpreter that candidates run on; else that of the project's environment, else whet's own.",
    ),
]
Device = Annotated[str, typer.Option("--device", metavar="NAME", help="Of kernels: auto, cpu or cuda.")]
Arch = Annotated[
    str | None,
    typer.Option(
        "--arch",
        metavar="NAME",
        help="GPU that kernels are compiled for, such as sm_90; else that of this machine, else sm_90.",
    ),
]
Sandbox = Annotated[
    str, typer.Option("--sandbox", metavar="NAME", help="auto, docker, bubblewrap, or none with --unsafe.")
]
Unsafe = Annotated[
    bool, typer.Option("--unsafe", help="Allow --sandbox none: candidates then run with your own rights.")
]
Workers = Annotated[int, typer.Option("--workers", metavar="N", help="Candidates checked side by side.")]


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
Seed = Annotated[
    int | None,
    typer.Option("--seed", metavar="N", help="Seed of the inputs, never shown to a candidate; else drawn."),
]
Root = Annotated[
    Path | None,
    typer.Option(
        "--root", metavar="DIR", help="A local checkout of the suite that TARGET names: kernelbench:LEVEL/ID."
    ),
]
Protocol = Annotated[
    str | None,
    typer.Option("--protocol", metavar="NAME", help="A suite's own rule, told beside whet's verdict: kernelbench."),
]
TorchFlags = Annotated[
    str | None,
    typer.Option(
        "--torch-flags",
        metavar="LIST",
        help="Switches that both sides of a torch module run with: tf32, cudnn-benchmark, or both with a comma.",
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


Run = Annotated[
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
