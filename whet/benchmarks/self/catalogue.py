"""``whet bench self catalogue``: what the catalogue gains on tasks of whet, and whether it returns a false win."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from whet.agents.evaluations import CANDIDATE
from whet.agents.optimize import optimize
from whet.benchmarks.tasks import held_out_names, task_folder, task_names, task_note
from whet.core.audit import Rate
from whet.core.errors import UsageError
from whet.core.measurement import Speedup
from whet.core.options import Options
from whet.core.plain import from_plain, to_plain
from whet.core.result import Result, Status
from whet.core.store import Store
from whet.evaluators.verify import verify
from whet.prompts import times

GOAL = 0.6
"""Share of the tasks within reach that the catalogue shall improve; none of what it returns may be a false win."""
LEAST = Options().min_speedup
"""A winner whose whole interval lies below this, measured afresh, is not faster."""
ROUNDS, CANDIDATES = 4, 4
"""Rounds at most, and candidates of each: up to 16 that are judged a task. More can find further gains and take
longer."""
SCHEMA = "whet.bench.catalogue/1"


@dataclass(frozen=True, slots=True)
class Row:
    """What the catalogue made of one task.

    Attributes:
        task: its name.
        reach: ``local``, ``beyond`` or, for those that no edit was written for, ``held out``.
        status: how the run ended.
        speedup: ratio and interval of the confirmed winner; None without one.
        edits: that made the winner, the first one first.
        again: status of the winner with the ladder started afresh under another seed; None without a winner.
        again_speedup: what was measured then.
        best: of the best version known, in words.
        judged: distinct candidates.
        seconds: of the run.
        message: why the run ended.
    """

    task: str
    reach: str
    status: Status
    speedup: tuple[float, float, float] | None
    edits: tuple[str, ...]
    again: Status | None
    again_speedup: tuple[float, float, float] | None
    best: str
    judged: int
    seconds: float
    message: str

    @property
    def improved(self) -> bool:
        """Whether a winner came back."""
        return self.status is Status.IMPROVED


def asked_tasks() -> tuple[str, ...]:
    """Returns the tasks within reach of local edits, and those held out."""
    return (*(name for name in task_names() if task_note(name).reach == "local"), *held_out_names())


def report(names: Sequence[str] = (), results: Path | None = None) -> Iterator[str]:
    """Yields the lines of the report while it works.

    Args:
        names: of the tasks; none for those of `asked_tasks`.
        results: a file that holds what was found, after each task; what stands in it already is not run again.

    Raises:
        UsageError: there is no task of a name, or the file holds something else.
    """
    rows = measured(names, results)
    yield "| task | reach | verdict | speedup | edits | afresh | best known | judged |"
    yield "|---|---|---|---|---|---|---|---|"
    found = []
    for row in rows:
        found.append(row)
        yield _line(row)
    yield ""
    yield from totals(found)


def document(names: Sequence[str] = (), results: Path | None = None) -> dict[str, Any]:
    """Returns what `report` says as plain JSON data."""
    return _plain(list(measured(names, results)))


def measured(names: Sequence[str] = (), results: Path | None = None) -> Iterator[Row]:
    """Yields what the catalogue makes of tasks; see `report`."""
    folders = {name: task_folder(name) for name in names or asked_tasks()}
    return _measured(folders, results, {} if results is None or not results.exists() else _read(results))


def _measured(folders: Mapping[str, Path], results: Path | None, known: dict[str, Row]) -> Iterator[Row]:
    for name, folder in folders.items():
        if name not in known:
            known[name] = optimized(name, folder)
            if results is not None:
                results.write_text(json.dumps(_plain(list(known.values())), indent=1) + "\n", encoding="utf-8")
        yield known[name]


def optimized(name: str, folder: Path, rounds: int = ROUNDS, candidates: int = CANDIDATES, **options: Any) -> Row:
    """Runs the catalogue on one task, and judges what it returns afresh.

    Args:
        name: of the task.
        folder: of the task.
        rounds: at most.
        candidates: a round.
        **options: the fields of `whet.core.options.Options`.
    """
    with tempfile.TemporaryDirectory(prefix="whet-self-") as place:
        home = Path(place)
        result = optimize(
            str(folder), model="catalogue", rounds=rounds, candidates=candidates, home=home / "state", **options
        )
        winner = result.candidate if result.status is Status.IMPROVED else None
        again = None
        if winner is not None:
            file = home / f"winner{Path(result.task.target.partition('::')[0]).suffix}"
            file.write_text(winner.source, encoding="utf-8", newline="")
            again = verify(str(folder), candidate=file, home=home / "state", **options)  # draws a seed of its own
        note = task_note(name)
        return Row(
            task=name,
            reach="held out" if name in held_out_names() else note.reach,
            status=result.status,
            speedup=_figures(result.speedup) if winner else None,
            edits=_edits(home / "state", result),
            again=again.status if again else None,
            again_speedup=_figures(again.speedup) if again else None,
            best=note.best.partition(" by ")[0],
            judged=result.candidates.distinct,
            seconds=round(result.seconds, 1),
            message=result.message,
        )


def totals(rows: Sequence[Row]) -> Iterator[str]:
    """Yields what the rows come to."""
    local = [row for row in rows if row.reach == "local"]
    held_out = [row for row in rows if row.reach == "held out"]
    winners = [row for row in rows if row.again is not None]
    wrong = [row.task for row in winners if row.again in (Status.REJECTED, Status.BASELINE_INVALID)]
    unshown = [row for row in winners if row.again is Status.NO_IMPROVEMENT]
    slow = [row.task for row in unshown if row.again_speedup is None or row.again_speedup[2] < LEAST]
    open_ = [row.task for row in unshown if row.task not in slow]
    yield f"improved within reach: {_rate(local)}; goal {GOAL:.0%}"
    yield f"improved of those held out: {_rate(held_out)}"
    yield f"winners judged afresh: {len(winners)}; wrong: {_names(wrong)}; not faster: {_names(slow)}; goal 0"
    yield f"neither shown to be faster again nor not to be: {_names(open_)}"
    yield f"candidates judged: {sum(row.judged for row in rows)}"


def _rate(rows: Sequence[Row]) -> str:
    rate = Rate(sum(row.improved for row in rows), len(rows))
    return f"{rate.hits} of {rate.trials}: {rate}"


def _names(names: Sequence[str]) -> str:
    return f"{len(names)} ({', '.join(names)})" if names else "0"


def _edits(home: Path, result: Result) -> tuple[str, ...]:
    """Returns the edits on the way from the baseline to the winner."""
    if result.status is not Status.IMPROVED or result.candidate is None:
        return ()
    store = Store(home)
    try:
        edits: list[str] = []
        id: str | None = result.candidate.id
        while id is not None and (known := store.fact(result.run, CANDIDATE.format(id))) is not None:
            edits.append(known["origin"].rpartition(":")[2])
            id = known["parent"]
        return tuple(reversed(edits))
    finally:
        store.close()


def _figures(speedup: Speedup | None) -> tuple[float, float, float] | None:
    return None if speedup is None else (speedup.ratio, speedup.low, speedup.high)


def _line(row: Row) -> str:
    edits = ", ".join(edit.replace("+", " + ") for edit in row.edits)
    again = f"{row.again}, {_shown(row.again_speedup)}" if row.again else ""
    cells = (row.task, row.reach, row.status, _shown(row.speedup), edits, again, row.best, str(row.judged))
    return f"| {' | '.join(cells)} |"


def _shown(figures: tuple[float, float, float] | None) -> str:
    if figures is None:
        return ""
    ratio, low, high = map(times, figures)
    return f"{ratio} ({low} to {high})"


def _plain(rows: Sequence[Row]) -> dict[str, Any]:
    return {"schema": SCHEMA, "rows": [to_plain(row) for row in rows], "totals": list(totals(rows))}


def _read(results: Path) -> dict[str, Row]:
    try:
        rows = [from_plain(Row, row) for row in json.loads(results.read_text(encoding="utf-8"))["rows"]]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UsageError(f"--results {results} holds no results of whet bench self catalogue: {error!r:.200}") from None
    return {row.task: row for row in rows}
