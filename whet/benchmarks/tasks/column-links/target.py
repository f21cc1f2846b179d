"""Pearson's correlation of the columns of a table with missing values."""

import math


def mean(values):
    total = 0.0
    for value in values:
        total += value
    return total / len(values)


def known_pairs(table, i, j):
    """Returns the values of two columns in the rows where both are known."""
    xs = []
    ys = []
    for row in range(table.shape[0]):
        if math.isnan(table[row, i]) or math.isnan(table[row, j]):
            continue
        xs.append(float(table[row, i]))
        ys.append(float(table[row, j]))
    return xs, ys


def correlation(xs, ys):
    """Returns Pearson's r; 0 where there are fewer than three values or a column that does not vary."""
    if len(xs) < 3 or min(xs) == max(xs) or min(ys) == max(ys):
        return 0.0
    products = 0.0
    x_squares = 0.0
    y_squares = 0.0
    for i in range(len(xs)):
        products += (xs[i] - mean(xs)) * (ys[i] - mean(ys))
        x_squares += (xs[i] - mean(xs)) ** 2
        y_squares += (ys[i] - mean(ys)) ** 2
    return products / math.sqrt(x_squares * y_squares)


def column_links(table, names, least):
    """Relates all columns of a table to each other.

    Args:
        table: array of rows and columns; NaN where a value is missing.
        names: of the columns.
        least: pairs that are known together in fewer rows are left out.

    Returns:
        A dict of pairs of names, the left column first, to the correlation and to the number of rows that it rests on;
        and how many pairs were left out.
    """
    links = {}
    left_out = 0
    for i in range(len(names)):
        for j in range(len(names)):
            if j <= i:
                continue
            xs, ys = known_pairs(table, i, j)
            if len(xs) < least:
                left_out = left_out + 1
                continue
            links[(names[i], names[j])] = (correlation(xs, ys), len(xs))
    return links, left_out
