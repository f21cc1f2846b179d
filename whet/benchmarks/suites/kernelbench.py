"""KernelBench: torch modules to be replaced by faster ones, in three or four levels.

The suite's own rule: five public inputs, every tensor cast to float32, one tensor out, ``allclose`` with 1e-4; then the
mean of up to 100 timed calls on one of them, against eager PyTorch timed in turns with it. As the suite has it, except
that reference and answer never share a process or a namespace (there an answer can change what the reference is
given), that autograd is off on both sides, and that both get as many warm-ups. Sizes are scaled to the machine where
its memory asks for that; the row says so.
"""

from __future__ import annotations

import hashlib
import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from whet.benchmarks.lab.base import Lab
from whet.benchmarks.lab.modules import expect_device, timed_side_by_side
from whet.benchmarks.results import Own, Row
from whet.benchmarks.suites import kernelbench_results
from whet.benchmarks.suites.base import Figure, Origin, Problem, Reading, Score, Unusable
from whet.benchmarks.suites.grouping import Grouped, grouped, passed
from whet.benchmarks.suites.kernelbench_results import fast_figures
from whet.core.errors import BaselineError, UsageError
from whet.evaluators.artifacts import Artifact
from whet.evaluators.finding import Fault
from whet.evaluators.given_files import read_text
from whet.evaluators.kernels import protocol
from whet.evaluators.kernels.device import placed
from whet.evaluators.kernels.problem import is_problem
from whet.evaluators.scores.common import mean, pass_at_k, spread
from whet.evaluators.targets import read_task

FILE = re.compile(r"(\d{1,6})_[\w.+-]{1,200}\.py")
LEVEL = re.compile(r"level(\d{1,3})")
LARGEST = 1 << 20
"""Bytes of a problem's text."""


class KernelBench:
    """See `whet.benchmarks.suites.base.Suite`."""

    name = "kernelbench"
    title = "KernelBench: torch modules to be replaced by faster ones"
    status = "real data read"
    origin = Origin(
        "https://github.com/ScalingIntelligence/KernelBench (or its data set on Hugging Face, written out as files)",
        "MIT",
        {"KernelBench/level*/*.py": "problems: a checkout, or a folder of level1, level2 and so on"},
        (
            "level 4 needs the transformers package, and no baseline times are published for it",
            "results are scored beside a baseline_time_torch.json: copy the one for your hardware next to them",
        ),
    )

    def read(self, root: Path) -> Reading:
        """Reads the problems of all levels; their ids are LEVEL/NUMBER."""
        levels = root / "KernelBench" if (root / "KernelBench").is_dir() else root
        found: dict[str, Problem] = {}
        faults: list[str] = []
        for level, path in _files(levels):
            problem = _problem(root, level, path)
            if isinstance(problem, str):
                faults.append(f"{path.parent.name}/{path.name}: {problem}")
            elif problem.id in found:
                faults.append(f"{path.parent.name}/{path.name}: there is a problem {problem.id} before")
            else:
                found[problem.id] = problem
        if not found:
            raise UsageError(
                f"--root {root} holds no problem of KernelBench: no level*/NUMBER_NAME.py that can be read"
            )
        return Reading(tuple(found.values()), tuple(faults))

    def write_target(self, problem: Problem, folder: Path) -> str:
        """Writes the problem's file."""
        path = folder / problem.data["file"]
        path.write_bytes(problem.unchanged.encode())
        return str(path)

    def judge(self, problem: Problem, answer: str, lab: Lab) -> Own:
        """Checks an answer on the suite's five inputs, and times it beside eager PyTorch."""
        with tempfile.TemporaryDirectory(prefix="whet-bench-") as folder:
            try:
                task = read_task(self.write_target(problem, Path(folder)), lab.options)
                task = placed(task, lab.options, lab.interpreter)
                expect_device(task, answer)
                builder = lab.builder(task)
                reference = builder.build(task.source)
                if isinstance(reference, Fault):
                    raise Unusable(f"the reference does not load: {reference.detail}")
                rule = protocol.KernelBench(builder, reference, task.limits.seconds)
                if rule.lost:
                    raise Unusable(f"the reference fails: {rule.lost}")
            except (BaselineError, UsageError) as error:
                raise Unusable(str(error)) from None
            assert task.module is not None
            known = {**problem.data, "device": task.module.device, "scaled": task.module.scaled}
            artifact = builder.build(answer)
            if isinstance(artifact, Fault):
                return Own(False, f"{artifact.reason}: {artifact.detail}", {**known, "compiled": False})
            return _judged(rule, reference, artifact, known, task.limits.seconds, lab.options.cores)

    def score(self, rows: Sequence[Row]) -> Score:
        """Returns fast_p of the first sample of each problem, as the suite has it, and pass@k of all."""
        group = grouped(rows)
        speedups = {id: kernelbench_results.speedup_of(of[0]) for id, of in group.rows.items()}
        return Score(
            (*fast_figures(list(speedups.values())), *_passes(group)),
            spread(speedups.values()),
            sum(speedup == 0.0 for speedup in speedups.values()),
            group.excluded,
        )

    def export(self, rows: Sequence[Row], folder: Path) -> Path | None:
        """Writes a run folder a level, with the baseline's times beside."""
        return kernelbench_results.write(rows, folder)

    def imported(self, file: Path) -> Score | None:
        """Scores an eval_results.json by the baseline_time*.json that lies beside it."""
        return kernelbench_results.scored(file)


def _judged(
    rule: protocol.KernelBench,
    reference: Artifact,
    artifact: Artifact,
    known: Mapping[str, Any],
    limit: float,
    cores: int,
) -> Own:
    said = rule.judge(artifact)
    kept = ("trials", "right", "max_difference", "avg_difference")
    figures = {**known, "compiled": True, **{name: said[name] for name in kept if name in said}}
    if not said["passed"]:
        return Own(False, said["error"] or f"{said['right']} of {said['trials']} trials agree", figures)
    times = timed_side_by_side(reference, artifact, rule.inputs[0].payload, limit, cores)
    if isinstance(times, Fault):
        return Own(False, f"fails while it is timed: {times.reason}: {times.detail}", figures)
    ours, theirs = times
    timed = {"baseline": ours.stats(), "runtime": theirs.stats(), "speedup": ours.mean / theirs.mean}
    return Own(True, "", {**figures, **timed}, "ms", "clock")


def _passes(group: Grouped) -> Iterator[Figure]:
    for k in {1, group.fewest} if group.fewest > 1 else ():
        rates = [pass_at_k(len(of), sum(map(passed, of)), k) for of in group.rows.values()]
        yield Figure(f"pass@{k}", mean(rates), len(rates))


def _files(levels: Path) -> Iterator[tuple[int, Path]]:
    folders = [(int(found[1]), path) for path in levels.iterdir() if (found := LEVEL.fullmatch(path.name))]
    for level, folder in sorted(folders):
        numbered = [
            (int(path.name.partition("_")[0]), path) for path in folder.glob("*.py") if FILE.fullmatch(path.name)
        ]
        yield from ((level, path) for _, path in sorted(numbered))


def _problem(root: Path, level: int, path: Path) -> Problem | str:
    """Returns the problem that a file holds, or why it holds none."""
    if not path.resolve().is_relative_to(root.resolve()):
        return "leads out of the folder"
    if path.stat().st_size > LARGEST:
        return f"larger than {LARGEST >> 20} MiB"
    try:
        text = read_text(path)
    except UsageError as error:
        return str(error).replace(f"{path} ", "")
    if not is_problem(text):
        return "no problem: it does not parse, or defines no Model, get_inputs and get_init_inputs"
    number = int(path.name.partition("_")[0])
    return Problem(
        id=f"{level}/{number}",
        name=path.stem,
        language="python",
        unchanged=text,
        known_best=None,
        data={"level": level, "number": number, "file": path.name},
        digest=hashlib.sha256(f"{path.name}\0{text}".encode()).hexdigest(),
        group=f"level{level}",
        needs="torch",
    )


SUITE = KernelBench()
