"""Targets of known gain in Python, C and C++, for ``whet bench self steady``.

A baseline runs some passes over its numbers, a rewrite fewer.
The result is that of the last pass alone, so fewer passes give the same one; each pass hashes its numbers one after the
other, so its time is proportional to their number and no compiler leaves a pass out.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from string import Template

GAINS = {
    "1.00x": (20, 20),
    "1.05x": (21, 20),
    "1.3x": (26, 20),
    "2x": (20, 10),
    "10x": (20, 2),
    "100x": (100, 1),
    "1000x": (1000, 1),
}
"""Passes of the baseline and of the rewrite, by the gain."""
WRONG = "wrong"
"""Instead of a gain: a rewrite of half the passes that leaves the last number out."""

PYTHON = Template("""\
def mixed(numbers):
    for start in range($passes - 1, -1, -1):
        value = start
        for number in numbers$part:
            value = (value * 33 ^ number) & 0xFFFFFFFF
    return value
""")
PYTHON_WORKLOAD = Template("""\
sizes = [3, $nearly, $size]
def make_input(size, rng):
    return ([rng.getrandbits(32) for _ in range(size)],)
""")
FUNCTION = Template("""\
#include <stdint.h>
static volatile uint32_t kept;
$export uint32_t mixed(const uint32_t *numbers, int64_t n)
{
    uint32_t value = 0;
    for (int64_t start = $passes - 1; start >= 0; start--) {
        value = (uint32_t)start;
        for (int64_t i = 0; i < n$part; i++)
            value = (value * 33) ^ numbers[i];
        kept = value;
    }
    return value;
}
""")
FUNCTION_TASK = Template("""\
[task]
name = "$name"
language = "$language"
target = "$file"
symbol = "mixed"
[signature]
prototype = "uint32_t mixed(const uint32_t *numbers, int64_t n)"
numbers = {length = "n"}
n = {role = "size", min = 0}
[workload]
sizes = [3, $nearly, $size]
""")
PROGRAM = Template("""\
#include <cstdint>
#include <cstdio>
#include <vector>
static volatile std::uint32_t kept;
int main() {
    std::uint32_t seed, n;
    if (std::scanf("%u %u", &seed, &n) != 2) return 1;
    std::vector<std::uint32_t> numbers(n);
    for (auto &number : numbers) number = seed = seed * 1664525u + 1013904223u;
    std::uint32_t value = 0;
    for (int start = $passes - 1; start >= 0; start--) {
        value = start;
        for (std::uint32_t i = 0; i < n$part; i++) value = (value * 33) ^ numbers[i];
        kept = value;
    }
    std::printf("%u\\n", value);
}
""")
PROGRAM_WORKLOAD = Template("""\
sizes = [3, $nearly, $size]
def make_input(size, rng):
    return f"{rng.getrandbits(32)} {size}\\n"
""")
TIMES = {"c": 50, "cpp": 50, "program": 10}
"""So many times the passes of `GAINS`, where these are below `MOST_PASSES`, on as many times fewer numbers. A program
also makes its numbers, which takes as long as a pass; megabytes of numbers of a function would time the memory too."""
LONGER = {"program-10x": 4}
"""So many times the passes still, on as many numbers: without them the start of a process and the making of the numbers
are more than a third of the rewrite's run, and gains of verdicts some minutes apart differ by that."""
MOST_PASSES = 1000
STEPS = {"python": 100_000, "c": 10_000_000, "cpp": 10_000_000, "program": 40_000_000}
"""Steps of the baseline on the timed size, but for `LONGER`: some 10 ms of a function, 40 ms of a program."""
NEARLY = 0.9
"""Of the timed size is the next one, which counts too: on one much smaller a call itself, or the start of a program, is
a larger part of a side's time, so that its gain is not the one that is known."""
PROGRAM_GAINS = ("1.00x", "1.05x", "1.3x", "2x", "10x")
"""Of more, the start of a process would leave nothing to see."""


@dataclass(frozen=True, slots=True)
class SteadyTarget:
    """A baseline and a rewrite of it.

    Attributes:
        kind: ``python``, ``c`` and ``cpp`` for functions, ``program`` for a C++ program.
        gain: of `GAINS`, or `WRONG`.
    """

    kind: str
    gain: str

    @property
    def name(self) -> str:
        """Such as ``python-1.3x``."""
        return f"{self.kind}-{self.gain}"

    @property
    def passes(self) -> tuple[int, int]:
        """Passes of the baseline and of the rewrite."""
        before, after = GAINS["2x" if self.gain == WRONG else self.gain]
        times = TIMES.get(self.kind, 1) if before < MOST_PASSES else 1
        times *= self._longer
        return before * times, after * times

    @property
    def size(self) -> int:
        """The larger of the timed ones."""
        return STEPS[self.kind] * self._longer // self.passes[0]

    @property
    def _longer(self) -> int:
        return LONGER.get(self.name, 1)

    def texts(self) -> tuple[str, str]:
        """Returns the baseline and the rewrite."""
        before, after = self.passes
        template = {"python": PYTHON, "program": PROGRAM}.get(self.kind, FUNCTION)
        export = 'extern "C"' if self.kind == "cpp" else ""
        shorter = "[:-1]" if self.kind == "python" else " - 1"
        return (
            template.substitute(passes=before, part="", export=export),
            # Another tree than the baseline's, where both have the same passes: what means the same is not measured.
            template.substitute(passes=f"{after} + 0", part=shorter if self.gain == WRONG else "", export=export),
        )

    def write(self, folder: Path) -> tuple[str, Path]:
        """Writes the target under a folder; returns it as after ``whet verify``, and the file of the rewrite."""
        ending = {"python": ".py", "c": ".c"}.get(self.kind, ".cpp")
        file, rewrite = folder / f"mixed{ending}", folder / f"rewrite{ending}"
        before, after = self.texts()
        nearly = round(NEARLY * self.size)
        file.write_text(before)
        rewrite.write_text(after)
        if self.kind in ("python", "program"):
            workload = PYTHON_WORKLOAD if self.kind == "python" else PROGRAM_WORKLOAD
            (folder / "workload.py").write_text(workload.substitute(size=self.size, nearly=nearly))
            return f"{file}::mixed" if self.kind == "python" else str(file), rewrite
        task = FUNCTION_TASK.substitute(
            name=self.name, language=self.kind, file=file.name, size=self.size, nearly=nearly
        )
        (folder / "whet.toml").write_text(task)
        return str(folder), rewrite


def steady_targets() -> tuple[SteadyTarget, ...]:
    """Returns all 24."""
    functions = [SteadyTarget(kind, gain) for kind in ("python", "c") for gain in (*GAINS, WRONG)]
    programs = [SteadyTarget("program", gain) for gain in (*PROGRAM_GAINS, WRONG)]
    return (*functions, *programs, SteadyTarget("cpp", "100x"), SteadyTarget("cpp", "1000x"))
