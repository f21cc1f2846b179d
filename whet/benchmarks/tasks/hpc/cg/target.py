"""Conjugate gradients for sparse systems that are symmetric and positive definite."""

import numpy as np


def multiply(starts, columns, values, x):
    """Returns a matrix in compressed rows times a vector."""
    product = np.zeros(len(x))
    for row in range(len(x)):
        for at in range(starts[row], starts[row + 1]):
            product[row] += values[at] * x[columns[at]]
    return product


def dot(a, b):
    """Returns the scalar product of two vectors."""
    total = 0.0
    for i in range(len(a)):
        total += a[i] * b[i]
    return total


def conjugate_gradient(starts, columns, values, b, iterations):
    """Solves a system of equations nearly, from zero on.

    Args:
        starts: for each row where its entries begin, and where the last one's end.
        columns: of the entries.
        values: of the entries; the matrix is symmetric and positive definite.
        b: the right side.
        iterations: how many are made; fewer where nothing is left to correct.

    Returns:
        The solution so far.
    """
    x = np.zeros(len(b))
    residual = np.copy(b)
    direction = np.copy(b)
    for _ in range(iterations):
        if dot(residual, residual) == 0:
            break
        step = dot(residual, residual) / dot(direction, multiply(starts, columns, values, direction))
        new = np.zeros(len(b))
        for i in range(len(b)):
            x[i] += step * direction[i]
            new[i] = residual[i] - step * multiply_row(starts, columns, values, direction, i)
        share = dot(new, new) / dot(residual, residual)
        for i in range(len(b)):
            direction[i] = new[i] + share * direction[i]
        residual = new
    return x


def multiply_row(starts, columns, values, x, row):
    """Returns one element of a matrix times a vector."""
    total = 0.0
    for at in range(starts[row], starts[row + 1]):
        total += values[at] * x[columns[at]]
    return total
