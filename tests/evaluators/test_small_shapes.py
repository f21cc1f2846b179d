"""Shapes for Triton's interpreter: which numbers of a problem go down, how far, and which stay."""

from __future__ import annotations

import pytest

from whet.evaluators.kernels.small import ELEMENTS, FEWER_ELEMENTS, small_scale

PROBLEM = """\
batch_size = 512
dim = 1024
def get_inputs(): return [torch.randn(batch_size, dim)]
def get_init_inputs(): return []
"""


def test_shapes_for_the_interpreter_shrink_the_batch_first() -> None:
    assert {name: now for name, (_, now) in small_scale(PROBLEM).items()} == {"batch_size": ELEMENTS // 1024}


def test_shapes_of_the_constructor_shrink_last_and_what_others_rest_on_stays() -> None:
    source = """
batch = 64
width = 256 * 16
inner = 4096
half = inner // 2
def get_inputs(): return [rand(batch, inner, width)]
def get_init_inputs(): return [inner]
"""
    scale = {"batch": (64, 2), "width": (4096, 32)}
    assert small_scale(source) == scale
    free = small_scale(source.replace("half = inner // 2", ""))
    assert free == {"batch": (64, 2), "width": (4096, 128), "inner": (4096, 32)}


SQUARES = """
heads = 32
tokens = 128
outputs = 4096
def get_inputs(): return [rand(tokens, tokens), rand(heads, tokens, tokens)]
def get_init_inputs(): return [tokens * 2, outputs, 1e-5]
"""


def test_a_dimension_that_stands_twice_is_no_batch_and_counts_twice() -> None:
    assert small_scale(SQUARES, constructor=False) == {"heads": (32, 4), "tokens": (128, 32)}


def test_what_the_constructor_alone_needs_goes_down_too_where_it_may() -> None:
    assert small_scale(SQUARES) == {"heads": (32, 4), "tokens": (128, 32), "outputs": (4096, 64)}


@pytest.mark.parametrize("source", ["def broken(:", "n = 8\ndef get_inputs(): return [rand(n, n)]\n", "n = 'x'\n"])
def test_small_shapes_stay_as_they_are(source: str) -> None:
    assert small_scale(source) == {}


def test_fewer_elements_make_smaller_shapes() -> None:
    scale = small_scale(PROBLEM, elements=FEWER_ELEMENTS)
    assert {name: now for name, (_, now) in scale.items()} == {"batch_size": 2, "dim": 512}
