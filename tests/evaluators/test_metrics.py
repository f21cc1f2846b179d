"""Metrics other than time, on real sandboxes: honest wins and losses, what cannot be bent, what cannot be had."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from metering import WORKLOAD, needs_bubblewrap, needs_compiler, opened

import whet
from whet.core.errors import UsageError
from whet.core.measurement import Outcome
from whet.core.result import Result, Status
from whet.core.task import MIB
from whet.core.verdict import Reason
from whet.evaluators.artifacts import Artifact
from whet.evaluators.finding import Fault
from whet.evaluators.ladder import Ladder
from whet.evaluators.meters.cpu import Cpu
from whet.evaluators.meters.energy import Energy
from whet.evaluators.processes import Pass
from whet.evaluators.timing.bench import Bench
from whet.evaluators.timing.decision import Rule, judge
from whet.evaluators.timing.statistics import Stage
from whet.evaluators.timing.turns import SIDES, Turn
from whet.evaluators.timing.workloads import TimedWorkload
from whet.sandbox.control_group import find_place
from whet.sandbox.inside.codec import encode
from whet.testing.scripted import ScriptedModel

# Writes to every page: memory that is only asked for is not used.
HOLDS = "def f(items):\n    held = bytearray(b'x' * {size} * 1048576)\n    return sum(items) + len(held) * 0\n"
BUSY = "    n = 0\n    for i in range({steps}):\n        n += i\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "target.py").write_text(held(40))
    (tmp_path / "workload.py").write_text(WORKLOAD)
    return tmp_path


def held(size: int, steps: int = 0) -> str:
    """Returns a function that holds so many MiB, twice for a moment, and goes round a loop."""
    first, rest = HOLDS.format(size=size).split("\n", 1)
    return f"{first}\n{BUSY.format(steps=steps)}{rest}"


def verdict(folder: Path, candidate: str, **options: Any) -> Result:
    (folder / "candidate.py").write_text(candidate)
    return whet.verify(f"{folder}/target.py::f", candidate=folder / "candidate.py", home=folder / "home", **options)


def reason(result: Result) -> Reason | None:
    return next((rung.reason for rung in result.rungs if rung.status == "failed"), None)


# Memory


@pytest.fixture(params=["docker", "bubblewrap"])
def gauged(request: pytest.FixtureRequest, folder: Path) -> Iterator[Ladder]:
    if request.param == "docker":
        request.getfixturevalue("docker_host")
    elif find_place() is None:
        pytest.skip("no control group can be made here")
    made = opened(folder, metric="memory", sandbox=request.param)
    yield made
    made.close()


def peak(ladder: Ladder, body: str) -> float:
    """Returns the peak in MiB of ``f(items)`` with this body."""
    artifact = ladder._builder.build("import mmap, os\ndef f(items):\n" + body + "    return sum(items)\n")
    assert isinstance(artifact, Artifact)
    process = artifact.start(gauged=True)
    assert not isinstance(process, Fault)
    try:
        assert not isinstance(process.timed([encode(([1, 2],))], 20.0), Fault)
        found = process.peak()
    finally:
        process.close()
    assert found is not None
    return found / MIB


@pytest.mark.corpus
@pytest.mark.timed
def test_less_memory_is_an_improvement_in_memory_though_it_takes_longer(folder: Path, docker_host: None) -> None:
    (folder / "target.py").write_text(held(20))
    lean = held(5, steps=2_000_000)
    found = verdict(folder, lean, metric="memory", sandbox="docker")
    assert found.status is Status.IMPROVED, found.message
    assert found.speedup is not None
    assert found.speedup.metric == "memory"
    assert 2 < found.speedup.low <= found.speedup.high < 5
    assert "less memory" in found.message
    by_time = verdict(folder, lean, metric="time", sandbox="docker", until="measure")
    assert reason(by_time) in (Reason.SLOWER, Reason.NOT_FASTER), by_time.message


@pytest.mark.corpus
def test_less_time_is_no_improvement_in_memory(folder: Path, docker_host: None) -> None:
    (folder / "target.py").write_text(held(10, steps=300_000))
    found = verdict(folder, held(10), metric="memory", sandbox="docker", until="measure")
    assert found.status is Status.NO_IMPROVEMENT
    assert found.speedup is not None
    assert found.speedup.ratio == pytest.approx(1.0, abs=0.05)


@pytest.mark.corpus
@pytest.mark.timed
def test_a_run_for_memory_ends_in_the_leanest(folder: Path, docker_host: None) -> None:
    said = [
        held(40).replace("sum(items)", "sum(list(items))"),
        held(10, steps=99_999),
    ]
    model = ScriptedModel(
        {"coder": [f"Change: {n}\nKind: algorithm\n\n```python\n{s}```\n" for n, s in enumerate(said)]}
    )
    found = whet.optimize(
        f"{folder}/target.py::f",
        model=model,
        home=folder / "home",
        metric="memory",
        sandbox="docker",
        rounds=1,
        candidates=2,
    )
    assert found.status is Status.IMPROVED, found.message
    assert found.candidate is not None
    assert found.candidate.source == said[1]
    assert found.speedup is not None
    assert found.speedup.metric == "memory"
    assert "Less memory is wanted" in model.requests[0].messages[1].text


HIDDEN = {
    "a child that was forked": """\
    ready, done = os.pipe(), os.pipe()
    if os.fork() == 0:
        held = b'x' * (64 << 20)
        os.write(ready[1], b'.')
        os.read(done[0], 1)
        os._exit(0)
    os.read(ready[0], 1)
    os.write(done[1], b'.')
    os.wait()
""",
    "a file in /work": "    open('/work/held', 'wb').write(b'x' * (48 << 20))\n    os.unlink('/work/held')\n",
    "a file in /dev/shm": "    open('/dev/shm/held', 'wb').write(b'x' * (48 << 20))\n    os.unlink('/dev/shm/held')\n",
    "a mapping": "    held = mmap.mmap(-1, 64 << 20)\n    held.write(b'x' * (64 << 20))\n    held.close()\n",
    "a peak that it tries to forget": """\
    held = bytearray(b'x' * (32 << 20))
    del held
    open('/proc/self/clear_refs', 'w').write('5')
""",
}


@pytest.mark.corpus
@pytest.mark.parametrize("where", HIDDEN)
def test_memory_counts_wherever_it_is_put(gauged: Ladder, where: str) -> None:
    assert peak(gauged, HIDDEN[where]) - peak(gauged, "") > 44


@pytest.mark.corpus
def test_what_one_job_used_does_not_count_for_the_next(gauged: Ladder) -> None:
    before = peak(gauged, "")
    assert peak(gauged, "    held = bytearray(b'x' * (32 << 20))\n") > before + 44
    assert peak(gauged, "") == pytest.approx(before, abs=3)


@pytest.mark.corpus
@needs_compiler
def test_what_starts_a_program_does_not_count_for_it(tmp_path: Path, docker_host: None) -> None:
    (tmp_path / "small.cpp").write_text('#include <cstdio>\nint main(){int n;scanf("%d",&n);printf("%d\\n",n+1);}\n')
    (tmp_path / "workload.py").write_text("sizes=[9]\ndef make_input(size, rng):\n    return str(rng.randrange(999))\n")
    ladder = opened(tmp_path, "small.cpp", metric="memory", sandbox="docker")
    try:
        process = ladder.baseline.artifact.start(gauged=True)
        assert not isinstance(process, Fault)
        assert not isinstance(process.timed([b"1"], 10.0), Fault)
        assert 0 < (process.peak() or 0) < 4 * MIB
        process.close()
    finally:
        ladder.close()


def test_a_sandbox_that_counts_no_memory_is_refused(folder: Path) -> None:
    with pytest.raises(UsageError, match=r"memory needs a control group .* give --sandbox docker"):
        verdict(folder, held(1), metric="memory", sandbox="none", unsafe=True)


def test_without_a_sandbox_no_instructions_are_counted(folder: Path) -> None:
    with pytest.raises(UsageError, match="instructions cannot be measured: without a sandbox"):
        verdict(folder, held(1), metric="instructions", sandbox="none", unsafe=True)


# CPU seconds


def cpu_turns(said: float, exact: float, ticked: float) -> list[Turn]:
    """Returns turns of a baseline of 100 CPU ms, 2 of them to hand over, and a candidate of which so much is known."""
    ours = Pass(0.11, 0.1, 0.1, (), amount=0.102, ticks=0.1)
    theirs = Pass(0.11, said, said, (), amount=exact, ticks=ticked)
    return [Turn(SIDES, 0.0, {"a": {"baseline": ours, "again": ours, "candidate": theirs}}) for _ in range(8)]


@pytest.mark.parametrize(
    ("said", "exact", "ticked", "believed"),
    [
        (0.05, 0.052, 0.05, 0.05),
        (0.01, 0.052, 0.05, 0.05),  # its threads are seen
        (0.05, 0.012, 0.05, 0.05),  # a child that has ended, which it owns to
        (0.01, 0.012, 0.05, None),  # and one that it hides
    ],
)
def test_cpu_seconds_are_believed_as_far_as_the_kernel_agrees(
    said: float, exact: float, ticked: float, believed: float | None
) -> None:
    found = Cpu().series(cpu_turns(said, exact, ticked), "a")
    if believed is None:
        assert isinstance(found, Fault)
        assert found.reason is Reason.CHEATING
        assert "10 CPU ms in the calls, the kernel 50 CPU ms" in found.detail
    else:
        assert not isinstance(found, Fault), found
        assert found.candidate == pytest.approx([believed] * 8)


SPREAD = """\
import {module}
def f(items):
    parts = []
    def work():
        n = 0
        for i in range({steps}):
            n += i
    {start}
    return sum(items)
"""
THREADS = (
    "threads = [threading.Thread(target=work) for _ in '12']; [t.start() for t in threads]; [t.join() for t in threads]"
)


@pytest.mark.corpus
@pytest.mark.timed
@needs_bubblewrap
def test_a_wait_is_no_cpu_time_and_a_thread_is(folder: Path) -> None:
    (folder / "target.py").write_text(held(1, steps=200_000))
    idle = f"import time\n{held(1, steps=50_000)}".replace("    return", "    time.sleep(0.02)\n    return")
    found = verdict(folder, idle, metric="cpu", sandbox="bubblewrap")
    assert found.status is Status.IMPROVED, found.message
    assert found.speedup is not None
    assert found.speedup.metric == "cpu"
    assert found.speedup.low > 1.5
    spread = SPREAD.format(module="threading", steps=200_000, start=THREADS)
    found = verdict(folder, spread, metric="cpu", sandbox="bubblewrap", until="measure")
    assert reason(found) is Reason.SLOWER, found.message


# Several at once


@pytest.mark.corpus
@pytest.mark.timed
@needs_bubblewrap
def test_each_metric_is_measured_of_a_rewrite_and_held_to_its_limit(folder: Path) -> None:
    (folder / "target.py").write_text(held(1, steps=200_000))
    found = verdict(folder, held(1, steps=50_000), metric="time,cpu", sandbox="bubblewrap")
    assert found.status is Status.IMPROVED, found.message
    (row,) = found.front
    assert row.confirmed
    assert list(row.metrics) == ["time", "cpu"]
    assert all(one.low > 1.5 and one.processes >= 8 for one in row.metrics.values())
    assert "cpu " in next(rung.detail for rung in found.rungs if rung.name == "confirm")
    limited = verdict(folder, held(1, steps=100_000), metric="cpu", max_time="0.2x", sandbox="bubblewrap")
    assert limited.status is Status.NO_IMPROVEMENT
    assert reason(limited) in (Reason.OVER_LIMIT, Reason.NOT_FASTER), "a busy machine cannot tell"
    assert "--max-time 0.2x: 0." in limited.message


@pytest.mark.corpus
@pytest.mark.timed
@needs_bubblewrap
@pytest.mark.skipif(find_place() is None, reason="no control group can be made here")
def test_a_gain_that_is_paid_for_in_memory_is_none(folder: Path) -> None:
    (folder / "target.py").write_text(held(1, steps=1_000_000))
    found = verdict(folder, held(12, steps=20_000), max_memory="1.5x", sandbox="bubblewrap")
    assert found.status is Status.NO_IMPROVEMENT
    assert reason(found) is Reason.OVER_LIMIT, found.message
    assert "breaks --max-memory 1.5x: " in found.message
    assert found.speedup is not None
    assert found.speedup.metric == "time"
    assert found.front == ()


# Energy


@pytest.fixture
def meters(tmp_path: Path) -> Iterator[Path]:
    """A folder that looks like /sys/class/powercap, whose meter advances by a joule a second."""
    package = tmp_path / "powercap" / "intel-rapl:0"
    package.mkdir(parents=True)
    (package / "max_energy_range_uj").write_text("1000000000\n")
    ended = threading.Event()

    def advance() -> None:
        new = package / "new"
        while not ended.is_set():
            new.write_text(f"{time.monotonic_ns() // 1000 % 10**9}\n")
            new.replace(package / "energy_uj")
            ended.wait(0.001)

    thread = threading.Thread(target=advance)
    (package / "energy_uj").write_text("0\n")
    thread.start()
    yield package.parent
    ended.set()
    thread.join()


@pytest.mark.timed
@needs_bubblewrap
def test_joules_are_read_around_the_window(folder: Path, meters: Path) -> None:
    (folder / "target.py").write_text(held(1, steps=100_000))
    ladder = opened(folder, sandbox="bubblewrap")
    try:
        faster = ladder._builder.build(held(1))
        assert isinstance(faster, Artifact)
        inputs = ladder.baseline.workloads(ladder._source)[0].draw(3, 20)
        work = TimedWorkload("size", 20, lambda seed, count: inputs)
        bench = Bench(ladder.baseline.artifact, faster, [work], ladder._oracle.judge, 10.0, (0,), Energy(meters))
        taken = [bench.turn(number) for number in range(4)]
    finally:
        ladder.close()
    for turn in taken:
        used = turn.passes["size"]["baseline"]
        assert used.amount == pytest.approx(used.outside, rel=0.5, abs=0.05)
    measured = judge(taken, [work], Stage(4, 1.0), Rule(1.01, 0.6, "itself", Energy(meters))).measurement
    assert measured.speedup.metric == "energy"
    assert measured.speedup.ratio > 2
    assert measured.outcome in (Outcome.FASTER, Outcome.NOT_SHOWN)


@pytest.mark.corpus
@needs_bubblewrap
@pytest.mark.skipif(Path("/sys/class/powercap").exists(), reason="this machine may have an energy meter")
def test_a_machine_without_a_meter_is_refused_in_one_line(whet, folder: Path) -> None:
    (folder / "candidate.py").write_text(held(1))
    done = whet("verify", f"{folder}/target.py::f", "--candidate", folder / "candidate.py", "--metric", "energy")
    assert done.returncode == 2
    assert len(done.stderr.strip().splitlines()) == 1
    assert "no energy meter under /sys/class/powercap" in done.stderr


# Counters
