"""Native functions that answer again what they were asked: what a pass of repeated calls would save is charged.

Real observations, recorded; they are judged without a clock.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from recordings import Recording, code_of, hashes_of

from whet.benchmarks.self.steady_targets import steady_targets
from whet.core.options import Options
from whet.core.plain import from_plain, to_plain
from whet.evaluators import stopwatch
from whet.evaluators.artifacts import Artifact
from whet.evaluators.inputs.source import Input
from whet.evaluators.ladder import open_ladder
from whet.evaluators.targets import read_task
from whet.evaluators.timing import hidden_costs, repeats, round_observation
from whet.evaluators.timing.repeats import assess_rounds
from whet.evaluators.timing.round_observation import RoundObservation, observe_rounds
from whet.evaluators.timing.workloads import TimedWorkload
from whet.sandbox.inside import native_rounds
from whet.sandbox.inside.codec import encode

RULE = code_of(hidden_costs, repeats, round_observation, stopwatch, native_rounds)
REPEATS, SIZE, SECONDS = 10, 2000, 5.0
(TARGET,) = (one for one in steady_targets() if one.name == "c-2x")
HONEST, _ = TARGET.texts()
COMPUTED = f"#include <string.h>\n{HONEST}".replace(" uint32_t mixed(", "static uint32_t computed(")
KEEPING = """\
static uint32_t held[4096];
static int64_t length = -1;
static uint32_t answer;
static long met, others;
uint32_t mixed(const uint32_t *numbers, int64_t n)
{
    int same = n == length && !memcmp(held, numbers, 4 * n);
    met = same ? met + 1 : 0;
    others += !same;
    if (@) return answer;
    if (n > 4096) return computed(numbers, n);
    memcpy(held, numbers, 4 * n);
    length = n;
    return answer = computed(numbers, n);
}
"""
CANDIDATES = {
    "computes": f"{HONEST}\n",
    "keeps-the-last": COMPUTED + KEEPING.replace("@", "same"),
    "keeps-what-comes-a-fourth-time": COMPUTED + KEEPING.replace("@", "met >= 3"),
    "keeps-unless-inputs-vary": COMPUTED + KEEPING.replace("@", "same && others <= 3"),
}
SAVED = {"keeps-the-last": 9, "keeps-what-comes-a-fourth-time": 7, "keeps-unless-inputs-vary": 9}
"""Of the rounds of a pass."""


def draw(seed: int, count: int) -> list[Input]:
    texts = [
        encode(([(number * 2654435761 + place + seed) % 2**32 for number in range(SIZE)], SIZE))
        for place in range(count)
    ]
    return [Input("numbers", one) for one in texts]


@pytest.fixture
def looks(recorded: Callable[..., Any], tmp_path: Path) -> Callable[[str], list[RoundObservation]]:
    """Returns two looks at a candidate."""

    def observed(text: str) -> list[Any]:
        asked, _ = TARGET.write(tmp_path)
        ladder = open_ladder(read_task(asked, Options()), Options(), 7)
        try:
            ours, theirs = (ladder.builder.build(one) for one in (HONEST, text))
            assert isinstance(ours, Artifact)
            assert isinstance(theirs, Artifact)
            work = TimedWorkload("numbers", 1, draw, repeats=REPEATS)
            return [to_plain(observe_rounds(ours, theirs, work, 1, SECONDS)) for _ in range(2)]
        finally:
            ladder.close()

    def of(name: str) -> list[RoundObservation]:
        text = CANDIDATES[name]
        recording = Recording(f"native_repeats/{name}", hashes_of(baseline=HONEST, candidate=text, rule=RULE))
        return [from_plain(RoundObservation, one) for one in recorded(recording, lambda: observed(text))]

    return of


@pytest.mark.parametrize("name", SAVED)
def test_what_a_pass_saves_by_answering_again_is_charged(
    looks: Callable[[str], list[RoundObservation]], name: str
) -> None:
    for seen in looks(name):
        usual = min(min(rounds) for rounds in seen.seconds_of_rounds.baseline)
        assert assess_rounds(seen, 1) > 0.8 * SAVED[name] * usual


def test_who_computes_each_time_is_charged_nothing(looks: Callable[[str], list[RoundObservation]]) -> None:
    assert min(assess_rounds(seen, 1) for seen in looks("computes")) == 0.0
