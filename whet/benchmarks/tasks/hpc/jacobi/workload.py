"""Plates with warm edges and a few sources."""

import numpy as np

sizes = [1, 2, 3, 8, 16, 34, 44]


def make_input(size, rng):
    draw = np.random.default_rng(rng.getrandbits(64))
    size = max(1, size)
    shape = (size, size + rng.randrange(3))
    grid = np.zeros(shape)
    grid[0], grid[-1] = rng.uniform(10.0, 90.0), rng.uniform(-20.0, 20.0)
    source = np.where(draw.random(shape) < 0.1, draw.normal(scale=400.0, size=shape), 0.0)
    return grid + draw.normal(size=shape), source, 1.0 / size, rng.randrange(4, 7)


def valid(args):
    grid, source, spacing, sweeps = args
    arrays = all(one.ndim == 2 and one.dtype == np.float64 and bool((abs(one) < 1e60).all()) for one in (grid, source))
    usual = isinstance(spacing, float) and 0 < spacing < 1e10 and type(sweeps) is int and 0 <= sweeps < 60
    return arrays and grid.shape == source.shape and usual


def check(args, output):
    return len(output[1]) == args[3] and output[0].shape == args[0].shape


def make_input_odd(size, rng):
    """Plates that are all border, narrow ones, flat ones, none or many sweeps, sources that outweigh the rest."""
    shape = rng.choice(((size, size), (1, size), (size, 2), (3, size), (size, 3), (min(size, 9), 4)))
    draw = np.random.default_rng(rng.getrandbits(64))
    pool = rng.choice(((0.0,), (1.0,), (0.0, 1.0, -1.0), (1e6, -1e-6, 5.0)))
    grid, source = draw.choice(pool, size=shape), draw.choice(rng.choice((pool, (0.0,), (1e9,))), size=shape)
    return grid, source, rng.choice((1.0, 0.5, 1e-3)), rng.choice((0, 1, 1, 2, 3, 9))
