"""What is charged for scripted observations of processes: each branch and each threshold, without a clock."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from math import inf, nextafter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from whet.core.plain import from_plain, to_plain
from whet.core.verdict import Reason
from whet.evaluators.finding import Fault
from whet.evaluators.preloads import imported
from whet.evaluators.timing.hidden_costs import HiddenCosts, assess, confirmed
from whet.evaluators.timing.process_observation import PROCESSES, Observation, ObservedProcess

# As docs/measurement.md says.
LEAST_SECONDS, DECLINE, STATEFUL, USUAL_SECONDS = 0.001, 1.15, 1.4, 30e-6
BUSY_SHARE, LEAST_GROWTH = 0.3, 1 << 20

PART = 2
LATE = 0.01
QUIET = ObservedProcess(0.0, 0.004, 0.004, (LATE,) * 6 * PART, 0.0, None)


def side(*changes: dict[str, Any], kept: tuple[int, int] | None = (0, 0), **all: Any) -> tuple[ObservedProcess, ...]:
    """Quiet processes with changes to all of them, and to each."""
    rows = [replace(QUIET, **all) for _ in range(PROCESSES)]
    rows = [replace(one, **change) for one, change in zip(rows, changes or [{}] * PROCESSES, strict=True)]
    return (*rows[:-1], replace(rows[-1], kept=kept))


BASELINE = side()


def beside(candidate: tuple[ObservedProcess, ...], baseline: tuple[ObservedProcess, ...] = BASELINE) -> HiddenCosts:
    found = assess(Observation(baseline, candidate), PART)
    assert isinstance(found, HiddenCosts)
    return found


def told(candidate: tuple[ObservedProcess, ...], baseline: tuple[ObservedProcess, ...] = BASELINE) -> str:
    found = assess(Observation(baseline, candidate), PART)
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
    ("seconds", "charged"),
    [
        ((0.2, 0.4, 0.3, 0.9, 0.1), 0.3),
        ((0.2, 0.4, 0.3, 0.9, 0.0), 0.0),
        ((0.2, 0.4, 0.3, 0.9, 1e-9), 0.3),
        ((0.0, 0.0, 0.001, 0.9, 0.9), 0.0),
        ((0.0, 0.0, 0.1, 0.3, 0.3), 0.0),
        ((9.0, 0.002, 0.002, 0.002, 0.002), 0.002),
    ],
    ids=["the median", "not in each process", "hardly in one", "in two", "scattered", "one was held up"],
)
def test_the_median_counts_where_each_process_shows_some(seconds: Sequence[float], charged: float) -> None:
    assert beside(loads(*seconds)).seconds == charged


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


def test_loading_and_first_call_add_up() -> None:
    assert beside(side(loading=0.5, first=0.504)).seconds == pytest.approx(1.0)
    assert beside(side(loading=0.0, first=0.504), side(loading=0.5)).seconds == 0.0


# Calls that earlier ones, on other inputs, make cheaper


def declining(early: float, late: float = LATE, calls: int = 6 * PART, part: int = PART) -> tuple[float, ...]:
    return (*[early] * part, *[late] * (calls - part))


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
    found = beside(side(row=declining(early_of(ratio))))
    assert found.seconds == found.evidence["by_earlier_calls"] == pytest.approx(charged)
    assert found.evidence["before_the_calls"] == 0.0


def test_state_that_makes_calls_much_cheaper_is_cheating() -> None:
    said = told(side(row=declining(early_of(STATEFUL + 0.001))))
    assert said == "its calls get cheaper by what went before, on other inputs: 1.40 times within 12 calls"


@pytest.mark.parametrize("number", range(PROCESSES))
def test_state_is_cheating_only_where_each_process_shows_it(number: int) -> None:
    steep = declining(early_of(2.0))
    held_up = declining(early_of(2.0), early_of(2.0))
    rows = [{"row": held_up if one == number else steep} for one in range(PROCESSES)]
    assert beside(side(*rows)).seconds == pytest.approx(PART * LATE)


def test_one_late_call_that_was_held_up_hides_no_state() -> None:
    steep = declining(early_of(2.0), calls=12, part=3)
    rows = [{"row": (*steep[:-1], 0.5) if number == 1 else steep} for number in range(PROCESSES)]
    found = assess(Observation(BASELINE, side(*rows)), 3)
    assert isinstance(found, Fault), "the median of its last pass leaves it alone"


@pytest.mark.parametrize(("early", "earlier"), [(3.9e-5, 0.0), (4.1e-5, 0.0), (4.3e-5, 3e-4)])
def test_early_calls_may_take_what_is_usual_longer(early: float, earlier: float) -> None:
    # Late calls of 10 us: the first is not shown, the second is shown and 1.1 times, the third is 1.3 times.
    row = declining(early, 1e-5, calls=600, part=100)
    found = assess(Observation(side(row=(1e-5,) * 600), side(row=row)), 100)
    assert isinstance(found, HiddenCosts)
    assert found.evidence["by_earlier_calls"] == pytest.approx(earlier)


def test_what_the_originals_calls_get_cheaper_by_is_usual() -> None:
    ours = side(row=declining(0.03))
    assert beside(side(row=declining(0.03)), ours).seconds == 0.0
    assert beside(side(row=declining(0.033)), ours).seconds == pytest.approx(PART * 0.003)
    assert "cheaper by what went before" in told(side(row=declining(0.033)), side(row=declining(0.015)))


@pytest.mark.parametrize("order", [0, 1])
def test_late_inputs_that_are_cheaper_by_themselves_are_no_state(order: int) -> None:
    # The other order has the same inputs early, and finds them cheap there.
    rows = [declining(0.03), (*[LATE] * 5 * PART, *[0.03] * PART)]
    assert beside(side(*({"row": rows[(number + order) % 2]} for number in range(PROCESSES)))).seconds == 0.0


def test_a_decline_in_one_order_alone_is_not_charged() -> None:
    rows = [declining(early_of(1.9)), (LATE,) * 6 * PART]
    assert beside(side(*({"row": rows[number % 2]} for number in range(PROCESSES)))).seconds == 0.0


@pytest.mark.parametrize(("part", "late", "charged"), [(2, 0.002, 0.0), (4, 0.002, 0.0016)])
def test_a_decline_below_the_least_stands_in_the_evidence_alone(part: int, late: float, charged: float) -> None:
    row = declining(early_of(1.2, late), late, calls=6 * part, part=part)
    found = assess(Observation(BASELINE, side(row=row)), part)
    assert isinstance(found, HiddenCosts)
    assert found.evidence["by_earlier_calls"] == pytest.approx(part * 0.0004)
    assert found.seconds == pytest.approx(charged)


@pytest.mark.parametrize(("calls", "charged"), [(2 * PART - 1, 0.0), (2 * PART, PART * LATE * 0.39)])
@pytest.mark.parametrize("short", ["baseline", "candidate"])
def test_rows_shorter_than_two_passes_tell_nothing(calls: int, charged: float, short: str) -> None:
    theirs = side(row=declining(early_of(1.39), calls=calls if short == "candidate" else 6 * PART))
    ours = side(row=(LATE,) * calls) if short == "baseline" else BASELINE
    assert beside(theirs, ours).seconds == pytest.approx(charged)


def test_both_kinds_of_costs_add_up() -> None:
    found = beside(side(loading=0.5, row=declining(early_of(1.2))))
    assert found.evidence["before_the_calls"] == 0.5
    assert found.evidence["charged_seconds"] == found.seconds == pytest.approx(0.5 + PART * LATE * 0.2)


# Work after the answer, and memory


def last(**changes: Any) -> tuple[ObservedProcess, ...]:
    return (*BASELINE[:-1], replace(BASELINE[-1], **changes))


def test_a_process_that_works_after_its_answer_is_told() -> None:
    assert told(last(idle=above(BUSY_SHARE))).startswith("its process still works after its answer: 30% of a processor")
    assert beside(last(idle=BUSY_SHARE)).seconds == 0.0


@pytest.mark.parametrize(("theirs", "ours"), [(0.9, BUSY_SHARE), (0.9, 0.9), (None, 0.0), (0.9, None), (None, None)])
def test_work_that_the_original_does_too_or_nobody_counts_is_not_told(theirs: float | None, ours: float | None) -> None:
    assert beside(last(idle=theirs), last(idle=ours)).seconds == 0.0


def test_a_process_before_the_last_may_be_busy() -> None:
    assert beside(side(*[{"idle": 0.9}] * (PROCESSES - 1), {"idle": 0.0})).seconds == 0.0


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
    row = declining(early_of(2.0))
    assert "still works" in told(side(*[{}] * 4, {"idle": 0.9}, loading=0.5, row=row, kept=(HALF, 2 * HALF)))
    assert "keeps memory" in told(side(loading=0.5, row=row, kept=(HALF, 2 * HALF)))


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
    left = list(looks)
    assert confirmed(lambda: left.pop(0)) is shown
    assert not left, "no look too few"


# What holds for any observation

SECONDS = st.floats(1e-9, 10.0)
ROWS = st.sampled_from([0, 2 * PART - 1, 2 * PART]).flatmap(
    lambda size: st.lists(SECONDS, min_size=size, max_size=size).map(tuple)
)
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
            row=tuple(seconds * by for seconds in one.row),
        )
        for one in processes
    )


@settings(max_examples=50)
@given(SIDES, st.floats(1e-3, 1e3), st.integers(1, PART))
def test_a_baseline_owes_nothing_to_itself_at_any_scale(
    ours: tuple[ObservedProcess, ...], by: float, part: int
) -> None:
    both = scaled(ours, by)
    found = assess(Observation(both, both), part)
    assert isinstance(found, HiddenCosts)
    assert found.seconds == 0.0


def steady(process: ObservedProcess) -> ObservedProcess:
    """Its first call takes no less than any second one: no noise there."""
    return replace(process, first=process.first + 10.0)


@settings(max_examples=50)
@given(SIDES, st.floats(1e-6, 1.0))
def test_a_constant_in_loading_is_charged_once_from_the_least_on(
    ours: tuple[ObservedProcess, ...], constant: float
) -> None:
    ours = tuple(map(steady, ours))
    theirs = tuple(replace(one, loading=one.loading + constant) for one in ours)
    found = assess(Observation(ours, theirs), PART)
    assert isinstance(found, HiddenCosts)
    if abs(constant - LEAST_SECONDS) > 1e-9:
        assert found.seconds == pytest.approx(constant if constant > LEAST_SECONDS else 0.0)


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
    # The last one stays: it alone tells of work after the answer, and of memory.
    moved = [tuple(one[number] for number in (even[0], odd[0], even[1], odd[1], 4)) for one in (ours, theirs)]
    before, after = assess(Observation(ours, theirs), PART), assess(Observation(*moved), PART)
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
    found = assess(seen, PART)
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
