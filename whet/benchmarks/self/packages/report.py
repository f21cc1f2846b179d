"""Judges the unchanged, an equal and a wrong text of each chosen function, and has the catalogue improve it."""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from importlib import metadata
from pathlib import Path

from whet.agents.optimize import optimize
from whet.benchmarks.self.packages.functions import EQUAL, WRONG, Chosen, beginning_with, chosen
from whet.core.candidate import Candidate
from whet.core.errors import BaselineError, SandboxError, UsageError, nearest
from whet.core.options import Options
from whet.core.result import Status
from whet.core.task import Task
from whet.core.verdict import Verdict
from whet.evaluators.ladder import open_ladder
from whet.evaluators.package import site_packages
from whet.evaluators.targets import read_task
from whet.prompts import times
from whet.sandbox.interpreter import find_interpreter

SEED = 20261123
ROUNDS, CANDIDATES, SECONDS = 2, 4, 240.0
"""Of the catalogue, for one function."""
GOAL = 30
"""Functions of the chosen 36 that load and are judged."""


@dataclass(frozen=True, slots=True)
class Row:
    """What came of one function.

    Attributes:
        package: its name.
        version: as it is installed; empty where it is not.
        function: file and symbol.
        loads: whether its baseline was loaded and run.
        judged: whether the unchanged and the equal text passed, and the wrong one was rejected.
        refused: what whet said where it was not judged.
        verdicts: of the texts, by their names.
        inputs: what the differential rung says of its inputs.
        seconds: that all of it took.
        improvement: what the catalogue made of it.
    """

    package: str
    version: str
    function: str
    loads: bool
    judged: bool
    refused: str = ""
    verdicts: dict[str, str] = field(default_factory=dict)
    inputs: str = ""
    seconds: float = 0.0
    improvement: str = ""


def report(python: Path | None, ids: Sequence[str] = (), results: Path | None = None) -> Iterator[str]:
    """Yields a line a function, and a table at the end.

    Args:
        python: interpreter of an environment that has the packages.
        ids: packages or functions that are asked for; empty for all.
        results: a JSON file of what was found; what stands in it is not judged again.

    Raises:
        UsageError: nobody said which interpreter, or an id is none.
    """
    if python is None:
        raise UsageError("the report packages needs --python PATH of an environment in which they are installed")
    known = _known(results)
    for one in _asked(ids):
        if one.id not in known:
            known[one.id] = judged(one, python)
            if results is not None:
                results.write_text(json.dumps([asdict(row) for row in known.values()], indent=1) + "\n", "utf-8")
        row = known[one.id]
        said = f"judged; {row.improvement}" if row.judged else row.refused
        yield f"{one.id}: {said} ({row.seconds:.1f} s)"
    rows = [known[one.id] for one in _asked(ids)]
    yield ""
    yield from table(rows)
    done = sum(row.judged for row in rows)
    yield ""
    gained = sum(" by " in row.improvement for row in rows)
    yield f"{gained} were improved by the catalogue ({ROUNDS} rounds of {CANDIDATES}, {SECONDS:g} s at most)"
    yield f"{sum(row.loads for row in rows)} of {len(rows)} load, {done} are judged; goal {GOAL} of {len(chosen())}"


def _asked(ids: Sequence[str]) -> list[Chosen]:
    every = chosen()
    names = {one.id for one in every} | {one.package for one in every}
    if odd := next((id for id in ids if id not in names), None):
        raise UsageError(f"no function or package '{odd}' is chosen{nearest(odd, sorted(names))}")
    return [one for one in every if not ids or one.id in ids or one.package in ids]


def _known(results: Path | None) -> dict[str, Row]:
    if results is None or not results.exists():
        return {}
    return {row["function"]: Row(**row) for row in json.loads(results.read_text("utf-8"))}


def judged(one: Chosen, python: Path) -> Row:
    """Judges the three texts of a function."""
    start = time.perf_counter()
    site, *_ = site_packages(find_interpreter(python)) or [python.parent]
    version = next((found.version for found in metadata.distributions(name=one.package, path=[str(site)])), "")
    with tempfile.TemporaryDirectory(prefix="whet-self-") as folder:
        workload = Path(folder, "workload.py")
        workload.write_text(one.inputs, "utf-8")
        options = Options(python=python, workload=workload, until="differential", seed=SEED)
        row = Row(one.package, version, one.id, loads=False, judged=False)
        target = f"{site / one.file}::{one.symbol}"
        try:
            row = _judged(row, read_task(target, options), options)
            row = replace(row, improvement=improved(target, options, Path(folder)) if row.judged else "")
        except BaselineError as error:
            loads = "does not load" not in str(error)
            return _timed(replace(row, loads=loads), start, _said_of(error, site))
        except (UsageError, SandboxError) as error:
            return _timed(row, start, _said_of(error, site))
    return _timed(row, start)


def _said_of(error: Exception, site: Path) -> str:
    return " ".join(str(error).replace(f"{site}/", "").split())


def _judged(row: Row, task: Task, options: Options) -> Row:
    ladder = open_ladder(task, options, SEED)
    try:
        ladder.validate()
        assert task.symbol is not None, "all of them are functions"
        texts = {"unchanged": task.source} | {
            name: beginning_with(task.source, task.symbol, statement)
            for name, statement in (("equal", EQUAL), ("wrong", WRONG))
        }
        verdicts = {name: ladder.check(Candidate(text)) for name, text in texts.items()}
    finally:
        ladder.close()
    said = {name: _said(verdict) for name, verdict in verdicts.items()}
    right = verdicts["unchanged"].correct and verdicts["equal"].correct and not verdicts["wrong"].correct
    compared = verdicts["equal"].rung("differential")
    inputs = "" if compared is None else compared.detail
    return replace(row, loads=True, judged=right, verdicts=said, inputs=inputs)


def improved(target: str, options: Options, folder: Path) -> str:
    """Returns what the catalogue makes of a function, in words.

    Args:
        target: the function.
        options: say its interpreter, its workload and the seed.
        folder: for what the run leaves.
    """
    try:
        result = optimize(
            target,
            model="catalogue",
            rounds=ROUNDS,
            candidates=CANDIDATES,
            budget_seconds=SECONDS,
            home=folder / "state",
            python=options.python,
            workload=options.workload,
            seed=options.seed,
        )
    except (UsageError, BaselineError) as error:
        return f"not timed: {error}".replace(f"{folder}/", "")
    if result.status is Status.IMPROVED and result.speedup is not None and result.candidate is not None:
        ratio, low, high = map(times, (result.speedup.ratio, result.speedup.low, result.speedup.high))
        under = f", under {len(result.conditions)} conditions" if result.conditions else ""
        return f"{ratio} ({low} to {high}) by {result.candidate.origin.rpartition(':')[2]}{under}"
    if result.status is Status.BASELINE_INVALID:
        return f"not timed: {result.message}"
    counts = result.candidates
    return f"none: {counts.proposed} proposed, {counts.correct} right" if counts.proposed else "none proposed"


def _said(verdict: Verdict) -> str:
    return "right" if verdict.failed is None else f"{verdict.failed.name}: {verdict.failed.reason}"


def _timed(row: Row, start: float, refused: str = "") -> Row:
    return replace(row, refused=refused, seconds=round(time.perf_counter() - start, 1))


def table(rows: Sequence[Row]) -> Iterator[str]:
    """Yields the rows as a table in Markdown."""
    yield "| package | version | function | loads | judged | refused, and why | improvements |"
    yield "|---|---|---|---|---|---|---|"
    for row in rows:
        loads, done = ("yes" if mark else "no" for mark in (row.loads, row.judged))
        cells = row.package, row.version, f"`{row.function}`", loads, done, row.refused, row.improvement
        yield f"| {' | '.join(cells)} |"
