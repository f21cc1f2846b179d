"""Matrices with a few entries a row."""

sizes = [0, 1, 3, 10, 60, 300, 450]


def matrix(rows, columns, count, values, rng):
    places = [(rng.randrange(rows), rng.randrange(columns)) for _ in range(count if rows and columns else 0)]
    return [str(len(places)), *(f"{row} {column} {rng.choice(values)}" for row, column in places)]


def make_input(size, rng):
    values = [value for value in range(-9, 10) if value]
    left, right = matrix(size, size, 6 * size, values, rng), matrix(size, size, 6 * size, values, rng)
    return "\n".join([f"{size} {size} {size}", *left, *right]) + "\n"


def make_input_odd(size, rng):
    """Narrow matrices, entries that come again, sums that are zero, zeros that are given, and negative products only."""
    rows, inner, columns = (rng.choice((1, 2, size, size + 3)) for _ in range(3))
    values = rng.choice(((1,), (0, 1), (-1, 1), (-3,), (-(10**6), 10**6), tuple(range(-9, 10))))
    left = matrix(rows, inner, rng.choice((0, 1, size, 4 * size)), values, rng)
    right = matrix(inner, columns, rng.choice((0, 1, size, 4 * size)), rng.choice((values, (1,), (2, 5))), rng)
    return "\n".join([f"{rows} {inner} {columns}", *left, *right]) + "\n"
