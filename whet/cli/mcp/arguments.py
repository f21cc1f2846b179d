"""From a tool's arguments, which an agent wrote, to the words of a command line that may be run for it."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from whet.agents.budget import DEFAULT_USD
from whet.core.config import describe_invalid
from whet.core.errors import UsageError, nearest
from whet.core.options import METRICS, Budget, Options, declared
from whet.core.text import one_line
from whet.evaluators.task_file import FILENAME

FREE = ("catalogue", "replay")
"""Words of the models that ask nobody and cost nothing."""
PATHS = ("workload", "candidate_file")
"""Arguments that name files below the root."""
APART = ("target", "candidate", "patch", "model", "budget_usd")
"""Arguments that become no option as they are."""
TASK_PATHS = (
    ("task", "target"),
    ("task", "source"),
    ("oracle", "reference"),
    ("workload", "cases"),
    ("workload", "generator"),
)
"""Where a task's own file names others."""
LONGEST = 4 << 20
"""Characters of a rewrite that comes as text."""


def _told(name: str, kind: type = Options) -> str:
    """Returns what is told of an option on the command line."""
    return declared(kind)[name][1].help


class Arguments(BaseModel):
    """What every tool's arguments have in common: an unknown one is an error."""

    model_config = ConfigDict(extra="forbid")


class TargetArguments(Arguments):
    """What names a target and its inputs."""

    target: str = Field(
        description="file.py::function, file.py::Class.method, a program (.py, .c, .cpp) over stdin and stdout, or a "
        "folder with whet.toml; relative to the server's root."
    )
    workload: str | None = Field(None, description=_told("workload"))
    record: str | None = Field(
        None,
        description="Command, such as 'pytest -q' or 'python script.py', that is run once in the sandbox; its calls of "
        "the target become the inputs.",
    )


class ProfileArguments(TargetArguments):
    """Show where a target's time and memory go: hot functions, hot lines, memory by line, counters."""


class AuditArguments(TargetArguments):
    """Try the checks of a target on candidates that they must reject: some that do no work, and mutants of it."""

    tests: str | None = Field(None, description=_told("tests"))
    mutants: int = Field(60, ge=0, le=500, description="Mutants to try at most.")


class MeasuredArguments(TargetArguments):
    """What `verify` and `optimize` share."""

    tests: str | None = Field(None, description=_told("tests"))
    metric: str = Field(
        "time",
        pattern=rf"^({'|'.join(METRICS)})(,({'|'.join(METRICS)}))*$",
        description=f"What is to be improved: {', '.join(METRICS)}; several with commas, the first decides.",
    )
    max_memory: str | None = Field(None, description=_told("max_memory"))
    max_time: str | None = Field(None, description=_told("max_time"))
    min_speedup: float = Field(1.01, ge=1.0, description=_told("min_speedup"))
    confidence: float = Field(0.99, gt=0.5, lt=1.0, description=_told("confidence"))
    cores: int = Field(1, ge=1, description=_told("cores"))
    until: str | None = Field(None, description="The last rung of the ladder to climb, such as differential.")


class VerifyArguments(MeasuredArguments):
    """Judge a rewrite of a target: is it right, and is it faster? Give candidate, candidate_file or patch."""

    candidate: str | None = Field(None, max_length=LONGEST, description="The whole new text of the target's file.")
    candidate_file: str | None = Field(None, description="A file that holds it, instead.")
    patch: str | None = Field(
        None, max_length=LONGEST, description="A unified diff against the target's file, as text, instead."
    )


class OptimizeArguments(MeasuredArguments):
    """Search for a faster version of a target and prove it. Takes minutes; no file is changed: apply the diff."""

    model: str | None = Field(None, description="Who proposes: catalogue (free, the default) or replay:RUN.")
    rounds: int = Field(8, ge=1, description="Turns of the loop at most.")
    candidates: int = Field(4, ge=1, description="Candidates a round.")
    budget_usd: float | None = Field(None, ge=0, description="Cap on what models may cost, in USD.")
    budget_candidates: int | None = Field(None, ge=0, description=_told("candidates", Budget))
    budget_seconds: float | None = Field(None, ge=0, description=_told("seconds", Budget))


class ShowRunArguments(Arguments):
    """Show a run of verify or optimize, over or still under way, with all that happened; or list the newest runs."""

    run: str | None = Field(None, pattern=r"^\w[\w.-]*$", max_length=100, description="Its id; without: a list.")


TOOLS: Mapping[str, type[Arguments]] = {
    "verify": VerifyArguments,
    "profile": ProfileArguments,
    "audit": AuditArguments,
    "optimize": OptimizeArguments,
    "show_run": ShowRunArguments,
}
"""The tools by name; a class's docstring is the tool's description."""


@dataclass(frozen=True, slots=True)
class Grant:
    """What the person who started the server allows.

    Attributes:
        root: resolved; files elsewhere are out of reach.
        allow_paid: whether models may cost money.
        most_usd: the most that one call may cost; None is the default cap of a paid model.
        python: the interpreter that candidates run on; None is whet's own.
    """

    root: Path
    allow_paid: bool = False
    most_usd: float | None = None
    python: Path | None = None


@dataclass(frozen=True, slots=True)
class CommandRequest:
    """A command to be run.

    Attributes:
        words: what follows ``whet``.
        option: that names a file with `text`, if there is a text.
        text: a rewrite that came with the call.
    """

    words: tuple[str, ...]
    option: str = ""
    text: str = ""


def order(tool: str, given: Mapping[str, Any], grant: Grant) -> CommandRequest:
    """Returns the command that answers a call.

    Raises:
        UsageError: there is no such tool, or the arguments are malformed or ask for what is not granted.
    """
    if tool not in TOOLS:
        raise UsageError(f"no tool '{one_line(tool, 60)}'{nearest(tool, TOOLS)}")
    try:
        arguments = TOOLS[tool].model_validate(given)
    except ValidationError as error:
        raise UsageError(f"{tool}: {describe_invalid(error, TOOLS[tool])}") from None
    if isinstance(arguments, ShowRunArguments):
        return CommandRequest(
            ("runs", "list", "--json") if arguments.run is None else ("runs", "show", "--json", arguments.run)
        )
    assert isinstance(arguments, TargetArguments)
    option, text = _rewrite(arguments) if isinstance(arguments, VerifyArguments) else ("", "")
    options = [tool, "--json", *_options(arguments, grant)]
    if isinstance(arguments, OptimizeArguments):
        options += _models(arguments, grant)
    if grant.python is not None:
        options.append(f"--python={grant.python}")
    return CommandRequest((*options, "--", _target(arguments.target, grant.root)), option, text)


def below(root: Path, path: str | Path, argument: str) -> Path:
    """Returns a path below the root, its links resolved.

    Raises:
        UsageError: it lies elsewhere, or nothing is there; which of both is not told of places elsewhere.
    """
    try:
        found = (root / path).resolve(strict=True)
    except (OSError, RuntimeError, ValueError):
        found = None
    if found is None or not found.is_relative_to(root):
        raise UsageError(f"{argument} {one_line(str(path), 200)}: nothing of that name below {root}")
    return found


def _target(target: str, root: Path) -> str:
    name, colons, symbol = target.partition("::")
    path = below(root, name, "target")
    if (path / FILENAME).is_file():
        _expect_inside(path, root)
    return f"{path}{colons}{symbol}"


def _expect_inside(folder: Path, root: Path) -> None:
    """Raises UsageError where a task's own file names one outside of the root; its other faults are told elsewhere."""
    try:
        tables = tomllib.loads(below(root, folder / FILENAME, "target").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return
    for table, key in TASK_PATHS:
        named = tables[table].get(key) if isinstance(tables.get(table), dict) else None
        if isinstance(named, str) and not _is_inside(folder / named, root):
            raise UsageError(f"{folder / FILENAME} names {one_line(named, 200)}, which lies outside of {root}")


def _is_inside(path: Path, root: Path) -> bool:
    try:
        return path.resolve().is_relative_to(root)
    except (OSError, RuntimeError, ValueError):  # a loop of links, or no name of a file at all
        return False


def _rewrite(arguments: VerifyArguments) -> tuple[str, str]:
    given = [name for name in ("candidate", "candidate_file", "patch") if getattr(arguments, name) is not None]
    if len(given) != 1:
        raise UsageError("verify takes one of candidate, candidate_file and patch")
    if arguments.candidate_file is not None:
        return "", ""
    return f"--{given[0]}", arguments.candidate or arguments.patch or ""


def _options(arguments: TargetArguments, grant: Grant) -> Iterator[str]:
    for name in type(arguments).model_fields:
        value = getattr(arguments, name)
        if name in APART or value is None:
            continue
        if name in PATHS:
            value = below(grant.root, value, name)
        yield f"--{name.removesuffix('_file').replace('_', '-')}={value}"


def _models(arguments: OptimizeArguments, grant: Grant) -> Iterator[str]:
    """Yields who proposes and judges, and what they may cost."""
    model = arguments.model
    words = [] if model is None else [part.strip().partition(":")[0] for part in model.split(",")]
    costly = [word for word in words if word not in FREE]
    if costly and not grant.allow_paid:
        raise UsageError(
            f"model {one_line(str(model), 60)}: this server takes {' and '.join(FREE)} alone; whoever starts it may "
            "allow others with --allow-paid"
        )
    if "manual" in costly or "@" in (model or ""):
        # An address that an agent chose would be sent the key; manual:DIR writes files.
        raise UsageError("model: folders and addresses of models are named in the project's configuration alone")
    most = DEFAULT_USD if grant.most_usd is None else grant.most_usd
    usd = grant.most_usd if arguments.budget_usd is None else arguments.budget_usd
    if usd is not None:
        if usd > most:
            raise UsageError(f"budget_usd {usd:g} is above the {most:g} USD that this server may spend on a call")
        yield f"--budget-usd={usd}"
    if not grant.allow_paid:
        # Said in so many words, for the configuration might name others.
        model = model or "catalogue"
        yield f"--judge-model={model}"
    if model is not None:
        yield f"--model={model}"
