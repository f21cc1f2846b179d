"""The two programs that whet measures itself on: a Python function and a C++ program, never made faster."""

from __future__ import annotations

import random
import runpy
from pathlib import Path

from whet.core.config import Options
from whet.core.task import Task
from whet.evaluators.targets import read_task

PYTHON = """\
def histogram(words):
    counts = {}
    for word in words:
        counts[word] = counts.get(word, 0) + 1
    return sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
"""
PYTHON_WORKLOAD = """\
words = [f"w{number}" for number in range(1500)]
sizes = [10, 3000, 6000]
def make_input(size, rng):
    return (rng.choices(words, k=size),)
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
        ("Python function", "histogram.py", PYTHON, PYTHON_WORKLOAD),
        ("C++ program", "sorted.cpp", CPP, CPP_WORKLOAD),
    ):
        place = folder / name.partition(".")[0]
        place.mkdir(parents=True)
        (place / name).write_text(source)
        (place / "workload.py").write_text(workload)
        target = f"{place / name}::histogram" if name.endswith(".py") else str(place / name)
        tasks[kind] = read_task(target, Options())
    return tasks


def written_input(task: Task, seed: int) -> bytes:
    """Returns what the larger timed size of the C++ program reads."""
    workload = runpy.run_path(str(task.path.parent / "workload.py"))
    text: str = workload["make_input"](workload["sizes"][-1], random.Random(seed))
    return text.encode()
