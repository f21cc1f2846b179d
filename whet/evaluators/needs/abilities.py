"""What may be asked of an argument, or of what is in it: groups of methods, and what goes along with them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from whet.evaluators.needs.spots import Spot
from whet.sandbox.inside.narrowed import COMPARISONS, COPY, OPERATORS, SLICE

CONTAINERS = frozenset({"list", "tuple", "set", "frozenset", "dict"})
SEQUENCES = frozenset({"list", "tuple"})
TEXTS = frozenset({"str", "bytes"})
NUMBERS = frozenset({"int", "float", "complex"})
ATTRIBUTE = "attribute"


@dataclass(frozen=True, slots=True)
class Ability:
    """Methods that are there together, or not at all, as far as conditions go.

    Attributes:
        name: of the need that it is where a candidate alone asks for it.
        sentence: what has to hold, where ``{place}`` stands for the place.
        methods: their names.
        brings: other abilities that whatever has this one has too.
        told_by: needs of the vocabulary that say as much of the same place.
    """

    name: str
    sentence: str
    methods: frozenset[str]
    brings: tuple[str, ...] = ()
    told_by: tuple[str, ...] = ()


def _dunder(*names: str) -> frozenset[str]:
    return frozenset(f"__{name}__" for name in names)


def _both(*names: str) -> frozenset[str]:
    return _dunder(*names, *(f"r{name}" for name in names))


_BITS = ("and", "or", "xor", "lshift", "rshift")
_CONTAINER = ("reiterable", "list", "hashable")

ABILITIES: Mapping[str, Ability] = {
    ability.name: ability
    for ability in (
        Ability("comparable", "{place} can be compared with ==", _dunder("eq", "ne")),
        Ability("hashable", "{place} can be hashed", _dunder("hash"), ("comparable",)),
        Ability(
            "ordered", "{place} can be ordered", _dunder(*COMPARISONS) - _dunder("eq", "ne"), ("comparable",), ("real",)
        ),
        Ability("truth", "{place} has a truth value of its own", _dunder("bool")),
        Ability("length", "{place} has a length", _dunder("len"), (), _CONTAINER),
        Ability("iterable", "{place} can be gone through", _dunder("iter"), (), _CONTAINER),
        Ability("reversible", "{place} can be gone through backwards", _dunder("reversed"), (), _CONTAINER),
        Ability("contains", "{place} can be asked with `in`", _dunder("contains"), (), _CONTAINER),
        Ability("indexed", "{place} can be indexed", _dunder("getitem"), (), _CONTAINER),
        Ability(
            "sliced",
            "{place} can be sliced",
            frozenset({SLICE}),
            ("length", "iterable", "reversible", "contains", "indexed"),
            _CONTAINER,
        ),
        Ability("changed", "{place} can be changed in place", _dunder("setitem", "delitem"), (), _CONTAINER),
        Ability("added", "{place} can be added with +", _both("add")),
        Ability(
            "arithmetic",
            "{place} can be calculated with",
            _both(*(OPERATORS.keys() - {"add", *_BITS}), "divmod") | _dunder("neg", "pos", "abs"),
            ("added", "comparable", "hashable", "truth", "shown"),
        ),
        Ability("bits", "{place} takes & and | and the like", _both(*_BITS) | _dunder("invert"), (), ("one-type",)),
        Ability(
            "number",
            "{place} can be made a number",
            _dunder("int", "float", "complex", "trunc", "floor", "ceil", "round"),
            ("arithmetic", "ordered"),
            ("real", "int64", "one-type"),
        ),
        Ability(
            "index",
            "{place} can be used as an index, as an integer can",
            _dunder("index"),
            ("number",),
            ("int64", "one-type"),
        ),
        Ability("shown", "{place} has a text of its own", _dunder("str", "repr", "format")),
        Ability("copied", "{place} can be copied", frozenset({COPY})),
        Ability("called", "{place} can be called", _dunder("call")),
        Ability("iterator", "{place} is an iterator", _dunder("next")),
        Ability("context", "{place} can be used in a with statement", _dunder("enter", "exit")),
    )
}
"""All of them. `ATTRIBUTE` stands for any other name."""

_OF = {method: ability for ability in ABILITIES.values() for method in ability.methods}
_OF_ONE_TYPE = frozenset({"added", "arithmetic", "bits", "changed", ATTRIBUTE})
"""What only a container of the very type does, as far as callers go."""


def abilities_of(names: Iterable[str]) -> frozenset[str]:
    """Returns the abilities that some methods and attributes belong to."""
    return frozenset(_OF[name].name if name in _OF else ATTRIBUTE for name in names)


def granted(asked: frozenset[str], spot: Spot) -> frozenset[str] | None:
    """Returns the methods and attributes that callers who suit the original provide at a place.

    Args:
        asked: what the original asks for there.
        spot: the place.

    Returns:
        None where they provide all that a value of the type has.
    """
    abilities = abilities_of(asked)
    if _is_whole(abilities, spot.shape.kinds):
        return None
    sequence = {"indexed", "length"} <= abilities
    names = frozenset({"index", "count"} if sequence else ())
    return asked | names | methods_of(abilities.union(_along(abilities, spot)))


def _is_whole(abilities: frozenset[str], kinds: set[str]) -> bool:
    """Whether what the original asks for is done by one builtin type alone, as far as callers go."""
    if kinds & TEXTS and abilities & (_OF_ONE_TYPE | {"sliced"}):
        return True
    if kinds & CONTAINERS and abilities & _OF_ONE_TYPE:
        return True
    if "dict" in kinds and "indexed" in abilities and abilities & {"contains", "iterable", "length"}:
        return True
    return bool(kinds & NUMBERS and abilities & {"index", "bits", ATTRIBUTE})


def _along(abilities: frozenset[str], spot: Spot) -> Iterator[str]:
    """Yields abilities that are there wherever some others are."""
    record = "iterable" in abilities and spot.shape.fixed and spot.sees(*SEQUENCES)
    if record or {"indexed", "length"} <= abilities:
        yield "sliced"  # it is a sequence, with all that this brings
    if "contains" in abilities:
        yield from ("iterable", "length")
    if "indexed" in abilities or ("iterable" in abilities and not spot.inner):
        yield "length"  # of what is passed, iterators alone have none, and the vocabulary tries these
    if {"arithmetic", "ordered"} <= abilities:
        yield "number"


def methods_of(abilities: Iterable[str]) -> frozenset[str]:
    """Returns the methods of abilities, and of those that they bring."""
    found = set[str]()
    waiting = [name for name in abilities if name != ATTRIBUTE]
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += ABILITIES[name].brings
    return frozenset().union(*(ABILITIES[name].methods for name in found))


def missing(asked: Sequence[str], provided: frozenset[str]) -> list[str]:
    """Returns the abilities that are asked for and not provided, in the order of asking."""
    return list(dict.fromkeys(ability for name in asked if name not in provided for ability in abilities_of([name])))


def told_by(need: str) -> tuple[str, ...]:
    """Returns the needs of the vocabulary that say as much of a place as one that is named after an ability."""
    if need == ATTRIBUTE:  # of a builtin container or a text it is a method
        return _CONTAINER
    return ABILITIES[need].told_by if need in ABILITIES else ()
