"""Edited inputs: what they are, that they catch what drawn inputs miss, and that honest rewrites pass them."""

from __future__ import annotations

import dataclasses
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from whet.evaluators.examiner import of_known_modules
from whet.evaluators.inputs.domain import Domain
from whet.evaluators.inputs.edges import EdgeMaker, stdin_edges
from whet.evaluators.inputs.plain_data import read, write
from whet.evaluators.inputs.shapes import found, kind_of
from whet.evaluators.inputs.target_text import RequiredOutcome, Text, wanted
from whet.evaluators.outcomes import CallOutcome
from whet.sandbox.inside.codec import encode

scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.binary(max_size=5)
hashable = st.recursive(scalars, lambda inner: st.tuples(inner, inner) | st.frozensets(inner, max_size=3), max_leaves=4)
values = st.recursive(
    scalars | st.sets(hashable, max_size=4) | st.binary(max_size=4).map(bytearray),
    lambda inner: st.lists(inner, max_size=7) | st.tuples(inner, inner) | st.dictionaries(hashable, inner, max_size=4),
    max_leaves=20,
)


@given(values, values)
@pytest.mark.corpus(one_in=8)
def test_plain_data_is_written_as_it_was_read(value, other):
    payload = encode((value, [value, other], value))
    assert write(read(payload)) == payload


def test_aliases_and_cycles_survive_being_read_and_written():
    shared = [1, 2]
    ring = [shared]
    ring.append(ring)
    payload = encode((shared, {"a": shared, 3: {1, (2, "x")}}, ring, bytearray(b"z")))
    value = read(payload)
    assert value[0] is value[1].state[0][2]
    assert write(value) == payload


def made(make, text=Text(), count=30, seed=1):  # noqa: B008
    """Returns the edges of a generator's inputs, decoded."""
    inputs = [read(encode(make(size, random.Random(seed * 1000 + size + i)))) for size in range(12) for i in range(3)]
    domain = Domain(text)
    domain.learn(inputs)
    return [(edge.name, read(edge.payload)) for edge in EdgeMaker(domain).stream(inputs, seed, set())]


def rows(size, rng):
    return [(rng.randrange(10**6), rng.choice("abc") * 3, rng.random()) for _ in range(size)], rng.random() < 0.5


def test_the_same_seed_gives_the_same_edges_and_another_seed_others():
    assert [name for name, _ in made(rows)] == [name for name, _ in made(rows)]
    assert [name for name, _ in made(rows, seed=2)] != [name for name, _ in made(rows)]


def test_edges_keep_the_types_of_all_places():
    for _, (table, flag) in made(rows):
        assert type(flag) is bool
        assert isinstance(table, list)
        for row in table:
            assert tuple(map(kind_of, row)) == ("int", "str", "float")


def test_the_edges_that_matter_are_among_them():
    tables = [table for _, (table, _) in made(rows)]
    assert [] in tables
    assert any(len(table) == 1 for table in tables)
    assert any(len(table) > 2 and len({row[0] for row in table}) == 1 for table in tables)
    assert any(table != sorted(table, key=str) and row[0] < 0 for table in tables for row in table)
    cells = {repr(row[2]) for table in tables for row in table}
    assert {"0.0", "-0.0", "inf", "-inf", "nan"} <= cells
    texts = {row[1] for table in tables for row in table}
    assert "" in texts
    assert any(not text.isascii() for text in texts)
    assert any(row[0] >= 2**31 for table in tables for row in table)


@pytest.mark.parametrize(("labels", "twice"), [("<f4", True), ("<i8", False)])
def test_an_array_comes_twice_only_in_place_of_one_of_its_type(labels, twice):
    def make(size, rng):
        return np.array([rng.random() for _ in range(size)], "<f4"), np.array([rng.randrange(9)] * size, labels)

    assert ("the same object twice" in {name.partition(" at ")[0].strip("()") for name, _ in made(make)}) is twice


def test_the_same_list_comes_twice():
    def lists(size, rng):
        return ([[rng.random() for _ in range(rng.randrange(4))] for _ in range(size)],)

    assert any(a is b for _, (outer,) in made(lists) for i, a in enumerate(outer) for b in outer[:i])


def test_nan_stays_out_of_lists_that_the_target_orders():
    edges = made(lambda size, rng: ([rng.random() for _ in range(size)],), Text(orders=True))
    assert all(item == item for _, (items,) in edges for item in items)


GRAPH = Text(subscripts=True)


def graph(size, rng):
    return size + 1, [(rng.randrange(size + 1), rng.randrange(size + 1)) for _ in range(2 * size)]


def test_indices_stay_within_what_they_index():
    edges = made(graph, GRAPH)
    assert len(edges) > 20
    for _, (count, pairs) in edges:
        assert all(0 <= a < count and 0 <= b < count for a, b in pairs)


@pytest.mark.parametrize(
    ("make", "held"),
    [
        (lambda size, rng: (sorted(rng.random() for _ in range(size)), 1), lambda v: v[0] == sorted(v[0])),
        (lambda size, rng: (rng.sample(range(size), size),), lambda v: sorted(v[0]) == list(range(len(v[0])))),
        (lambda size, rng: ([rng.random() for _ in range(size)], ["x"] * size), lambda v: len(v[0]) == len(v[1])),
        (lambda size, rng: (size, [[rng.random() for _ in range(size)] for _ in range(size)]),
         lambda v: all(len(row) == v[0] == len(v[1]) for row in v[1])),
        (lambda size, rng: ([rng.random() for _ in range(size)], {"depth": 3}), lambda v: v[1].state[0][2] == 3),
    ],
    ids=["sorted", "permutation", "equally long", "square", "a setting"],
)  # fmt: skip
def test_what_all_inputs_have_in_common_stays(make, held):
    edges = made(make)
    assert len(edges) > 4
    for name, value in edges:
        assert held(value), name


def ascending(value):
    cells = np.frombuffer(value[0].state[2], np.int64)
    return bool((cells[:-1] <= cells[1:]).all())


def test_an_array_that_was_always_sorted_stays_so_and_another_does_not():
    drawn = made(lambda size, rng: (np.array([rng.randrange(9) for _ in range(size)], np.int64),))
    assert not all(ascending(value) for _, value in drawn)
    ordered = made(lambda size, rng: (np.array(sorted(rng.randrange(9) for _ in range(size)), np.int64),))
    assert len(ordered) > 4
    for name, value in ordered:
        assert ascending(value), name


def test_a_torch_module_is_never_constructed_otherwise():
    def make(size, rng):
        seed, width = rng.randrange(2), rng.choice([256, 1000])
        return {"init": (seed, (), {"width": width}), "args": ([rng.random() for _ in range(size)],)}

    drawn = [read(encode(make(size, random.Random(size)))) for size in range(40)]
    domain = Domain(Text())
    domain.learn(drawn)
    edges = list(EdgeMaker(domain).stream(drawn, 1, set()))
    kept = list(of_known_modules(edges, drawn))
    assert 10 < len(kept) < len(edges)
    known = {(seed, width) for seed in range(2) for width in (256, 1000)}
    for edge in kept:
        seed, _, keywords = read(edge.payload).state[0][2]
        assert (seed, keywords.state[0][2]) in known


def test_arrays_get_the_edges_of_numbers():
    np = pytest.importorskip("numpy")
    edges = made(lambda size, rng: (np.array([rng.random() for _ in range(size)]),))
    arrays = [np.frombuffer(value.state[2], np.dtype(value.state[0])) for _, (value,) in edges]
    assert any(a.size > 1 and not a.any() for a in arrays)
    assert any(np.isnan(a).any() for a in arrays)
    assert any(np.isinf(a).any() for a in arrays)
    assert any((np.signbit(a) & (a == 0)).any() for a in arrays)
    integers = made(lambda size, rng: (np.array([rng.randrange(99) for _ in range(size)], np.int32),))
    assert any((np.frombuffer(v.state[2], np.int32) < 0).any() for _, (v,) in integers)


@settings(max_examples=25, deadline=None)
@given(st.lists(values, min_size=4, max_size=8), st.integers(0, 2**32))
@pytest.mark.corpus(one_in=8)
def test_edges_of_anything_can_be_written_and_read(inputs, seed):
    domain = Domain()
    plain = [read(encode((value,))) for value in inputs]
    domain.learn(plain)
    for edge in EdgeMaker(domain).stream(plain, seed, set()):
        assert write(read(edge.payload)) == edge.payload
        assert edge.payload != write(plain[edge.base])


def test_edges_leave_the_inputs_that_they_are_made_of_alone():
    inputs = [read(encode(rows(5, random.Random(i)))) for i in range(5)]
    before = list(map(write, inputs))
    domain = Domain()
    domain.learn(inputs)
    assert list(EdgeMaker(domain).stream(inputs, 1, set()))
    assert list(map(write, inputs)) == before


def test_a_barred_kind_of_edit_is_not_made():
    inputs = [read(encode(rows(5, random.Random(i)))) for i in range(5)]
    domain = Domain()
    domain.learn(inputs)
    maker = EdgeMaker(domain)
    keys = {edge.key for edge in maker.stream(inputs, 1, set())}
    barred = set(list(keys)[:5])
    assert {edge.key for edge in maker.stream(inputs, 1, barred)} == keys - barred


def test_stdin_gets_its_lines_and_numbers_edited():
    texts = [edge.payload.decode() for edge in stdin_edges([b"3\n1 2\n4 5\n6 7\n"] * 3, 5)]
    assert "3\n1 2\n6 7\n" in texts or any(text.count("\n") == 3 for text in texts)
    assert any("2147483648" in text or "-1" in text for text in texts)
    assert any(text.endswith("\n\n") for text in texts)


def outcome(kind, value=None):
    return CallOutcome(kind, (), None, value, "")


@pytest.mark.parametrize(
    ("given", "textual", "asked"),
    [
        (outcome("value", 3), False, RequiredOutcome.SAME),
        (outcome("raise", ("builtins:ValueError", "no", "")), False, RequiredOutcome.NOTHING),
        (outcome("raise", ("builtins:ValueError", "no", "")), True, RequiredOutcome.RAISE),
        (outcome("raise", ("builtins:IndexError", "no", "")), True, RequiredOutcome.NOTHING),
        (outcome("raise", ("target:Refused", "no", "")), False, RequiredOutcome.SAME),
        (outcome("raise", ("builtins:KeyError", "no", "")), False, RequiredOutcome.SAME),
        (outcome("memory"), False, RequiredOutcome.NOTHING),
        (outcome("unstorable", "a lock"), False, RequiredOutcome.NOTHING),
    ],
)
def test_what_an_outcome_asks_of_a_candidate(given, textual, asked):
    text = Text(raises=frozenset({"Refused"}))
    assert wanted(given, text, frozenset({"KeyError"}), textual) is asked


def test_a_place_is_found_by_its_path():
    value = read(encode(([(1, "a"), (2, "b")],)))
    assert list(found(value, (("at", 0), ("item", None), ("at", 1)))) == ["a", "b"]
    assert dataclasses.is_dataclass(Text)
