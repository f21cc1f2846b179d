"""A signal and the taps of a stable low-pass, high-pass or resonating filter."""

from array import array
from math import cos, pi, sin

sizes = [32, 480, 4096, 32768]


def make_input(size, rng):
    signal = [0.5 * sin(0.05 * i) + rng.uniform(-0.4, 0.4) for i in range(size)]
    turn = 2 * pi * rng.uniform(0.01, 0.4)
    width = sin(turn) / (2 * rng.uniform(0.5, 4))
    c = cos(turn)
    b0, b1 = rng.choice((((1 - c) / 2, 1 - c), ((1 + c) / 2, -1 - c), (width, 0.0)))
    b2 = b0 if b1 else -b0
    taps = [value / (1 + width) for value in (b0, b1, b2, -2 * c, 1 - width)]
    return array("f", signal), size, array("f", taps)


def make_input_odd(size, rng):
    """A step, an impulse, silence; filters that pass everything, or only sum."""
    signal = rng.choice(([1.0] * size, ([1.0] + [0.0] * size)[:size], [0.0] * size))
    taps = rng.choice(([1, 0, 0, 0, 0], [1, 0, 0, -0.5, 0], [0.25, 0.5, 0.25, 0, 0], [0, 0, 1, 0, 0.9]))
    return array("f", signal), size, array("f", taps)
