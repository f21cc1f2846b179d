"""``whet bench self steady``: its targets, its truth, what it asks of a verdict, and its table. It is not run here."""

from __future__ import annotations

import math
import os
import random
import runpy
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from whet.benchmarks.self.campaigns.campaign import Record, Status
from whet.benchmarks.self.campaigns.steady import TRUTH, VERDICTS, Steady, judged
from whet.benchmarks.self.steady_load import CONDITIONS, EACH, IDLE, beside
from whet.benchmarks.self.steady_targets import WRONG, SteadyTarget, steady_targets
from whet.benchmarks.self.steady_truth import TrueRatio, true_gain
from whet.core.errors import UsageError
from whet.core.measurement import CPU, WALL, Speedup
from whet.core.result import Cost, Counts, Result, TaskName
from whet.core.result import Status as Answer
from whet.evaluators.syntax.fingerprint import fingerprint


def test_there_are_24_targets_of_other_names_and_texts() -> None:
    targets = steady_targets()
    assert len({target.name for target in targets}) == 24
    for target in targets:
        language = {"program": "cpp"}.get(target.kind, target.kind)
        before, after = (fingerprint(language, text) for text in target.texts())
        assert before != after, "what means the same is answered without being measured"


@pytest.mark.parametrize("gain", ["1.00x", "1000x", WRONG])
def test_a_rewrite_gives_the_results_of_its_baseline_unless_it_is_meant_to_be_wrong(gain: str, tmp_path: Path) -> None:
    target, rewrite = SteadyTarget("python", gain).write(tmp_path)
    before, after = (runpy.run_path(str(file))["mixed"] for file in (target.partition("::")[0], rewrite))
    same = [before(numbers) == after(numbers) for numbers in ([7, 8, 9], [1 << 31, 5])]
    assert same == [gain != WRONG] * 2


@pytest.mark.parametrize("kind", ["python", "c", "cpp", "program"])
def test_a_gain_by_a_thousand_or_ten_is_seen_in_cpu_seconds(kind: str, tmp_path: Path) -> None:
    true = true_gain(SteadyTarget(kind, "10x" if kind == "program" else "1000x"), tmp_path, pairs=1)
    assert true.baseline > 2 * true.candidate > 0
    by_cpu, by_clock = true.by_cpu.ratio, true.by_clock.ratio
    assert by_cpu == true.baseline / true.candidate
    assert (by_clock == by_cpu) == (kind != "program"), "a call does not wait; a program's start does"


def test_the_interval_of_a_true_gain_holds_the_median_in_99_of_100_runs() -> None:
    rng = random.Random(1)
    held = 0
    for _ in range(1000):
        found = TrueRatio.of([2.0 ** rng.expovariate(math.log(2.0)) for _ in range(300)])
        held += found.low <= 2.0 <= found.high
    assert 980 <= held < 1000


def test_items_are_asked_for_by_target_condition_both_or_one() -> None:
    assert len(Steady().asked) == 21 + 24 * len(CONDITIONS) * VERDICTS
    assert [item.id for item in Steady(["c-2x:truth"]).asked] == ["c-2x:truth"]
    assert len(Steady([TRUTH]).asked) == 21
    assert len(Steady([IDLE]).asked) == 24 * VERDICTS
    assert len(Steady(["c-2x:idle", "c-2x:truth"]).asked) == VERDICTS + 1
    assert len(Steady(["c-2x"]).asked) == len(CONDITIONS) * VERDICTS + 1
    with pytest.raises(UsageError, match=r"no item .c-3x."):
        Steady(["c-3x"])


def test_busy_processes_end_with_a_campaign_that_is_killed() -> None:
    begin = "import time\nfrom whet.benchmarks.self.steady_load import *\n"
    code = f"{begin}with beside(ONE): print(1, flush=True); time.sleep(60)"
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as campaign:
        assert campaign.stdout is not None
        campaign.stdout.read(1)
        (busy,) = children(campaign.pid)
        campaign.kill()
    deadline = time.monotonic() + 60
    while runs(busy) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not runs(busy)


def test_busy_processes_end_with_the_block() -> None:
    before = children()
    with beside(EACH):
        started = children() - before
        assert len(started) == len(os.sched_getaffinity(0))
    assert not children() & started


def runs(pid: str) -> bool:
    """Whether a process has not ended; one that nobody waits for stays in the table of processes."""
    with suppress(FileNotFoundError, ProcessLookupError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    return False


def children(pid: int = 0) -> set[str]:
    pid = pid or os.getpid()
    return set(Path(f"/proc/{pid}/task/{pid}/children").read_text().split())


def result(answer: Answer, ratio: float | None = None, clock: str = WALL) -> Result:
    speedup = None
    if ratio is not None:
        speedup = Speedup(ratio, ratio / 1.02, ratio * 1.02, 0.99, "time", 8, 8, (1, 1), "", (), clock=clock)
    name = TaskName("mixed", "python", "mixed.py")
    return Result("run", name, answer, speedup, None, (), Counts(), Cost(), 5.0, "said")


def true(by_cpu: float, by_clock: float) -> dict[str, Any]:
    """Returns a true gain as a record has it, each ratio within half a per cent."""
    told = {"by_cpu": by_cpu, "by_clock": by_clock}
    return {clock: {"ratio": one, "low": one / 1.005, "high": one * 1.005} for clock, one in told.items()}


@pytest.mark.parametrize(
    ("gain", "answer", "status"),
    [
        ("1.00x", Answer.IMPROVED, Status.WRONG),
        ("1.00x", Answer.NO_IMPROVEMENT, Status.RIGHT),
        ("1.00x", Answer.REJECTED, Status.WRONG),
        ("1.05x", Answer.NO_IMPROVEMENT, Status.RIGHT),
        ("1.05x", Answer.IMPROVED, Status.RIGHT),
        ("1.3x", Answer.NO_IMPROVEMENT, Status.WRONG),
        ("1000x", Answer.IMPROVED, Status.RIGHT),
        ("2x", Answer.REJECTED, Status.WRONG),
        (WRONG, Answer.REJECTED, Status.RIGHT),
        (WRONG, Answer.IMPROVED, Status.WRONG),
        (WRONG, Answer.BASELINE_INVALID, Status.WRONG),
    ],
)
def test_what_is_demanded_of_a_verdict(gain: str, answer: Answer, status: Status) -> None:
    assert judged(SteadyTarget("c", gain), result(answer)).status is status


def test_the_table_counts_answers_ratios_that_stray_and_intervals_that_hold_the_truth() -> None:
    found = [judged(SteadyTarget("c", "2x"), result(Answer.IMPROVED, ratio)) for ratio in (2.0, 2.01, 2.5)]
    records = [Record("c-2x:truth", "", "", 1.0, Status.RIGHT, "", true(2.02, 2.02))]
    records += [Record(f"c-2x:idle:{n}", "", "", 5.0, one.status, one.line, one.facts) for n, one in enumerate(found)]
    twin = judged(SteadyTarget("c", "1.00x"), result(Answer.IMPROVED, 1.1))
    records.append(Record("c-1.00x:idle:1", "", "", 5.0, twin.status, twin.line, twin.facts))
    table = list(Steady().table(records))
    assert (
        "| c-2x | 2.02x (2.01 to 2.03) | idle | 3 | 3 improved | 2 to 2.5, median 2.01 | 1 of 3 | 2 of 3 | 5.0 |"
        in table
    )
    assert any(line.startswith("idle: intervals that hold the truth: 66.7 %") for line in table)
    assert any(line.startswith("idle: intervals that hold the median of the truth: 66.7 %") for line in table)
    assert any(line.startswith("idle: equal programs called faster: 100.0 %") for line in table)


@pytest.mark.parametrize(("clock", "held"), [(WALL, 1), (CPU, 0)])
def test_an_interval_is_held_against_the_truth_by_its_own_clock(clock: str, held: int) -> None:
    target = SteadyTarget("program", "10x")
    found = judged(target, result(Answer.IMPROVED, 8.3, clock))
    truth = Record("program-10x:truth", "", "", 1.0, Status.RIGHT, "", true(8.9, 8.3))
    table = list(Steady().table([truth, Record("program-10x:idle:1", "", "", 5.0, found.status, "", found.facts)]))
    row = next(line for line in table if line.startswith("| program-10x |"))
    assert "| 8.3x (8.259 to 8.341) by the clock, 8.9x (8.856 to 8.944) in CPU seconds |" in row
    assert f"| {held} of 1 | 5.0 |" in row


@pytest.mark.parametrize(("ratio", "held", "median"), [(2.02, 1, 1), (2.045, 1, 0), (2.055, 0, 0)])
def test_an_interval_holds_the_truth_where_it_meets_the_truth_s_own(ratio: float, held: int, median: int) -> None:
    found = judged(SteadyTarget("c", "2x"), result(Answer.IMPROVED, ratio))
    truth = Record("c-2x:truth", "", "", 1.0, Status.RIGHT, "", true(2.0, 2.0))
    table = list(Steady().table([truth, Record("c-2x:idle:1", "", "", 5.0, found.status, "", found.facts)]))
    assert f"| {held} of 1 | 5.0 |" in next(line for line in table if line.startswith("| c-2x |"))
    (row,) = (line for line in table if line.startswith("idle: intervals that hold the median of the truth:"))
    assert f": {100 * median}.0 %" in row
