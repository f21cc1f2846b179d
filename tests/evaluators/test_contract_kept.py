"""Inputs that somebody edited keep to the contract of a native function, or are not tried on it."""

from __future__ import annotations

import math
from array import array
from typing import Any

import pytest

from whet.core.signature import Argument, Role, Signature
from whet.evaluators.inputs.contract import keeps
from whet.evaluators.inputs.plain_data import write
from whet.evaluators.prototypes import with_assumed_bounds
from whet.testing.stateful import corpus

SIGNATURE = Signature(
    "long f(const int *v, double *w, long n, unsigned char key, double scale)",
    "int64",
    (
        Argument("v", "int32", Role.IN, "n", low=-9, high=9),
        Argument("w", "float64", Role.INOUT, "n + 1"),
        Argument("n", "int64", Role.SIZE, low=0),
        Argument("key", "uint8", Role.SCALAR),
        Argument("scale", "float64", Role.SCALAR, low=0.0, high=2.0),
    ),
)
KEPT = ([1, -9, 9], [0.5, math.nan, -math.inf, 1e300], 3, 255, 2.0)


def edited(**changed: Any) -> bytes:
    names = [one.name for one in SIGNATURE.given]
    return write(tuple({**dict(zip(names, KEPT, strict=True)), **changed}.values()))


@pytest.mark.parametrize(
    "changed",
    [
        {},
        {"v": array("i", [0, 0, 0])},
        {"v": [], "w": [1], "n": 0},
        {"key": 0, "scale": 1},
    ],
    ids=str,
)
def test_it_keeps_to_the_contract(changed):
    assert keeps(SIGNATURE, edited(**changed))


@pytest.mark.parametrize(
    "changed",
    [
        {"n": 2},
        {"n": 4},
        {"n": -1},
        {"n": 1 << 70},
        {"n": 3.0},
        {"n": None},
        {"v": [1, 2]},
        {"v": [1, 2, 10]},
        {"v": array("d", [1, 2, 3])},
        {"v": "abc"},
        {"w": [0.5]},
        {"key": 256},
        {"key": -1},
        {"key": "7"},
        {"scale": 2.5},
        {"scale": math.nan},
        {"v": [], "w": [], "n": -1},
    ],
    ids=str,
)
def test_it_does_not(changed):
    assert not keeps(SIGNATURE, edited(**changed))


def test_what_has_other_arguments_does_not():
    assert not keeps(SIGNATURE, write(KEPT[:-1]))
    assert not keeps(SIGNATURE, write((*KEPT, 1)))


def test_bounds_that_nobody_stated_bind_no_input():
    assumed = with_assumed_bounds(SIGNATURE)
    assert keeps(assumed, edited(v=[1, 2, 1 << 30], scale=-7.5))
    assert not keeps(assumed, edited(key=256))
    assert not keeps(assumed, edited(n=-1))


@pytest.mark.corpus(one_in=8)
def test_no_process_of_the_original_is_lost_to_what_its_contract_forbids():
    assert corpus.judged("clip-counted", 3)["honest"].evidence["cut"] == {}
