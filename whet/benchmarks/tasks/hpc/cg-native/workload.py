"""Networks of springs that are held, each at its place: symmetric systems whose diagonals outweigh the rest."""

import numpy as np

sizes = [1, 10, 100, 900, 2500]


def system(size, links, weights, holds, draw):
    """Returns compressed rows of the system of weighted links, and a right side."""
    one, other = np.array(links, dtype=np.int64).reshape(-1, 2).T
    own = np.asarray(holds, dtype=float).copy()
    np.add.at(own, one, weights)
    np.add.at(own, other, weights)
    rows, columns = (np.concatenate(parts) for parts in ((one, other, np.arange(size)), (other, one, np.arange(size))))
    values = np.concatenate([-weights, -weights, own])
    order = np.lexsort((columns, rows))
    starts = np.searchsorted(rows[order], np.arange(size + 1)).astype(np.int64)
    return starts, columns[order].astype(np.int32), values[order], draw.uniform(-1, 1, size), size, len(order)


def make_input(size, rng):
    draw = np.random.default_rng(rng.getrandbits(64))
    width = max(2, int(size**0.5))
    links = [(i, i + 1) for i in range(size - 1)] + [(i, i + width) for i in range(size - width)]
    weights = draw.uniform(0.5, 1.5, len(links))
    return *system(size, links, weights, draw.uniform(0.5, 1.5, size), draw), rng.randrange(9, 13)


def valid(args):
    starts, columns, values, _, n, entries, iterations = args
    starts, columns, values = np.asarray(starts), np.asarray(columns), np.asarray(values)
    if starts[0] != 0 or starts[-1] != entries or (np.diff(starts) < 0).any() or not 0 <= iterations <= 12:
        return False
    if ((columns < 0) | (columns >= n)).any():
        return False
    rows = np.repeat(np.arange(n), np.diff(starts))
    order = np.lexsort((rows, columns))
    mirrored = (columns[order] == rows).all() and (rows[order] == columns).all() and (values[order] == values).all()
    own = rows == columns
    diagonal = np.bincount(rows[own], weights=values[own], minlength=n)
    beside = np.bincount(rows[~own], weights=abs(values[~own]), minlength=n)
    return bool(mirrored and (diagonal > 0.01).all() and (diagonal >= 1.05 * beside).all())


def make_input_odd(size, rng):
    """Systems that fall apart, that are diagonal, with all to all; right sides of zero, of one element; few iterations."""
    draw = np.random.default_rng(rng.getrandbits(64))
    size = min(size, 24)
    pairs = [(i, j) for i in range(size) for j in range(i + 1, size)]
    links = rng.sample(pairs, rng.choice((0, len(pairs) // 3, len(pairs))))
    hold = rng.choice((0.5, 1.0, 4.0)) * size
    *matrix, b, n, entries = system(size, links, np.ones(len(links)), np.full(size, hold), draw)
    if size and rng.random() < 0.5:
        b = np.where(np.arange(size) == rng.randrange(size), b, 0.0) * rng.choice((0.0, 1.0))
    return *matrix, b, n, entries, rng.choice((0, 1, 2, 3, 4))
