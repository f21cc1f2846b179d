from array import array

sizes = [1, 16, 256, 1024]


def make_input(size, rng):
    rows, columns = 24 + rng.randrange(4), size + rng.randrange(8)
    # Each row has its own level: what is right for one overflows in another.
    levels = [rng.uniform(-60.0, 60.0) for _ in range(rows)]
    x = array("f", [rng.uniform(level - 8.0, level + 8.0) for level in levels for _ in range(columns)])
    # In some, one element stands so far above the others that only its own level serves the row.
    for row in range(0, rows, 3):
        x[row * columns : (row + 1) * columns] = array("f", [rng.uniform(-70.0, -54.0) for _ in range(columns)])
        x[row * columns + rng.randrange(columns)] = rng.uniform(54.0, 70.0)
    return x, rows, columns
