"""Checks of what was written down by hand."""


def similarity(first, second):
    """Returns how many characters must change to make one name of the other."""
    row = list(range(len(second) + 1))
    for i, a in enumerate(first, 1):
        diagonal, row[0] = row[0], i
        for j, b in enumerate(second, 1):
            cost = min(row[j] + 1, row[j - 1] + 1, diagonal + (a != b))
            diagonal, row[j] = row[j], cost
    return row[-1]


def likely_names(names, known, most):
    """Returns for each name the known one that is most like it; None where too much differs."""
    found = []
    for name in names:
        best = min(known, key=lambda other: (similarity(name, other), other), default=None)
        found.append(best if best is not None and similarity(name, best) <= most else None)
    return found


def blank(rows):
    """Returns the numbers of rows in which nothing stands."""
    return [number for number, row in enumerate(rows) if not any(str(cell).strip() for cell in row)]
