"""Objects that do a part of what a value does, and what is noted of what they are asked."""

from __future__ import annotations

import ast
import copy
import pickle

import pytest

from whet.evaluators.inputs.plain_data import read, write
from whet.evaluators.inputs.shapes import Shape
from whet.evaluators.needs.abilities import ABILITIES, ATTRIBUTE, abilities_of, granted, methods_of, missing
from whet.evaluators.needs.asking import narrowed as narrowing
from whet.evaluators.needs.asking import told
from whet.evaluators.needs.hints import Hints
from whet.evaluators.needs.spots import Spot, spots_of
from whet.evaluators.needs.vocabulary import NEEDS
from whet.evaluators.python_text import session_text
from whet.sandbox.inside.codec import encode
from whet.sandbox.inside.decode import Node, decode
from whet.sandbox.inside.narrowed import ASKED, COPY, METHODS, SLICE, narrowed


class Order:
    def __init__(self, cents):
        self.cents = cents

    def total(self):
        return self.cents


def asked(value, use):
    """Returns what a use asks of an object before a value."""
    ASKED.clear()
    use(narrowed(value, None))
    return set(ASKED)


@pytest.mark.parametrize(
    ("value", "use", "names"),
    [
        (3, lambda one: {one}, {"__hash__"}),
        (3, lambda one: sorted([one, 2, 1]), {"__lt__", "__gt__"}),
        (3, lambda one: one in [1, 2], {"__eq__"}),
        (3, range, {"__index__"}),
        (3, lambda one: sum([one, one]), {"__radd__", "__add__"}),
        (3, lambda one: f"{one}", {"__format__"}),
        (3, lambda one: 1 if one else 2, {"__bool__"}),
        (3, copy.deepcopy, {COPY}),
        ([1, 2], lambda one: [*one], {"__iter__", "__len__"}),
        ([1, 2], lambda one: one[0], {"__getitem__"}),
        ([1, 2], lambda one: one[1:], {SLICE}),
        ([1, 2], lambda one: 1 in one, {"__contains__"}),
        ([1, 2], lambda one: not one, {"__len__"}),
        ([1, 2], lambda one: one.append(3), {"append"}),
        ({1: 2}, lambda one: one.get(1), {"get"}),
        (Order(5), lambda one: one.total(), {"total"}),
        (Order(5), Order.total, {"cents"}),
        (Order(5), lambda one: (one.cents, hasattr(one, "missing")), {"cents"}),
    ],
)
def test_what_is_asked_of_an_object_is_noted(value, use, names):
    assert asked(value, use) <= names
    assert asked(value, use)


def test_what_comes_of_an_object_is_asked_as_well():
    assert asked(3, lambda one: range(one + 1)) == {"__add__", "__index__"}
    assert asked(3, lambda one: -one < 2) == {"__neg__", "__lt__"}


@pytest.mark.parametrize(
    ("value", "names", "use"),
    [
        (3, {"__eq__"}, hash),
        (3, {"__eq__"}, lambda one: sorted([one, 2])),
        (3, {"__lt__"}, range),
        (3, {"__add__"}, lambda one: one * 2),
        (3, {"__eq__"}, copy.copy),
        (3, {"__eq__"}, pickle.dumps),
        ([1, 2], {"__iter__"}, len),
        ([1, 2], {"__iter__"}, lambda one: one[0]),
        ([1, 2], {"__getitem__", "__len__"}, lambda one: one[:1]),
        ([1, 2], {"__getitem__"}, reversed),
        (Order(5), {"total"}, lambda one: one.cents),
    ],
)
def test_an_object_refuses_what_it_lacks_as_any_object_does(value, names, use):
    with pytest.raises((TypeError, AttributeError, copy.Error)):
        use(narrowed(value, tuple(names)))


def test_an_object_falls_back_as_any_object_does():
    items = narrowed([1, 2, 3], ("__getitem__", "__len__"))
    assert list(items) == [1, 2, 3]
    assert 2 in items
    assert list(reversed(items)) == [3, 2, 1]
    assert 2 in narrowed([1, 2], ("__iter__",))
    assert narrowed(0, ("__eq__",)) == narrowed(0, ("__eq__",))
    assert bool(narrowed(0, ("__eq__",)))
    assert not isinstance(items, list)


def test_in_an_outcome_the_value_stands_in_the_place_of_the_object():
    shared = [1, 2]
    value = [narrowed(3, ("__eq__",)), narrowed(shared, ("__iter__",)), shared]
    assert encode(value) == encode([3, shared, shared])
    again = decode(write(read(encode([Order(5)]))), lambda name: Order)
    assert encode([narrowed(again[0], ("total",))]) == encode(again)


def test_an_object_is_made_of_plain_data_that_names_what_it_does():
    payload = write(([Node("narrowed", "", (3, ("__eq__",)))], 4))
    (items, number) = decode(payload, lambda name: None)
    assert (items[0] == 3, number) == (True, 4)
    with pytest.raises(TypeError):
        hash(items[0])


def test_every_method_belongs_to_one_ability_and_no_need_has_the_name_of_another():
    assert {name for ability in ABILITIES.values() for name in ability.methods} >= {*METHODS, COPY, SLICE}
    assert sum(len(ability.methods) for ability in ABILITIES.values()) == len(methods_of(ABILITIES))
    assert {one for ability in ABILITIES.values() for one in ability.brings} <= ABILITIES.keys()
    assert {one for ability in ABILITIES.values() for one in ability.told_by} <= NEEDS.keys()
    assert ABILITIES.keys() & NEEDS.keys() == {"hashable", "ordered"}
    assert abilities_of(["__lt__", "parent"]) == {"ordered", ATTRIBUTE}


def spot_of(*values, inner=False):
    """Returns the place of some arguments, or of what is in them."""
    spots = spots_of([read(encode((value,))) for value in values], ["x"])
    return next(spot for spot in spots if bool(spot.inner) is inner)


LISTS = ([1, 2, 3], [4, 5], [])


@pytest.mark.parametrize(
    ("spot", "names", "grants", "refuses"),
    [
        (spot_of(*LISTS), {"__iter__"}, {"__len__"}, {"__getitem__", "__hash__", "append"}),
        (spot_of(*LISTS), {"__getitem__", "__len__"}, {"__iter__", "__contains__", SLICE, "index"}, {"append"}),
        (spot_of(*LISTS), {SLICE}, {"__getitem__", "__len__", "__iter__"}, {"__hash__"}),
        (spot_of(*LISTS), {"__contains__"}, {"__iter__", "__len__"}, {"__getitem__"}),
        (spot_of(*LISTS), {"append"}, None, None),
        (spot_of(*LISTS), {"__setitem__"}, None, None),
        (spot_of(LISTS, inner=True), {"__iter__"}, {"__iter__"}, {"__len__"}),
        (spot_of({1: 2}, {3: 4, 5: 6}), {"__getitem__"}, {"__len__"}, {"get", "__iter__"}),
        (spot_of({1: 2}, {3: 4, 5: 6}), {"__getitem__", "__contains__"}, None, None),
        (spot_of("ab", "c"), {"__iter__"}, {"__len__"}, {"split"}),
        (spot_of("ab", "c"), {"__add__"}, None, None),
        (spot_of(1, 2), {"__hash__"}, {"__eq__"}, {"__lt__", "__index__", "__bool__"}),
        (spot_of(1, 2), {"__mul__", "__lt__"}, {"__hash__", "__float__", "__bool__"}, {"__index__", "__and__"}),
        (spot_of(1, 2), {"__index__"}, None, None),
        (spot_of((1, "a"), (2, "b")), {"__iter__"}, {SLICE, "__len__", "__getitem__"}, {"__hash__"}),
    ],
)
def test_what_goes_along_with_what_is_asked_is_granted(spot, names, grants, refuses):
    found = granted(frozenset(names), spot)
    if grants is None:
        assert found is None
        return
    assert found >= {*names, *grants}
    assert found.isdisjoint(refuses)


def test_what_is_asked_beyond_what_is_provided_is_named_in_order():
    assert missing(["__len__", "parent", "__iter__", "__lt__", "__gt__"], frozenset({"__iter__"})) == [
        "length",
        ATTRIBUTE,
        "ordered",
    ]


@pytest.mark.parametrize(
    "answer",
    [(b"rubbish", 0.0), (encode(5), 0.0), (encode((1, ())), 0.0), (encode((b"", "names")), 0.0), (encode(()), 0.0)],
)
def test_a_process_may_say_anything_of_what_was_asked(answer):
    assert told(answer) == (b"", ())


def test_only_names_are_taken_from_what_a_process_says():
    said = encode((b"outcome", ("__len__", "{place}", "a b", 7, "x" * 99, SLICE)))
    assert told((said, 0.0)) == (b"outcome", ["__len__", SLICE])


def only(value, *names):
    spot = Spot("x", (("at", 0),), (), Shape())
    return next(narrowing(read(encode((value,))), spot, frozenset(names)))[0]


@pytest.mark.parametrize(
    ("hint", "value", "excluded"),
    [
        ("int", only(3, "__eq__"), True),
        ("list[int]", only([3], "__iter__"), True),
        ("Sequence", only([3], "__len__"), True),
        ("Iterable[int]", only([3], "__iter__"), False),
        ("Iterable[int]", only([3], "__len__"), True),
        ("Hashable", only(3, "__eq__"), True),
        ("Hashable", only(3, "__eq__", "__hash__"), False),
        ("Any", only(3), False),
        ("dict", only({1: 2}, "__getitem__"), True),
        ("Node", only(Order(5), "cents"), True),
        ("Priced", only(Order(5), "cents"), False),
        ("list[Node]", [only(Order(5), "cents")], True),
    ],
)
def test_a_hint_excludes_an_object_that_does_not_do_what_it_promises(hint, value, excluded):
    hints = Hints(ast.parse("class Node: pass\nclass Priced(Protocol): pass"))
    assert hints.exclude(ast.parse(hint, mode="eval").body, value) is excluded


def test_an_object_is_written_as_statements_that_make_it():
    text = session_text("f", ([only(3, "__eq__", "__add__"), only(4, "__eq__", "__add__")],))
    space = {}
    exec(text.rpartition("; ")[0], space)
    one, other = eval("[Only(3), Only(4)]", space)
    assert text.endswith("f([Only(3), Only(4)])")
    assert (one + other == 7, one == 3, one == other) == (True, True, False)
    with pytest.raises(TypeError):
        hash(one)
    with pytest.raises(copy.Error):
        copy.deepcopy(one + other)


def test_an_object_of_attributes_is_written_with_these_alone():
    assert session_text("f", (only(Order(5), "cents"),)) == "f(type('Only', (), {'cents': 5})())"
    assert session_text("f", (only(Order(5), "total"),)) == ""
