import numpy as np
from target import run_worlds

OPEN = np.zeros((2, 2), dtype=bool)


def run(walls, energy, *actions):
    return [part.tolist() for part in run_worlds(walls, energy, np.array([actions], dtype=np.int64).T)]


def test_the_way_out_is_rewarded_and_a_new_walk_starts():
    assert run(OPEN, 9, 2, 4) == [[20], [1], [[0, 0, 9]]]


def test_walls_and_edges_stop_and_cost():
    walls = np.array([[False, True], [False, False]])
    assert run(walls, 9, 4, 1, 3, 2) == [[-3], [0], [[1, 0, 5]]]


def test_without_energy_a_walk_ends():
    assert run(OPEN, 2, 0, 0, 4) == [[-5], [1], [[0, 1, 1]]]


def test_worlds_are_apart():
    rewards, ended, states = run_worlds(OPEN, 9, np.array([[2, 1], [0, 4]], dtype=np.int64))
    assert (rewards.tolist(), ended.tolist()) == ([0, -1], [0, 0])
    assert states.tolist() == [[1, 0, 7], [0, 1, 7]]
