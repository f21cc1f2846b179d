"""A native function is counted as a program of ours calls it, and not with an interpreter around it."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import pytest

from whet.benchmarks.self.steady_targets import SteadyTarget
from whet.core.options import Options
from whet.core.signature import Argument, Role, Signature
from whet.evaluators.counting import counters
from whet.evaluators.inputs.source import Input
from whet.evaluators.ladder import open_ladder
from whet.evaluators.targets import read_task
from whet.sandbox.counters.valgrind import TOOL
from whet.sandbox.inside.codec import encode
from whet.sandbox.toolchains.bare import TEXT, packed
from whet.sandbox.toolchains.caller import caller_text

needs_gcc = pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")

MIXED = Signature(
    "void f(const int16_t *given, float factor, double *changed, int64_t n, uint8_t *written, int8_t last)",
    None,
    (
        Argument("given", "int16", Role.IN, "n + 1"),
        Argument("factor", "float32", Role.SCALAR),
        Argument("changed", "float64", Role.INOUT, "n", align=256),
        Argument("n", "int64", Role.SIZE),
        Argument("written", "uint8", Role.OUT, "2 * n"),
        Argument("last", "int8", Role.SCALAR),
    ),
)
TELLING = """\
#include <stdint.h>
#include <stdio.h>
void f(const int16_t *given, float factor, double *changed, int64_t n, uint8_t *written, int8_t last)
{
    for (int64_t i = 0; i <= n; i++) printf("%d ", given[i]);
    for (int64_t i = 0; i < n; i++) printf("%g ", changed[i]);
    for (int64_t i = 0; i < 2 * n; i++) written[i] = 1;
    printf("%g %ld %d %d\\n", factor, (long)n, last, (int)((uintptr_t)changed % 256));
    fflush(stdout);
}
"""


def called(folder: Path, signature: Signature, text: str, inputs: Sequence[Sequence[object]]) -> str:
    """Returns what a function prints that the program calls."""
    for name, source in {"bare.c": TEXT, "f.c": text, "caller.c": caller_text(signature, "f")}.items():
        (folder / name).write_text(source)
    subprocess.run(["gcc", "-O1", "-Wall", "-Werror", "-o", "bare", "bare.c", "-ldl"], cwd=folder, check=True)
    subprocess.run(["gcc", "-O1", "-shared", "-fPIC", "-o", "f.so", "f.c", "caller.c"], cwd=folder, check=True)
    calls = packed(signature, inputs)
    return subprocess.run(
        ["./bare", "./f.so"], cwd=folder, input=calls, capture_output=True, check=True
    ).stdout.decode()


@needs_gcc
def test_a_function_gets_the_arguments_of_each_call(tmp_path: Path) -> None:
    told = called(tmp_path, MIXED, TELLING, [([1, -2, 3], 0.5, [4.25, 5.5], 2, -7), ([9], 1.0, [], 0, 8)])
    assert told == "1 -2 3 4.25 5.5 0.5 2 -7 0\n9 1 0 8 0\n"


@needs_gcc
def test_a_function_without_arguments_is_called_once_an_input(tmp_path: Path) -> None:
    text = '#include <stdio.h>\nint f(void) { printf("called\\n"); return fflush(stdout); }\n'
    assert called(tmp_path, Signature("int f(void)", "int32", ()), text, [(), ()]) == "called\ncalled\n"


@needs_gcc
@pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")
@pytest.mark.skipif(shutil.which(TOOL) is None, reason="valgrind is not installed")
def test_what_is_counted_of_a_native_function_is_its_own(tmp_path: Path) -> None:
    target = SteadyTarget("c", "1000x")
    target.write(tmp_path)
    _, one_pass = target.texts()
    settings = Options(until="build")
    task = read_task(f"{tmp_path}/mixed.c::mixed", settings)

    def instructions(size: int, calls: int) -> float:
        payload = encode((list(range(size)), size))
        found = counters(ladder.builder, one_pass, [Input("size", payload)] * calls)
        (counter,) = (one for one in found if (one.source, one.name) == ("cachegrind", "instructions"))
        assert counter.value is not None, counter.reason
        return counter.value

    with closing(open_ladder(task, settings, 1)) as ladder:
        few, many, twice = instructions(10, 1), instructions(100_010, 1), instructions(100_010, 2)
    steps = (many - few) / 100_000
    assert 4 <= steps <= 8, "of a loop, each time"
    assert few < 1_000_000, "an interpreter takes tens of millions to start"
    assert twice - many == pytest.approx(many - few, rel=0.05)


@needs_gcc
@pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")
def test_a_run_that_ends_within_the_calls_is_not_counted(tmp_path: Path) -> None:
    target = SteadyTarget("c", "2x")
    target.write(tmp_path)
    settings = Options(until="build")
    task = read_task(f"{tmp_path}/mixed.c::mixed", settings)
    ending = target.texts()[0].replace("{\n", "{\n    _exit(7);\n", 1)
    with closing(open_ladder(task, settings, 1)) as ladder:
        found = counters(ladder.builder, f"#include <unistd.h>\n{ending}", [Input("size", encode(([1], 1)))])
    assert found
    assert all(one.value is None for one in found), found
    assert any("exit code 7" in one.reason for one in found)
