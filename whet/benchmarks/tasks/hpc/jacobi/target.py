"""Heat in a plate at rest, by Jacobi's method."""

import numpy as np


def jacobi(grid, source, spacing, sweeps):
    """Moves the inner points of a grid towards the solution of Poisson's equation, sweep after sweep.

    Args:
        grid: array of two dimensions; its border is kept.
        source: array of the same shape: what is given off at each point.
        spacing: distance of neighbours.
        sweeps: how often each inner point becomes the mean of its four neighbours and its source.

    Returns:
        The new grid, and the largest change in each sweep.
    """
    rows, columns = grid.shape
    changes = []
    for _ in range(sweeps):
        new = np.copy(grid)
        change = 0.0
        for row in range(1, rows - 1):
            for column in range(1, columns - 1):
                around = grid[row - 1][column] + grid[row + 1][column] + grid[row][column - 1] + grid[row][column + 1]
                new[row][column] = (around + spacing * spacing * source[row][column]) / 4
                change = max(change, abs(new[row][column] - grid[row][column]))
        grid = new
        changes.append(float(change))
    return grid, changes
