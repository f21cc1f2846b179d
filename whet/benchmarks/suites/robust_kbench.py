"""robust-kbench: functions of torch, forward and backward, each in several settings of shapes and initialisation.

The suite's own rule: in every setting five public seeds; the answer runs first, then the reference, then the answer
once more, and both of its outputs must be close (``allclose`` with 1e-3, as its command line has it). Then the mean
time of a setting, and the unweighted mean of those means, so that large shapes dominate. As the suite has it, except
that reference and answer never share a process, that inputs come of other seeds, that TF32 and the caches are as whet
leaves them, and that the baseline is eager PyTorch alone: whet's verdict beside it is against the fastest of several.
"""

from __future__ import annotations

import hashlib
import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

from whet.benchmarks.lab.base import Lab
from whet.benchmarks.lab.modules import Times, expect_device, timed_side_by_side
from whet.benchmarks.results import Own, Row
from whet.benchmarks.suites.base import Figure, Origin, Problem, Reading, Score, Unusable
from whet.benchmarks.suites.grouping import grouped
from whet.benchmarks.suites.kernelbench_results import HEADLINE, fast_figures, speedup_of
from whet.core.errors import BaselineError, UsageError
from whet.evaluators.artifacts import Artifact, Builder
from whet.evaluators.finding import Fault
from whet.evaluators.floats.elements import elements
from whet.evaluators.given_files import read_text
from whet.evaluators.inputs.source import Input, InputSource
from whet.evaluators.kernels import robust
from whet.evaluators.kernels.device import placed
from whet.evaluators.outcomes import decode_call
from whet.evaluators.pairs import Side
from whet.evaluators.scores.common import bootstrap, mean, spread
from whet.evaluators.targets import read_task
from whet.sandbox.inside.decode import Node

SEEDS = tuple(range(42, 47))
TOLERANCE = 1e-3  # relative and absolute, as on the suite's command line; more accepts less exact answers
HASH_SEED = 1
LARGEST = 1 << 20
"""Bytes of one of a task's files."""
GROUPS = {robust.FORWARD: "forward", robust.BACKWARD: "backward"}
NAME = re.compile(r"[\w.+-]{1,200}")


class RobustKBench:
    """See `whet.benchmarks.suites.base.Suite`."""

    name = "robust-kbench"
    title = "robust-kbench: functions of torch, forward and backward, in several settings"
    status = "real data read"
    origin = Origin(
        "https://github.com/SakanaAI/robust-kbench",
        "Apache-2.0",
        {"tasks/**/func_forward.py": "task folders with their config_forward.json: a checkout, or its folder of tasks"},
        ("answers are Python modules that define forward_fn or backward_fn, or a ModelNew; not bare .cu files",),
    )

    def read(self, root: Path) -> Reading:
        """Reads task folders; a task with a backward pass is two problems, FOLDER:forward and FOLDER:backward."""
        tasks = root / "tasks" if (root / "tasks").is_dir() else root
        found: list[Problem] = []
        faults: list[str] = []
        for path in sorted(one for name in robust.FILES for one in tasks.rglob(name)):
            problem = _problem(root, tasks, path)
            if isinstance(problem, str):
                faults.append(f"{path.relative_to(tasks).as_posix()}: {problem}")
            else:
                found.append(problem)
        if not found:
            raise UsageError(f"--root {root} holds no task of robust-kbench: no func_forward.py that can be read")
        return Reading(tuple(found), tuple(faults))

    def write_target(self, problem: Problem, folder: Path) -> str:
        """Writes the function's file and its settings into a folder that is named as the suite's."""
        place = folder / problem.data["folder"]
        place.mkdir()
        path = place / problem.data["file"]
        path.write_bytes(problem.unchanged.encode())
        path.with_name(robust.FILES[path.name]).write_text(problem.data["settings"], encoding="utf-8")
        return str(path)

    def judge(self, problem: Problem, answer: str, lab: Lab) -> Own:
        """Checks an answer in every setting, before and after the reference, and times it beside eager PyTorch."""
        with tempfile.TemporaryDirectory(prefix="whet-bench-") as folder:
            try:
                task = read_task(self.write_target(problem, Path(folder)), lab.options)
                task = placed(task, lab.options, lab.interpreter)
                expect_device(task, answer)
                builder = lab.builder(task)
                inputs = _drawn(builder)
            except (BaselineError, UsageError) as error:
                raise Unusable(str(error)) from None
            reference, artifact = builder.build(task.source), builder.build(answer)
            if isinstance(reference, Fault):
                raise Unusable(f"the reference does not load: {reference.detail}")
            if isinstance(artifact, Fault):
                return Own(False, f"{artifact.reason}: {artifact.detail}", {"compiled": False})
            return _judged(reference, artifact, inputs, task.limits.seconds, lab.options.cores)

    def score(self, rows: Sequence[Row]) -> Score:
        """Returns the mean over tasks of the speedup of their best sample, 0 where none is right, and fast_p."""
        group = grouped(rows)
        values = [max(map(speedup_of, of)) for of in group.rows.values()]
        around = bootstrap(values)
        low, high = (None, None) if around is None else around
        note = "tasks without a right answer are in it with 0; the paper's table has answers that were found right"
        figures = [
            Figure("mean speedup", mean(values), len(values), low=low, high=high, note=note, unit="x", headline=True)
        ]
        figures += _fast(values)
        return Score(tuple(figures), spread(values), values.count(0.0), group.excluded)

    def export(self, rows: Sequence[Row], folder: Path) -> Path | None:
        """Returns nothing: the suite keeps its results in no form of their own."""
        return None

    def imported(self, file: Path) -> Score | None:
        """Returns nothing: there is no such form."""
        return None


def _fast(values: Sequence[float]) -> Iterator[Figure]:
    for figure in fast_figures(values):
        if figure.name in ("fast_0", f"fast_{HEADLINE:g}"):
            yield Figure(figure.name, figure.value, figure.n, low=figure.low, high=figure.high)


def _drawn(builder: Builder) -> dict[int, list[Input]]:
    """Returns the public inputs of each setting."""
    with closing(InputSource(builder.task, builder.sandbox, builder.interpreter)) as source:
        return {size: source.draw(size, SEEDS) for size in source.sizes}


def _judged(
    reference: Artifact, artifact: Artifact, inputs: Mapping[int, Sequence[Input]], limit: float, cores: int
) -> Own:
    known: dict[str, Any] = {"compiled": True, "settings": len(inputs)}
    if wrong := _difference(reference, artifact, inputs, limit):
        return Own(False, wrong, known)
    times: list[tuple[Times, Times]] = []
    for drawn in inputs.values():
        found = timed_side_by_side(reference, artifact, drawn[0].payload, limit, cores)
        if isinstance(found, Fault):
            return Own(False, f"fails while it is timed: {found.reason}: {found.detail}", known)
        times.append(found)
    ours, theirs = (mean(pair[side].mean for pair in times) for side in (0, 1))
    kept = [{"baseline": a.stats(), "runtime": b.stats()} for a, b in times]
    return Own(True, "", {**known, "times": kept, "speedup": ours / theirs}, "ms", "clock")


def _difference(reference: Artifact, artifact: Artifact, inputs: Mapping[int, Sequence[Input]], limit: float) -> str:
    """Returns how an answer differs from the reference; empty where it does not."""
    with ExitStack() as stack:
        ours, theirs = (stack.enter_context(closing(Side(one, HASH_SEED))) for one in (reference, artifact))
        for setting, drawn in inputs.items():
            for number, item in enumerate(drawn):
                first = _outputs(theirs, item, limit)
                expected = _outputs(ours, item, limit)
                if isinstance(expected, str):
                    raise Unusable(f"the reference fails in setting {setting}: {expected}")
                for time, found in (("first", first), ("second", _outputs(theirs, item, limit))):
                    if why := found if isinstance(found, str) else _unlike(expected, found):
                        return f"setting {setting}, seed {SEEDS[number]}, {time} call: {why}"
    return ""


def _outputs(side: Side, item: Input, limit: float) -> list[Any] | str:
    """Returns the tensors of an outcome, or what went wrong."""
    answer = side.call(item.payload, limit)
    if isinstance(answer, Fault):
        return f"{answer.reason}: {answer.detail}"
    came = decode_call(answer[0])
    if came.kind != "value":
        return f"raised {came.value[0]}: {came.value[1]}"[:300] if came.kind == "raise" else str(came.kind)
    return list(_tensors(came.value))


def _tensors(value: Any) -> Iterator[Any]:
    if isinstance(value, Node) and value.kind == "tensor":
        yield elements(value)
    elif isinstance(value, Node) and value.kind == "dict":
        for _, _, part in value.state:
            yield from _tensors(part)
    elif isinstance(value, list | tuple):
        for part in value:
            yield from _tensors(part)


def _unlike(expected: Sequence[Any], found: Sequence[Any]) -> str:
    import numpy as np

    if not expected or len(expected) != len(found):
        return f"{len(found)} tensors instead of {len(expected)}"
    for ours, theirs in zip(expected, found, strict=True):
        if ours.shape != theirs.shape or ours.dtype.kind != theirs.dtype.kind:
            return f"{theirs.dtype.name} {theirs.shape} instead of {ours.dtype.name} {ours.shape}"
        if ours.dtype.kind not in "fiubc" or not np.allclose(theirs, ours, rtol=TOLERANCE, atol=TOLERANCE):
            return "values differ"
    return ""


def _problem(root: Path, tasks: Path, path: Path) -> Problem | str:
    """Returns the problem that a file and its settings are, or why they are none."""
    table = path.with_name(robust.FILES[path.name])
    if not table.is_file():
        return f"{table.name} is missing"
    if not NAME.fullmatch(path.parent.name):
        return "the folder's name is not plain"
    for file in (path, table):
        if not file.resolve().is_relative_to(root.resolve()):
            return f"{file.name} leads out of the folder"
        if file.stat().st_size > LARGEST:
            return f"{file.name} is larger than {LARGEST >> 20} MiB"
    try:
        text, settings = read_text(path), read_text(table)
        robust.settings_of(path)
    except UsageError as error:
        return str(error)
    group = GROUPS[path.name]
    name = path.parent.relative_to(tasks).as_posix()
    return Problem(
        id=f"{name}:{group}",
        name=f"{path.parent.name}, {group}",
        language="python",
        unchanged=text,
        known_best=None,
        data={"folder": path.parent.name, "file": path.name, "settings": settings},
        digest=hashlib.sha256(f"{name}\0{text}\0{settings}".encode()).hexdigest(),
        group=group,
        needs="torch",
    )


SUITE = RobustKBench()
