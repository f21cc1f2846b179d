"""Dense matrices times vectors."""

import numpy as np


def gemv(alpha, a, x, beta, y):
    """Computes `alpha * a x + beta * y`.

    Args:
        alpha: factor of the product.
        a: matrix of floats, rows by columns.
        x: vector with an element for each column.
        beta: factor of `y`.
        y: vector with an element for each row; stays as it is.

    Returns:
        A new vector with an element for each row.
    """
    rows, columns = a.shape
    result = np.zeros(rows)
    for row in range(rows):
        total = 0.0
        for column in range(columns):
            total += a[row][column] * x[column]
        result[row] = alpha * total + beta * y[row]
    return result
