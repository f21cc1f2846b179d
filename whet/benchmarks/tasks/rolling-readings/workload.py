"""Readings of a sensor that drifts, with spikes and gaps."""

sizes = [0, 1, 6, 40, 150, 260, 320]


def make_input(size, rng):
    level = rng.randrange(-200, 2000)
    readings = []
    for _ in range(size):
        level += rng.randrange(-5, 6)
        chance = rng.random()
        if chance < 0.05:
            readings.append(None)
        else:
            readings.append(level + rng.randrange(-20, 21) + (rng.choice((-400, 400)) if chance > 0.97 else 0))
    return readings, rng.randrange(90, 110)


def valid(args):
    return args[1] >= 1


def check(args, output):
    readings, width = args
    rows, gaps = output
    assert sorted([row[0] for row in rows] + gaps) == list(range(len(readings)))
    assert all(row[2] >= 0 and 0 <= row[3] < width for row in rows)


def make_input_alike(size, rng):
    """Few different readings, so that ranks tie and outliers lie right at the fences; narrow windows; mostly gaps."""
    pool = rng.choice(([0, 1], [3], [-4, -1, 0, 2, 9], list(range(12)), [0, 2, 5, -3, 8, 7], [10, 11, 12, 13, 14, 19, 5]))
    gap = rng.choice((0.0, 0.0, 0.1, 0.8))
    readings = [None if rng.random() < gap else rng.choice(pool) for _ in range(size)]
    return readings, rng.choice((1, 2, 3, 4, 5, 8, size + 1))
