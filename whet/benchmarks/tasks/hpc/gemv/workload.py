"""Matrices that are nearly square."""

import numpy as np

sizes = [0, 1, 4, 12, 60, 110, 140]


def make_input(size, rng):
    draw = np.random.default_rng(rng.getrandbits(64))
    rows, columns = size, size + rng.randrange(8)
    a, x, y = draw.normal(size=(rows, columns)), draw.normal(size=columns), draw.normal(size=rows)
    return rng.uniform(0.5, 2.0), a, x, rng.uniform(-1.0, 1.0), y


def valid(args):
    alpha, a, x, beta, y = args
    if (a.ndim, x.ndim, y.ndim) != (2, 1, 1) or a.shape != (len(y), len(x)):
        return False
    arrays = all(one.dtype == np.float64 and bool((abs(one) < 1e100).all()) for one in (a, x, y))
    return arrays and all(isinstance(one, float) and abs(one) < 1e100 for one in (alpha, beta))


def make_input_odd(size, rng):
    """Single rows and columns, none at all, factors that leave one part out, sums that cancel."""
    shapes = ((size, size), (1, size), (size, 1), (size, 0), (0, size), (3, size), (size, 2))
    rows, columns = rng.choice(shapes)
    pool = rng.choice(((0.0, -0.0, 1.0), (-1.0, 1.0), (1e-3, 1.0, -1e3), (2.0,)))
    draw = np.random.default_rng(rng.getrandbits(64))
    a, x, y = (draw.choice(pool, size=shape) for shape in ((rows, columns), columns, rows))
    return rng.choice((0.0, 1.0, -1.0, 2.5)), a, x, rng.choice((0.0, 1.0, -1.0, 0.25)), y
