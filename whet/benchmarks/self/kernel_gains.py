"""What the known-good answers of the shipped kernel tasks gain on the CPU, against eager PyTorch and torch.compile.

Each figure is that of a whole verdict, in fresh processes and with its interval; see `whet.evaluators.verify`.
"""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from whet.core.errors import UsageError
from whet.core.label import Label
from whet.core.measurement import Speedup
from whet.core.plain import from_plain, to_plain
from whet.core.result import Status
from whet.evaluators.labels.registry import labels
from whet.evaluators.verify import verify

TASKS = Path(__file__).parents[1] / "tasks" / "kernels"
EAGER_GOAL, FASTEST_GOAL = 10, 5
"""Tasks whose answers in C++ shall beat eager PyTorch, and the faster of it and torch.compile."""

Figures = tuple[float, float, float]
"""A ratio, and its interval."""


@dataclass(frozen=True, slots=True)
class Gain:
    """What one answer gains.

    Attributes:
        task: its name.
        native: whether the answer has kernels of its own, in C++; else it is a rewrite in torch.
        status: of the verdict.
        eager: against eager PyTorch; None where nothing was timed.
        compiled: against the fastest that torch.compile makes of the problem; None where that was not measured.
        seconds: of the verdict.
        message: of the verdict.
    """

    task: str
    native: bool
    status: Status
    eager: Figures | None
    compiled: Figures | None
    seconds: float
    message: str

    @property
    def beats_eager(self) -> bool:
        """Whether the whole interval against eager PyTorch lies above 1."""
        return self.eager is not None and self.eager[1] > 1

    @property
    def beats_fastest(self) -> bool:
        """Whether it was confirmed against the faster of eager PyTorch and torch.compile."""
        return self.status is Status.IMPROVED and self.compiled is not None


def task_names() -> tuple[str, ...]:
    """Returns the names of the shipped tasks that are torch modules."""
    return tuple(sorted(path.parent.name for path in TASKS.glob("*/problem.py")))


def measured(names: Sequence[str], results: Path | None = None) -> Iterator[Gain]:
    """Returns what answers gain, one after the other as they are measured.

    Args:
        names: of the tasks.
        results: a file that holds what was found, after each task; what stands in it already is not measured again.

    Raises:
        UsageError: the file holds something else.
    """
    return _measured(names, results, {} if results is None or not results.exists() else _read(results))


def _measured(names: Sequence[str], results: Path | None, known: dict[str, Gain]) -> Iterator[Gain]:
    for name in names:
        if name not in known:
            known[name] = gain(TASKS / name)
            if results is not None:
                text = json.dumps({"gains": [to_plain(one) for one in known.values()]}, indent=1)
                results.write_text(f"{text}\n", encoding="utf-8")
        yield known[name]


def gain(folder: Path) -> Gain:
    """Measures the known-good answer of the task in a folder."""
    problem, answer = folder / "problem.py", folder / "best.py"
    target = folder if (folder / "whet.toml").is_file() else problem
    start = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="whet-self-") as home:
        found = verify(str(target), candidate=answer, device="cpu", home=Path(home))
    shown = labels("python", answer.read_text(encoding="utf-8"), problem.read_text(encoding="utf-8"))
    eager, compiled = figures(found.speedup)
    return Gain(
        task=folder.name,
        native=any(one.label is Label.CUSTOM_KERNEL for one in shown),
        status=found.status,
        eager=eager,
        compiled=compiled,
        seconds=round(time.perf_counter() - start, 1),
        message=found.message,
    )


def figures(speedup: Speedup | None) -> tuple[Figures | None, Figures | None]:
    """Returns what a verdict shows against eager PyTorch, and against the fastest that torch.compile makes."""
    if speedup is None:
        return None, None
    each = speedup.baselines or (speedup,)
    eager, *compiled = [(one.ratio, one.low, one.high) for one in each]
    return eager, min(compiled, default=None)


def table(gains: Iterator[Gain]) -> Iterator[str]:
    """Yields a row a task, and what they come to."""
    yield "| task | answer in | verdict | against eager PyTorch | against torch.compile | seconds |"
    yield "|---|---|---|---|---|---|"
    rows = []
    for one in gains:
        rows.append(one)
        written = "C++" if one.native else "torch"
        cells = (one.task, written, one.status.value, _shown(one.eager), _shown(one.compiled), f"{one.seconds:.0f}")
        yield f"| {' | '.join(cells)} |"
    yield ""
    yield from totals(rows)


def totals(rows: Sequence[Gain]) -> Iterator[str]:
    """Yields which answers in C++ beat what."""
    native = [one for one in rows if one.native]
    wins: Mapping[str, tuple[list[str], int]] = {
        "eager PyTorch": ([one.task for one in native if one.beats_eager], EAGER_GOAL),
        "the faster of eager and torch.compile": ([one.task for one in native if one.beats_fastest], FASTEST_GOAL),
    }
    for what, (names, goal) in wins.items():
        yield f"answers in C++ that beat {what}: {len(names)} of {len(native)}, goal {goal}: {', '.join(names)}"
    for one in rows:
        if one.compiled is None:
            yield f"not held against torch.compile: {one.task}: {one.message}"


def _shown(found: Figures | None) -> str:
    return "" if found is None else f"{found[0]:.2f}x ({found[1]:.2f} to {found[2]:.2f})"


def _read(results: Path) -> dict[str, Gain]:
    try:
        rows = [from_plain(Gain, row) for row in json.loads(results.read_text(encoding="utf-8"))["gains"]]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UsageError(f"--results {results} holds no results of whet bench self kernels: {error!r:.200}") from None
    return {row.task: row for row in rows}
