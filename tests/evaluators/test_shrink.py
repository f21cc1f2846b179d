"""What the Coder is shown: the smallest input that still differs."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whet.core.verdict import Reason
from whet.evaluators.inputs.plain_data import read, write
from whet.evaluators.inputs.shrink import shrink, smaller_texts, smaller_values
from whet.sandbox.inside.codec import encode


@pytest.mark.parametrize(
    ("value", "still", "smallest"),
    [
        (list(range(40)), lambda v: 17 in v, [17]),
        ([5, 900, -70], lambda v: any(x > 100 for x in v), [101]),
        ([(1, "abc"), (2, "xyz"), (3, "q")], lambda v: any("y" in text for _, text in v), [(0, "y")]),
        ([2.75, -4.5, 1e300], lambda v: min(v, default=0) < 0, [-4.0]),
        (["x", "hello world"], lambda v: any(" " in text for text in v), [" "]),
        ([[1, 2, 3], [4, 5], []], lambda v: any(len(x) > 1 for x in v), [[0, 0]]),
        ([True, False, True], lambda v: len(v) > 1, [False, False]),
    ],
)
def test_the_smallest_is_found(value, still, smallest):
    assert shrink(value, smaller_values, still) == smallest


@given(st.lists(st.integers() | st.text(max_size=9) | st.floats(allow_nan=False), max_size=8))
def test_shrinking_ends_and_keeps_what_holds(items):
    calls = []

    def still(value):
        calls.append(value)
        return len(value) >= min(2, len(items))

    found = shrink(items, smaller_values, still, tries=150)
    assert len(calls) <= 150
    assert len(found) >= min(2, len(items))
    assert len(found) <= len(items)


def test_smaller_values_leave_the_value_alone_and_can_be_written():
    payload = encode(([1, [2, 3]], {"a": [4.5], "b": "xy"}, {1, 2, 3}, b"abc"))
    value = read(payload)
    for simpler in smaller_values(value):
        assert len(simpler) == 4
        assert write(read(write(simpler))) == write(simpler)
    assert write(value) == payload


def test_texts_lose_lines_words_and_digits():
    text = "12\nadd job-1 40\nprint\nadd job-77 12\nstatus job-77\n"
    found = shrink(text, smaller_texts, lambda one: "add job-77" in one and "status" in one, tries=400)
    assert len(found) < len(text) / 2
    assert shrink("12 345 -6", smaller_texts, lambda one: len(one.split()) == 3) == "0 0 0"


WORKLOAD = """
sizes = [8, 30, 60]
def make_input(size, rng):
    return ([rng.randrange(-1000, 1000) for _ in range(size)],)
"""


def test_the_coder_is_shown_the_smallest_input(rung):
    good = "def f(a):\n    return sum(x for x in a if x > 0)\n"
    found = rung(good, WORKLOAD, "def f(a):\n    return sum(x for x in a if x > 1)\n" + good[:0])
    assert found.fault is not None
    assert found.fault.reason is Reason.WRONG_OUTPUT
    assert found.fault.detail.endswith("f([1])")
    assert "expected 1, got 0" in found.fault.detail


def test_the_kind_of_fault_stays_what_it_was(rung):
    good = "def f(a):\n    return [x for x in a if x % 7]\n"
    bad = good.replace("    return", "    if len(a) > 40: raise KeyError(1)\n    if 777 in a: return []\n    return")
    found = rung(good, WORKLOAD, bad, seed=3)
    assert found.fault is not None
    assert found.fault.reason is Reason.WRONG_EXCEPTION
    assert "KeyError" in found.fault.detail


def test_no_input_that_is_used_again_is_shown(rung):
    """The same seed draws the same inputs; what is shown was reduced, or drawn from a seed for showing alone."""
    good = "def f(a):\n    return sorted(a)\n"
    found = rung(good, WORKLOAD, "def f(a):\n    return a[:]\n", seed=11)
    assert found.fault is not None
    assert "made smaller" in found.fault.detail
    assert "f([0, -1])" in found.fault.detail or "f([1, 0])" in found.fault.detail


@pytest.mark.corpus(one_in=8)
def test_a_program_s_input_is_shrunk_by_lines(rung):
    workload = (
        "sizes = [8, 30]\ndef make_input(size, rng):\n"
        "    return '\\n'.join(f'{rng.randrange(100)} {rng.randrange(-9, 9)}' for _ in range(size)) + '\\n'\n"
    )
    good = "import sys\nprint(sum(int(line.split()[1]) for line in sys.stdin if line.strip()))\n"
    bad = good.replace("int(line.split()[1])", "max(0, int(line.split()[1]))")
    found = rung(good, workload, bad, symbol=None)
    assert found.fault is not None
    assert found.fault.reason is Reason.WRONG_OUTPUT
    assert found.fault.detail.count("\\n") <= 2
    assert len(found.fault.detail) < 200
