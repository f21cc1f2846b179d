"""Heat in a plate at rest, by Jacobi's method."""

import numpy as np


def jacobi(grid, source, spacing, sweeps):
    if min(grid.shape) < 3:
        return (grid.copy() if sweeps else grid), [0.0] * sweeps
    inner = (slice(1, -1), slice(1, -1))
    given = spacing * spacing * source[inner]
    changes = []
    new = grid.copy() if sweeps else None
    spare = grid.copy() if sweeps > 1 else None
    mean, moved = np.empty(given.shape), np.empty(given.shape)
    for _ in range(sweeps):
        np.add(grid[:-2, 1:-1], grid[2:, 1:-1], out=mean)
        mean += grid[1:-1, :-2]
        mean += grid[1:-1, 2:]
        mean += given
        mean *= 0.25
        np.subtract(mean, grid[inner], out=moved)
        changes.append(max(float(moved.max()), -float(moved.min()), 0.0))
        new[inner] = mean
        grid, new, spare = new, spare, new
    return grid, changes
