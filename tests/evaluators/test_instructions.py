"""Instructions and counters of the hardware: what they count, what cannot be counted, what is cheating."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from metering import WORKLOAD, needs_bubblewrap, needs_compiler, needs_valgrind, opened

import whet
from whet.core.result import Status
from whet.core.task import Kind
from whet.core.verdict import Reason
from whet.evaluators.artifacts import Artifact
from whet.evaluators.counting import Counted, count, count_events, counters
from whet.evaluators.finding import Fault
from whet.evaluators.inputs.source import Input
from whet.evaluators.ladder import Ladder
from whet.evaluators.meters.base import Setting
from whet.evaluators.meters.instructions import Instructions
from whet.evaluators.processes import Pass
from whet.evaluators.timing.bench import Bench
from whet.evaluators.timing.turns import Turn
from whet.evaluators.timing.workloads import TimedWorkload

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
    artifact = ladder._builder.build(source)
    assert isinstance(artifact, Artifact), artifact
    return count(artifact, [payload], SETTING)


def instructions(ladder: Ladder, source: str) -> float:
    found = counted(ladder, source)
    assert isinstance(found, Counted), found
    return found.instructions


@needs_valgrind
@needs_compiler
@pytest.mark.corpus
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


@pytest.mark.corpus
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


@pytest.mark.corpus
@needs_valgrind
@needs_compiler
@pytest.mark.parametrize("trick", UNCOUNTABLE)
def test_a_count_that_is_not_whole_is_refused(counting: Ladder, trick: str) -> None:
    body, before, after = UNCOUNTABLE[trick]
    found = counted(counting, program(body, before, after))
    assert isinstance(found, Fault)
    assert found.reason is Reason.FORBIDDEN_CONSTRUCT


@pytest.mark.corpus
@needs_valgrind
@needs_compiler
@pytest.mark.skipif(not Path("/usr/include/valgrind/valgrind.h").exists(), reason="valgrind's headers are missing")
def test_work_that_valgrind_is_told_not_to_see_is_cheating(counting: Ladder) -> None:
    before = "#include <valgrind/valgrind.h>\nlong work(long t, long n) { long s = 0; " + WORK + " return s; }"
    unseen = counting._builder.build(
        program("s = RUNNING_ON_VALGRIND ? VALGRIND_NON_SIMD_CALL1(work, n) : work(0, n);", before)
    )
    assert isinstance(unseen, Artifact), unseen
    found = taken(counting, unseen, [Input("size", b"600")])
    assert isinstance(found, Fault)
    assert found.reason is Reason.CHEATING
    assert "fewer instructions, and by the clock outside" in found.detail


def taken(ladder: Ladder, candidate: Artifact, inputs: list[Input]) -> Any:
    """Returns what three turns of a candidate come to, on given inputs."""
    work = TimedWorkload("size", len(inputs), lambda seed, count: inputs[:count])
    bench = Bench(ladder.baseline.artifact, candidate, [work], ladder._oracle.judge, 10.0, (0,), ladder._meter)
    return ladder._meter.series([bench.turn(number) for number in range(3)], "size")


@pytest.mark.corpus
@pytest.mark.timed
@needs_valgrind
def test_of_a_function_the_calls_alone_count(tmp_path: Path) -> None:
    (tmp_path / "target.py").write_text(
        "def f(items):\n    n = 0\n    for i in range(400):\n        n += i\n    return sum(items) + n\n"
    )
    (tmp_path / "workload.py").write_text(WORKLOAD)
    ladder = opened(tmp_path, metric="instructions", sandbox="bubblewrap")
    try:
        half = ladder._builder.build(
            "def f(items):\n    n = 79800\n    for i in range(200):\n        i += i\n    return sum(items) + n\n"
        )
        assert isinstance(half, Artifact)
        inputs = ladder.baseline.workloads(ladder._source)[0].draw(3, 200)
        work = TimedWorkload("size", 200, lambda seed, count: inputs)
        bench = Bench(ladder.baseline.artifact, half, [work], ladder._oracle.judge, 10.0, (0,), ladder._meter)
        found = ladder._meter.series([bench.turn(5)], "size")
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


@needs_valgrind
@needs_compiler
@pytest.mark.corpus(one_in=8)
def test_counters_of_a_program_say_what_they_count_or_why_they_do_not(counting: Ladder) -> None:
    found = {(c.source, c.name): c for c in counters(counting._builder, program(), [Input("size", b"600")])}
    assert found["rusage", "cpu-seconds"].value is not None
    assert found["cachegrind", "instructions"].deterministic
    assert (found["cachegrind", "instructions"].value or 0) > 1e6
    assert any(name == "peak-memory" and c.available for (_, name), c in found.items())
    faults = found["perf", "page-faults"]
    assert (faults.value or 0) > 10 or faults.reason


@needs_bubblewrap
@needs_compiler
@pytest.mark.skipif(shutil.which("perf") is None, reason="perf is not installed")
@pytest.mark.corpus(one_in=8)
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
            artifact = ladder._builder.build(touch.format(pages))
            assert isinstance(artifact, Artifact)
            found.append(count_events("page-faults")(artifact, [b"4", b"5"], SETTING))
    finally:
        ladder.close()
    if any(isinstance(one, Fault) and one.reason is Reason.TOOL_MISSING for one in found):
        pytest.skip(str(found))
    fewer, more = found
    assert more.instructions - fewer.instructions == pytest.approx(12000, rel=0.1)
