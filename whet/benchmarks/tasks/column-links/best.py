"""Pearson's correlation of the columns of a table with missing values."""

import math

import numpy as np


def correlation(xs, ys):
    if len(xs) < 3 or xs.min() == xs.max() or ys.min() == ys.max():
        return 0.0
    xs = xs - xs.mean()
    ys = ys - ys.mean()
    return float(xs @ ys / math.sqrt((xs @ xs) * (ys @ ys)))


def column_links(table, names, least):
    columns = np.ascontiguousarray(table.T)
    known = ~np.isnan(columns)
    links = {}
    left_out = 0
    for i, left in enumerate(names):
        for j in range(i + 1, len(names)):
            both = known[i] & known[j]
            xs, ys = columns[i][both], columns[j][both]
            if len(xs) < least:
                left_out += 1
                continue
            links[(left, names[j])] = (correlation(xs, ys), len(xs))
    return links, left_out
