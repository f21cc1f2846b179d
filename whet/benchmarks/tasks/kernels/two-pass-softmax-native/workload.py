from array import array

sizes = [1, 16, 256, 1024]


def make_input(size, rng):
    rows, columns = 24 + rng.randrange(4), size + rng.randrange(8)
    # Each row has its own level: what is right for one overflows in another.
    levels = [rng.uniform(-60.0, 60.0) for _ in range(rows)]
    return array("f", [rng.uniform(level - 8.0, level + 8.0) for level in levels for _ in range(columns)]), rows, columns
