"""Tables of measurements: some columns depend on others, one in twenty values is missing."""

import numpy as np

sizes = [0, 1, 3, 8, 30, 90, 120]


def make_input(size, rng):
    names = [f"c{number}" for number in range(5)]
    table = np.empty((size, len(names)))
    for row in range(size):
        base = rng.gauss(0, 1)
        for column in range(len(names)):
            value = (column - 2) * base + rng.gauss(20.0 * column, 1.5)
            table[row, column] = float("nan") if rng.random() < 0.05 else value
    return table, names, size * 17 // 20


def valid(args):
    table, names, least = args
    if table.ndim != 2 or table.dtype != np.float64 or table.shape[1] != len(names) or len(set(names)) < len(names):
        return False
    known = np.abs(table[~np.isnan(table)])
    return bool(((known == 0) | ((known > 1e-3) & (known < 1e4))).all())


def check(args, output):
    table, names, least = args
    links, left_out = output
    assert len(links) + left_out == len(names) * (len(names) - 1) // 2
    assert all(-1.0000001 <= r <= 1.0000001 and least <= n <= len(table) for r, n in links.values())


def make_input_sparse(size, rng):
    """Columns of few values, constant ones, mirrored ones, and ones that are hardly ever known; any number of columns."""
    names = rng.sample(["", "a", "b", "ä", "A"], rng.randrange(1, 6))
    table = np.empty((size, len(names)))
    for column in range(len(names)):
        pool = rng.choice(([1.0], [0.0, 1.0], [-2.0, 3.0, 5.0], [float(i) for i in range(-50, 50)]))
        missing = rng.choice((0.0, 0.0, 0.3, 0.9))
        for row in range(size):
            table[row, column] = float("nan") if rng.random() < missing else rng.choice(pool)
        if column and rng.random() < 0.3:
            table[:, column] = rng.choice((-2.0, 0.5, 3.0)) * table[:, column - 1]
    return table, names, rng.choice((0, 0, 1, 3, size // 2, size + 1))
