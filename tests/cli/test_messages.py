"""What a user reads of a difference and of a wrong key: their own names, the first place that differs, valid Python."""

from __future__ import annotations

import math
import re
from array import array
from collections import Counter as Counter_
from collections import OrderedDict, defaultdict, deque, namedtuple
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from io import StringIO
from pathlib import PurePosixPath
from uuid import UUID

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from whet.cli.main import main
from whet.core.config import load_project_config
from whet.core.counter import counted, missing
from whet.core.errors import UsageError
from whet.core.options import Options
from whet.core.task import OracleRule, Tolerance
from whet.evaluators.compare import difference
from whet.evaluators.inputs.source import Input
from whet.evaluators.oracle import Oracle
from whet.evaluators.python_text import LONGEST, call_text, source
from whet.evaluators.targets import read_task
from whet.sandbox.inside.codec import encode
from whet.sandbox.inside.decode import decode
from whet.sandbox.inside.invocation import _Forced

RULE = OracleRule(Tolerance())
Point = namedtuple("Point", "x y")


class Counter:
    def __init__(self, hits, rate=0.5):
        self.hits = hits
        self.log = {"rate": rate}


class Box(list):
    pass


class Grid(np.ndarray):
    pass


def told(expected, actual, *, after=(((), {}), ((), {})), instance=(None, None), stdout=("", "")):
    ours, theirs = (
        encode(("value", after[side], instance[side], value, stdout[side]))
        for side, value in enumerate((expected, actual))
    )
    found = difference(ours, theirs, RULE)
    assert found is not None
    return found.detail


def test_an_attribute_is_named_as_the_user_wrote_it():
    assert told(1, 1, instance=(Counter(3), Counter(4))) == "after the call, self.hits: expected 3, got 4"
    said = told(1, 1, instance=(Counter(3), Counter(3, rate=0.7)))
    assert said.startswith("after the call, self.log['rate']: expected 0.5")
    bare = Counter(3)
    del bare.log
    assert told(1, 1, instance=(Counter(3), bare)) == "after the call, self: expected an attribute log"
    assert told(1, 1, instance=(bare, Counter(3))) == "after the call, self: got a new attribute log"
    assert told([Counter(3)], [Counter(4)]) == "result[0].hits: expected 3, got 4"


def test_a_float_in_an_attribute_is_named_so_too():
    assert "self.hits" in told(1, 1, instance=(Counter(3.0), Counter(4.0)))


def test_the_contents_of_a_subclass_have_no_name_of_ours():
    assert told(Box([1, 2]), Box([1, 3])) == "result[1]: expected 2, got 3"


def test_a_generator_is_called_one():
    assert told(_Forced([1, 2]), [1, 2]) == "result: expected generator of [1, 2], got list [1, 2]"
    assert told(_Forced([1, 2]), _Forced([1, 3])) == "result[1]: expected 2, got 3"
    assert told(_Forced([1.0]), _Forced([2.0])).startswith("result")
    assert "item" not in told(_Forced([1.0]), _Forced([2.0]))


def test_arguments_are_counted_or_named():
    assert told(1, 1, after=((([1],), {}), (([2],), {}))).startswith("after the call, argument 1[0]: expected 1, got 2")
    assert told(1, 1, after=(((), {"left": [1]}), ((), {"left": [2]}))).startswith("after the call, argument left[0]")


def test_the_first_difference_of_long_values_is_shown():
    text = "a" * 3000
    assert told(text, text[:1700] + "b" + text[1701:]) == (
        f"result: they differ from index 1700 on, of 3000 and 3000: expected …{'a' * 56!r}…, got "
        f"…{'a' * 16 + 'b' + 'a' * 39!r}…"
    )
    assert "index 3000 on, of 3000 and 3001" in told(text, text + "c")
    assert "they differ from index 9 on" in told(b"0" * 500, b"0" * 9 + b"1" + b"0" * 490)
    assert told(1, 1, stdout=(text, text + "!")).startswith("stdout: they differ from index 3000 on")
    assert told("ab", "ac") == "result: expected 'ab', got 'ac'"


def test_rows_of_other_lengths_are_told_by_the_first_item_that_differs():
    row = list(range(1000))
    assert told(row, [*row[:700], -1, *row[701:999]]) == (
        "result: expected 1000 items, got 999; the first that differs is [700]: expected 700, got -1"
    )
    assert told(row, row[:999]) == "result: expected 1000 items, got 999; it lacks from [999] on: 999"
    assert told(row, [*row, 7]) == "result: expected 1000 items, got 1001; it adds from [1000] on: 7"
    assert told([1], [1, 2]) == "result: expected 1 item [1], got 2 items [1, 2]"


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=9) | st.binary(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    | st.tuples(inner) | st.tuples(inner, inner) | st.sets(st.integers(), max_size=3)
    | st.frozensets(st.text(max_size=2), max_size=3),
    max_leaves=12,
)  # fmt: skip


@given(values)
def test_a_value_as_source_is_that_value(value):
    assert eval(source(decode(encode(value)))) == value


def test_what_python_writes_in_no_way_that_it_reads_is_written_out():
    shown = source(decode(encode([math.nan, math.inf, -math.inf, 1 << 20_000, complex(math.inf, 1)])))
    nan, *others = eval(shown)
    assert math.isnan(nan)
    assert others == [math.inf, -math.inf, 1 << 20_000, complex(math.inf, 1)]
    assert eval(source(decode(encode(Point(1, [2]))))) == Point(1, [2])


def test_a_counterexample_is_a_call_that_can_be_pasted():
    assert call_text("f", decode(encode(([1, math.nan], {"a"})))) == "f([1, float('nan')], {'a'})"
    call = {"init": (3,), "args": ([0],), "kwargs": {"rate": 0.5}}
    assert call_text("Counter.add", decode(encode(call))) == "Counter(3).add([0], rate=0.5)"
    assert call_text("Counter.add", decode(encode({**call, "init": {"hits": 1}}))).startswith("Counter(hits=1).add(")


def test_a_call_that_has_no_source_or_too_much_is_none():
    twice = [1]
    assert call_text("f", decode(encode((twice, twice)))) == ""
    assert call_text("f", decode(encode((Counter(1),)))) == ""
    assert call_text("f", decode(encode(("a" * LONGEST,)))) == ""


@pytest.mark.parametrize(
    ("key", "says"),
    [
        ("until", "unknown key 'until'; give it on the command line: --until"),
        ("max-time", "unknown key 'max-time'; give it on the command line: --max-time"),
        ("modle", "unknown key 'modle'; did you mean 'model'?"),
        ("timeout", "unknown key 'timeout'; it has model, judge-model,"),
    ],
)
def test_a_wrong_key_suggests_no_unrelated_one(tmp_path, key, says):
    (tmp_path / "pyproject.toml").write_text(f"[tool.whet]\n{key} = 1\n")
    with pytest.raises(UsageError) as caught:
        load_project_config(tmp_path)
    assert says in str(caught.value)


def test_a_counter_that_something_counted_is_not_called_unavailable():
    from whet.cli.profile import _counters

    counters = [
        missing("instructions", "", "perf", "the kernel forbids it"),
        missing("cycles", "", "perf", "the kernel forbids it"),
        counted("instructions", 12.0, "", "cachegrind"),
    ]
    lines = "\n".join(_counters(counters, 200))
    assert "instructions  12 (cachegrind)" in lines
    assert "not available: cycles: the kernel forbids it" in lines


STANDARD = (
    deque([1, 2], 3),
    deque(),
    Counter_({"a": 2}),
    OrderedDict([("b", 1), ("a", 2)]),
    defaultdict(list, {1: [2]}),
    defaultdict(None, {1: 2}),
    range(3, 9, 2),
    slice(1, None),
    Decimal("1.10"),
    Fraction(2, 3),
    datetime(2026, 11, 23, 1, 2, 3, tzinfo=UTC),
    date(2026, 11, 23),
    timedelta(days=1, seconds=2),
    UUID(int=7),
    PurePosixPath("a/b"),
    array("d", [1.0, 2.5]),
    re.compile(r"a\s+'", re.IGNORECASE),
)


@pytest.mark.parametrize("value", STANDARD, ids=repr)
def test_what_the_standard_library_brings_can_be_pasted(value):
    assert eval(source(decode(encode(value))), {}) == value
    assert type(eval(source(decode(encode(value))), {})) is type(value)


def test_a_file_in_memory_can_be_pasted_unless_it_was_read():
    file = StringIO("two\nlines")
    assert eval(source(decode(encode(file))), {}).read() == "two\nlines"
    file.read(1)
    assert call_text("f", decode(encode((file,)))) == ""


@pytest.mark.parametrize(
    "value",
    [
        np.array([[1, 2], [3, 4]], dtype="int32"),
        np.array([0.5, math.inf, math.nan]),
        np.array([True, False]),
        np.array([1 + 2j], dtype="complex64"),
        np.zeros((0, 3), dtype="float32"),
        np.array(5),
        np.float32(0.1),
        np.bool_(True),
    ],
    ids=repr,
)
def test_an_array_can_be_pasted(value):
    pasted = eval(source(decode(encode(value))), {})
    assert type(pasted) is type(value)
    assert (pasted.dtype, pasted.shape) == (value.dtype, value.shape)
    assert np.array_equal(pasted, value, equal_nan=value.dtype.kind in "fc")


def test_an_array_that_is_more_than_its_elements_cannot():
    whole = np.arange(4)
    frozen = np.arange(4)
    frozen.flags.writeable = False
    for values in ((whole, whole[1:]), (frozen,), (np.arange(1000),), (np.arange(4).view(Grid),), (np.array(["a"]),)):
        assert call_text("f", decode(encode(values))) == ""


def test_an_input_that_holds_an_object_twice_is_told_as_statements(tmp_path):
    (tmp_path / "f.py").write_text("def f(a, b):\n    return a\n")
    task = read_task(f"{tmp_path}/f.py::f", Options())
    twice = [1]
    said = Oracle(task, None).input_text(Input("size 2", encode((twice, twice))))
    name, _, text = said.partition(": ")
    assert (name, text) == ("on size 2", "a = [1]; f(a, a)")


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("--buget-usd", "did you mean '--budget-usd'?"),
        ("--max-memroy", "did you mean '--max-memory'?"),
        ("--jobs", "see 'whet optimize --help'"),
        ("--timeout", "see 'whet optimize --help'"),
        ("-q", "see 'whet optimize --help'"),
    ],
)
def test_a_wrong_option_suggests_no_unrelated_one(capsys, name, says):
    assert main(["optimize", "f.py::f", name, "1"]) == 2
    line = capsys.readouterr().err
    assert says in line
    assert line.count("\n") == 1
    assert ("did you mean" in line) == says.startswith("did")
