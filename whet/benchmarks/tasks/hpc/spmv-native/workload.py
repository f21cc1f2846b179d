"""Graphs with a few busy nodes, as matrices."""

import numpy as np

sizes = [1, 10, 300, 3000, 10000]


def made(lengths, width, draw):
    starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    entries = int(starts[-1])
    columns = draw.integers(0, max(1, width), size=entries, dtype=np.int32)
    return starts, columns, draw.uniform(-4, 4, entries), draw.uniform(-4, 4, width), len(lengths), width, entries


def make_input(size, rng):
    draw = np.random.default_rng(rng.getrandbits(64))
    return made(np.minimum(draw.geometric(0.15, size=size) - 1, 60), size + rng.randrange(9), draw)


def valid(args):
    starts, columns, _, _, rows, width, entries = args
    starts, columns = np.asarray(starts), np.asarray(columns)
    ordered = starts[0] == 0 and starts[-1] == entries and bool((np.diff(starts) >= 0).all())
    return ordered and bool(((columns >= 0) & (columns < width)).all())


def make_input_odd(size, rng):
    """Empty rows at the ends and between, a full row, one column, no rows; more columns than rows."""
    draw = np.random.default_rng(rng.getrandbits(64))
    size = rng.choice((0, 1, min(size, 200)))
    lengths = draw.choice(rng.choice(((0,), (0, 1), (0, 0, 7), (2, 3), (0, 30))), size=size).astype(np.int64)
    if size and rng.random() < 0.5:
        lengths[rng.choice((0, size - 1))] = rng.choice((0, 0, 25))
    return made(lengths, rng.choice((1, 2, 2 * size + 1)), draw)
