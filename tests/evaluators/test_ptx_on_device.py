"""The whole ladder of a kernel on its device: the driver is one of ours, which does a launch's work on the CPU."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from scripted_device import built_driver

import whet
from whet.core.candidate import Candidate
from whet.core.errors import BaselineError
from whet.core.options import Options
from whet.core.task import Task
from whet.core.verdict import Reason, Verdict
from whet.evaluators.judged import climb
from whet.evaluators.ladder import Ladder, open_ladder
from whet.evaluators.targets import read_task
from whet.sandbox.interpreter import find_interpreter
from whet.sandbox.toolchains.cuda import find_tool

SAXPY = Path(whet.__file__).parent / "benchmarks" / "tasks" / "ptx" / "saxpy"
pytestmark = pytest.mark.skipif(
    shutil.which("gcc") is None or find_tool("ptxas", find_interpreter(None)) is None, reason="no gcc, or no ptxas"
)
# What the text says beside its instructions is what this device does.
RAN = """
  float a = *(float *)given[0], *x = *(float **)given[1], *y = *(float **)given[2];
  long long n = *(long long *)given[3];
  struct timespec start, now;
  clock_gettime(CLOCK_MONOTONIC, &start);
  for (long long i = 0; i < 1024LL * blocks; i++) if (i < n) y[i] = a * x[i] + y[i];
  if (strstr(image, "// wrong") && n > 200) y[200] += 1;
  if (strstr(image, "// beyond")) y[n] = 0;
  if (strstr(image, "// greedy") && n) x[0] = 0;
  long long wanted = strstr(image, "// fast") ? 50000 : 150000;
  do clock_gettime(CLOCK_MONOTONIC, &now);
  while ((now.tv_sec - start.tv_sec) * 1000000000LL + now.tv_nsec - start.tv_nsec < wanted);
  return 0;
"""


@pytest.fixture(scope="module")
def task(tmp_path_factory: pytest.TempPathFactory) -> Task:
    folder = tmp_path_factory.mktemp("saxpy")
    shutil.copytree(SAXPY, folder, dirs_exist_ok=True)
    toml = folder / "whet.toml"
    toml.write_text(toml.read_text().replace("[16, 1000, 1048576, 4194304]", "[16, 3000]"))
    made = read_task(str(folder), Options(device="cpu"))
    assert made.launch is not None
    driver = built_driver(folder, "saxpy", RAN)
    return replace(made, launch=replace(made.launch, device="cuda", driver=driver))


def opened(task: Task, **options: str) -> Ladder:
    return open_ladder(task, Options(sandbox="none", unsafe=True, arch="sm_80", **options), seed=1)


@pytest.fixture(scope="module")
def ladder(task: Task) -> Iterator[Ladder]:
    with closing(opened(task, until="prove")) as made:
        made.validate()
        yield made


@pytest.fixture
def judged(ladder: Ladder) -> Callable[[str], Verdict]:
    """Returns what becomes of the kernel with a word more in its text."""
    return lambda word: ladder.check(Candidate(ladder.task.source.replace("LOOP:\n", f"LOOP: // {word}\n")))


@pytest.mark.corpus
def test_a_right_kernel_is_launched_and_compared(judged: Callable[[str], Verdict]) -> None:
    verdict = judged("fast")
    assert verdict.correct, verdict.failed
    passed = {rung.name: rung.detail for rung in verdict.rungs if rung.status == "passed"}
    assert set(passed) == {"screen", "build", "differential", "hazard"}
    assert passed["build"].startswith("ptxas assembles saxpy for sm_80")
    assert "fresh inputs agree" in passed["differential"]


@pytest.mark.corpus
@pytest.mark.parametrize(
    ("word", "reason", "said"),
    [
        ("wrong", Reason.WRONG_OUTPUT, "element 200"),
        ("beyond", Reason.MUTATED_INPUT, "written beyond its ends"),
        ("greedy", Reason.MUTATED_INPUT, "changed"),
        ("$", Reason.CRASH, "broke the CUDA context"),
        ("!", Reason.CRASH, "the driver cannot compile this PTX"),
    ],
)
def test_what_a_kernel_does_wrong_is_seen(
    judged: Callable[[str], Verdict], word: str, reason: Reason, said: str
) -> None:
    failed = judged(word).failed
    assert failed is not None
    assert failed.reason is reason
    assert said in failed.detail


@pytest.mark.corpus(one_in=8)
def test_a_baseline_that_is_not_its_reference_is_unusable(task: Task) -> None:
    wrong = replace(task, source=task.source.replace("LOOP:\n", "LOOP: // wrong\n"))
    with closing(opened(wrong)) as ladder, pytest.raises(BaselineError, match="is not what its reference is"):
        ladder.validate()


def test_the_baseline_takes_what_its_launch_takes(ladder: Ladder) -> None:
    assert all(0.0001 < seconds < 0.1 for seconds in ladder.baseline.seconds.values())


@pytest.mark.timed
def test_a_faster_kernel_is_measured_and_confirmed(task: Task) -> None:
    with closing(opened(task)) as ladder:
        ladder.validate()
        verdict = climb(ladder, Candidate(task.source.replace("LOOP:\n", "LOOP: // fast\n")), lambda event: None)
    assert verdict.confirmed, verdict.rungs[-1]
    assert verdict.measurement is not None
    assert verdict.measurement.speedup.baseline == "the kernel as it stands"
    assert 1.5 < verdict.measurement.speedup.ratio < 6
    assert verdict.measurement.raw["hidden_costs"]["start_charged"] is False
