"""Inputs from type hints, and from calls in tests; several generators, and which inputs are valid."""

from __future__ import annotations

import contextlib
import random
import re
import shutil
from pathlib import Path

import pytest

import whet
from whet.core.plain import from_plain, to_plain
from whet.core.result import Status
from whet.core.task import Kind, Task, Workload
from whet.core.verdict import Reason
from whet.evaluators.inputs.drafts import drafts
from whet.evaluators.inputs.literals import calls_in, literal_calls
from whet.evaluators.inputs.plain_data import read, write
from whet.evaluators.inputs.shapes import kind_of
from whet.evaluators.inputs.strategies import draw, strategy_of
from whet.evaluators.inputs.type_hints import UnknownTypeError
from whet.sandbox.inside.codec import encode
from whet.sandbox.inside.decode import Node

bubblewrap = pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")

HEAD = """
from __future__ import annotations
import enum
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NamedTuple, Optional, Union
import numpy as np

class Colour(enum.Enum):
    RED = 1
    BLUE = 2

@dataclass
class Point:
    x: int
    y: float
    kinds: ClassVar[int] = 3

class Pair(NamedTuple):
    left: int
    right: str

Row = tuple[int, str]
"""


def drawn(hint, literals=(), count=60, body=""):
    source = f"{HEAD}{body}\ndef f(a: {hint}): ...\n"
    task = Task("f", "python", Kind.FUNCTION, Path("/t/m.py"), source, "f", Path("/t"))
    strategy = strategy_of(task, literals)
    return [read(write(value))[0] for value in draw(strategy, 5, count)]


@pytest.mark.corpus
@pytest.mark.parametrize(
    ("hint", "kinds"),
    [
        ("int", {"int"}),
        ("float", {"float"}),
        ("bool", {"bool"}),
        ("str", {"str"}),
        ("bytes", {"bytes"}),
        ("int | None", {"int", "none"}),
        ("Optional[str]", {"str", "none"}),
        ("Union[int, str]", {"int", "str"}),
        ("'list[int]'", {"list"}),
        ("Sequence[float]", {"list"}),
        ("Iterable[str]", {"list"}),
        ("Row", {"tuple"}),
        ("tuple[int, ...]", {"tuple"}),
        ("set[str]", {"set"}),
        ("frozenset[int]", {"frozenset"}),
        ("Mapping[str, list[int]]", {"dict"}),
        ("dict", {"dict"}),
        ("Literal['up', 3]", {"str", "int"}),
        ("Colour", {"enum m:Colour"}),
        ("Point", {"object m:Point"}),
        ("Pair", {"tuple m:Pair"}),
        ("np.ndarray", {"ndarray"}),
    ],
)
def test_a_hint_gives_values_of_its_type(hint, kinds):
    assert set(map(kind_of, drawn(hint))) == kinds


def test_the_parts_have_their_types_too():
    for row in drawn("Row"):
        assert tuple(map(type, row)) == (int, str)
    for point in drawn("Point"):
        assert [(name, type(value)) for name, value in point.state] == [("x", int), ("y", float)]
    assert {type(item) for items in drawn("list[int]") for item in items} == {int}
    assert any(len(set(items)) < len(items) for items in drawn("list[int]"))
    assert [] in drawn("list[int]")


@pytest.mark.parametrize("hint", ["Unheard", "list[Unheard]", "Callable[[int], int]", "'not a type('", "type"])
def test_an_unknown_hint_is_named_with_its_parameter(hint):
    with pytest.raises(UnknownTypeError, match="^" + re.escape(f"a: {hint}")):
        drawn(hint)


def test_a_class_that_holds_itself_gives_none():
    with pytest.raises(UnknownTypeError, match=r"^a: Tree$"):
        drawn("Tree", body="@dataclass\nclass Tree:\n    left: Tree | None\n")


def test_literals_of_the_target_are_drawn_often_with_their_neighbours():
    values = drawn("int", literals=[4711])
    assert {4710, 4711, 4712} & set(values)
    assert "quit" in drawn("str", literals=["quit"])


@pytest.mark.corpus(one_in=8)
def test_the_same_seed_draws_the_same():
    assert [write(v) for v in drawn("list[str]")] == [write(v) for v in drawn("list[str]")]


def test_named_arguments_defaults_and_methods():
    source = (
        "class Bag:\n    def __init__(self, items: list[int]): ...\n"
        "    def add(self, more: list[int], /, times=2, *, sure: bool): ...\n"
    )
    task = Task("f", "python", Kind.FUNCTION, Path("/t/m.py"), source, "Bag.add", Path("/t"))
    for value in draw(strategy_of(task, ()), 1, 5):
        node = read(write(value))
        assert isinstance(node, Node)
        parts = {key: item for _, key, item in node.state}
        assert [len(parts["init"]), len(parts["args"])] == [1, 1]
        assert [key for _, key, _ in parts["kwargs"].state] == ["sure"]


def test_any_number_of_further_arguments_is_given():
    source = "def total(first: str, *rest: int, last: bool = True): ...\n"
    task = Task("f", "python", Kind.FUNCTION, Path("/t/m.py"), source, "total", Path("/t"))
    given = [{key: item for _, key, item in read(write(value)).state} for value in draw(strategy_of(task, ()), 1, 20)]
    assert len({len(one["args"]) for one in given}) > 2
    for one in given:
        assert tuple(map(type, one["args"])) == (str, *[int] * (len(one["args"]) - 1))
    for text in drafts(task, ()):
        names: dict[str, object] = {}
        exec(text, names)  # one of ours
        made = names["make_input"](7, random.Random(1))
        assert len(made["args"]) == 8


def test_hypothesis_leaves_nothing_in_the_folder(tmp_path):
    with contextlib.chdir(tmp_path):
        assert drawn("dict[str, float]")
    assert list(tmp_path.iterdir()) == []


TESTS = """
import pytest
from m import f

@pytest.mark.parametrize("a, b", [([1], 2), ([3], -4), pytest.param(1, 2)])
def test_rows(a, b):
    assert f(a, b) == 3

@pytest.mark.parametrize("word", ["x", "y"])
def test_words(word):
    m.f(word, deep=True)

def test_unknown():
    f(computed(), 1)
    f(*rows)
"""


def test_calls_in_tests_are_found():
    found = list(calls_in(TESTS, "f"))
    assert (([1], 2), {}) in found
    assert (([3], -4), {}) in found
    assert (("x",), {"deep": True}) in found
    assert all(args for args, _ in found)
    assert list(calls_in("def broken(:", "f")) == []


def test_calls_of_the_tests_beside_a_target(tmp_path):
    (tmp_path / "m.py").write_text("def f(a, b): ...\n")
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_m.py").write_text(TESTS)
    found = literal_calls(tmp_path / "m.py", "f")
    assert encode(([1], 2)) in found
    assert len(set(found)) == len(found)
    workload = Workload(calls=(*found, b"\xff\x00"))
    assert from_plain(Workload, to_plain(workload)) == workload


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "typed.py").write_text(
        "def f(items: list[int], low: int = 10) -> list[int]:\n"
        "    out = []\n    for x in items:\n        if x > low and x not in out:\n            out.append(x)\n"
        "    return out\n"
    )
    return tmp_path


def judge(folder, body, target="typed.py::f", **options):
    path = folder / "candidate.py"
    path.write_text(body)
    options = {"until": "differential", **options}
    return whet.verify(f"{folder}/{target}", candidate=path, home=folder / "home", **options)


FAST = (
    "def f(items: list[int], low: int = 10) -> list[int]:\n"
    "    return list(dict.fromkeys(x for x in items if x > low))\n"
)


@bubblewrap
@pytest.mark.corpus(one_in=8)
def test_hints_alone_serve_until_differential(folder):
    good = judge(folder, FAST)
    assert good.status is Status.NO_IMPROVEMENT, good.message
    wrong = judge(folder, FAST.replace("x > low", "x >= low"))
    assert wrong.status is Status.REJECTED
    assert wrong.rungs[-1].reason is Reason.WRONG_OUTPUT
    assert "f([" in wrong.rungs[-1].detail


WORKLOAD = """
sizes = [0, 5, 20]
def make_input(size, rng):
    return ([rng.randrange(100) for _ in range(size)],)
"""


def test_a_call_in_the_tests_is_tried(rung):
    good = "def f(a):\n    return sum(a)\n"
    bad = "def f(a):\n    return sum(a) - (a == [3, 1234567])\n"
    found = rung(good, WORKLOAD, bad, tests="assert f([3, 1234567]) == 1234570\n")
    assert found.fault is not None
    assert found.evidence["sources"]["calls"] == 1


def test_hints_add_to_a_workload(rung):
    good = "def f(a: list[int]):\n    return sorted(a)\n"
    found = rung(good, WORKLOAD, good + "\n")
    assert found.fault is None
    assert found.evidence["sources"]["hints"] > 5


def test_every_generator_is_drawn(rung):
    ties = "def make_input_ties(size, rng):\n    return ([7777] * size,)\n"
    good = "def f(a):\n    return len(a)\n"
    bad = "def f(a):\n    return len(a) + (a[:1] == [7777])\n"
    assert rung(good, WORKLOAD, bad).fault is None
    found = rung(good, WORKLOAD + ties, bad)
    assert found.fault is not None
    assert set(found.evidence["sources"]) == {"generator"}


def test_a_workload_says_which_inputs_are_valid(rung):
    good = "def f(a):\n    return sorted(a)\n"
    counting = (
        "def f(a):\n    n = [0] * 100\n    for x in a:\n        n[x] += 1\n"
        "    return [i for i in range(100) for _ in range(n[i])]\n"
    )
    assert rung(good, WORKLOAD, counting).fault is not None
    valid = "def valid(args):\n    return all(0 <= x < 100 for x in args[0])\n"
    found = rung(good, WORKLOAD + valid, counting)
    assert found.fault is None, found.fault
    assert found.evidence["discarded"] > 5
    assert found.evidence["sources"]["edges"] > 5


@pytest.mark.corpus
def test_a_program_s_stdin_is_edited_only_where_the_workload_says_what_is_valid(rung):
    workload = (
        "sizes = [2, 5]\ndef make_input(size, rng):\n"
        "    return ''.join(f'{rng.randrange(1, 100)}\\n' for _ in range(size))\n"
    )
    good = "import sys\nprint(sum(map(int, sys.stdin.read().split())))\n"
    bad = "import sys\nprint(sum(abs(int(x)) for x in sys.stdin.read().split()))\n"
    assert rung(good, workload, bad, symbol=None).fault is None
    valid = "def valid(text):\n    return all(x.lstrip('-').isdigit() for x in text.split())\n"
    found = rung(good, workload + valid, bad, symbol=None)
    assert found.fault is not None
    assert found.evidence["sources"]["edges"] > 0


@pytest.mark.corpus(one_in=8)
def test_the_evidence_says_what_was_tried(rung):
    good = "def f(a: list[int]):\n    return sorted(a)\n"
    first, second = (rung(good, WORKLOAD, good + "\n", seed=77).evidence for _ in range(2))
    assert first == second
    assert first["seed"] == 77
    assert first["inputs"] == len(first["hashes"]) == sum(first["sources"].values())
    other = rung(good, WORKLOAD, good + "\n", seed=78).evidence
    assert not set(first["hashes"][10:40]) <= set(other["hashes"])
