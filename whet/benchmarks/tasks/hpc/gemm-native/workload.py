"""Matrices that are nearly square."""

import numpy as np

sizes = [4, 20, 60, 100, 160]


def matrices(rows, inner, columns, rng):
    draw = np.random.default_rng(rng.getrandbits(64))
    return draw.uniform(-4.0, 4.0, rows * inner), draw.uniform(-4.0, 4.0, inner * columns), rows, inner, columns


def make_input(size, rng):
    return matrices(size, size + rng.randrange(4), size + rng.randrange(4), rng)


def make_input_odd(size, rng):
    """Vectors, single numbers, nothing to sum, nothing to make; lengths beyond any block."""
    shapes = ((1, size, 1), (size, 1, size), (2, 0, 3), (0, size, 2), (3, size, 0), (1, 1, 1), (2, 300 + size, 5))
    return matrices(*rng.choice(shapes), rng)
