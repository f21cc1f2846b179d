"""Networks of springs that are held, each at its place: symmetric systems whose diagonals outweigh the rest."""

import numpy as np

sizes = [0, 1, 4, 12, 40, 120, 180]


def system(size, links, holds, draw):
    """Returns compressed rows of the system of weighted links, by (one, other) -> weight."""
    rows = [{i: float(holds[i])} for i in range(size)]
    for (one, other), weight in links.items():
        rows[one][one] += weight
        rows[other][other] += weight
        rows[one][other] = rows[other][one] = -weight
    starts = np.cumsum([0, *(len(row) for row in rows)])
    columns = np.array([column for row in rows for column in sorted(row)], dtype=np.int64)
    values = np.array([row[column] for row in rows for column in sorted(row)], dtype=float)
    return starts, columns, values, draw.normal(size=size)


def make_input(size, rng):
    draw = np.random.default_rng(rng.getrandbits(64))
    width = max(1, int(size**0.5))
    near = [(i, i + 1) for i in range(size - 1)] + [(i, i + width) for i in range(size - width) if width > 1]
    links = {pair: rng.uniform(0.5, 1.5) for pair in near}
    return *system(size, links, draw.uniform(0.5, 1.5, size), draw), rng.randrange(5, 8)


def valid(args):
    starts, columns, values, b, iterations = args
    size = len(b)
    if {one.ndim for one in args[:4]} != {1} or len(starts) != size + 1 or not 0 <= iterations < 30:
        return False
    if (starts.dtype, columns.dtype, values.dtype, b.dtype) != (np.int64, np.int64, np.float64, np.float64):
        return False
    if starts[0] != 0 or not starts[-1] == len(columns) == len(values) or (np.diff(starts) < 0).any():
        return False
    if ((columns < 0) | (columns >= size)).any() or not (abs(values) < 1e6).all() or not (abs(b) < 1e6).all():
        return False
    dense = np.zeros((size, size))
    np.add.at(dense, (np.repeat(np.arange(size), np.diff(starts)), columns), values)
    diagonal = np.diag(dense)
    beside = abs(dense).sum(axis=1) - abs(diagonal)
    return bool((dense == dense.T).all() and (diagonal > 0.01).all() and (diagonal >= 1.05 * beside).all())


def check(args, output):
    return len(output) == len(args[3]) and bool(np.isfinite(output).all())


def make_input_odd(size, rng):
    """Systems that fall apart, that are diagonal, with all to all; right sides of zero, of one element; few iterations."""
    draw = np.random.default_rng(rng.getrandbits(64))
    size = min(size, 20)
    pairs = [(i, j) for i in range(size) for j in range(i + 1, size)]
    links = {pair: 1.0 for pair in rng.sample(pairs, rng.choice((0, len(pairs) // 3, len(pairs))))}
    most = max((sum(i in pair for pair in links) for i in range(size)), default=0)
    *matrix, b = system(size, links, np.full(size, rng.choice((0.5, 1.0, 4.0)) * (1 + most)), draw)
    if size and rng.random() < 0.5:
        kept = rng.randrange(size)
        b = np.where(np.arange(size) == kept, b, 0.0) * rng.choice((0.0, 1.0))
    return *matrix, b, rng.choice((0, 1, 2, 3, 4))
