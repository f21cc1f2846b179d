"""Inputs of any size from type hints, and the sizes that a baseline takes long enough for."""

from __future__ import annotations

import random
import shutil
from pathlib import Path

import pytest

import whet
from whet.core.errors import BaselineError, UsageError
from whet.core.options import Options
from whet.core.result import Status
from whet.core.task import HINTS, Kind, Task
from whet.evaluators.artifacts import Builder
from whet.evaluators.inputs.calibration import calibrated, names_sizes
from whet.evaluators.inputs.drafts import drafts
from whet.evaluators.inputs.type_hints import UnknownTypeError
from whet.evaluators.ladder import open_ladder
from whet.evaluators.targets import read_task
from whet.sandbox.backends import open_sandbox
from whet.sandbox.interpreter import find_interpreter

bubblewrap = pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")

HEAD = """
from dataclasses import dataclass
from enum import Enum
from typing import Literal, NamedTuple

class Colour(Enum):
    RED = 1

@dataclass
class Point:
    x: int
    name: str

class Pair(NamedTuple):
    left: int
    right: float
"""


def made(parameters, size=100, literals=(), number=0):
    """What a draft makes of parameters; classes of the target are those of this text."""
    source = f"{HEAD}\ndef f({parameters}): ...\n"
    task = Task("f", "python", Kind.FUNCTION, Path("/t/m.py"), source, "f", Path("/t"))
    text = list(drafts(task, literals))[number]
    names: dict = {}
    exec(HEAD + text.replace("from m import", "# from m import"), names)
    return names["make_input"](size, random.Random(1))


@pytest.mark.parametrize(
    ("hint", "items"),
    [
        ("list[int]", 100),
        ("tuple[str, ...]", 100),
        ("str", 100),
        ("bytes", 100),
        ("dict[int, float]", 100),
        ("list[Point]", 100),
        ("list[Pair]", 100),
        ("list[tuple[int, str]]", 100),
        ("list[list[int]]", 10),
        ("dict[int, list[int]]", 10),
        ("list[str]", 100),
        ("list[Literal['a', 3]]", 100),
        ("list[Colour] | None", 100),
    ],
)
def test_what_holds_many_has_the_size_in_all(hint, items):
    (value,) = made(f"a: {hint}")
    assert len(value) == items


def test_places_in_a_container_are_keys_or_indices_of_it():
    (graph,) = made("graph: dict[int, list[int]]", 400)
    assert all(node in graph for nodes in graph.values() for node in nodes)


def test_an_integer_alone_is_the_size_and_small_beside_what_grows():
    (alone,) = made("n: int", 800)
    assert 700 <= alone <= 800
    assert made("a: list[int], k: int", 800)[1] < 10
    assert made("a: list[int], k: int", 800, number=1)[1] >= 700


def test_texts_hold_the_literals_of_the_target_whatever_they_are():
    (text,) = made("a: str", 500, literals=['"]}; quit', "'''"])
    assert '"]}; quit' in text


@pytest.mark.parametrize("hint", ["Unheard", "list[Callable[[int], int]]"])
def test_a_hint_that_nothing_can_be_made_of_is_named(hint):
    with pytest.raises(UnknownTypeError, match=r"^a: "):
        made(f"a: {hint}")


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("sizes = [1]", True),
        ("from common import sizes", True),
        ("for sizes in ([1],): pass", True),
        ("# sizes = [1]\n", False),
        ("not python(", True),
    ],
)
def test_a_file_that_says_nothing_about_sizes_is_told_apart(text, named):
    assert names_sizes(text) is named


def linear(size, measured):
    return size * 1e-4


def as_measured(size, measured):
    return measured


@pytest.fixture
def calibrate(tmp_path):
    """Calibrates a target's workload in a sandbox of its own."""
    sandbox = open_sandbox("bubblewrap", False)

    def work(source, workload=None, call_seconds=linear):
        (tmp_path / "target.py").write_text(source)
        if workload is not None:
            (tmp_path / "workload.py").write_text(workload)
        task = read_task(f"{tmp_path}/target.py::f", Options())
        return calibrated(Builder(task, sandbox, find_interpreter()), 5, True, call_seconds)

    yield work
    sandbox.close()


DISTINCT = """
def f(items: list[int], low: int = 3) -> list[int]:
    out = []
    for x in items:
        if x > low and x not in out:
            out.append(x)
    return out
"""
SAME = "def f(n: int) -> int:\n    return n\n"
FIB = "def f(n: int) -> int:\n    return n if n < 2 else f(n - 1) + f(n - 2)\n"


@bubblewrap
def test_inputs_grow_until_a_call_lasts(calibrate):
    workload = calibrate(DISTINCT).workload
    assert workload.origin == HINTS
    assert workload.sizes == (4, 32, 64)


@bubblewrap
def test_sizes_follow_from_how_the_seconds_grow(calibrate):
    assert calibrate(SAME, None, lambda size, _: size**2 * 1e-7).workload.sizes == (2, 16, 128, 256)
    assert calibrate(SAME, None, lambda size, _: 2**size * 1e-9).workload.sizes == (1, 19, 26), "longer calls are not"
    assert calibrate(SAME, None, lambda size, _: 1e-6).workload.sizes == (16384,), "no call lasts"


@pytest.mark.corpus
@pytest.mark.timed
@bubblewrap
def test_what_explodes_stops_at_a_size_that_fits(calibrate):
    sizes = calibrate(FIB, None, as_measured).workload.sizes
    assert 15 <= sizes[-1] <= 32
    assert sizes[-2] >= 5


@bubblewrap
@pytest.mark.corpus(one_in=8)
def test_what_takes_memory_like_an_exponential_stops_too(calibrate):
    source = "def f(n: int) -> int:\n    return len([0] * 2 ** n)\n"
    assert calibrate(source).workload.sizes[-1] < 32


@pytest.mark.corpus
@pytest.mark.timed
@bubblewrap
def test_an_integer_grows_beside_a_list_where_time_needs_that(calibrate):
    source = (
        "def f(names: list[str], times: int) -> int:\n    n = 0\n    for _ in range(times):\n"
        "        n += len(names[:3])\n    return n\n"
    )
    workload = calibrate(source, None, as_measured).workload
    assert "size - size // 8" in workload.generator


@bubblewrap
def test_divisors_are_not_zero_where_that_fails(calibrate):
    workload = calibrate("def f(a: list[int]) -> int:\n    return sum(5040 // x for x in a)\n").workload
    assert "randint(1, size)" in workload.generator


@bubblewrap
def test_sizes_that_a_workload_gives_stay_and_missing_ones_are_found(calibrate):
    generator = "def make_input(size, rng):\n    return ([rng.randrange(size) for _ in range(size)],)\n"
    found = calibrate(DISTINCT, generator).workload
    assert (found.origin, found.generator) == ("", generator)
    assert found.sizes == (4, 32, 64)
    assert calibrate(DISTINCT, "sizes = [1, 2]\n" + generator).workload.sizes == ()


@pytest.mark.corpus
@bubblewrap
@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("return ([0] * 10 ** size,)", None),
        ("raise ValueError('no')", "ValueError: no"),
        ("return ('x' * 9_000_000,)", "has 8.6 MiB"),
        ("return 5", "must return a tuple"),
        ("import os; os._exit(3)", "failed at make"),
    ],
)
def test_generators_without_sizes_that_explode(calibrate, body, told):
    source = "def f(a):\n    return len(a)\n"
    workload = f"def make_input(size, rng):\n    {body}\n"
    if told is None:
        assert calibrate(source, workload).workload.sizes[-1] < 10, "larger inputs take too much memory"
        return
    with pytest.raises(UsageError, match="names no sizes, and none fits") as caught:
        calibrate(source, workload)
    assert told in str(caught.value)
    assert "\n" not in str(caught.value)


@bubblewrap
@pytest.mark.usefixtures("figures")
@pytest.mark.corpus(one_in=8)
def test_a_rewrite_is_judged_and_timed_on_hints_alone(tmp_path):
    (tmp_path / "target.py").write_text(DISTINCT)
    head = DISTINCT[: DISTINCT.index(":\n") + 2]
    fast = f"{head}    return list(dict.fromkeys(x for x in items if x > low))\n"
    (tmp_path / "fast.py").write_text(fast)
    target = f"{tmp_path}/target.py::f"
    found = whet.verify(target, candidate=tmp_path / "fast.py", home=tmp_path / "home", until="measure")
    assert found.status is Status.NO_IMPROVEMENT, found.message
    assert found.speedup.ratio > 1
    assert len(found.speedup.workloads) == 2


@bubblewrap
def test_a_wrong_hint_is_named(tmp_path):
    (tmp_path / "target.py").write_text("def f(n: int) -> str:\n    return n.upper()\n")
    ladder = open_ladder(read_task(f"{tmp_path}/target.py::f", Options()), Options(), 3)
    try:
        with pytest.raises(
            BaselineError, match=r"AttributeError: 'int' object.*\(n: int\): mend a wrong one"
        ) as caught:
            ladder.validate()
        assert caught.value.reason == "raised"
    finally:
        ladder.close()


@bubblewrap
def test_a_hint_that_no_input_can_be_made_of_is_named(tmp_path):
    (tmp_path / "target.py").write_text("def f(n: int, key: 'Callable[[int], int]') -> int:\n    return key(n)\n")
    with pytest.raises(UsageError, match="the parameter key: 'Callable"):
        open_ladder(read_task(f"{tmp_path}/target.py::f", Options()), Options(), 3)
