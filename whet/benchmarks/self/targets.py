"""The two programs that whet measures itself on: a Python function and a C++ program, never made faster."""

from __future__ import annotations

import random
import runpy
from pathlib import Path

from whet.core.options import Options
from whet.core.task import Task
from whet.evaluators.targets import read_task

PYTHON = """\
def distance(a, b):
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        above, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            above, row[j] = row[j], min(above + (x != y), row[j] + 1, row[j - 1] + 1)
    return row[-1]
"""
PYTHON_WORKLOAD = """\
sizes = [10, 90, 120]
def make_input(size, rng):
    return tuple("".join(rng.choices("acgt", k=size)) for _ in range(2))
"""
CPP = """\
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <vector>
int main() {
    unsigned long long seed, n;
    if (std::scanf("%llu %llu", &seed, &n) != 2) return 1;
    std::vector<std::uint64_t> values(n);
    for (auto &value : values) {
        seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
        value = seed >> 20;
    }
    std::sort(values.begin(), values.end());
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < n; i += 97) sum = sum * 31 + values[i];
    std::printf("%llu\\n", (unsigned long long)sum);
}
"""
CPP_WORKLOAD = """\
sizes = [10, 120000, 180000]
def make_input(size, rng):
    return f"{rng.getrandbits(40)} {size}\\n"
"""


def write_targets(folder: Path) -> dict[str, Task]:
    """Writes both targets under a folder and returns their tasks, by what they are."""
    tasks = {}
    for kind, name, source, workload in (
        ("Python function", "distance.py", PYTHON, PYTHON_WORKLOAD),
        ("C++ program", "sorted.cpp", CPP, CPP_WORKLOAD),
    ):
        place = folder / name.partition(".")[0]
        place.mkdir(parents=True)
        (place / name).write_text(source)
        (place / "workload.py").write_text(workload)
        target = f"{place / name}::distance" if name.endswith(".py") else str(place / name)
        tasks[kind] = read_task(target, Options())
    return tasks


def written_input(task: Task, seed: int) -> bytes:
    """Returns what the larger timed size of the C++ program reads."""
    workload = runpy.run_path(str(task.path.parent / "workload.py"))
    text: str = workload["make_input"](workload["sizes"][-1], random.Random(seed))
    return text.encode()
