"""SuperCoder: whole programs in x86-64 assembly, to be made faster than what a compiler wrote.

Its own rule: the text is linked with ``-lm``, and prints exactly the expected text on every input with exit code 0;
then the process is timed, 3 runs to warm up and 10 that count, on at most 10 inputs. A wrong, slower or textually
unchanged answer counts as a speedup of 1. Traps: start-up and input are within the time of programs that last a
millisecond; the least speedup of 1 hides what became slower; no ABI and no memory is looked at.
"""

from __future__ import annotations

import shlex
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from whet.benchmarks.lab.base import Lab
from whet.benchmarks.results import Own, Row
from whet.benchmarks.suites.base import Origin, Problem, Reading, Score, Unusable
from whet.benchmarks.suites.grouping import grouped, passed
from whet.benchmarks.suites.jsonl import Ids, RowFault, digest, fault, field, read_rows
from whet.benchmarks.suites.repositories.rows import texts
from whet.benchmarks.suites.samples import draws, mean_figure, told
from whet.core.errors import UsageError
from whet.evaluators.finding import Fault
from whet.evaluators.scores import common
from whet.evaluators.shell import Shell, opened, staged
from whet.sandbox.cores import measuring_cores

TIMED = 10
"""Inputs that are timed at most."""
WARM = 3  # runs of each input that do not count, by the suite's rule; fewer let cold caches into the mean
SECONDS = 120.0
"""Seconds that linking a program, or running it once, may take. A smaller limit fails slow programs; a larger one waits
longer for one that hangs."""


@dataclass(frozen=True, slots=True)
class SuperCoder:
    """The suite.

    Attributes:
        runs: of each input that count.
    """

    runs: int = 10

    name = "supercoder"
    title = "SuperCoder: whole programs in x86-64 assembly over stdin and stdout"
    status = "format only"
    origin = Origin(
        source="github.com/Anjiang-Wei/SuperCoder, whose README links the data",
        licence="unknown",
        files={"*.jsonl": "the rows, exported as JSON Lines: datasets' Dataset.to_json does that"},
        notes=("which compiler flags made 'unoptimized_assembly' the rows do not tell; it is the baseline here",),
    )

    def read(self, root: Path) -> Reading:
        """See `whet.benchmarks.suites.base.Suite.read`."""
        files = sorted(root.glob("*.jsonl"))
        if not files:
            raise UsageError(f"no rows (*.jsonl) under {root}; see whet bench fetch-help {self.name}")
        faults: list[str] = []
        problems: list[Problem] = []
        ids = Ids()
        for file in files:
            for line, row in read_rows(file, faults):
                try:
                    problem = _problem(row)
                    ids.take(problem.id, line)
                    problems.append(problem)
                except RowFault as why:
                    faults.append(fault(file, line, why))
        if not problems:
            raise UsageError(f"{root} holds no row that can be used: {faults[0] if faults else 'its files are empty'}")
        return Reading(tuple(problems), tuple(faults))

    def write_target(self, problem: Problem, folder: Path) -> str:
        """See `whet.benchmarks.suites.base.Suite.write_target`: a translation to the same machine."""
        (folder / "program.c").write_text(problem.data["c_code"])
        (folder / "program.s").write_text(problem.unchanged)
        (folder / "program.x86_64.s").write_text(problem.unchanged)
        (folder / "cases").mkdir()
        for number, (stdin, stdout) in enumerate(_cases(problem.data)):
            (folder / "cases" / f"{number:03}.in").write_text(stdin)
            (folder / "cases" / f"{number:03}.out").write_text(stdout)
        (folder / "whet.toml").write_text(
            '[task]\nlanguage = "asm"\nkind = "transpile"\nsource = "program.s"\ntarget = "program.x86_64.s"\n'
            'isa = "x86_64"\n\n[oracle]\nreference = "program.c"\n\n[workload]\ncases = "cases"\n'
        )
        return str(folder)

    def judge(self, problem: Problem, answer: str, lab: Lab) -> Own:
        """See `whet.benchmarks.suites.base.Suite.judge`."""
        baseline, text = _linked(problem.unchanged, lab), _linked(_bare(answer), lab)
        if isinstance(baseline, str):
            raise Unusable(f"the row's own assembly does not build here: {baseline}")
        if isinstance(text, str):
            return Own(False, f"it does not build: {text}", {}, "s", "clock")
        with (
            staged(lab, {"slow": baseline}, executable=True) as slow,
            staged(lab, {"fast": text}, executable=True) as fast,
            measuring_cores(1) as cores,
            opened(lab, slow, cores) as before,
            opened(lab, fast, cores) as after,
        ):
            if why := _wrong(before, "slow", problem.data):
                raise Unusable(f"the row's own assembly fails here: {why}")
            if why := _wrong(after, "fast", problem.data):
                return Own(False, why, {}, "s", "clock")
            same = problem.unchanged.split() == _bare(answer).split()
            ratios = [1.0] if same else self._ratios(before, after, problem.data)
        speedups = [max(1.0, ratio) for ratio in ratios]
        return Own(True, "", {"speedup": statistics.fmean(speedups), "ratios": ratios}, "s", "clock")

    def _ratios(self, before: Shell, after: Shell, data: Mapping[str, Any]) -> list[float]:
        found = []
        for stdin, _ in _cases(data)[:TIMED]:
            times: tuple[list[float], list[float]] = ([], [])
            for _ in range(WARM + self.runs):
                for shell, name, into in ((before, "slow", times[0]), (after, "fast", times[1])):
                    into.append(
                        shell.run(f"exec {shlex.quote(f'{shell.tree}/{name}')}", SECONDS, stdin.encode()).seconds
                    )
            slow, fast = (statistics.fmean(one[WARM:]) for one in times)
            found.append(slow / fast if fast > 0.0 else 1.0)
        return found

    def score(self, rows: Sequence[Row]) -> Score:
        """See `whet.benchmarks.suites.base.Suite.score`."""
        found = grouped(rows)
        kept, excluded = found.rows, found.excluded
        figures = []
        best: list[float] = []
        for k in draws(found.fewest, (1, 2, 4, 8)) or (1,):
            note = "mean over all tasks; wrong, slower or unchanged is 1"
            best = [common.best_of_k([told(row, "speedup", 1.0) for row in of], k) for of in kept.values()]
            figures.append(mean_figure(f"speedup@{k}", best, "x", note, headline=k == 1))
        right = [common.mean(float(passed(row)) for row in of) for of in kept.values()]
        figures.append(mean_figure("passing", [100.0 * one for one in right], "%"))
        return Score(tuple(figures), common.spread(best), found.failed, excluded)

    def export(self, rows: Sequence[Row], folder: Path) -> Path | None:
        """See `whet.benchmarks.suites.base.Suite.export`: the suite keeps no format of results that it reads again."""
        return None

    def imported(self, file: Path) -> Score | None:
        """See `whet.benchmarks.suites.base.Suite.imported`."""
        return None


def _problem(row: dict[str, Any]) -> Problem:
    info = field(row, "extra_info", dict)
    index, c_code = info.get("index"), field(info, "c_code", str)
    if not isinstance(index, int | str) or isinstance(index, bool):
        raise RowFault("extra_info has no index")
    inputs, outputs = texts(info, "inputs"), texts(info, "outputs")
    if not inputs or len(inputs) != len(outputs):
        raise RowFault(f"{len(inputs)} inputs and {len(outputs)} outputs")
    best = info.get("answer")
    data = {"c_code": c_code, "inputs": inputs, "outputs": outputs}
    text = _bare(field(info, "unoptimized_assembly", str))
    known = _bare(best) if isinstance(best, str) and best.strip() else None
    return Problem(str(index), f"program {index}", "asm", text, known, data, digest({**data, "asm": text}))


def _bare(text: str) -> str:
    """Returns assembly without the fence that answers come in."""
    lines = text.strip().splitlines()
    fenced = bool(lines) and lines[0].startswith("```")
    kept = lines[1 : -1 if lines[-1].strip() == "```" else None] if fenced else lines
    return "\n".join(line for line in kept if line.strip() != "```") + "\n"


def _cases(data: Mapping[str, Any]) -> list[tuple[str, str]]:
    return list(zip(data["inputs"], data["outputs"], strict=True))


def _linked(text: str, lab: Lab) -> bytes | str:
    """Returns the program of an assembly text, or what the assembler said."""
    with staged(lab, {"program.s": text.encode()}) as tree, opened(lab, tree) as shell:
        ran = shell.run(f"gcc {shlex.quote(shell.tree)}/program.s -o program -lm", SECONDS)
        binary = shell.read("/work/program") if ran.well else ran.why
        return str(binary) if isinstance(binary, Fault) else binary


def _wrong(shell: Shell, name: str, data: Mapping[str, Any]) -> str:
    """Returns why a program is wrong by the suite's rule; empty where it is right."""
    for number, (stdin, stdout) in enumerate(_cases(data)):
        ran = shell.run(f"exec {shlex.quote(f'{shell.tree}/{name}')}", SECONDS, stdin.encode())
        if not ran.well:
            return f"input {number}: {ran.why}"
        if ran.stdout != stdout:
            return f"input {number}: it prints something else"
    return ""


SUITE = SuperCoder()
