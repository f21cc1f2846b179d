"""What is charged for scripted observations of processes: each branch and each threshold, without a clock."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from math import inf, nextafter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from whet.core.plain import from_plain, to_plain
from whet.core.verdict import Reason
from whet.evaluators.finding import Fault, found_by, sound
from whet.evaluators.preloads import imported, looked_up
from whet.evaluators.timing.hidden_costs import LOOKS, HiddenCosts, assess, confirmed, second_greatest
from whet.evaluators.timing.process_observation import Observation, ObservedProcess

# As docs/measurement.md says.
LEAST_SECONDS, DECLINE, STATEFUL, USUAL_SECONDS = 0.001, 1.15, 1.4, 30e-6
BUSY_SHARE, LEAST_GROWTH = 0.3, 1 << 20

PART, PASSES, PROCESSES = 2, 6, 6
LATE = 0.01
QUIET = ObservedProcess(0.0, 0.004, 0.004, (PART * LATE,) * PASSES, 0.0, None)


def side(
    *changes: dict[str, Any], kept: tuple[int, int] | None = (0, 0), processes: int = PROCESSES, **all: Any
) -> tuple[ObservedProcess, ...]:
    """Quiet processes with changes to all of them, and to each."""
    rows = [replace(QUIET, **all) for _ in range(processes)]
    rows = [replace(one, **change) for one, change in zip(rows, changes or [{}] * processes, strict=True)]
    return (*rows[:-1], replace(rows[-1], kept=kept))


BASELINE = side()


def beside(candidate: tuple[ObservedProcess, ...], baseline: tuple[ObservedProcess, ...] = BASELINE) -> HiddenCosts:
    found = found_by(lambda: assess(Observation(baseline, candidate), PART))
    assert isinstance(found, HiddenCosts)
    return found


def told(candidate: tuple[ObservedProcess, ...], baseline: tuple[ObservedProcess, ...] = BASELINE) -> str:
    found = found_by(lambda: assess(Observation(baseline, candidate), PART))
    assert isinstance(found, Fault)
    assert found.reason is Reason.CHEATING
    return found.detail


def above(value: float) -> float:
    return nextafter(value, inf)


# Loading and the first call


@pytest.mark.parametrize(
    ("loading", "charged"), [(LEAST_SECONDS, 0.0), (above(LEAST_SECONDS), above(LEAST_SECONDS)), (0.7, 0.7)]
)
def test_loading_is_charged_from_the_least_on(loading: float, charged: float) -> None:
    found = beside(side(loading=loading))
    assert found.seconds == found.evidence["before_the_calls"] == charged
    assert found.evidence["by_earlier_calls"] == 0.0


def loads(*seconds: float) -> tuple[ObservedProcess, ...]:
    return side(*({"loading": one} for one in seconds))


@pytest.mark.parametrize(
    ("ours", "theirs", "charged"),
    [
        ((0.0,) * 6, (0.2, 0.4, 0.3, 0.9, 0.125, 0.5), 0.125),
        ((0.0,) * 6, (0.2, 0.4, 0.3, 0.9, 0.0, 0.5), 0.0),
        ((0.0, 0.0, 0.0, 0.0, 0.0625, 0.0625), (0.125,) * 6, 0.0625),
        ((0.0, 0.0, 0.0, 0.0, 0.0, 9.0), (0.125,) * 6, 0.125),
        ((0.0, 0.0, 0.0, 0.0, 9.0, 9.0), (0.125,) * 6, 0.0),
    ],
    ids=["the least", "not in one", "above the baseline's high end", "one of the baseline's disturbed", "two of them"],
)
def test_the_low_end_over_processes_counts(ours: Sequence[float], theirs: Sequence[float], charged: float) -> None:
    for _ in range(2):
        assert beside(loads(*theirs), loads(*ours)).seconds == charged
        ours, theirs = ours[::-1], theirs[::-1]  # whichever of them it was


def test_the_high_end_leaves_one_value_alone() -> None:
    assert second_greatest([3.0, 1.0, 2.0, 9.0]) == 3.0
    assert second_greatest([3.0, 1.0]) == 1.0


def test_only_what_exceeds_the_baselines_loading_is_charged() -> None:
    assert beside(side(loading=0.75), side(loading=0.5)).seconds == 0.25
    assert beside(side(loading=0.5), side(loading=0.75)).seconds == 0.0


@pytest.mark.parametrize(
    ("ours", "theirs", "charged"),
    [
        ((0.25, 0.25), (0.75, 0.25), 0.5),
        ((0.5, 0.25), (0.75, 0.25), 0.25),
        ((0.75, 0.25), (0.75, 0.25), 0.0),
        ((0.25, 0.75), (0.75, 0.25), 0.5),
        ((0.25, 0.75), (0.25, 0.75), 0.0),
    ],
    ids=["a table", "half of it the original's too", "the original's too", "the original's noise", "both cheaper"],
)
def test_a_first_call_is_charged_beyond_a_second_one(
    ours: tuple[float, float], theirs: tuple[float, float], charged: float
) -> None:
    sides = [side(first=first, second=second) for first, second in (theirs, ours)]
    assert beside(*sides).seconds == charged


@pytest.mark.parametrize("table", [0.0, 0.5])
@pytest.mark.parametrize(("dear", "cheap"), [(0.75, 0.0625), (0.0625, 0.75)])
def test_a_first_call_stands_beside_second_calls_on_the_same_input(dear: float, cheap: float, table: float) -> None:
    # Even processes begin with one input, odd ones with the other.
    orders = [{"first": one + table, "second": other} for one, other in ((dear, cheap), (cheap, dear))]
    assert beside(side(*[*orders * 3][:PROCESSES])).seconds == table


def test_what_one_process_of_the_original_lacks_is_no_cost_of_its_first_call() -> None:
    ours = side({"first": 0.004}, *[{"first": 0.254}] * 5)
    assert beside(side(first=0.504), ours).seconds == 0.5
    assert beside(side(first=0.504), side(first=0.254)).seconds == 0.25


def test_a_first_call_that_seems_cheaper_pays_for_no_loading() -> None:
    assert beside(side(loading=0.25, first=0.002)).seconds == 0.25


def test_loading_and_first_call_add_up() -> None:
    assert beside(side(loading=0.5, first=0.504)).seconds == pytest.approx(1.0)
    assert beside(side(loading=0.0, first=0.504), side(loading=0.5)).seconds == 0.0


# Calls that earlier ones, on other inputs, make cheaper


def declining(early: float, late: float = LATE, passes: int = PASSES, part: int = PART) -> tuple[float, ...]:
    """Seconds of passes, of which a call of the first takes ``early``, and of the others ``late``."""
    return (early * part, *[late * part] * (passes - 1))


def early_of(ratio: float, late: float = LATE) -> float:
    """Returns the seconds of an early call that is so many times a late one, beyond what is usual."""
    return ratio * late + USUAL_SECONDS


@pytest.mark.parametrize(
    ("ratio", "charged"),
    [
        (DECLINE - 0.001, 0.0),
        (DECLINE + 0.001, PART * LATE * (DECLINE + 0.001 - 1)),
        (STATEFUL - 0.001, PART * LATE * (STATEFUL - 0.001 - 1)),
    ],
)
def test_cheaper_late_calls_are_charged_as_if_they_were_early(ratio: float, charged: float) -> None:
    found = beside(side(passes=declining(early_of(ratio))))
    assert found.seconds == found.evidence["by_earlier_calls"] == pytest.approx(charged)
    assert found.evidence["before_the_calls"] == 0.0


def test_state_that_makes_calls_much_cheaper_is_cheating() -> None:
    said = told(side(passes=declining(early_of(STATEFUL + 0.001))))
    assert said == "its calls get cheaper by what went before, on other inputs: 1.40 times within 12 calls"


@pytest.mark.parametrize("number", range(PROCESSES))
def test_state_is_cheating_only_where_each_process_shows_it(number: int) -> None:
    steep = declining(early_of(2.0))
    level = declining(LATE)
    rows = [{"passes": level if one == number else steep} for one in range(PROCESSES)]
    assert beside(side(*rows)).seconds == 0.0


@pytest.mark.parametrize("disturbed", [{0}, {1}, {0, 1}, {0, 2}])
def test_one_late_pass_of_each_order_that_is_disturbed_hides_no_state(disturbed: set[int]) -> None:
    steep = declining(early_of(2.0))
    rows = [{"passes": (*steep[:-1], 0.5) if one in disturbed else steep} for one in range(PROCESSES)]
    found = found_by(lambda: assess(Observation(BASELINE, side(*rows)), PART))
    assert isinstance(found, Fault) == (disturbed != {0, 2}), "two of one order are more than it can stand"


@pytest.mark.parametrize(("early", "earlier"), [(3.9e-5, 0.0), (4.1e-5, 0.0), (4.3e-5, 3e-4)])
def test_early_calls_may_take_what_is_usual_longer(early: float, earlier: float) -> None:
    # Late calls of 10 us: the first is not shown, the second is shown and 1.1 times, the third is 1.3 times.
    passes = declining(early, 1e-5, part=100)
    found = found_by(
        lambda: assess(Observation(side(passes=declining(1e-5, 1e-5, part=100)), side(passes=passes)), 100)
    )
    assert isinstance(found, HiddenCosts)
    assert found.evidence["by_earlier_calls"] == pytest.approx(earlier)


def test_what_the_originals_calls_are_shown_to_get_cheaper_by_is_usual() -> None:
    few, many = (partial(side, processes=processes) for processes in LOOKS)
    ours = many(passes=declining(0.03))
    assert beside(many(passes=declining(0.03)), ours).seconds == 0.0
    assert beside(many(passes=declining(0.033)), ours).seconds == pytest.approx(PART * 0.003)
    assert "cheaper by what went before" in told(many(passes=declining(0.033)), many(passes=declining(0.015)))
    assert "cheaper by what went before" in told(few(passes=declining(0.03)), few(passes=declining(0.03)))


@pytest.mark.parametrize("order", [0, 1])
def test_late_inputs_that_are_cheaper_by_themselves_are_no_state(order: int) -> None:
    # The other order has the same inputs early, and finds them cheap there.
    rows = [declining(0.03), (*[PART * LATE] * 5, PART * 0.03)]
    assert beside(side(*({"passes": rows[(number + order) % 2]} for number in range(PROCESSES)))).seconds == 0.0


def test_a_decline_in_one_order_alone_is_not_charged() -> None:
    rows = [declining(early_of(1.9)), declining(LATE)]
    assert beside(side(*({"passes": rows[number % 2]} for number in range(PROCESSES)))).seconds == 0.0


@pytest.mark.parametrize(("part", "late", "charged"), [(2, 0.002, 0.0), (4, 0.002, 0.0016)])
def test_a_decline_below_the_least_stands_in_the_evidence_alone(part: int, late: float, charged: float) -> None:
    passes = declining(early_of(1.2, late), late, part=part)
    found = found_by(lambda: assess(Observation(BASELINE, side(passes=passes)), part))
    assert isinstance(found, HiddenCosts)
    assert found.evidence["by_earlier_calls"] == pytest.approx(part * 0.0004)
    assert found.seconds == pytest.approx(charged)


@pytest.mark.parametrize(("passes", "charged"), [(1, 0.0), (2, PART * LATE * 0.39)])
@pytest.mark.parametrize("short", ["baseline", "candidate"])
def test_a_single_pass_tells_nothing(passes: int, charged: float, short: str) -> None:
    theirs = side(passes=declining(early_of(1.39), passes=passes if short == "candidate" else PASSES))
    ours = side(passes=declining(LATE, passes=passes)) if short == "baseline" else BASELINE
    assert beside(theirs, ours).seconds == pytest.approx(charged)


def test_both_kinds_of_costs_add_up() -> None:
    found = beside(side(loading=0.5, passes=declining(early_of(1.2))))
    assert found.evidence["before_the_calls"] == 0.5
    assert found.evidence["charged_seconds"] == found.seconds == pytest.approx(0.5 + PART * LATE * 0.2)


# Work after the answer, and memory


def last(**changes: Any) -> tuple[ObservedProcess, ...]:
    return (*BASELINE[:-1], replace(BASELINE[-1], **changes))


def test_a_process_that_works_after_its_answer_is_told() -> None:
    assert told(side(idle=above(BUSY_SHARE))).startswith("its process still works after its answer: 30% of a processor")
    assert beside(side(idle=BUSY_SHARE)).seconds == 0.0


@pytest.mark.parametrize(("busy", "said"), [(1, False), (2, True), (PROCESSES, True)])
def test_one_process_that_is_busy_for_a_moment_is_nothing(busy: int, said: bool) -> None:
    found = found_by(
        lambda: assess(Observation(BASELINE, side(*({"idle": 0.9 * (one < busy)} for one in range(PROCESSES)))), PART)
    )
    assert isinstance(found, Fault) == said


@pytest.mark.parametrize(("theirs", "ours"), [(0.9, BUSY_SHARE), (0.9, 0.9), (None, 0.0), (0.9, None), (None, None)])
def test_work_that_the_original_does_too_or_nobody_counts_is_not_told(theirs: float | None, ours: float | None) -> None:
    assert beside(side(idle=theirs), side(idle=ours)).seconds == 0.0


HALF = LEAST_GROWTH // 2


@pytest.mark.parametrize("kept", [(HALF, HALF + 2), (HALF // 2 + 2, 3 * HALF // 2), (3 * HALF // 2, HALF // 2 + 2)])
def test_memory_that_grows_in_both_halves_is_told(kept: tuple[int, int]) -> None:
    assert told(last(kept=kept)) == (
        "it keeps memory from call to call: 1.0 MiB more after 0.4 s of calls, the original 0.0 MiB"
    )


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        ((HALF, HALF), (0, 0)),
        ((30 * HALF, 0), (0, 0)),
        ((0, 30 * HALF), (0, 0)),
        ((10 * HALF, 30 * HALF), (0, 0)),
        ((HALF + 20, HALF + 20), (10, 10)),
        ((-30 * HALF, -30 * HALF), (0, 0)),
        (None, (0, 0)),
        ((30 * HALF, 30 * HALF), None),
    ],
    ids=["little", "first half", "second half", "a quarter", "as the original", "shrinks", "untold", "ours untold"],
)
def test_memory_that_settles_or_that_nobody_counts_is_not_told(
    theirs: tuple[int, int] | None, ours: tuple[int, int] | None
) -> None:
    assert beside(last(kept=theirs), last(kept=ours)).seconds == 0.0


def test_twice_the_originals_growth_is_allowed_and_its_shrinking_is_not_held_against_anybody() -> None:
    assert "keeps memory" in told(last(kept=(HALF + 21, HALF + 20)), last(kept=(10, 10)))
    assert "the original 0.0 MiB" in told(last(kept=(HALF, HALF + 2)), last(kept=(-30 * HALF, 0)))
    assert beside(last(kept=(HALF, HALF)), last(kept=(-30 * HALF, 0))).seconds == 0.0


def test_what_is_unpaid_is_told_before_anything_is_charged() -> None:
    passes = declining(early_of(2.0))
    assert "still works" in told(side(idle=0.9, loading=0.5, passes=passes, kept=(HALF, 2 * HALF)))
    assert "keeps memory" in told(side(loading=0.5, passes=passes, kept=(HALF, 2 * HALF)))


# Two looks

CRASH = Fault(Reason.CRASH, "it died")
CHEAT, OTHER_CHEAT = Fault(Reason.CHEATING, "it keeps memory"), Fault(Reason.CHEATING, "it still works")
NONE, SOME, MORE = (HiddenCosts(seconds, {}) for seconds in (0.0, 0.002, 0.5))


@pytest.mark.parametrize(
    ("looks", "shown"),
    [
        ([NONE], NONE),
        ([CRASH], CRASH),
        ([MORE, SOME], SOME),
        ([SOME, MORE], SOME),
        ([MORE, NONE], NONE),
        ([MORE, CRASH], CRASH),
        ([MORE, CHEAT], MORE),
        ([CHEAT, NONE], NONE),
        ([CHEAT, MORE], MORE),
        ([CHEAT, CRASH], CRASH),
        ([CHEAT, OTHER_CHEAT], CHEAT),
    ],
)
def test_what_one_look_shows_is_looked_for_once_more(
    looks: list[HiddenCosts | Fault], shown: HiddenCosts | Fault
) -> None:
    left, asked = list(looks), []

    def look(processes: int) -> HiddenCosts:
        asked.append(processes)
        return sound(left.pop(0))

    assert found_by(lambda: confirmed(look)) is shown
    assert tuple(asked) == LOOKS[: len(looks)]


# What holds for any observation

SECONDS = st.floats(1e-9, 10.0)
ROWS = st.lists(SECONDS, max_size=3).map(tuple)
GROWTH = st.tuples(*[st.integers(-(1 << 30), 1 << 30)] * 2)
OBSERVED = st.builds(
    ObservedProcess, SECONDS, SECONDS, SECONDS, ROWS, st.none() | st.floats(0.0, 4.0), st.none() | GROWTH
)
SIDES = st.lists(OBSERVED, min_size=PROCESSES, max_size=PROCESSES).map(tuple)


def scaled(processes: Iterable[ObservedProcess], by: float) -> tuple[ObservedProcess, ...]:
    return tuple(
        replace(
            one,
            loading=one.loading * by,
            first=one.first * by,
            second=one.second * by,
            passes=tuple(seconds * by for seconds in one.passes),
        )
        for one in processes
    )


@settings(max_examples=50)
@given(SIDES, st.floats(1e-3, 1e3), st.integers(1, PART))
def test_a_baseline_owes_nothing_to_itself_at_any_scale(
    ours: tuple[ObservedProcess, ...], by: float, part: int
) -> None:
    both = scaled(ours, by)
    found = found_by(lambda: assess(Observation(both, both), part))
    assert isinstance(found, HiddenCosts)
    assert found.seconds == 0.0


@settings(max_examples=50)
@given(SIDES, st.floats(1e-6, 1.0))
def test_noise_never_adds_to_a_constant_in_loading(ours: tuple[ObservedProcess, ...], constant: float) -> None:
    theirs = tuple(replace(one, loading=one.loading + constant) for one in ours)
    found = found_by(lambda: assess(Observation(ours, theirs), PART))
    assert isinstance(found, HiddenCosts)
    assert found.evidence["before_the_calls"] <= constant + 1e-9


@settings(max_examples=50)
@given(SIDES, SIDES, st.sampled_from([0.0, 20.0]), st.permutations([0, 2]), st.permutations([1, 3]))
def test_the_order_of_processes_with_the_same_order_of_calls_does_not_matter(
    ours: tuple[ObservedProcess, ...],
    theirs: tuple[ObservedProcess, ...],
    loading: float,
    even: list[int],
    odd: list[int],
) -> None:
    theirs = tuple(replace(one, loading=one.loading + loading) for one in theirs)
    # The last one stays: it alone tells of memory.
    moved = [tuple(one[number] for number in (even[0], odd[0], even[1], odd[1], 4, 5)) for one in (ours, theirs)]
    before, after = (found_by(partial(assess, Observation(*sides), PART)) for sides in ((ours, theirs), moved))
    if isinstance(before, Fault) or isinstance(after, Fault):
        assert isinstance(before, Fault)
        assert isinstance(after, Fault)
        assert before.reason is after.reason
    else:
        assert before.seconds == after.seconds


@settings(max_examples=50)
@given(SIDES, SIDES)
def test_evidence_holds_the_observation_as_plain_json(
    ours: tuple[ObservedProcess, ...], theirs: tuple[ObservedProcess, ...]
) -> None:
    seen = Observation(ours, theirs)
    assert from_plain(Observation, json.loads(json.dumps(to_plain(seen)))) == seen
    found = found_by(lambda: assess(seen, PART))
    if isinstance(found, HiddenCosts):
        assert assess(from_plain(Observation, json.loads(json.dumps(found.evidence["sides"]))), PART) == found


# What both sides import before loading is timed


def test_modules_that_a_text_imports_anywhere_are_named() -> None:
    text = (
        "from __future__ import annotations\nimport json as j, os.path\n"
        "class Rows:\n    def total(self):\n        from xml import sax\n        from . import own\n"
    )
    assert list(imported(ast.parse("import re"), ast.parse(text))) == [
        "re",
        "__future__",
        "__future__.annotations",
        "json",
        "os.path",
        "xml",
        "xml.sax",
    ]


def test_what_a_text_looks_up_in_what_it_imports_is_named() -> None:
    text = (
        "import numpy as np, os.path\nfrom concurrent import futures\nfrom json import decoder as d\n"
        "def f(pool, values):\n    np.random.default_rng(values.shape)\n    os.path.join(pool.name)\n"
        "    return futures.ThreadPoolExecutor, d.scanner, np\n"
    )
    assert set(looked_up(ast.parse(text))) == {
        "numpy.random.default_rng",
        "numpy.random",
        "os.path.join",
        "os.path",
        "concurrent.futures.ThreadPoolExecutor",
        "json.decoder.scanner",
    }


def test_names_are_looked_up_where_they_stand_and_what_there_is_not_is_passed_over() -> None:
    code = (
        "import sys\nfrom whet.sandbox.inside.priming import prime\n"
        "prime(['concurrent.futures.ThreadPoolExecutor', 'no.such.module', 'json.no_such_name', 'xml.sax'])\n"
        "assert {'concurrent.futures.thread', 'xml.sax'} <= set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
