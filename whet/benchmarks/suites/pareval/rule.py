"""ParEval's own rule: an answer is compiled into the suite's driver, which checks and times it.

Traps of it, kept as they are: the driver, and with it the clock, runs in the process of the answer; a text uses OpenMP
or MPI where the letters ``#pragma omp`` or ``MPI_`` stand in it, in a comment too; results are compared on inputs of
``rand`` with its usual seed. Tightened here: each line of the driver comes once, and the seconds that it tells must fit
into those that passed out here.
"""

from __future__ import annotations

import math
import os
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from whet.benchmarks.lab.base import Lab
from whet.benchmarks.results import Own
from whet.benchmarks.suites.base import Problem, Unusable
from whet.evaluators.finding import Fault
from whet.evaluators.shell import LIMITS, LineResult, opened, staged
from whet.sandbox.cores import measuring_cores

REPEATS = 5
"""Calls of the answer, and of the sequential program, that the driver times."""
BUILD_SECONDS = 120.0
"""Seconds of one build, four times the suite's default. A smaller limit fails answers on a slow machine; a larger one
waits longer for a compiler that hangs."""
RUN_SECONDS = 120.0  # seconds of one run of the driver, the suite's default; more let slower answers pass
SLACK = 0.05
"""Seconds by which the clocks in there and out here may differ."""
PLAIN = ("-std=c++17", "-O3")
BUILDERS = {
    "serial": ("g++", *PLAIN),
    "omp": ("g++", *PLAIN, "-fopenmp"),
    "mpi": ("mpicxx", *PLAIN),
    "mpi+omp": ("mpicxx", *PLAIN, "-fopenmp"),
    "cuda": ("nvcc", *PLAIN, "-arch=native", "-Xcompiler", "-O3"),
}
TRANSPORTS = ("--mca", "pml", "ob1", "--mca", "btl", "self,vader")
"""Shared memory alone: Open MPI's other ones look for devices that the sandbox does not show."""
MPIRUN = ("mpirun", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none", *TRANSPORTS)
"""The ranks have their cores already; root is nobody in the sandbox, and himself without one."""
MACROS = {"serial": "USE_SERIAL", "omp": "USE_OMP", "mpi": "USE_MPI", "mpi+omp": "USE_MPI", "cuda": "USE_CUDA"}
"""The suite's ``-DUSE_MPI+OMP`` defines ``USE_MPI``, since a plus ends the name."""
WANTED = {"omp": ("#pragma omp",), "mpi": ("MPI_", "MPI."), "mpi+omp": ("MPI_", "MPI.")}


@dataclass(frozen=True, slots=True)
class DriverReport:
    """What a driver printed of one run.

    Attributes:
        valid: whether the answer's results are right.
        runtime: mean seconds of the answer; NaN where it is wrong.
        sequential: mean seconds of the suite's sequential program.
    """

    valid: bool
    runtime: float = math.nan
    sequential: float = math.nan


def judge(problem: Problem, answer: str, lab: Lab) -> Own:
    """See `whet.benchmarks.suites.base.Suite.judge`."""
    data = problem.data
    text = source_of(data["prompt"], answer)
    used = uses_model(data["model"], completion(data["prompt"], answer))
    figures: dict[str, Any] = {"built": False, "source_valid": used, "problem_type": data["problem_type"]}
    binary = build(data, text, lab)
    if isinstance(binary, str):
        _expect_reference(problem, lab)
        return Own(False, f"it does not build: {binary}", figures, "s", "clock")
    figures["built"] = True
    runs, reason = _runs(data, binary, lab)
    figures["runs"] = runs
    if reason:
        _expect_reference(problem, lab)
    sequential = [run["best_sequential_runtime"] for run in runs if run["is_valid"]]
    if sequential:
        figures["sequential"] = min(sequential)
    if not reason and not used:
        reason = f"it does not use {data['model']}, by the suite's look at its text"
    return Own(not reason, reason, figures, "s", "clock")


def completion(prompt: str, answer: str) -> str:
    """Returns an answer without the prompt: models may give the body alone, or the whole text."""
    last = prompt.rpartition("\n")[2].strip()
    before, found, after = answer.partition(last)
    if not found:
        return answer
    known = {line.strip() for line in prompt.splitlines()}
    return "\n".join([*(line for line in before.splitlines() if line.strip() not in known), after])


def source_of(prompt: str, answer: str) -> str:
    """Returns the text of ``generated-code.hpp``, with ``NO_INLINE`` behind the return type as the suite puts it."""
    head, _, last = prompt.rpartition("\n")
    inserted = " ".join([*(words := last.split(" "))[:1], "NO_INLINE", *words[1:]])
    signature = last.strip()
    if signature in answer:
        return answer.replace(signature, inserted.strip(), 1)
    return f"{head}\n{inserted}\n{answer}"


def uses_model(model: str, text: str) -> bool:
    """Whether the suite takes a text for one that uses its model of parallelism."""
    both = model != "mpi+omp" or "#pragma omp" in text
    return both and (model not in WANTED or any(word in text for word in WANTED[model]))


def build(data: Mapping[str, Any], text: str, lab: Lab) -> bytes | str:
    """Returns the program of a text with the driver, or what the compiler said."""
    model, files = data["model"], data["files"]
    suffix = "cu" if model == "cuda" else "cc"
    header = "generated-code.cuh" if model == "cuda" else "generated-code.hpp"
    given = {**{name: text.encode() for name, text in files.items()}, header: text.encode()}
    with staged(lab, given) as tree, opened(lab, tree, gpu=model == "cuda") as shell:
        words = [*BUILDERS[model], f"-I{shell.tree}", f"-D{MACROS[model]}", f"-DDRIVER_PROBLEM_SIZE={data['size']}"]
        sources = [f"{shell.tree}/main.{suffix}", f"{shell.tree}/bench.{suffix}"]
        ran = shell.run(shlex.join([*words, *sources, "-o", "a.out"]), BUILD_SECONDS)
        if not ran.well:
            return _error(ran)
        binary = shell.read("/work/a.out")
        return str(binary) if isinstance(binary, Fault) else binary


def _error(ran: LineResult) -> str:
    errors = [line for line in ran.stderr.splitlines() if "error" in line]
    return errors[0][:300] if errors else ran.why


def possible(resources: Sequence[Mapping[str, int]]) -> list[Mapping[str, int]]:
    """Returns the runs of a launch configuration for which this machine has cores."""
    cores = len(os.sched_getaffinity(0))
    return [run for run in resources if math.prod(run.values()) <= cores]


def _runs(data: Mapping[str, Any], binary: bytes, lab: Lab) -> tuple[list[dict[str, Any]], str]:
    """Returns the runs in the suite's own form, and why not all are right."""
    made: list[dict[str, Any]] = []
    reason = ""
    with staged(lab, {"a.out": binary}, executable=True) as tree:
        for counts in possible(data["resources"]):
            ran, told = _run(data["model"], counts, tree, lab)
            if isinstance(told, str):
                reason = reason or f"{_words(counts)}{told}"
                told = DriverReport(False)
            elif not told.valid:
                reason = reason or f"{_words(counts)}its results are not those of the suite's own program"
            times = {"runtime": told.runtime, "best_sequential_runtime": told.sequential}
            numbers = {name: None if math.isnan(value) else value for name, value in times.items()}
            made.append({"did_run": ran.well, "is_valid": told.valid, **numbers, **counts})
    return made, reason


def _words(counts: Mapping[str, int]) -> str:
    named = ", ".join(f"{value} {name.removeprefix('num_')}" for name, value in counts.items())
    return f"with {named}: " if named else ""


def _run(model: str, counts: Mapping[str, int], tree: Any, lab: Lab) -> tuple[LineResult, DriverReport | str]:
    ranks = "num_procs" in counts
    limits = replace(LIMITS, seconds=RUN_SECONDS)
    with (
        measuring_cores(math.prod(counts.values())) as cores,
        opened(lab, tree, cores, limits, gpu=model == "cuda", loopback=ranks) as shell,
    ):
        words = [f"{shell.tree}/a.out"]
        if ranks:
            words = [*MPIRUN, "-np", str(counts["num_procs"]), *words]
        if "num_threads" in counts:
            words.append(str(counts["num_threads"]))
        ran = shell.run(shlex.join(words), RUN_SECONDS)
    return ran, told(ran.stdout, ran.seconds) if ran.well else ran.why


def told(stdout: str, seconds: float) -> DriverReport | str:
    """Returns what a driver's lines say, or what is wrong with them.

    Args:
        stdout: of one run.
        seconds: that it took by the clock out here.
    """
    lines: dict[str, list[str]] = {"Validation": [], "Time": [], "BestSequential": []}
    for line in stdout.splitlines():
        key, colon, value = line.partition(":")
        if colon and key in lines:
            lines[key].append(value.strip())
    if any(len(values) > 1 for values in lines.values()):
        return "a line of the driver comes twice: the answer wrote one of them"
    if lines["Validation"] != ["PASS"]:
        return DriverReport(False) if lines["Validation"] else "the driver came to no end"
    try:
        runtime, sequential = (float(lines[key][0]) for key in ("Time", "BestSequential"))
    except (IndexError, ValueError):
        return "the driver came to no end"
    if not (0.0 <= runtime < math.inf and 0.0 < sequential < math.inf):
        return "it tells times that there are not"
    if REPEATS * (runtime + sequential) > seconds + SLACK:
        return f"it tells more time than the {seconds:.3g} s that passed out here"
    return DriverReport(True, runtime, sequential)


def _expect_reference(problem: Problem, lab: Lab) -> None:
    """Raises `Unusable` where the suite's own sequential program does not pass the suite's own driver here."""
    data = problem.data
    if not data["reference"]:
        return
    files = {**data["files"], "main.cc": data["files"]["serial.cc"], "bench.cc": data["files"]["cpu.cc"]}
    serial = {**data, "model": "serial", "files": files, "resources": [{}]}
    binary = build(serial, _plain(data["reference"]), lab)
    if isinstance(binary, str):
        raise Unusable(f"the suite's own program does not build here: {binary}")
    _, reason = _runs(serial, binary, lab)
    if reason:
        raise Unusable(f"the suite's own program fails here: {reason}")


def _plain(text: str) -> str:
    """Returns a text without the headers of models of parallelism, which this machine may lack."""
    return "\n".join(line for line in text.splitlines() if line.strip() not in ("#include <mpi.h>", "#include <omp.h>"))
