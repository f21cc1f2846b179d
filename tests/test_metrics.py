"""Metrics other than time, on real sandboxes: honest wins and losses, what cannot be bent, what cannot be had."""

from __future__ import annotations

import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import whet
from whet.core.config import Options
from whet.core.errors import UsageError
from whet.core.measurement import Outcome
from whet.core.result import Result, Status
from whet.core.task import MIB, Kind
from whet.core.verdict import Reason
from whet.evaluators.counting import Counted, count, count_events, counters
from whet.evaluators.finding import Fault
from whet.evaluators.inputs.source import Input
from whet.evaluators.ladder import Ladder, open_ladder
from whet.evaluators.meters.base import Setting
from whet.evaluators.meters.energy import Energy
from whet.evaluators.meters.instructions import Instructions
from whet.evaluators.subjects import Pass, Subject
from whet.evaluators.targets import read_task
from whet.evaluators.timing.decision import Rule, judge
from whet.evaluators.timing.statistics import Stage
from whet.evaluators.timing.turns import Bench, TimedWorkload, Turn
from whet.sandbox.control_group import find_place
from whet.sandbox.counters import perf
from whet.sandbox.inside.codec import encode
from whet.testing.scripted import ScriptedModel

needs_bubblewrap = pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")
needs_valgrind = pytest.mark.skipif(
    shutil.which("valgrind", path="/usr/bin") is None or shutil.which("bwrap") is None,
    reason="valgrind or bubblewrap is not installed",
)
needs_compiler = pytest.mark.skipif(shutil.which("g++") is None, reason="g++ is not installed")

WORKLOAD = """\
sizes = [20]
def make_input(size, rng):
    return ([rng.randrange(1000) for _ in range(size)],)
"""
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


def opened(folder: Path, name: str = "target.py::f", **options: Any) -> Ladder:
    settings = Options(**options)
    made = open_ladder(read_task(f"{folder}/{name}", settings), settings, 1)
    made.validate()
    return made


def peak(ladder: Ladder, body: str) -> float:
    """Returns the peak in MiB of ``f(items)`` with this body."""
    subject = ladder._workshop.build("import mmap, os\ndef f(items):\n" + body + "    return sum(items)\n")
    assert isinstance(subject, Subject)
    live = subject.start(gauged=True)
    assert not isinstance(live, Fault)
    try:
        assert not isinstance(live.timed([encode(([1, 2],))], 20.0), Fault)
        found = live.peak()
    finally:
        live.close()
    assert found is not None
    return found / MIB


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


def test_less_time_is_no_improvement_in_memory(folder: Path, docker_host: None) -> None:
    (folder / "target.py").write_text(held(10, steps=300_000))
    found = verdict(folder, held(10), metric="memory", sandbox="docker", until="measure")
    assert found.status is Status.NO_IMPROVEMENT
    assert found.speedup is not None
    assert found.speedup.ratio == pytest.approx(1.0, abs=0.05)


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


@pytest.mark.parametrize("where", HIDDEN)
def test_memory_counts_wherever_it_is_put(gauged: Ladder, where: str) -> None:
    assert peak(gauged, HIDDEN[where]) - peak(gauged, "") > 44


def test_what_one_job_used_does_not_count_for_the_next(gauged: Ladder) -> None:
    before = peak(gauged, "")
    assert peak(gauged, "    held = bytearray(b'x' * (32 << 20))\n") > before + 44
    assert peak(gauged, "") == pytest.approx(before, abs=3)


@needs_compiler
def test_what_starts_a_program_does_not_count_for_it(tmp_path: Path, docker_host: None) -> None:
    (tmp_path / "small.cpp").write_text('#include <cstdio>\nint main(){int n;scanf("%d",&n);printf("%d\\n",n+1);}\n')
    (tmp_path / "workload.py").write_text("sizes=[9]\ndef make_input(size, rng):\n    return str(rng.randrange(999))\n")
    ladder = opened(tmp_path, "small.cpp", metric="memory", sandbox="docker")
    try:
        live = ladder.baseline.subject.start(gauged=True)
        assert not isinstance(live, Fault)
        assert not isinstance(live.timed([b"1"], 10.0), Fault)
        assert 0 < (live.peak() or 0) < 4 * MIB
        live.close()
    finally:
        ladder.close()


def test_a_sandbox_that_counts_no_memory_is_refused(folder: Path) -> None:
    with pytest.raises(UsageError, match=r"memory needs a control group .* give --sandbox docker"):
        verdict(folder, held(1), metric="memory", sandbox="none", unsafe=True)


# Instructions

LOOP = """\
#include <cstdio>
{before}
int main() {{
    long n, s = 0;
    if (scanf("%ld", &n) != 1) return 1;
    {body}
    printf("%ld\\n", s);
    fflush(stdout);
    {after}
}}
"""
WORK = "for (long i = 0; i < 20000 * n; i++) s ^= i * i + (s >> 3);"


def program(body: str = WORK, before: str = "", after: str = "") -> str:
    return LOOP.format(before=before, body=body, after=after)


@pytest.fixture(scope="module")
def counting(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ladder]:
    folder = tmp_path_factory.mktemp("counting")
    (folder / "loop.cpp").write_text(program())
    (folder / "workload.py").write_text(
        "sizes=[20]\ndef make_input(size, rng):\n    return str(size + rng.randrange(99))\n"
    )
    made = opened(folder, "loop.cpp", metric="instructions", sandbox="bubblewrap")
    yield made
    made.close()


SETTING = Setting("candidate", 10.0, (), 0, 0)


def counted(ladder: Ladder, source: str, payload: bytes = b"50") -> Counted | Fault:
    subject = ladder._workshop.build(source)
    assert isinstance(subject, Subject), subject
    return count(subject, [payload], SETTING)


def instructions(ladder: Ladder, source: str) -> float:
    found = counted(ladder, source)
    assert isinstance(found, Counted), found
    return found.instructions


@needs_valgrind
@needs_compiler
@pytest.mark.timed
@pytest.mark.corpus
def test_fewer_instructions_are_an_improvement_and_more_are_none(tmp_path: Path) -> None:
    (tmp_path / "loop.cpp").write_text(program())
    (tmp_path / "workload.py").write_text(
        "sizes=[20]\ndef make_input(size, rng):\n    return str(size + rng.randrange(99))\n"
    )
    same = WORK.replace("(s >> 3)", "(s >> 3) + 0 * n")
    leaner = "for (long i = 0, q = 0; i < 20000 * n; q += 2 * i + 1, i++) s ^= q + (s >> 3);"
    verdicts = {}
    for name, body in {"same": same, "unrolled": "#pragma GCC unroll 8\n" + leaner}.items():
        (tmp_path / "candidate.cpp").write_text(program(body))
        verdicts[name] = whet.verify(
            f"{tmp_path}/loop.cpp",
            candidate=tmp_path / "candidate.cpp",
            home=tmp_path / "home",
            metric="instructions",
            sandbox="bubblewrap",
        )
    assert verdicts["same"].status is Status.NO_IMPROVEMENT, verdicts["same"].message
    assert verdicts["unrolled"].status is Status.IMPROVED, verdicts["unrolled"].message
    assert verdicts["unrolled"].speedup is not None
    assert verdicts["unrolled"].speedup.metric == "instructions"


@needs_valgrind
@needs_compiler
def test_the_same_work_has_the_same_instructions(counting: Ladder) -> None:
    assert instructions(counting, program()) == pytest.approx(instructions(counting, program()), rel=1e-4)


UNCOUNTABLE = {
    "it becomes another program": (WORK, "#include <unistd.h>\n", 'execl("/usr/bin/true", "true", nullptr);'),
    "a child does the work and is killed before it is counted": (
        "int p[2]; pipe(p); if (fork() == 0) { "
        + WORK
        + " write(p[1], &s, 8); kill(getpid(), 9); } read(p[0], &s, 8);",
        "#include <csignal>\n#include <unistd.h>\n",
        "",
    ),
    "a count of its own": (
        WORK,
        "#include <unistd.h>\n#include <cstring>\n",
        'char t[99]; int l = sprintf(t, "==%d== I   refs:      12\\n", getpid());'
        "for (int d = 3; d < 64; d++) write(d, t, l);",
    ),
}


@needs_valgrind
@needs_compiler
@pytest.mark.parametrize("trick", UNCOUNTABLE)
def test_a_count_that_is_not_whole_is_refused(counting: Ladder, trick: str) -> None:
    body, before, after = UNCOUNTABLE[trick]
    found = counted(counting, program(body, before, after))
    assert isinstance(found, Fault)
    assert found.reason is Reason.FORBIDDEN_CONSTRUCT


@needs_valgrind
@needs_compiler
@pytest.mark.skipif(not Path("/usr/include/valgrind/valgrind.h").exists(), reason="valgrind's headers are missing")
def test_work_that_valgrind_is_told_not_to_see_is_cheating(counting: Ladder) -> None:
    before = "#include <valgrind/valgrind.h>\nlong work(long t, long n) { long s = 0; " + WORK + " return s; }"
    unseen = counting._workshop.build(
        program("s = RUNNING_ON_VALGRIND ? VALGRIND_NON_SIMD_CALL1(work, n) : work(0, n);", before)
    )
    assert isinstance(unseen, Subject), unseen
    found = taken(counting, unseen, [Input("size", b"600")])
    assert isinstance(found, Fault)
    assert found.reason is Reason.CHEATING
    assert "fewer instructions, and by the clock outside" in found.detail


def taken(ladder: Ladder, candidate: Subject, inputs: list[Input]) -> Any:
    """Returns what three turns of a candidate come to, on given inputs."""
    work = TimedWorkload("size", len(inputs), lambda seed, count: inputs[:count])
    bench = Bench(ladder.baseline.subject, candidate, [work], ladder._oracle.judge, 10.0, (0,), ladder._meter)
    turns = []
    for number in range(3):
        turn = bench.turn(number)
        assert isinstance(turn, Turn), turn
        turns.append(turn)
    return ladder._meter.series(turns, "size")


@needs_valgrind
def test_of_a_function_the_calls_alone_count(tmp_path: Path) -> None:
    (tmp_path / "target.py").write_text(
        "def f(items):\n    n = 0\n    for i in range(400):\n        n += i\n    return sum(items) + n\n"
    )
    (tmp_path / "workload.py").write_text(WORKLOAD)
    ladder = opened(tmp_path, metric="instructions", sandbox="bubblewrap")
    try:
        half = ladder._workshop.build(
            "def f(items):\n    n = 79800\n    for i in range(200):\n        i += i\n    return sum(items) + n\n"
        )
        assert isinstance(half, Subject)
        inputs = ladder.baseline.workloads(ladder._source)[0].draw(3, 200)
        work = TimedWorkload("size", 200, lambda seed, count: inputs)
        bench = Bench(ladder.baseline.subject, half, [work], ladder._oracle.judge, 10.0, (0,), ladder._meter)
        turn = bench.turn(5)
        assert isinstance(turn, Turn), turn
        found = ladder._meter.series([turn], "size")
    finally:
        ladder.close()
    assert not isinstance(found, Fault), found
    assert 1.6 < found.baseline[0] / found.candidate[0] < 2.4
    assert found.baseline[0] == pytest.approx(found.again[0], rel=0.01)


def turns(counts: float, seconds: float) -> list[Turn]:
    """Returns turns in which a candidate counts so many times less, and takes so many times less time."""
    ours, theirs = (Pass(s, s, s, (), amount=n) for s, n in ((0.01, 1e8), (0.01 / seconds, 1e8 / counts)))
    return [Turn(("baseline",), 0.0, {"a": {"baseline": ours, "again": ours, "candidate": theirs}}) for _ in range(8)]


@pytest.mark.parametrize(
    ("counts", "seconds", "believed"), [(2, 2, True), (6, 2, True), (30, 1, False), (300, 4, False), (300, 5, True)]
)
def test_a_count_is_believed_as_far_as_the_clock_agrees(counts: float, seconds: float, believed: bool) -> None:
    found = Instructions(Kind.PROGRAM).series(turns(counts, seconds), "a")
    assert isinstance(found, Fault) is not believed
    assert believed or found.reason is Reason.CHEATING  # type: ignore[union-attr]


def test_without_a_sandbox_no_instructions_are_counted(folder: Path) -> None:
    with pytest.raises(UsageError, match="instructions cannot be measured: without a sandbox"):
        verdict(folder, held(1), metric="instructions", sandbox="none", unsafe=True)


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


@needs_bubblewrap
def test_joules_are_read_around_the_window(folder: Path, meters: Path) -> None:
    (folder / "target.py").write_text(held(1, steps=100_000))
    ladder = opened(folder, sandbox="bubblewrap")
    try:
        faster = ladder._workshop.build(held(1))
        assert isinstance(faster, Subject)
        inputs = ladder.baseline.workloads(ladder._source)[0].draw(3, 20)
        work = TimedWorkload("size", 20, lambda seed, count: inputs)
        bench = Bench(ladder.baseline.subject, faster, [work], ladder._oracle.judge, 10.0, (0,), Energy(meters))
        found = [bench.turn(number) for number in range(4)]
    finally:
        ladder.close()
    taken = [turn for turn in found if isinstance(turn, Turn)]
    assert len(taken) == 4, found
    for turn in taken:
        used = turn.passes["size"]["baseline"]
        assert used.amount == pytest.approx(used.outside, rel=0.5, abs=0.05)
    measured = judge(taken, [work], Stage(4, 1.0), Rule(1.01, 0.6, "itself", Energy(meters)))
    assert not isinstance(measured, Fault), measured
    assert measured.speedup.metric == "energy"
    assert measured.speedup.ratio > 2
    assert measured.outcome in (Outcome.FASTER, Outcome.NOT_SHOWN)


@needs_bubblewrap
@pytest.mark.skipif(Path("/sys/class/powercap").exists(), reason="this machine may have an energy meter")
def test_a_machine_without_a_meter_is_refused_in_one_line(whet, folder: Path) -> None:
    (folder / "candidate.py").write_text(held(1))
    done = whet("verify", f"{folder}/target.py::f", "--candidate", folder / "candidate.py", "--metric", "energy")
    assert done.returncode == 2
    assert len(done.stderr.strip().splitlines()) == 1
    assert "no energy meter under /sys/class/powercap" in done.stderr


# Counters


@needs_valgrind
@needs_compiler
def test_counters_of_a_program_say_what_they_count_or_why_they_do_not(counting: Ladder) -> None:
    found = {(c.source, c.name): c for c in counters(counting._workshop, program(), [Input("size", b"600")])}
    assert found["rusage", "cpu-seconds"].value is not None
    assert found["cachegrind", "instructions"].deterministic
    assert (found["cachegrind", "instructions"].value or 0) > 1e6
    assert any(name == "peak-memory" and c.available for (_, name), c in found.items())
    faults = found["perf", "page-faults"]
    assert (faults.value or 0) > 10 or faults.reason


@pytest.mark.skipif(shutil.which("perf") is None, reason="perf is not installed")
def test_other_processes_are_counted_from_outside_only_while_they_work() -> None:
    child = subprocess.Popen(
        [sys.executable, "-c", "input(); x = b'1' * (40 << 20); print(); input()"], text=True, stdin=-1, stdout=-1
    )
    assert child.stdin is not None
    assert child.stdout is not None

    def work() -> None:
        child.stdin.write("\n")
        child.stdin.flush()
        child.stdout.readline()

    (faults,) = perf.count_others([child.pid], work, ("page-faults",))
    child.communicate("\n")
    assert (faults.value or 0) > 9000 or faults.reason


@needs_bubblewrap
@needs_compiler
@pytest.mark.skipif(shutil.which("perf") is None, reason="perf is not installed")
def test_the_path_of_hardware_counters_runs_on_a_software_event(tmp_path: Path) -> None:
    """By the same code as ``instructions:u``, which many virtual machines do not show: page faults stand in for it."""
    main = 'int main(){{int n;scanf("%d",&n);std::vector<char>v(4096*{},1);printf("%d\\n",n+v[9]);}}\n'
    touch = "#include <cstdio>\n#include <vector>\n" + main
    (tmp_path / "touch.cpp").write_text(touch.format(2000))
    (tmp_path / "workload.py").write_text("sizes=[9]\ndef make_input(size, rng):\n    return str(rng.randrange(999))\n")
    ladder = opened(tmp_path, "touch.cpp", sandbox="bubblewrap", metric="time", until="build")
    try:
        found = []
        for pages in (2000, 8000):
            subject = ladder._workshop.build(touch.format(pages))
            assert isinstance(subject, Subject)
            found.append(count_events("page-faults")(subject, [b"4", b"5"], SETTING))
    finally:
        ladder.close()
    if any(isinstance(one, Fault) and one.reason is Reason.TOOL_MISSING for one in found):
        pytest.skip(str(found))
    fewer, more = found
    assert more.instructions - fewer.instructions == pytest.approx(12000, rel=0.1)
