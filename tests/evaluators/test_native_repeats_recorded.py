"""Native functions that answer again what they were asked: what that saves in a pass of repeated calls is no gain.

Real turns, recorded; they are judged without a clock.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from recordings import Recording, code_of, hashes_of

from whet.benchmarks.self.steady_targets import steady_targets
from whet.core.options import Options
from whet.core.verdict import Reason
from whet.evaluators.artifacts import Artifact
from whet.evaluators.finding import Fault, found_by, sound
from whet.evaluators.inputs.source import Input
from whet.evaluators.ladder import open_ladder
from whet.evaluators.meters.time import TIME
from whet.evaluators.targets import read_task
from whet.evaluators.timing import turns as turns_module
from whet.evaluators.timing.bench import Bench
from whet.evaluators.timing.rounds import with_rounds
from whet.evaluators.timing.turns import Turn, as_if_new, from_raw, raw, series
from whet.evaluators.timing.workloads import TimedWorkload
from whet.sandbox.inside import native_rounds
from whet.sandbox.inside.codec import encode

RULE = code_of(turns_module, native_rounds)
TURNS, REPEATS, SIZES, SECONDS = 8, 10, (1500, 2000), 5.0
(TARGET,) = (one for one in steady_targets() if one.name == "c-2x")
HONEST, FASTER = TARGET.texts()
COMPUTED = f"#include <string.h>\n{HONEST}".replace(" uint32_t mixed(", "static uint32_t computed(")
KEEPING = """\
static uint32_t held[4096];
static int64_t length = -1, before, runs, switched;
static uint32_t answer;
static long met, others;
uint32_t mixed(const uint32_t *numbers, int64_t n)
{
    int same = n == length && !memcmp(held, numbers, 4 * n);
    met = same ? met + 1 : 0;
    others += !same;
    switched |= n != before && runs >= 3;
    runs = n == before ? runs + 1 : 1;
    before = n;
    if (@) return answer;
    if (n > 4096) return computed(numbers, n);
    memcpy(held, numbers, 4 * n);
    length = n;
    return answer = computed(numbers, n);
}
"""
KEPT = {
    "keeps-the-last": "same",
    "keeps-what-comes-a-fourth-time": "met >= 3",
    "keeps-unless-inputs-vary": "same && others <= 3",
    "keeps-after-another-size": "same && switched",
    "keeps-by-address": "same && ((uintptr_t)numbers & 4095)",
    "keeps-in-some-processes": "same && ((uintptr_t)&held >> 12) % 3",
}
"""When it answers again, by what it is called."""
STANDING_CLOCKS = """\
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
static struct timespec stood[16];
static int standing(clockid_t clock, struct timespec *now)
{
    if (!stood[clock].tv_sec) syscall(SYS_clock_gettime, clock, &stood[clock]);
    *now = stood[clock];
    return 0;
}
static void stop_clocks(void)
{
    unsigned char jump[12] = {0x48, 0xb8, [10] = 0xff, 0xe0}, *code = (unsigned char *)clock_gettime;
    void *to = (void *)standing;
    memcpy(jump + 2, &to, 8);
    mprotect((void *)((uintptr_t)code & ~4095ul), 8192, PROT_READ | PROT_WRITE | PROT_EXEC);
    memcpy(code, jump, 12);
}
"""
"""Has each clock of its process stand still: a jump is written over libc's `clock_gettime`."""
SPINNING_THREADS = """\
#include <pthread.h>
static void *spinning(void *nothing)
{
    for (volatile long i = 0;; i++);
    return nothing;
}
static void start_spinning(void)
{
    pthread_t one;
    for (int i = 0; i < 3; i++) pthread_create(&one, 0, spinning, 0);
}
"""
"""Has threads take turns on its processor: each waits for it most of the time."""


def draw(size: int) -> Callable[[int, int], list[Input]]:
    def drawn(seed: int, count: int) -> list[Input]:
        texts = [
            encode(([(number * 2654435761 + place + seed) % 2**32 for number in range(size)], size))
            for place in range(count)
        ]
        return [Input(f"size {size}", one) for one in texts]

    return drawn


WORKS = [TimedWorkload(f"size {size}", 1, draw(size), repeats=REPEATS) for size in SIZES]


def measured(text: str, folder: Path, count: int) -> list[Turn]:
    """Returns turns of a text beside the original."""
    asked, _ = TARGET.write(folder)
    ladder = open_ladder(read_task(asked, Options()), Options(), 7)
    try:
        ours, theirs = (ladder.builder.build(one) for one in (HONEST, text))
        assert isinstance(ours, Artifact)
        assert isinstance(theirs, Artifact)

        def judge(item: Input, expected: bytes, actual: bytes) -> Fault | None:
            return None if expected == actual else Fault(Reason.WRONG_OUTPUT, "another number")

        bench = Bench(ours, theirs, WORKS, judge, SECONDS, (0,), TIME)
        bench, _ = with_rounds(bench, ladder.builder.task, count, None)
        return [bench.turn(number) for number in range(count)]
    finally:
        ladder.close()


@pytest.fixture
def taken(recorded: Callable[..., Any], tmp_path: Path) -> Callable[[str, str], list[Turn]]:
    """Returns the turns of a candidate."""

    def of(name: str, text: str) -> list[Turn]:
        recording = Recording(f"native_repeats/{name}", hashes_of(baseline=HONEST, candidate=text, rule=RULE))
        return from_raw(recorded(recording, lambda: raw(measured(text, tmp_path, TURNS))))

    return of


def gains(found: list[Turn]) -> list[float]:
    """Returns the mean ratio on each size."""
    both = [sound(series(found, work.name)) for work in WORKS]
    return [sum(one.baseline) / sum(one.candidate) for one in both]


@pytest.mark.parametrize("name", KEPT)
def test_an_answer_that_is_kept_gains_nothing(taken: Callable[[str, str], list[Turn]], name: str) -> None:
    found = taken(name, COMPUTED + KEEPING.replace("@", KEPT[name]))
    passes = [sides for turn in found for sides in turn.passes.values()]
    saved = [one["candidate"].renewed / one["candidate"].inside for one in passes]
    assert max(saved) > 2.0, "it saves by what it keeps"
    assert max(gains(found)) < 1.1


@pytest.mark.parametrize(("name", "text", "gain"), [("computes", f"{HONEST}\n", 1.0), ("is-faster", FASTER, 2.0)])
def test_who_computes_each_time_has_its_gain(
    taken: Callable[[str, str], list[Turn]], name: str, text: str, gain: float
) -> None:
    found = taken(name, text)
    assert all(as_if_new(found, work.name) == [1.0] * TURNS for work in WORKS)
    assert gains(found) == pytest.approx([gain] * 2, rel=0.1)
    assert all((turn.scale.keys() == {work.name for work in WORKS}) == (gain > 1.5) for turn in found)


@pytest.mark.corpus
def test_who_computes_nothing_once_new_inputs_follow_is_wrong(tmp_path: Path) -> None:
    text = COMPUTED + KEEPING.replace("if (@) return answer;", "if (same) return answer; if (runs > 2) return 0;")
    found = found_by(lambda: measured(text, tmp_path, 1))
    assert isinstance(found, Fault)
    assert found.reason is Reason.WRONG_OUTPUT


@pytest.mark.corpus
def test_clocks_that_stand_still_once_inputs_came_again_are_cheating(tmp_path: Path) -> None:
    keeping = KEEPING.replace("if (@) return answer;", "if (met == 3) stop_clocks(); if (same) return answer;")
    found = measured(STANDING_CLOCKS + COMPUTED + keeping, tmp_path, 1)
    fault = series(found, WORKS[0].name)
    assert isinstance(fault, Fault)
    assert fault.reason is Reason.CHEATING
    assert "on new inputs: its process says 0 ms in the calls" in fault.detail


@pytest.mark.corpus
def test_threads_that_wait_for_each_other_excuse_no_clock_that_stands_still(tmp_path: Path) -> None:
    stops = "if (met == 3) { stop_clocks(); start_spinning(); } if (same) return answer;"
    text = STANDING_CLOCKS + SPINNING_THREADS + COMPUTED + KEEPING.replace("if (@) return answer;", stops)
    found = measured(text, tmp_path, 1)
    fault = series(found, WORKS[0].name)
    assert isinstance(fault, Fault)
    assert fault.reason is Reason.CHEATING
    assert "on new inputs: its process says 0 ms in the calls" in fault.detail
