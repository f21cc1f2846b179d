"""Rounds of calls of a native function, and one on new inputs in the same memory."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import replace
from itertools import accumulate, chain, count
from pathlib import Path
from typing import Any

import pytest

from whet.core.signature import Argument, Role, Signature
from whet.sandbox.inside.calls import renewed_round, timed_pass
from whet.sandbox.inside.capture import Capture
from whet.sandbox.inside.codec import encode
from whet.sandbox.inside.invocation import call_once
from whet.sandbox.inside.native_rounds import repeated
from whet.sandbox.inside.native_target import NativeTarget
from whet.sandbox.toolchains.caller import caller_text

pytestmark = pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")

SIGNATURE = Signature(
    "int64_t f(const int64_t *v, int64_t *out, int64_t n)",
    "int64",
    (
        Argument("v", "int64", Role.IN, "n"),
        Argument("out", "int64", Role.INOUT, "n"),
        Argument("n", "int64", Role.SIZE),
    ),
)
TEXT = """\
#include <stdint.h>
int64_t calls, places[64];
int64_t f(const int64_t *v, int64_t *out, int64_t n)
{
    places[calls++ % 64] = (int64_t)(v + n);
    int64_t sum = 0;
    for (int64_t i = 0; i < n; i++) { out[i] += v[i]; sum += out[i]; }
    return sum;
}
"""


def built(folder: Path, name: str, signature: Signature = SIGNATURE, text: str = TEXT) -> NativeTarget:
    """Returns the function under another name, with its caller."""
    for file, one in (("f.c", text.replace(" f(", f" {name}(")), ("caller.c", caller_text(signature, name))):
        (folder / file).write_text(one)
    subprocess.run(["gcc", "-O1", "-shared", "-fPIC", "-o", "f.so", "f.c", "caller.c"], cwd=folder, check=True)
    return NativeTarget(str(folder), "f.so", name, "int64", signature.plain)


@pytest.fixture
def target(tmp_path: Path) -> NativeTarget:
    return built(tmp_path, "f")


def payload(*numbers: int) -> bytes:
    return encode((list(numbers), [1] * len(numbers), len(numbers)))


def seen(target: NativeTarget) -> list[int]:
    """Returns where each call so far found the end of what it reads."""
    import ctypes

    calls = ctypes.c_int64.in_dll(target.library, "calls").value
    return list((ctypes.c_int64 * 64).in_dll(target.library, "places"))[:calls]


GIVEN, OTHERS = [payload(1, 2, 3), payload(4, 5)], [payload(6, 7, 8), payload(9, 10)]


def taken(target: NativeTarget, repeats: int) -> tuple[list[bytes], list[Any]]:
    laid: list[Any] = []
    _, *_, outcomes = timed_pass(target, GIVEN, repeats, Capture(1000), laid=laid)
    return outcomes, laid


@pytest.mark.parametrize("name", ["first", "given", "rounds", "returned", "result", "i", "a0", "v"])
def test_a_function_may_have_any_name(tmp_path: Path, name: str) -> None:
    target = built(tmp_path, name)
    outcomes, _ = taken(target, 2)
    assert outcomes == [call_once(target, one, Capture(1000))[0] for one in GIVEN]


@pytest.mark.parametrize(("repeats", "told"), [(1, [96, 0]), (3, [96, 57])])
def test_the_cpu_time_of_the_first_round_is_told_apart(target: NativeTarget, repeats: int, told: list[int]) -> None:
    took = iter([9, 4, 7, 5, 6, 100, 30, 35])  # five runs without a call come first; the least of them is taken off
    ends = accumulate(chain.from_iterable((0, one) for one in took))
    inputs = [target.read(one) for one in GIVEN]
    _, by_cpu, _ = repeated(target, inputs, repeats, (count().__next__, ends.__next__))
    assert by_cpu == told


def test_cpu_time_of_a_pass_is_that_of_its_rounds(target: NativeTarget) -> None:
    _, cpu, _, _, _, *by_cpu, _ = timed_pass(target, GIVEN, 3, Capture(1000))
    assert cpu == sum(by_cpu)


def test_what_a_call_changed_is_as_it_came_in_each_round(target: NativeTarget) -> None:
    outcomes, _ = taken(target, 3)
    assert len(seen(target)) == 6
    assert outcomes == [call_once(target, one, Capture(1000))[0] for one in GIVEN]


def test_new_inputs_are_called_on_once_where_those_of_the_pass_lie(target: NativeTarget) -> None:
    _, laid = taken(target, 3)
    *_, outcomes = renewed_round(target, laid, OTHERS, 0, Capture(1000))
    places = seen(target)
    assert len(places) == 8
    assert places[6:] == places[:2]
    assert outcomes == [call_once(target, one, Capture(1000))[0] for one in OTHERS]


def test_of_more_new_inputs_than_a_round_has_some_may_only_be_taken_in(target: NativeTarget) -> None:
    _, laid = taken(target, 1)
    many = [payload(number, number + 1) for number in range(5)]
    *_, outcomes = renewed_round(target, laid, many, 0, Capture(1000), [1, 4])
    assert len(seen(target)) == 4, "two of the pass, two of these"
    expected = [call_once(target, one, Capture(1000))[0] for one in many]
    assert [outcomes[place] for place in (1, 4)] == [expected[place] for place in (1, 4)]
    assert [len(one) for one in outcomes] == [len(one) for one in expected], "to hand them over costs as much"
    *_, outcomes = renewed_round(target, laid, many, 0, Capture(1000))
    assert outcomes == expected


def test_some_rounds_of_the_pass_come_before_new_inputs_where_calls_change_none(tmp_path: Path) -> None:
    reading = replace(SIGNATURE, arguments=(SIGNATURE.arguments[0], SIGNATURE.arguments[2]))
    text = TEXT.replace(", int64_t *out", "").replace("out[i] += v[i]; sum += out[i];", "sum += v[i];")
    target = built(tmp_path, "f", reading, text)
    given, others = ([encode(([number] * number, number)) for number in some] for some in ((3, 2), (1, 3, 2)))
    laid: list[Any] = []
    timed_pass(target, given, 4, Capture(1000), laid=laid)
    _, _, first, first_cpu, came_first, outcomes = renewed_round(target, laid, others, 5, Capture(1000))
    places = seen(target)
    assert len(places) == 4 * 2 + 5 * 2 + 3
    assert places[8:18] == places[:2] * 5
    assert came_first == 5
    assert first > 0 < first_cpu
    assert outcomes == [call_once(target, one, Capture(1000))[0] for one in others]


def test_none_come_before_where_a_call_changes_what_it_is_given(target: NativeTarget) -> None:
    _, laid = taken(target, 3)
    *_, came_first, outcomes = renewed_round(target, laid, OTHERS, 5, Capture(1000))
    assert came_first == 0
    assert len(seen(target)) == 8
    assert outcomes == [call_once(target, one, Capture(1000))[0] for one in OTHERS]


def test_functions_of_the_names_that_copy_and_tell_the_time_are_not_asked(tmp_path: Path) -> None:
    text = (
        TEXT
        + """\
#include <stddef.h>
static int64_t asked;
void *memmove(void *to, const void *from, size_t size) { asked++; return to; }
int clock_gettime(int clock, void *now) { asked++; return 0; }
int64_t others(void) { return asked; }
"""
    )
    target = built(tmp_path, "f", SIGNATURE, text)
    _, laid = taken(target, 3)
    spent, *_, outcomes = renewed_round(target, laid, OTHERS, 0, Capture(1000))
    assert target.library.others() == 0
    assert spent > 0
    assert outcomes == [call_once(target, one, Capture(1000))[0] for one in OTHERS]


def test_a_smaller_new_input_fits_where_one_of_the_pass_lies_and_a_larger_one_has_its_own_place(
    target: NativeTarget,
) -> None:
    _, laid = taken(target, 1)
    others = [payload(6), payload(7, 8, 9)]
    *_, outcomes = renewed_round(target, laid, others, 0, Capture(1000))
    assert outcomes == [call_once(target, one, Capture(1000))[0] for one in others]
