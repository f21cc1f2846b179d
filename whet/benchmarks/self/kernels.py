"""``whet bench self kernels``: how soon a C++ answer is judged, which cheats are caught, what the shipped answers gain.

The usual way to judge an answer is a script that builds it by torch's own loader, without caches, and compares five
trials with the reference in the same process. Beside it stands the ladder up to its differential rung.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

from whet.benchmarks.self import kernel_gains
from whet.benchmarks.self.kernel_gains import TASKS
from whet.core.candidate import Candidate
from whet.core.errors import UsageError, nearest
from whet.core.options import Options
from whet.evaluators.ladder import open_ladder
from whet.evaluators.targets import read_task
from whet.testing.exploits.corpus import ExpectedResult, exploits, playable
from whet.testing.exploits.run import play

JUDGED = "rmsnorm"
"""The task whose answer is changed."""
CHANGES = 5  # changed answers of each form, whose median counts; more steady it and take longer
SEED = 20_261_122
LOADER = '''\
import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

CPP = """
#include <torch/extension.h>
#include <cmath>

torch::Tensor rmsnorm(torch::Tensor x, torch::Tensor weight) {
  auto out = torch::empty_like(x);
  const int64_t width = x.size(-1), rows = x.numel() / width;
  const float *w = weight.data_ptr<float>();
  for (int64_t row = 0; row < rows; row++) {
    const float *a = x.data_ptr<float>() + row * width;
    float *b = out.data_ptr<float>() + row * width;
    float squares = 0.0f;
#pragma omp simd reduction(+ : squares)
    for (int64_t i = 0; i < width; i++) squares += a[i] * a[i];
    const float factor = 1.0f / std::sqrt(squares / static_cast<float>(width) + 1e-6f);
#pragma omp simd
    for (int64_t i = 0; i < width; i++) b[i] = a[i] * factor * w[i];
  }
  return out;
}
"""
EXTENSION = load_inline(
    name="rmsnorm", cpp_sources=CPP, functions=["rmsnorm"], extra_cflags=["-O3", "-march=native", "-fopenmp"]
)


class ModelNew(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(1.0 + 0.1 * torch.randn(width))

    def forward(self, x):
        return EXTENSION.rmsnorm(x.contiguous(), self.weight)
'''
USUAL = """\
import sys
import torch
sys.path.insert(0, sys.argv[1])
import problem, answer
torch.manual_seed(42)
reference = problem.Model(*problem.get_init_inputs())
torch.manual_seed(42)
model = answer.ModelNew(*problem.get_init_inputs())
for seed in range(5):
    torch.manual_seed(seed)
    inputs = problem.get_inputs()
    with torch.no_grad():
        assert torch.allclose(reference(*inputs), model(*inputs), atol=1e-4, rtol=1e-4)
"""
CHEATS = {"clocks and reports": range(1, 18), "caching and leaks": range(18, 35), "weak oracles": range(35, 50)}
"""Rows of the catalogue of exploits, by what they are about."""
VERDICTS, TRICKS = "verdicts", "cheats"


def report(parts: Sequence[str] = (), results: Path | None = None) -> Iterator[str]:
    """Yields the lines of the report while it measures.

    Args:
        parts: ``verdicts``, ``cheats`` and names of shipped tasks; none for all of them.
        results: a file that holds what the tasks' answers gain, after each; what stands in it is not measured again.

    Raises:
        UsageError: there is no part of a name, or the file holds something else.
    """
    tasks = kernel_gains.task_names()
    known = (VERDICTS, TRICKS, *tasks)
    if unknown := next((name for name in parts if name not in known), None):
        raise UsageError(f"there is no part '{unknown}'{nearest(unknown, known)}; there are {', '.join(known)}")
    asked = parts or known
    named = [name for name in asked if name in tasks]
    shown = [
        verdicts() if VERDICTS in asked else None,
        cheats() if TRICKS in asked else None,
        kernel_gains.table(kernel_gains.measured(named, results)) if named else None,
    ]
    for number, lines in enumerate(filter(None, shown)):
        yield from [""] if number else []
        yield from lines


def verdicts() -> Iterator[str]:
    """Yields what a verdict on a changed answer takes, by the form of the answer."""
    answer = (TASKS / JUDGED / "best.py").read_text(encoding="utf-8")
    usual = statistics.median(usual_seconds(number) for number in range(3))
    yield f"from the text of a changed C++ answer ({JUDGED}) to its verdict, median:"
    yield f"  torch's loader without caches, one process, 5 trials   {usual:6.2f} s"
    for name, source, goal, most in (
        ("torch's loader in the ladder", LOADER, 2.5, 8),
        ("C ABI in the ladder", answer, 5, 1),
    ):
        found = ladder_seconds(source, CHANGES)
        took, built = (statistics.median(seconds) for seconds in zip(*found, strict=True))
        yield f"  {name:52}   {took:6.2f} s   {usual / took:5.1f}x, goal {goal:g}x"
        yield f"    of it the build {built:41.2f} s   goal {most} s"


def changed(source: str, number: int) -> str:
    """Returns an answer whose C++ is another text."""
    return source.replace("#include <cmath>", f"#include <cmath>\n// change {number}")


def usual_seconds(number: int) -> float:
    """Returns the seconds of a verdict by a script."""
    with tempfile.TemporaryDirectory(prefix="whet-self-") as folder:
        place = Path(folder)
        (place / "problem.py").write_bytes((TASKS / JUDGED / "problem.py").read_bytes())
        (place / "answer.py").write_text(changed(LOADER, number), encoding="utf-8")
        environment = {**os.environ, "TORCH_EXTENSIONS_DIR": str(place / "built"), "CCACHE_DISABLE": "1"}
        start = time.perf_counter()
        subprocess.run([sys.executable, "-c", USUAL, folder], env=environment, check=True, stdout=subprocess.DEVNULL)
        return time.perf_counter() - start


def ladder_seconds(source: str, changes: int) -> list[tuple[float, float]]:
    """Returns the seconds of the ladder's verdicts on as many changed answers, and those that the build took of them.

    They come after a verdict that counts nowhere.

    Raises:
        ValueError: an answer was found wrong.
    """
    task = read_task(str(TASKS / JUDGED / "problem.py"), Options())
    found = []
    with closing(open_ladder(task, Options(until="differential"), SEED)) as ladder:
        ladder.validate()
        for number in range(changes + 1):
            candidate = Candidate(changed(source, number))
            start = time.perf_counter()
            verdict = ladder.check(candidate)
            seconds = time.perf_counter() - start
            build = verdict.rung("build")
            if verdict.failed is not None or build is None:
                raise ValueError(f"{verdict.rungs[-1].name}: {verdict.rungs[-1].detail}")
            found.append((seconds, build.seconds))
    return found[1:]


def cheats() -> Iterator[str]:
    """Yields what came of the exploits that run with torch on the CPU, by what they are about."""
    corpus = [one for one in playable(exploits()) if one.language == "torch" and one.outcome is ExpectedResult.REJECTED]
    yield "| cheats with torch on the CPU | tried | caught |"
    yield "|---|---|---|"
    through = []
    for about, rows in CHEATS.items():
        played = list(play([one for one in corpus if one.row in rows], sides=("cheat",)))
        through += [one for one in played if not one.answered]
        yield f"| {about} | {len(played)} | {sum(one.answered for one in played)} |"
    for one in through:
        yield f"not caught as it must be: {one.exploit.name}: {one.rung} {one.reason}: {one.detail.splitlines()[0]}"
