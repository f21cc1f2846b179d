"""Objects for methods whose workload gives arguments alone."""

from __future__ import annotations

import ast
import random
import re
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from whet.core.errors import NoInputsError
from whet.core.options import Options
from whet.evaluators.inputs.constructors import Constructors
from whet.evaluators.inputs.plain_data import read
from whet.evaluators.inputs.source import InputSource
from whet.evaluators.inputs.type_hints import initializer
from whet.evaluators.python_text import call_text
from whet.evaluators.screen import parameters
from whet.evaluators.targets import read_task
from whet.sandbox.backends import open_sandbox
from whet.sandbox.inside.codec import encode
from whet.sandbox.interpreter import find_interpreter

PLAIN = """
class Tally:
    def __init__(self, start, step=1):
        self.value = start

    def add(self, x):
        return self.value + x

    @classmethod
    def named(cls, name):
        return name
"""
HINTED = PLAIN.replace("start,", "start: int,")
DATACLASS = """
from dataclasses import dataclass
from typing import ClassVar

@dataclass
class Tally:
    start: int
    kind: ClassVar[str] = "x"
    step: int = 1

    def add(self, x):
        return self.start + x
"""
BASE = "class Base:\n    def __init__(self, start): ...\nclass Tally(Base):\n    def add(self, x):\n        return x\n"
TESTS = """
from tally import Tally
from other import secret

def test_add():
    assert Tally(3).add(1) == 4
    assert Tally(5, step=2).add(1) == 6
    assert Tally(secret()).add(1)
"""


def constructors(folder: Path, source: str, tests: str = "", symbol: str = "Tally.add") -> Constructors:
    (folder / "tally.py").write_text(source)
    (folder / "test_tally.py").write_text(tests)
    return Constructors(read_task(f"{folder}/tally.py::{symbol}", Options()), 1)


def given(found: Constructors, *args: object) -> set[str]:
    """Returns the calls that arguments become, written out."""
    payloads = [found.completed(encode(args), seed) for seed in range(60)]
    return {call_text("Tally.add", read(payload)) for payload in payloads}


def test_objects_are_made_as_the_tests_make_them(tmp_path: Path) -> None:
    found = constructors(tmp_path, PLAIN, TESTS)

    assert given(found, 7) == {"Tally(3).add(7)", "Tally(start=5, step=2).add(7)"}


@pytest.mark.parametrize("source", [HINTED, DATACLASS])
def test_type_hints_of_the_constructor_make_objects(tmp_path: Path, source: str) -> None:
    found = given(constructors(tmp_path, source), 7)

    assert len(found) > 3
    assert all(re.fullmatch(r"Tally\(-?\d+(, -?\d+)?\)\.add\(7\)", call) for call in found)


@pytest.mark.parametrize(("calls", "objects"), [(1, range(1)), (24, range(24)), (25, range(0, 25, 2))])
def test_recorded_calls_bring_their_objects(tmp_path: Path, calls: int, objects: range) -> None:
    (tmp_path / "tally.py").write_text(PLAIN)
    task = read_task(f"{tmp_path}/tally.py::Tally.add", Options())
    recorded = tuple(encode({"init": (start,), "args": (0,)}) for start in range(calls))
    found = given(Constructors(replace(task, workload=replace(task.workload, recorded=recorded)), 1), 7)
    assert found <= {f"Tally({start}).add(7)" for start in objects}
    assert len(found) > len(objects) / 2


@pytest.mark.parametrize("source", [PLAIN, BASE])
def test_where_nothing_tells_the_error_names_the_mend(tmp_path: Path, source: str) -> None:
    found = constructors(tmp_path, source)
    with pytest.raises(NoInputsError, match=r"Tally\(start\) needs arguments .* return {\"init\": \(...\), \"args\""):
        found.completed(encode((1,)), 1)


@pytest.mark.parametrize(
    ("source", "symbol"),
    [
        (PLAIN, "Tally.named"),
        (PLAIN.replace("self, start, step=1", "self, start=0").replace("named", "other"), "Tally.add"),
        ("def add(x):\n    return x\n", "add"),
    ],
)
def test_what_needs_no_object_gets_none(tmp_path: Path, source: str, symbol: str) -> None:
    payload = encode((1,))
    assert constructors(tmp_path, source, TESTS, symbol).completed(payload, 1) == payload


def test_an_object_that_the_workload_gives_is_kept(tmp_path: Path) -> None:
    found = constructors(tmp_path, PLAIN, TESTS)
    payload = encode({"init": (9,), "args": (1,)})
    assert found.completed(payload, random.randrange(9)) == payload
    assert found.without(payload) == payload


def test_dataclasses_and_bases_have_constructors() -> None:
    fields = initializer(ast.parse(DATACLASS), "Tally")
    assert fields is not None
    assert parameters(fields) == ["self", "start", "step="]
    assert initializer(ast.parse("class A(Unknown): pass"), "A") is None


def test_a_workload_and_its_check_never_see_the_objects(tmp_path: Path) -> None:
    (tmp_path / "workload.py").write_text(
        "sizes = [1, 2]\ndef make_input(size, rng):\n    return (size,)\n"
        "def check(args, output):\n    return args == (2,) and output == 5\n"
    )
    found = constructors(tmp_path, PLAIN, "def test():\n    Tally(3)\n")
    assert given(found, 1) == {"Tally(3).add(1)"}
    task = read_task(f"{tmp_path}/tally.py::Tally.add", Options())
    with (
        closing(open_sandbox("bubblewrap", unsafe=False)) as sandbox,
        closing(InputSource(task, sandbox, find_interpreter())) as source,
    ):
        (item,) = source.draw(2, [1])
        outcome = encode(("value", None, None, 5, ""))
        assert (item.payload, source.check(item.payload, outcome)) == (found.completed(encode((2,)), 1), "")
