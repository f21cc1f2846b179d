"""Writes the page of whet's own tasks: ``python -m whet.benchmarks.tasks_page > docs/tasks.md``."""

from __future__ import annotations

from collections.abc import Iterator

from whet.benchmarks.audits import LITERATURE, SEED, Record, records, unexcused
from whet.benchmarks.tasks import held_out_names, hpc_names, task_folder, task_names, task_note
from whet.evaluators.task_file import read_task_file

LANGUAGES = {"python": "Python", "c": "C", "cpp": "C++"}
OPENING = """\
# Whet's own tasks

This page is generated from the tasks: `python -m whet.benchmarks.tasks_page > docs/tasks.md`.

`whet/benchmarks/tasks/` holds slow targets from varied fields, written as people write code that does not have to be
fast. Each is a folder that `whet optimize`, `verify`, `audit` and `profile` take as it is:

| file | holds |
|---|---|
| `whet.toml` | language, target and workload: see [tasks and workloads](workloads.md#whettoml) |
| `target.py`, `program.*` | what is slow |
| `workload.py` | inputs: plain ones, which are timed, and the awkward ones of the field |
| `test_target.py` | the target's own tests, where it is a function or a method |
| `cases/` | the same of a program: what it reads, and what it must write, worked out by hand |
| `best.*` | the best version known; left out of every copy of the project that a candidate can see |
| `task.md` | what is slow, and what the best version does |
| `excused.toml` | mutants that no input can tell from the target, with the reason |

Reach is `local` where edits at single places bring most of the gain, and `beyond` where it takes another algorithm or
data layout. The best version's speedup is the geometric mean over the two timed sizes, the start of a program included.
Where it is a ratio of CPU times, no interval stands beside it; what `whet verify` confirms has one:

<!-- not run: it takes half an hour; tests/benchmarks/test_tasks.py looks at each task -->
```sh
for task in whet/benchmarks/tasks/*/; do
    whet verify "$task" --candidate "$task"best.*
done
```
"""
HELD_OUT = """
## Held out

`whet/benchmarks/held_out/` holds tasks of the same form, written without knowledge of the catalogue's edits. No edit
may be written for them: what the catalogue gains here says what it gains on code that it was not made for.
"""
HPC = """
## Kernels of scientific computing

`whet/benchmarks/tasks/hpc/` holds AXPY, GEMV, GEMM, a sparse matrix times a vector, Jacobi's method and conjugate
gradients, each as a Python function and, with `-native`, as a C++ function under a
[contract](workloads.md#functions-of-c-and-c). As [problems for a GPU](kernels.md) they stand in `kernels/`, and three
of them as [assembly routines](assembly.md) in `asm/`.
"""
FROM_LITERATURE = f"""
## From the literature

Workloads of papers on kernels, compilers and language models. Those in `kernels/` are
[problems for a GPU](kernels.md), which run on the CPU too, and with `-native` C++ functions. What
`whet audit TASK --seed {SEED}` finds of each ([audits](audit.md)) is recorded by `python -m whet.benchmarks.audits`:
"""


def page() -> str:
    """Returns the page as Markdown."""
    parts = [OPENING, *_table(task_names()), HELD_OUT, *_table(held_out_names()), HPC, *_table(hpc_names())]
    return "\n".join([*parts, FROM_LITERATURE, *_audits(), ""])


def _table(names: tuple[str, ...]) -> Iterator[str]:
    yield "| task | language | kind | field | reach | best known |"
    yield "|---|---|---|---|---|---|"
    for name in names:
        note = task_note(name)
        table = read_task_file(task_folder(name)).task
        kind = "method" if "." in (table.symbol or "") else table.kind or "function"
        yield f"| {name} | {LANGUAGES[table.language]} | {kind} | {note.field} | {note.reach} | {note.best} |"


def _audits() -> Iterator[str]:
    yield "| workload | task | null candidates rejected | mutants found |"
    yield "|---|---|---|---|"
    known = records()
    for id, workload in LITERATURE.items():
        yield f"| {workload} | {id} | {' | '.join(_found(id, known.get(id)))} |"


def _found(id: str, record: Record | None) -> tuple[str, str]:
    if record is None:
        return "not audited yet", "not audited yet"
    alive = len(unexcused(id, record))
    excused = len(record.survivors) - alive
    killed = f"{record.ran - excused - alive} of {record.ran - excused}"
    return f"{record.nulls - len(record.accepted)} of {record.nulls}", killed + (
        f", {excused} excused" if excused else ""
    )


if __name__ == "__main__":
    print(page(), end="")
