"""Graphs with a few busy nodes, as matrices."""

import numpy as np

sizes = [0, 1, 4, 20, 150, 500, 800]


def made(lengths, width, draw):
    starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    count = int(starts[-1])
    columns = draw.integers(0, max(1, width), size=count)
    return {"init": (starts, columns, draw.normal(size=count)), "args": (draw.normal(size=width),)}


def make_input(size, rng):
    draw = np.random.default_rng(rng.getrandbits(64))
    lengths = np.minimum(draw.geometric(0.2, size=size) - 1, 40)
    return made(lengths if size else np.zeros(0, dtype=np.int64), size + 3, draw)


def valid(args):
    starts, columns, values = args["init"]
    (x,) = args["args"]
    if {one.ndim for one in (starts, columns, values, x)} != {1} or len(starts) == 0:
        return False
    types = (starts.dtype, columns.dtype, values.dtype, x.dtype) == (np.int64, np.int64, np.float64, np.float64)
    whole = starts[0] == 0 and starts[-1] == len(columns) == len(values) and bool((np.diff(starts) >= 0).all())
    inside = bool(((columns >= 0) & (columns < len(x))).all())
    return types and whole and inside and all(bool((abs(one) < 1e100).all()) for one in (values, x))


def check(args, output):
    return len(output[0]) == len(args["init"][0]) - 1


def make_input_odd(size, rng):
    """Empty rows at the ends and between, a full row, one column, columns that come twice."""
    draw = np.random.default_rng(rng.getrandbits(64))
    lengths = draw.choice(rng.choice(((0,), (0, 1), (0, 0, 7), (2,), (0, 30))), size=size)
    if size and rng.random() < 0.5:
        lengths[rng.choice((0, size - 1))] = rng.choice((0, 0, 25))
    return made(lengths, rng.choice((1, 2, size + 1)), draw)
