"""Whet's own suite: the tasks that are shipped with it. Its own rule is whet's verdict."""

from __future__ import annotations

import hashlib
import shutil
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from whet.benchmarks import tasks
from whet.benchmarks.lab.base import Lab
from whet.benchmarks.results import Own, Row
from whet.benchmarks.suites import verdict
from whet.benchmarks.suites.base import Figure, Origin, Problem, Reading, Score, Unusable
from whet.benchmarks.suites.grouping import Grouped, grouped, passed
from whet.core.candidate import Candidate
from whet.core.errors import BaselineError, UsageError
from whet.core.events import null_listener
from whet.core.result import Status
from whet.core.store import Store
from whet.core.task import PTX
from whet.evaluators.given_files import read_text
from whet.evaluators.judged import drawn, judged
from whet.evaluators.kernels.problem import is_problem
from whet.evaluators.ladder import open_ladder
from whet.evaluators.scores.common import best_of_k, geometric_mean, mean, spread
from whet.evaluators.targets import read_task
from whet.evaluators.task_file import FILENAME, read_task_file

TASKS = Path(tasks.__file__).parent
ROOTS = {
    "": TASKS,
    **{f"{name}/": TASKS / name for name in ("hpc", "command", "asm", "kernels", "ptx")},
    "held-out/": TASKS.parent / "held_out",
}
"""Prefix of the ids -> the folder that holds a folder for each task."""
PROBLEM = "problem.py"
"""The target of a task without a whet.toml: a problem in KernelBench's form."""
BEST = "best"
KEPT_BACK = (f"{BEST}.*", "answers", "cuda.py", "triton.py", "task.md", "excused.toml", "__pycache__")
"""What a target does not need, known answers before all."""
GROUPS = {"command/": "command", "asm/": "asm", "kernels/": "kernels", "ptx/": "kernels"}
"""Prefix -> group, where it is not that of the language."""
LANGUAGE_GROUPS = {"python": "python", "c": "cpp", "cpp": "cpp"}


class WhetBench:
    """See `whet.benchmarks.suites.base.Suite` and `whet.benchmarks.suites.base.ByVerdict`."""

    name = "whetbench"
    title = "whet's own tasks: functions and programs in Python and C++, assembly routines, tensor kernels"
    status = "real data read"
    origin = Origin("shipped with whet", "Apache-2.0", {}, ("no --root is needed",))

    def read(self, root: Path) -> Reading:
        """Returns the shipped tasks, whatever the path."""
        return Reading(tuple(_problem(prefix, folder) for prefix, folder in _folders()))

    def write_target(self, problem: Problem, folder: Path) -> str:
        """Copies a task without the answers that are known."""
        ignored = shutil.ignore_patterns(*KEPT_BACK)
        shutil.copytree(_folder(problem.id), folder, ignore=ignored, dirs_exist_ok=True)
        return str(folder if (folder / FILENAME).is_file() else folder / PROBLEM)

    def judge(self, problem: Problem, answer: str, lab: Lab) -> Own:
        """Takes an answer up the ladder; whoever has a verdict already asks `own_of`."""
        with tempfile.TemporaryDirectory(prefix="whet-bench-") as place, closing(Store(Path(place, "state"))) as store:
            target = Path(place, "target")
            target.mkdir()
            options = lab.options
            try:
                task = read_task(self.write_target(problem, target), options)
            except BaselineError as error:
                raise Unusable(str(error)) from None
            seed = drawn(options)
            ladder = open_ladder(task, options, seed, explain=False)
            start = time.perf_counter()
            result = judged(store, str(target), Candidate(answer), ladder, options, seed, start, null_listener)
            return self.own_of(result.to_json())

    def own_of(self, result: Mapping[str, Any]) -> Own:
        """Returns what a verdict comes to: right or not, and the speedup that it confirms.

        Raises:
            Unusable: the baseline fails on this machine.
        """
        if result["status"] == Status.BASELINE_INVALID:
            raise Unusable(result["message"])
        right = result["candidate"] is not None and result["status"] != Status.REJECTED
        figures = {"speedup": verdict.confirmed(result), "improved": result["status"] == Status.IMPROVED}
        metric = None if result["speedup"] is None else result["speedup"]["metric"]
        return Own(right, "" if right else result["message"], figures, "x", "clock" if metric == "time" else "")

    def score(self, rows: Sequence[Row]) -> Score:
        """Returns the geometric mean over problems of the confirmed speedups; what is not confirmed counts as 1.0.

        Of several samples the geometric mean counts for their problem, and beside it the expected best of all.
        """
        group = grouped(rows)
        values = verdict.per_problem(group)
        figures = [verdict.speedup(group, headline=True), *_best(group), verdict.improved(group)]
        share = mean(mean(map(passed, of)) for of in group.rows.values())
        figures.append(Figure("right", 100 * share, len(group.rows), unit="%"))
        return Score(tuple(figures), spread(values), group.failed, group.excluded)

    def export(self, rows: Sequence[Row], folder: Path) -> Path | None:
        """Returns nothing: the rows are the suite's own format."""
        return None

    def imported(self, file: Path) -> Score | None:
        """Returns nothing: there is no other format."""
        return None


def _best(group: Grouped) -> Iterator[Figure]:
    if (k := group.fewest) > 1:
        best = [best_of_k([verdict.confirmed(row.result) for row in of], k) for of in group.rows.values()]
        yield Figure(f"speedup, best of {k}", geometric_mean(best), len(best), unit="x")


def _folders() -> Iterator[tuple[str, Path]]:
    for prefix, root in ROOTS.items():
        for folder in sorted(path for path in root.iterdir() if path.is_dir()):
            if (folder / FILENAME).is_file() or (folder / PROBLEM).is_file():
                yield prefix, folder


def _folder(id: str) -> Path:
    for prefix, folder in _folders():
        if f"{prefix}{folder.name}" == id:
            return folder
    raise UsageError(f"whetbench has no task {id!r}")


def _problem(prefix: str, folder: Path) -> Problem:
    best = sorted(folder.glob(f"{BEST}.*"))
    target, language, needs = _target(folder)
    return Problem(
        id=f"{prefix}{folder.name}",
        name=folder.name,
        language=language,
        unchanged=read_text(target) if target.is_file() else "",
        known_best=read_text(best[0]) if best else None,
        data={},
        digest=_digest(folder),
        group=GROUPS.get(prefix) or LANGUAGE_GROUPS[language],
        needs=needs,
    )


def _target(folder: Path) -> tuple[Path, str, str]:
    """Returns target, language and needs of a task."""
    if not (folder / FILENAME).is_file():
        return folder / PROBLEM, "python", "torch"
    task = read_task_file(folder).task
    target = folder / task.target
    if task.isa == PTX:
        return target, task.language, "cuda"
    problem = target.suffix == ".py" and (task.backward or is_problem(read_text(target)))
    return target, task.language, "torch" if problem else ""


def _digest(folder: Path) -> str:
    """Returns the SHA-256 of all that a task's target is made of."""
    found = hashlib.sha256()
    held_back = shutil.ignore_patterns(*KEPT_BACK)
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        name = path.relative_to(folder).as_posix()
        if held_back(str(folder), name.split("/")):
            continue
        found.update(f"{name}\0{path.stat().st_size}\0".encode())
        found.update(path.read_bytes())
    return found.hexdigest()


SUITE = WhetBench()
