"""``whet bench self asm``: how soon assembly is judged, which seeded faults are caught, what the best versions gain."""

from __future__ import annotations

import statistics
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

from whet.core.errors import UsageError, nearest
from whet.core.options import Options
from whet.core.verdict import Reason
from whet.evaluators.abi.calls import lacking
from whet.evaluators.artifacts import Builder
from whet.evaluators.assembly.coverage import GOAL, Coverage
from whet.evaluators.assembly.lint import lint
from whet.evaluators.assembly.routines import Routines
from whet.evaluators.finding import Fault, Finding, Passed, Skipped, found_by
from whet.evaluators.inputs.source import InputSource
from whet.evaluators.oracle import Oracle
from whet.evaluators.prove.engines import available
from whet.evaluators.prove.prove import MISSING
from whet.evaluators.targets import read_task
from whet.evaluators.verify import verify
from whet.prompts import times
from whet.sandbox.backends import open_sandbox
from whet.sandbox.interpreter import Interpreter, find_interpreter
from whet.sandbox.protocol import Sandbox
from whet.sandbox.toolchains.isas import ISAS
from whet.testing.asm_faults import table
from whet.testing.asm_faults.judging import SEED, FaultBench
from whet.testing.proofs import run as proofs
from whet.testing.proofs.corpus import pairs

TASKS = Path(__file__).parents[1] / "tasks" / "asm"
VERDICT_SECONDS = 0.2
"""From a changed text to its verdict before timing: the goal."""
CHANGES = 5  # changed texts of each task, whose median is held against the goal; more steady it and take longer


def report(ids: Sequence[str] = ()) -> Iterator[str]:
    """Yields the lines of the report while it measures.

    Args:
        ids: tasks whose best versions are measured too, which takes minutes each.

    Raises:
        UsageError: there is no task of a name.
    """
    known = task_names()
    if unknown := next((name for name in ids if name not in known), None):
        raise UsageError(f"there is no assembly task {unknown}{nearest(unknown, known)}")
    interpreter = find_interpreter(None)
    with closing(open_sandbox("auto", False)) as sandbox:
        yield from _verdicts(sandbox, interpreter)
        yield ""
        yield from _faults(sandbox, interpreter)
    yield ""
    yield from _proofs()
    if ids:
        yield ""
        yield from _gains(ids)


def task_names() -> tuple[str, ...]:
    """Returns the names of the assembly tasks."""
    return tuple(sorted(path.parent.name for path in TASKS.glob("*/whet.toml")))


def _verdicts(sandbox: Sandbox, interpreter: Interpreter) -> Iterator[str]:
    yield "| task | a changed text to its verdict before timing, median | longest | calls | branches of the reference |"
    yield "|---|---|---|---|---|"
    longest = []
    enough = 0
    for name in task_names():
        task = read_task(str(TASKS / name), Options())
        builder = Builder(task, sandbox, interpreter, layouts=1)
        with (
            closing(InputSource(task, sandbox, interpreter)) as source,
            closing(Oracle(task, source, builder)) as oracle,
        ):
            routines = Routines(builder, source, oracle)
            best = (TASKS / name / "best.s").read_text(encoding="utf-8")
            routines.check(best, SEED)  # the reference's calls, which all candidates of a round share
            seconds = []
            found: Finding | None = Passed("")
            for number in range(CHANGES):
                text = f"{best}# {number}\n"
                start = time.perf_counter()
                found = lint(text, task.symbol or "", task.isa) or found_by(partial(routines.check, text, SEED))
                seconds.append(time.perf_counter() - start)
            if not isinstance(found, Passed):
                raise AssertionError(f"the best version of {name}: {found}")
            longest.append(statistics.median(seconds))
            calls = found.evidence["cases"]
            coverage = routines.coverage(SEED)
            enough += isinstance(coverage, Coverage) and coverage.enough
            spent = f"{statistics.median(seconds) * 1e3:.0f} ms | {max(seconds) * 1e3:.0f} ms"
            yield f"| {name} | {spent} | {calls} | {_taken(coverage)} |"
    within, goal = sum(one <= VERDICT_SECONDS for one in longest), f"{VERDICT_SECONDS * 1e3:.0f} ms"
    yield f"medians within {goal}: {within} of {len(longest)}; the longest {max(longest) * 1e3:.0f} ms"
    yield f"tasks whose calls take {GOAL:.0%} of the branches: {enough} of {len(longest)}"


def _taken(coverage: Coverage | Skipped) -> str:
    if isinstance(coverage, Skipped):
        return f"skipped: {coverage.detail}"
    return f"{coverage.taken} of {coverage.branches}" if coverage.branches else "none"


def _faults(sandbox: Sandbox, interpreter: Interpreter) -> Iterator[str]:
    summary = [
        "| instruction set | seeded faults | caught as they must be | by which rung | right ones that pass | as what |",
        "|---|---|---|---|---|---|",
    ]
    yield "| instruction set | seeded fault | rung | verdict |"
    yield "|---|---|---|---|"
    for isa in ISAS:
        rows = [row for row in table.rows() if row.isa == isa]
        faults = [row for row in rows if row.faulty]
        if missing := lacking(isa):
            summary.append(f"| {isa} | {len(faults)} | skipped: {missing.detail} | | | |")
            continue
        bench = FaultBench(sandbox, interpreter, isa, rows)
        found = {row.name: bench.climbed(row) for row in rows}
        caught = []
        for row in faults:
            rung, verdict = found[row.name]
            reason = _reason(verdict)
            if (rung, reason) == (row.rung, row.verdict):
                caught.append(row)
                yield f"| {isa} | {row.name} | {rung} | {reason} |"
            else:
                yield f"| {isa} | {row.name} | MISSED: {rung or 'none'}, not {row.rung} | {reason}, not {row.verdict} |"
        passing = [isinstance(found[row.name][1], Passed) for row in rows if not row.faulty]
        cells = [_counted([row.rung for row in caught]), f"{sum(passing)} of {len(passing)}"]
        cells.append(_counted([str(row.verdict) for row in caught]))
        summary.append(f"| {isa} | {len(faults)} | {len(caught)} | {' | '.join(cells)} |")
    yield ""
    yield from summary


def _counted(names: Sequence[str]) -> str:
    return ", ".join(f"{name} {count}" for name, count in Counter(names).most_common())


def _reason(found: Finding) -> Reason | None:
    return found.reason if isinstance(found, Fault | Skipped) else None


def _proofs() -> Iterator[str]:
    if not available():
        yield f"proofs: skipped: {MISSING}"
        return
    yield "| pair | instruction sets | is | answer | engines | seconds |"
    yield "|---|---|---|---|---|---|"
    made = []
    for row in proofs.rows(pairs()):
        made.append(row)
        expected, answer = "equal" if row.equal else "different", row.answer or f"skipped: {row.reason}"
        yield f"| {row.name} | {row.isa} | {expected} | {answer} | {', '.join(row.engines)} | {row.seconds:.1f} |"
    decided, wrong = sum(row.decided for row in made), sum(row.wrong for row in made)
    yield f"decided {decided} of {len(made)}, wrongly {wrong}; goals 25 of 30, 0"


def _gains(ids: Sequence[str]) -> Iterator[str]:
    yield "| task | verdict | against the strongest baseline | which | against each |"
    yield "|---|---|---|---|---|"
    for name in ids:
        with tempfile.TemporaryDirectory(prefix="whet-self-") as home:
            result = verify(str(TASKS / name), candidate=TASKS / name / "best.s", home=Path(home))
        speedup: Any = result.speedup
        if speedup is None:
            yield f"| {name} | {result.status} | | | {result.message} |"
            continue
        headline = f"{times(speedup.ratio)} ({times(speedup.low)} to {times(speedup.high)})"
        each = "; ".join(f"{one.name}: {times(one.ratio)}" for one in speedup.baselines)
        yield f"| {name} | {result.status} | {headline} | {speedup.baseline} | {each} |"
