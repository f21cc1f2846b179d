"""States and their rates."""

import numpy as np

sizes = [0, 1, 5, 40, 300, 8000, 16000]


def make_input(size, rng):
    draw = np.random.default_rng(rng.getrandbits(64))
    return rng.uniform(0.001, 2.0), draw.normal(size=size), draw.normal(size=size)


def valid(args):
    alpha, x, y = args
    arrays = all(one.ndim == 1 and one.dtype == np.float64 and bool((abs(one) < 1e100).all()) for one in (x, y))
    return arrays and len(x) == len(y) and isinstance(alpha, float) and abs(alpha) < 1e100


def check(args, output):
    return output >= 0.0


def make_input_odd(size, rng):
    """Factors that leave much as it is, entries that cancel, zeros of both signs, magnitudes far apart."""
    alpha = rng.choice((0.0, -0.0, 1.0, -1.0, 0.5, 1e-20, 3e7))
    pool = rng.choice(((0.0, -0.0, 1.0), (-2.0, -1.0, 1.0, 2.0), (1e-30, -1e20, 1.0, 7.0), (-3.0,)))
    x = np.array(rng.choices(pool, k=size), dtype=float)
    return alpha, x, -alpha * x if rng.random() < 0.3 else np.array(rng.choices(pool, k=size), dtype=float)
