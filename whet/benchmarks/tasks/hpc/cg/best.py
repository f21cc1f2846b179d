"""Conjugate gradients for sparse systems that are symmetric and positive definite."""

import numpy as np


def conjugate_gradient(starts, columns, values, b, iterations):
    x = np.zeros(len(b))
    rows = np.repeat(np.arange(len(b)), np.diff(starts))
    residual, direction = b.copy(), b.copy()
    square = residual @ residual
    for _ in range(iterations):
        if square == 0:
            break
        product = np.bincount(rows, weights=values * direction[columns], minlength=len(b))
        step = square / (direction @ product)
        x += step * direction
        residual -= step * product
        square, last = residual @ residual, square
        direction *= square / last
        direction += residual
    return x
