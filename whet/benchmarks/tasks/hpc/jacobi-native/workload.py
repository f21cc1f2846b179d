"""Plates with warm edges and a few sources."""

import numpy as np

sizes = [3, 12, 40, 100, 160]


def make_input(size, rng):
    draw = np.random.default_rng(rng.getrandbits(64))
    size = max(1, size)
    shape = (size, size + rng.randrange(9))
    points = draw.normal(size=shape)
    points[0], points[-1] = rng.uniform(10.0, 90.0), rng.uniform(-20.0, 20.0)
    source = np.where(draw.random(shape) < 0.1, draw.normal(size=shape), 0.0)
    return points.ravel(), source.ravel(), *shape, rng.randrange(4, 7)


def make_input_odd(size, rng):
    """Plates that are all border, narrow ones, flat ones, none or one sweep."""
    rows, columns = rng.choice(((size, size), (1, size), (size, 2), (3, size), (size, 3), (0, 4), (4, 19)))
    draw = np.random.default_rng(rng.getrandbits(64))
    pool = rng.choice(((0.0,), (1.0,), (0.0, 1.0, -1.0), (100.0, -1e-6, 5.0)))
    points, source = (draw.choice(one, size=rows * columns) for one in (pool, rng.choice((pool, (0.0,), (-10.0, 10.0)))))
    return points, np.clip(source, -10.0, 10.0), rows, columns, rng.choice((0, 1, 1, 2, 3))
