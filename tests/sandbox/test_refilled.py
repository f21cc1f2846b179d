"""Lists of an earlier call that are filled anew for the next."""

from __future__ import annotations

from typing import Any

import pytest

from whet.sandbox.inside.refilled import refilled


def test_lists_are_those_of_the_earlier_call_with_new_contents() -> None:
    first, other = [1, 2, 3], ["a"]
    given = refilled((first, 5, other), ([4, 5], 6, ["b", "c"]))
    assert given == ([4, 5], 6, ["b", "c"])
    assert given[0] is first
    assert given[2] is other


SHARED = [1]


@pytest.mark.parametrize(
    ("earlier", "given"),
    [
        (None, ([1],)),
        (([1],), ([1], [2])),
        (([1],), {"args": ([1],), "kwargs": {}}),
        (([1],), ([[1]],)),
        (([[1]],), ([1],)),
        (([1], [2]), (SHARED, SHARED)),
        ((SHARED, SHARED), ([1], [2])),
        (({1: 2},), ([1],)),
    ],
    ids=repr,
)
def test_all_else_is_given_as_it_came(earlier: Any, given: Any) -> None:
    assert refilled(earlier, given) is given
