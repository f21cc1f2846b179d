"""Matrices that are nearly square."""

sizes = [1, 2, 5, 14, 45, 60]


def matrix(rows, columns, draw):
    return [[draw() for _ in range(columns)] for _ in range(rows)]


def make_input(size, rng):
    inner, columns = size + rng.randrange(4), size + rng.randrange(4)
    return matrix(size, inner, rng.random), matrix(inner, columns, lambda: rng.uniform(-1.0, 1.0))


def valid(args):
    a, b = args
    shaped = len(b) > 0 and all(len(row) == len(b) for row in a) and all(len(row) == len(b[0]) for row in b)
    return shaped and all(type(one) is float and abs(one) < 1e100 for part in args for row in part for one in row)


def make_input_odd(size, rng):
    """Vectors and single numbers as matrices, no rows, no columns, few different numbers, rows of zeros."""
    shapes = ((1, size, 1), (size, 1, size), (0, size, 2), (2, size, 0), (3, 2, size), (1, 1, 1))
    rows, inner, columns = rng.choice(shapes)
    pool = rng.choice(((0.0, -0.0, 1.0), (-1.0, 1.0), (1e-3, 1.0, -1e3), (2.0, 3.0)))
    a, b = (matrix(*shape, lambda: rng.choice(pool)) for shape in ((rows, inner), (inner, columns)))
    if rows and rng.random() < 0.3:
        a[rng.randrange(rows)] = [0.0] * inner
    return a, b
