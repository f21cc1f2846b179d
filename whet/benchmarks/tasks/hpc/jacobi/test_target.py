import numpy as np
from target import jacobi


def test_a_point_becomes_the_mean_of_its_neighbours():
    grid = np.array([[0.0, 1.0, 0.0], [2.0, 9.0, 3.0], [0.0, 6.0, 0.0]])
    new, changes = jacobi(grid, np.zeros((3, 3)), 1.0, 1)
    assert (new[1, 1], changes) == (3.0, [6.0])
    assert (grid[1, 1], new[0].tolist()) == (9.0, [0.0, 1.0, 0.0])


def test_sources_count_by_the_square_of_the_spacing():
    assert jacobi(np.zeros((3, 3)), np.full((3, 3), 16.0), 0.5, 1)[0][1, 1] == 1.0


def test_a_sweep_reads_the_grid_before_it_alone():
    grid = np.array([[0.0] * 4, [4.0, 0.0, 0.0, 0.0], [0.0] * 4])
    new, changes = jacobi(grid, np.zeros((3, 4)), 1.0, 2)
    assert (new[1].tolist(), changes) == ([4.0, 1.0, 0.25, 0.0], [1.0, 0.25])


def test_a_grid_that_is_all_border_stays():
    new, changes = jacobi(np.ones((2, 5)), np.ones((2, 5)), 1.0, 2)
    assert (new.tolist(), changes) == (np.ones((2, 5)).tolist(), [0.0, 0.0])
