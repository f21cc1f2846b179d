"""Calls of answers by suites' own rules: outcomes as plain data, ends from outside, forgeries, counts."""

from __future__ import annotations

import shutil

import pytest

from whet.benchmarks.lab.base import Lab
from whet.benchmarks.lab.functions import (
    AnswerOutcome,
    Helper,
    Submission,
    agreed,
    function_builder,
    harmless,
    open_counting,
    plausible,
    program_builder,
)
from whet.benchmarks.suites.base import Unusable
from whet.core.errors import UsageError
from whet.core.options import Options
from whet.evaluators.finding import Fault
from whet.evaluators.inputs.plain_data import write

SUM = "def total(values):\n    return sum(values)\n"


@pytest.fixture(scope="module")
def lab():
    if shutil.which("bwrap") is None:
        pytest.skip("bubblewrap is not installed")
    made = Lab(Options(sandbox="bubblewrap"))
    yield made
    made.close()


@pytest.fixture
def answer(lab):
    return lambda text, symbol="total", classes=(): Submission(
        function_builder(lab, text, symbol), text, frozenset(classes)
    )


def test_call_returns_the_value_and_times_that_fit(answer):
    came = answer(SUM).call(write(([1, 2, 3],)), 10.0)
    assert (came.kind, came.value) == ("value", 6)
    assert 0 <= came.inside <= came.outside


def test_what_a_text_imports_is_there_when_its_process_starts(lab):
    builder = function_builder(lab, f"import json\nimport numpy\nimport no_such_module\n\n\n{SUM}", "total")
    assert builder.preload == ("no_such_module", "numpy")


def test_every_call_of_a_fresh_process_finds_no_state(answer):
    text = "seen = []\ndef total(values):\n    seen.append(1)\n    return len(seen)\n"
    kept = answer(text)
    assert [kept.call(write(([],)), 10.0).value for _ in range(2)] == [1, 1]
    assert [came.value for came in kept.calls([write(([],))] * 2, 10.0)] == [1, 2]


def test_changed_arguments_are_told(answer):
    came = answer("def total(values):\n    values.reverse()\n").call(write(([1, 2],)), 10.0)
    assert came.value is None
    assert came.after == ([2, 1],)
    assert answer(SUM).call(write(([1, 2],)), 10.0).after is None


@pytest.mark.parametrize(
    ("text", "kind", "says"),
    [
        ("def total(values):\n    raise OverflowError('no')\n", "raise", "OverflowError: no"),
        ("def total(values):\n    return object()\n", "strange", "no plain data"),
        ("def total(values):\n    return b'x' * (1 << 40)\n", "memory", "memory"),
        ("import os\ndef total(values):\n    os._exit(0)\n", "crash", "exit code 0"),
        ("def total(values:\n", "crash", "SyntaxError"),
        ("def other():\n    pass\n", "crash", "total"),
    ],
)
def test_what_is_no_value_is_told(answer, text, kind, says):
    came = answer(text).call(write(([],)), 10.0)
    assert came.kind == kind
    assert says in came.detail


def test_an_answer_that_catches_every_exception_is_ended_from_outside(answer):
    loop = "    while True:\n        try:\n            pass\n        except BaseException:\n            pass\n"
    text = f"def total(values):\n{loop}"
    inputs = [write(([],))] * 3
    assert [came.kind for came in answer(text).calls(inputs, 0.5)] == ["timeout"]


def test_a_patched_clock_does_not_agree_with_the_one_outside(answer):
    text = (
        "import sys, time\n"
        "def total(values):\n"
        "    calls = sys.modules[[name for name in sys.modules if name.endswith('inside.invocation')][0]]\n"
        "    calls._clock = lambda: 0\n"
        "    calls.invoke.__globals__['_clock'] = lambda: 0\n"
        "    time.sleep(0.2)\n"
        "    return sum(values)\n"
    )
    payload = write(([1],))
    honest = [answer(SUM).call(payload, 10.0) for _ in range(3)]
    theirs = [answer(text).call(payload, 10.0) for _ in range(3)]
    assert agreed(honest, honest)
    assert all(came.kind == "forged" for came in theirs) or not agreed(theirs, honest)


def test_objects_of_other_classes_never_reach_a_checker(answer):
    made, equal = "def __init__(self):\n        self.next = None", "def __eq__(self, other):\n        return True"
    text = f"class Node:\n    {made}\n    {equal}\ndef total(values):\n    return Node()\n"
    assert answer(text).call(write(([],)), 10.0).kind == "strange"
    assert answer(text, classes=["Node"]).call(write(([],)), 10.0).kind == "value"
    hostile = "import unittest.mock\ndef total(values):\n    return {'a': [unittest.mock.ANY]}\n"
    assert answer(hostile).call(write(([],)), 10.0).kind == "strange"


def test_plain_values_are_harmless():
    assert harmless([1, ("a", None), 2.5, b"x"])
    assert not harmless([object()])


def test_a_helper_answers_in_a_process_of_its_own(lab):
    with Helper(lab, "def double(values):\n    return [2 * one for one in values]\n", "double") as double:
        assert double([1, 2]) == [2, 4]
        assert double([3]) == [6]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("def make():\n    raise ValueError('no size')\n", "ValueError: no size"),
        ("def make(:\n", "does not load"),
        ("def make():\n    return object()\n", "no plain data"),
    ],
)
def test_a_helper_that_fails_makes_its_problem_unusable(lab, text, says):
    with Helper(lab, text, "make") as make, pytest.raises(Unusable, match=says):
        make()


def test_a_program_is_run_on_stdin(lab):
    text = "print(int(input()) + 1)\n"
    program = Submission(program_builder(lab, text), text)
    assert program.call(b"41\n", 10.0).value == "42\n"
    came = program.call(b"x\n", 10.0)
    assert came.kind == "crash"
    assert "ValueError" in came.detail


@pytest.mark.corpus
def test_a_count_grows_with_the_work_and_a_changed_result_is_a_forgery(lab, answer):
    try:
        counting = open_counting(function_builder(lab, SUM, "total"))
    except UsageError:
        pytest.skip("nothing counts instructions here")
    slow = "def total(values):\n    found = 0\n    for one in values:\n        found += one\n    return found\n"
    payload = write((list(range(20_000)),))
    counts = {}
    for text in (SUM, slow):
        side = answer(text)
        counts[text] = side.count(counting, payload, side.call(payload, 10.0))
    assert isinstance(counts[SUM], float)
    assert counts[slow] > 5 * counts[SUM]
    found = answer(SUM).count(counting, payload, AnswerOutcome("value", 7))
    assert isinstance(found, Fault)
    assert "another one" in found.detail


def test_a_count_that_saves_much_more_than_time_is_not_plausible():
    reference = AnswerOutcome("value", inside=1.0, outside=1.01)
    assert plausible(1e8, AnswerOutcome("value", inside=0.1, outside=0.11), 1e9, reference)
    assert not plausible(1e6, AnswerOutcome("value", inside=1.0, outside=1.01), 1e9, reference)


def test_an_outcome_of_another_form_is_a_forgery(answer):
    text = (
        "import sys\n"
        "inside = sys.modules[[name for name in sys.modules if name.endswith('inside.calls')][0]]\n"
        "encode = sys.modules[[name for name in sys.modules if name.endswith('inside.codec')][0]].encode\n"
        "inside.stored = lambda *words: encode({outcome})\n"
        "def total(values):\n"
        "    return 1\n"
    )
    for outcome in ("('raise', None, None, 5, '')", "7", "('value', 3, None, 1, '')"):
        assert answer(text.format(outcome=outcome)).call(write(([],)), 10.0).kind == "forged"
