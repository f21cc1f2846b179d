"""``--record``: the calls that a command makes of a target become its inputs."""

from __future__ import annotations

import shutil
from contextlib import closing
from dataclasses import replace

import pytest
from work import answer, scripted

import whet
from whet.core.errors import UsageError
from whet.core.events import EventKind
from whet.core.options import Options
from whet.core.result import Status
from whet.core.verdict import Reason
from whet.evaluators.artifacts import Builder
from whet.evaluators.baseline import Drawer
from whet.evaluators.inputs.plain_data import read
from whet.evaluators.inputs.source import InputSource
from whet.evaluators.recording import chosen
from whet.evaluators.replaying import with_recorded
from whet.evaluators.targets import read_task
from whet.evaluators.timing.repeats import repeat_costs
from whet.evaluators.timing.workloads import TimedWorkload
from whet.sandbox.backends import open_sandbox
from whet.sandbox.interpreter import find_interpreter

pytestmark = pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")

SHOP = """
import functools
from dataclasses import dataclass
import numpy as np
from models import Tag

@dataclass
class Item:
    name: str
    price: float
    tags: tuple = ()

class Slotted:
    __slots__ = ("size",)
    def __init__(self, size):
        self.size = size

class Basket:
    def __init__(self, items):
        self.items = list(items)
        self.calls = 0

    def cost(self, names, *, factor=1):
        self.calls += 1
        return factor * sum(item.price for item in self.items if item.name in names)

    @staticmethod
    def half(x):
        return x / 2

    @classmethod
    def made(cls, names):
        return len([cls([Item(name, 1.0)]) for name in names])

def total(items, scale=1.0, **more):
    return sum(item.price for item in items) * scale + more.get("extra", 0)

def drain(items):
    while items:
        items.pop()
    return items

def depth(tree):
    return 1 + max((depth(child) for child in tree), default=0)

def norm(array):
    return float((array * array).sum())

def first(count, values):
    return [value for _, value in zip(range(count), values)]

def evens(values):
    for value in values:
        if value % 2 == 0:
            yield value

def check(value):
    if value < 0:
        raise ValueError("negative")
    return value

@functools.lru_cache(maxsize=None)
def cached(n):
    return n + 1

def size(thing):
    return getattr(thing, "size", 0)

def never(x):
    return x
"""
MODELS = """
from dataclasses import dataclass

@dataclass(frozen=True)
class Tag:
    text: str
"""
SCRIPT = """
import subprocess, sys, threading
import numpy as np
import shop
from models import Tag
from shop import Basket, Item, Slotted

items = [Item("a", 1.5, (Tag("x"),)), Item("b", 2.0)]
assert shop.total(items) == 3.5
assert shop.total(items, 2.0, extra=1) == 8.0
shop.total(items)
basket = Basket(items)
assert basket.cost(["a"]) == 1.5 and basket.cost({"a", "b"}, factor=2) == 7.0
Basket.half(3), Basket.made(["a", "b"])
shop.drain([1, 2, 3])
shop.depth([[], [[]]])
deep = []
for _ in range(600):
    deep = [deep]
assert shop.depth(deep) == 601
shop.norm(np.arange(6.0).reshape(2, 3))
left = iter([[1], [2], [3], [4]])
assert shop.first(2, left) == [[1], [2]]
assert next(left) == [3]
assert shop.first(2, (n for n in iter(int, 1))) == [0, 0]
assert list(shop.evens(x for x in (1, 2, 3, 4))) == [2, 4]
for value in (1, -1):
    try:
        shop.check(value)
    except ValueError:
        pass
shop.cached(1), shop.cached(1), shop.cached.cache_clear()

class Local:
    size = 3

for thing in (Slotted(4), Local(), lambda: 3, open(__file__), [iter([1])], threading.Lock(), np.float32(3)):
    shop.size(thing)
thread = threading.Thread(target=shop.check, args=(5,))
thread.start()
thread.join()
subprocess.run([sys.executable, "-c", "import shop; shop.check(7)"], check=True)
"""


@pytest.fixture(scope="module")
def shop(tmp_path_factory):
    folder = tmp_path_factory.mktemp("shop")
    for name, text in {"shop.py": SHOP, "models.py": MODELS, "script.py": SCRIPT}.items():
        (folder / name).write_text(text)
    return folder


def recorded(folder, symbol, command="python script.py", file="shop.py", seconds=60.0, **options):
    """Returns the task with its recorded calls, and what was told."""
    told = []
    settings = Options(record=command, sandbox="bubblewrap", **options)
    task = read_task(f"{folder / file}::{symbol}", Options(sandbox="bubblewrap"))
    return with_recorded(task, settings, told.append, seconds), told[-1].text


def values(task):
    return [_named(read(payload)) for payload in task.workload.recorded]


def _named(value):
    """Returns a call by its parts, where it has names for them."""
    if getattr(value, "kind", "") != "dict":
        return value
    parts = {key: item for _, key, item in value.state}
    return {**parts, "kwargs": {key: item for _, key, item in parts["kwargs"].state}}


@pytest.mark.corpus(one_in=8)
def test_arguments_by_name_and_dataclasses(shop):
    task, told = recorded(shop, "total")
    assert "recorded 3 calls of total: 2 distinct" in told
    (plain,), (full,) = (
        [value for value in values(task) if isinstance(value, dict) is named] for named in (False, True)
    )
    items = plain[0]
    assert [(item.kind, item.name) for item in items] == [("object", "shop:Item")] * 2
    assert dict(items[0].state)["price"] == 1.5
    assert dict(items[0].state)["tags"][0].name == "models:Tag"
    assert full["kwargs"] == {"extra": 1}
    assert full["args"][1] == 2.0


def test_methods_come_with_their_receiver_as_it_was_before_the_call(shop):
    task, _ = recorded(shop, "Basket.cost")
    receivers = [dict(value["init"].state) for value in values(task)]
    assert sorted(state["calls"] for state in receivers) == [0, 1]
    assert {len(state["items"]) for state in receivers} == {2}
    assert {"factor": 2} in [value["kwargs"] for value in values(task)]


@pytest.mark.parametrize(("symbol", "given"), [("Basket.half", (3,)), ("Basket.made", (["a", "b"],))])
def test_static_and_class_methods(shop, symbol, given):
    task, _ = recorded(shop, symbol)
    assert values(task) == [given]


def test_arguments_are_those_before_the_call(shop):
    task, _ = recorded(shop, "drain")
    assert values(task) == [([1, 2, 3],)]


def test_recursion_is_recorded_once_and_gets_as_deep_as_ever(shop):
    task, told = recorded(shop, "depth")
    assert "recorded 2 calls" in told
    assert ([[], [[]]],) in values(task)


@pytest.mark.corpus(one_in=8)
def test_arrays(shop):
    task, _ = recorded(shop, "norm")
    ((array,),) = values(task)
    assert array.kind == "ndarray"
    assert tuple(array.state[1]) == (2, 3)


def test_iterators_are_recorded_as_far_as_they_were_read_and_left_to_their_owner(shop):
    task, _ = recorded(shop, "first")
    given = [(count, tuple(lazy.state)) for count, lazy in values(task)]
    assert (2, ([1], [2])) in given
    assert any(all(item == 0 for item in items) for _, items in given)


def test_a_lazy_target_reads_its_iterators_later(shop):
    task, _ = recorded(shop, "evens")
    ((lazy,),) = values(task)
    assert tuple(lazy.state) == (1, 2, 3, 4)


@pytest.mark.corpus(one_in=8)
def test_calls_that_raise_serve_correctness_and_other_threads_and_processes_are_heard(shop):
    task, told = recorded(shop, "check")
    assert {value[0] for value in values(task)} == {1, 5, 7}
    assert [read(payload) for payload in task.workload.calls] == [(-1,)]
    assert "on 1 of which it raises" in told


@pytest.mark.corpus(one_in=8)
def test_what_decorators_add_is_still_there(shop):
    task, _ = recorded(shop, "cached")
    assert values(task) == [(1,)]


@pytest.mark.corpus(one_in=8)
def test_what_cannot_be_stored_is_skipped_and_counted(shop):
    task, told = recorded(shop, "size")
    assert "recorded 7 calls of size: 2 distinct" in told
    assert "5 skipped" in told
    assert len(values(task)) == 2


def test_the_target_s_own_file_may_be_the_script(tmp_path):
    (tmp_path / "own.py").write_text(
        "import sys\n\nclass Pair:\n    def __init__(self, a):\n        self.a = a\n\n"
        "def f(pair):\n    return pair.a\n\nif __name__ == '__main__':\n    print(f(Pair(int(sys.argv[1]))))\n"
    )
    task, _ = recorded(tmp_path, "f", "python own.py 12", "own.py")
    ((pair,),) = values(task)
    assert (pair.name, pair.state) == ("own:Pair", (("a", 12),))


@pytest.mark.corpus
def test_a_package_with_its_tests(tmp_path):
    package, tests = tmp_path / "src" / "goods", tmp_path / "tests"
    package.mkdir(parents=True)
    tests.mkdir()
    (tmp_path / "pyproject.toml").write_text("[tool.pytest.ini_options]\npythonpath = ['src']\n")
    (package / "__init__.py").write_text("from .core import Thing, weigh\n")
    (package / "core.py").write_text(
        "class Thing:\n    def __init__(self, w):\n        self.w = w\n\ndef weigh(thing):\n    return thing.w * 2\n"
    )
    (tests / "test_goods.py").write_text(
        "import goods\n\ndef test_weigh():\n    assert goods.weigh(goods.Thing(2)) == 4\n\n"
        "def test_wrong():\n    assert goods.weigh(goods.Thing(3)) == 7\n"
    )
    task, told = recorded(tmp_path, "weigh", "pytest -q", "src/goods/core.py")
    assert sorted(value[0].state[0][1] for value in values(task)) == [2, 3]
    assert "the command ended with exit code 1" in told


@pytest.mark.corpus
@pytest.mark.parametrize(
    ("command", "symbol", "said"),
    [
        ("python script.py", "never", "ended with exit code 0 and loads shop.py and never calls never"),
        ("python -c 'import sys; sys.exit(\"broken\")'", "total", "ended with exit code 1 and never loads .*broken"),
        ("nosuchprogram --x", "total", "no such command in the sandbox"),
        ("python nosuch.py", "total", "exit code 2 and never loads .*No such file"),
        ("python -c 'while True: pass'", "total", "did not end within 3 s and never loads"),
        ("python -c 'import shop; shop.size(lambda: 1)'", "size", "none of 1 calls of size can be stored"),
        ("", "total", "--record is empty"),
        ("python 'x", "total", "cannot be read"),
    ],
)
def test_commands_that_record_nothing_are_told_in_one_line(shop, command, symbol, said):
    with pytest.raises(UsageError, match=said) as error:
        recorded(shop, symbol, command, seconds=3.0)
    assert "\n" not in str(error.value)


def test_a_file_of_the_same_name_that_is_loaded_instead_is_named(shop, tmp_path):
    (tmp_path / "other").mkdir()
    (tmp_path / "shop.py").write_text(SHOP)
    (tmp_path / "other" / "shop.py").write_text("def total(items):\n    return 0\n")
    with pytest.raises(UsageError, match=r"it loads .*other/shop\.py instead"):
        recorded(tmp_path, "total", "python -c 'import sys; sys.path.insert(0, \"other\"); import shop; shop.total(1)'")


@pytest.mark.corpus
def test_an_endless_command_keeps_what_it_called(shop):
    task, told = recorded(shop, "check", "python -c 'import shop\nshop.check(3)\nwhile True: pass'", seconds=5.0)
    assert values(task) == [(3,)]
    assert "did not end within 5 s" in told


def test_calls_on_which_the_original_is_not_the_same_again_are_dropped(tmp_path):
    (tmp_path / "t.py").write_text("import os, random\n\ndef f(x):\n    return random.random() if x else 1\n")
    task, told = recorded(tmp_path, "f", "python -c 'import t; t.f(0), t.f(1)'", "t.py")
    assert values(task) == [(0,)]
    assert "1 dropped: the outcome is another each time (1)" in told


def test_programs_have_no_calls(tmp_path):
    (tmp_path / "p.py").write_text("print(input())\n")
    with pytest.raises(UsageError, match="for Python functions"):
        read_task(str(tmp_path / "p.py"), Options(record="python p.py"))


def test_a_choice_holds_all_sizes():
    payloads = [bytes(size) + number.to_bytes(2, "big") for size in (10, 1000, 100_000) for number in range(300)]
    found = chosen(payloads, 900)
    assert len(found) == 128
    assert {len(payload) for payload in found} == {12, 1002, 100_002}
    assert chosen([*payloads[:2], *payloads[:2]], 4) == payloads[:2]


def test_of_many_calls_more_are_chosen():
    payloads = [number.to_bytes(4, "big") for number in range(3000)]
    assert [len(chosen(payloads, seen)) for seen in (3000, 40_000, 10**7)] == [128, 400, 1024]


def test_functions_of_other_modules_are_kept_by_their_name(tmp_path):
    (tmp_path / "t.py").write_text("def mine(x):\n    return x\n\ndef f(key, xs):\n    return sorted(xs, key=key)\n")
    (tmp_path / "helper.py").write_text("def last(x):\n    return x[-1]\n")
    (tmp_path / "s.py").write_text("import t, helper\nt.f(len, ['b', 'aa'])\nt.f(lambda x: x, [1])\nt.f(t.mine, [1])\n")
    task, told = recorded(tmp_path, "f", "python s.py", "t.py")
    ((key, _),) = values(task)
    assert (key.kind, key.name) == ("function", "builtins:len")
    assert "2 skipped: a value of type builtins.function cannot be stored as plain data (2)" in told


@pytest.mark.corpus(one_in=8)
def test_a_receiver_that_the_target_changes_tells_it_from_one_that_does_nothing(tmp_path):
    (tmp_path / "t.py").write_text(
        "class Bag:\n    def __init__(self):\n        self.items = []\n\n"
        "    def put(self, item):\n        self.items.insert(0, item)\n"
    )
    (tmp_path / "idle.py").write_text((tmp_path / "t.py").read_text().replace("self.items.insert(0, item)", "pass"))
    (tmp_path / "s.py").write_text("import t\nbag = t.Bag()\nfor n in range(9):\n    bag.put(n)\n")
    found = whet.verify(
        f"{tmp_path / 't.py'}::Bag.put",
        candidate=tmp_path / "idle.py",
        record="python s.py",
        until="differential",
        home=tmp_path / "home",
        sandbox="bubblewrap",
    )
    assert found.status is Status.REJECTED
    assert {rung.name: rung.reason for rung in found.rungs}["differential"] is Reason.WRONG_OUTPUT


NEAR = """
class Box:
    def __init__(self, items, limit):
        self.items = list(items)
        self.limit = limit

    def near(self, x):
        return [item for item in self.items if abs(item - x) <= self.limit]
"""


@pytest.mark.parametrize(
    ("rewrite", "status"),
    [(NEAR.replace("<= self", "< self"), Status.REJECTED), (f"{NEAR}\n", Status.NO_IMPROVEMENT)],
    ids=["wrong", "right"],
)
@pytest.mark.corpus(one_in=8)
def test_inputs_of_a_workload_are_given_the_objects_of_recorded_calls(tmp_path, rewrite, status):
    (tmp_path / "box.py").write_text(NEAR)
    (tmp_path / "rewrite.py").write_text(rewrite)
    (tmp_path / "s.py").write_text("import box\nfor n in range(5):\n    box.Box(range(n * 20), 3).near(n)\n")
    (tmp_path / "inputs.py").write_text(
        "sizes = [0, 10, 100]\n\ndef make_input(size, rng):\n    return (rng.randrange(100),)\n"
    )
    found = whet.verify(
        f"{tmp_path / 'box.py'}::Box.near",
        candidate=tmp_path / "rewrite.py",
        workload=tmp_path / "inputs.py",
        record="python s.py",
        until="differential",
        home=tmp_path / "home",
        sandbox="bubblewrap",
    )
    assert found.status is status


SLOW = """
def common(left, right):
    found = []
    for word in left:
        if word in right and word not in found:
            found.append(word)
    return found
"""
DRIVER = """
import random
from slow import common
rng = random.Random(5)
for n in (10, 200, 700, 800, 900, 1000):
    for _ in range(2):
        common([rng.randrange(n) for _ in range(n)], [rng.randrange(n) for _ in range(n)])
"""


@pytest.mark.corpus
@pytest.mark.usefixtures("figures")
def test_a_target_without_workload_is_made_faster_on_its_recorded_calls(tmp_path):
    (tmp_path / "slow.py").write_text(SLOW)
    (tmp_path / "driver.py").write_text(DRIVER)
    fast = (
        "def common(left, right):\n    known = set(right)\n"
        "    return list(dict.fromkeys(word for word in left if word in known))\n"
    )
    told = []
    found = whet.optimize(
        f"{tmp_path / 'slow.py'}::common",
        model=scripted([answer(fast)]),
        rounds=1,
        candidates=1,
        record="python driver.py",
        home=tmp_path / "home",
        listener=told.append,
        sandbox="bubblewrap",
    )
    assert [event.text for event in told if event.kind is EventKind.RECORDED] == [
        "recorded 12 calls of common: 12 distinct, as inputs"
    ]
    assert found.status is Status.IMPROVED
    assert {row.name for row in found.speedup.workloads} <= {"cheap recorded calls", "dear recorded calls"}


@pytest.mark.timed
def test_what_is_known_from_an_earlier_round_of_the_same_calls_is_charged(tmp_path):
    (tmp_path / "slow.py").write_text("def f(n):\n    return sum(i * i % 7 for i in range(n))\n")
    cached = "import functools\n\n@functools.cache\ndef f(n):\n    return sum(i * i % 7 for i in range(n))\n"
    task, _ = recorded(tmp_path, "f", "python -c 'import slow\nfor n in range(1300, 1340): slow.f(n)'", "slow.py")
    interpreter = find_interpreter(None)
    with closing(open_sandbox("bubblewrap", False)) as sandbox:
        builder = Builder(task, sandbox, interpreter)
        source = InputSource(task, sandbox, interpreter)
        assert {len(calls) for calls in source.groups.values()} == {20}
        name = "dear recorded calls"
        work = TimedWorkload(name, 200, Drawer(name, source), rounds=10)
        assert [len({item.payload for item in work.draw(3, 200)[start : start + 20]}) for start in (0, 180)] == [20, 20]
        honest, caching = builder.build(task.source), builder.build(cached)
        assert repeat_costs(honest, caching, [work], 1, 10.0).seconds > 0.0005
        assert repeat_costs(honest, caching, [replace(work, rounds=1)], 1, 10.0).seconds == 0
