"""Sparse matrices by rows."""

import numpy as np


class Csr:
    """A sparse matrix in compressed rows.

    Args:
        starts: for each row where its entries begin, and where the last one's end.
        columns: of the entries.
        values: of the entries.
    """

    def __init__(self, starts, columns, values):
        self.starts = starts
        self.columns = columns
        self.values = values

    def entries(self, row):
        """Returns a row's entries as pairs of column and value."""
        found = []
        for at in range(self.starts[row], self.starts[row + 1]):
            found.append((self.columns[at], self.values[at]))
        return found

    def times(self, x):
        """Returns the product with a vector, and how many rows have no entry."""
        product = np.zeros(len(self.starts) - 1)
        empty = 0
        for row in range(len(product)):
            if len(self.entries(row)) == 0:
                empty += 1
            for column, value in self.entries(row):
                product[row] += value * x[column]
        return product, empty
