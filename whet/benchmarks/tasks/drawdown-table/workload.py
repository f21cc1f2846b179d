"""Random walks of prices."""

import numpy as np

sizes = [0, 1, 5, 30, 200, 450, 600]


def make_input(size, rng):
    price = rng.uniform(5.0, 300.0)
    closes = []
    for _ in range(size):
        closes.append(round(price, 2))
        price = max(0.01, price * (1 + rng.gauss(0.0005, 0.015)))
    return np.array(closes, dtype=float), rng.randrange(20, 60), 5


def valid(args):
    closes, window, limit = args
    usable = bool(np.isfinite(closes).all() and (closes >= 1e-3).all() and (closes < 1e9).all())
    return closes.ndim == 1 and closes.dtype == np.float64 and usable and window >= 1 and limit >= 0


def check(args, output):
    closes, window, limit = args
    falls, rolling, stretches, below = output
    assert len(falls) == len(rolling) == len(closes)
    assert (falls <= 0).all() and (rolling <= falls).all() and 0 <= below <= 1
    assert len(stretches) <= limit


def make_input_flat(size, rng):
    """Few different prices, so that peaks are met again and stretches are as deep as others; windows of any length."""
    prices = [float(price) for price in rng.sample(range(1, 9), rng.randrange(1, 5))]
    closes = rng.choices(prices, k=size)
    if rng.random() < 0.3:
        closes.sort(reverse=rng.random() < 0.5)
    return np.array(closes, dtype=float), rng.choice((1, 2, 3, size + 1)), rng.randrange(0, 6)
