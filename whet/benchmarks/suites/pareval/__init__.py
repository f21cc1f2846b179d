"""ParEval: parallel programs in C++ for seven models of parallelism, of which four run on a processor.

Its own rule, with its traps, stands in `whet.benchmarks.suites.pareval.rule`, its score in
`whet.benchmarks.suites.pareval.scoring`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from whet.benchmarks.lab.base import Lab
from whet.benchmarks.results import Own, Row
from whet.benchmarks.suites.base import NoTarget, Origin, Problem, Reading, Score
from whet.benchmarks.suites.jsonl import RowFault, fault, field, read_rows
from whet.benchmarks.suites.pareval import rows, rule, scoring
from whet.core.errors import UsageError
from whet.evaluators.shell import LIMITS

MAIN = """\
#include <cstdio>

class Context;
Context *init();
void compute(Context *ctx);
bool validate(Context *ctx);
void reset(Context *ctx);
void destroy(Context *ctx);

int main() {
    Context *ctx = init();
    bool valid = validate(ctx);
    for (int call = 0; valid && call < 5; call++) {
        compute(ctx);
        reset(ctx);
    }
    std::puts(valid ? "right" : "wrong");
    destroy(ctx);
}
"""
"""A driver without a clock: whet's own stands outside. Only the suite's checks and calls are in it."""


@dataclass(frozen=True, slots=True)
class ParEval:
    """The suite."""

    name = "pareval"
    title = "ParEval: C++ kernels, serial and with OpenMP, MPI and CUDA, in the suite's own drivers"
    status = "real data read"
    origin = Origin(
        source="github.com/parallelcodefoundry/ParEval: a checkout of it is the given path",
        licence="MIT",
        files={
            rows.PROMPTS: "the prompts",
            f"{rows.DRIVERS}/benchmarks/*/*/cpu.cc": "the problems' drivers, with baseline.hpp",
            f"{rows.DRIVERS}/models/*-driver.cc": "the models' drivers",
            rows.SIZES: "sizes of the problems",
            rows.CONFIGS: "threads and ranks of the runs",
        },
        notes=(
            "MPI needs mpicxx and mpirun: apt-get install libopenmpi-dev openmpi-bin",
            "Kokkos and HIP are listed as not run",
            "runs that need more cores than the machine has are left out",
        ),
    )

    def read(self, root: Path) -> Reading:
        """See `whet.benchmarks.suites.base.Suite.read`."""
        return rows.read(root)

    def answers(self, file: Path, problems: Sequence[Problem]) -> Mapping[tuple[str, int], str]:
        """Returns somebody's outputs in ParEval's format: (problem, sample) -> answer.

        Raises:
            UsageError: they cannot be read.
        """
        faults: list[str] = []
        found: dict[tuple[str, int], str] = {}
        for place, row in read_rows(file, faults):
            try:
                problem = f"{field(row, 'name', str)}/{field(row, 'parallelism_model', str)}"
                for sample, output in enumerate(field(row, "outputs", list)):
                    text = output.get("generated_output") if isinstance(output, dict) else output
                    if not isinstance(text, str):
                        raise RowFault(f"output {sample} is no text")
                    found[problem, sample] = text
            except RowFault as why:
                faults.append(fault(file, place, why))
        if faults:
            raise UsageError(faults[0])
        return found

    def write_target(self, problem: Problem, folder: Path) -> str:
        """See `whet.benchmarks.suites.base.Suite.write_target`.

        A program that prints whether the answer is right and calls it five times, timed from outside with its start:
        so its speedup is that of the whole process, and smaller than the driver's.
        """
        data = problem.data
        if problem.needs or not data["reference"]:
            raise NoTarget(f"{problem.id} has no form that whet's ladder takes: only the suite's own rule judges it")
        files = {**data["files"], "main.cc": MAIN, "generated-code.hpp": '#include "answer.cpp"\n'}
        answer = rule.source_of(data["prompt"], problem.unchanged)
        (folder / "cases").mkdir()
        (folder / "cases" / "right.in").write_text("")
        (folder / "cases" / "right.out").write_text("right\n")
        for name, text in {**files, "answer.cpp": answer}.items():
            (folder / name).write_text(text, encoding="utf-8")
        words = [*rule.BUILDERS[data["model"]], "-I.", f"-D{rule.MACROS[data['model']]}"]
        build = f"{' '.join(words)} '-DDRIVER_PROBLEM_SIZE={data['size']}' main.cc bench.cc -o program"
        tables: dict[str, dict[str, object]] = {
            "task": {"language": "command", "target": "answer.cpp"},
            "workload": {"cases": "cases"},
            "build": {"command": build},
            "run": {"command": "./program"},
            "limits": {"seconds": rule.RUN_SECONDS, "memory": LIMITS.memory},
        }
        # A text of JSON is one of TOML too.
        lines = [
            f"[{name}]\n" + "\n".join(f"{k} = {json.dumps(v)}" for k, v in one.items()) for name, one in tables.items()
        ]
        (folder / "whet.toml").write_text("\n\n".join(lines) + "\n", encoding="utf-8")
        return str(folder)

    def judge(self, problem: Problem, answer: str, lab: Lab) -> Own:
        """See `whet.benchmarks.suites.base.Suite.judge`."""
        return rule.judge(problem, answer, lab)

    def score(self, rows: Sequence[Row]) -> Score:
        """See `whet.benchmarks.suites.base.Suite.score`."""
        return scoring.score(rows)

    def export(self, rows: Sequence[Row], folder: Path) -> Path | None:
        """See `whet.benchmarks.suites.base.Suite.export`."""
        return scoring.export(rows, folder)

    def imported(self, file: Path) -> Score | None:
        """See `whet.benchmarks.suites.base.Suite.imported`."""
        return scoring.imported(file)


SUITE = ParEval()
