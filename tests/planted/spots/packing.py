"""Packing: how crates fill a row of the yard."""

CRATES = (2, 3, 5, 7)


def packings(length, smallest):
    """Returns in how many ways crates fill a length, in any order; none of them shorter than the smallest."""
    if length == 0:
        return 1
    if length < smallest:
        return 0
    ways = 0
    for crate in (2, 3, 5, 7):
        if crate >= smallest and crate <= length:
            ways += packings(length - crate, smallest)
    return ways


def fits(crates, length):
    """Whether some crates go into a length."""
    return sum(crates) <= length


def first_fit(crates, length):
    """Puts crates into rows of a length, each into the first row that takes it."""
    rows = []
    for crate in crates:
        for row in rows:
            if fits([*row, crate], length):
                row.append(crate)
                break
        else:
            rows.append([crate])
    return rows


def waste(rows, length):
    """Returns the length that rows leave empty."""
    return sum(length - sum(row) for row in rows)
