"""Small mazes, and walkers who drift towards the way out."""

import numpy as np

sizes = [0, 1, 3, 10, 32, 128, 192]


def drawn(rows, columns, wall, steps, count, rng):
    walls = np.array([[rng.random() < wall for _ in range(columns)] for _ in range(rows)], dtype=bool)
    walls[0, 0] = walls[-1, -1] = False
    actions = [rng.choice((0, 1, 2, 2, 2, 3, 4, 4, 4)) for _ in range(steps * count)]
    return walls, np.array(actions, dtype=np.int64).reshape(steps, count)


def make_input(size, rng):
    walls, actions = drawn(5, 6, 0.15, 60, size, rng)
    return walls, rng.randrange(15, 30), actions


def valid(args):
    walls, energy, actions = args
    if walls.ndim != 2 or walls.dtype != bool or walls.size == 0 or actions.ndim != 2 or actions.dtype != np.int64:
        return False
    return bool(1 <= energy < 10**6 and ((actions >= 0) & (actions <= 4)).all())


def check(args, output):
    walls, energy, actions = args
    rewards, ended, states = output
    assert len(rewards) == len(ended) == actions.shape[1] and states.shape == (actions.shape[1], 3)
    assert (states[:, 2] >= 1).all() and (states[:, 2] <= energy).all()


def make_input_narrow(size, rng):
    """Worlds of one cell or one line, dense walls, walls where a walk starts and ends, little energy, and no steps."""
    rows, columns = rng.choice(((1, 1), (1, 4), (3, 1), (2, 2), (3, 5)))
    walls, actions = drawn(rows, columns, rng.choice((0.0, 0.3, 0.8)), rng.choice((0, 1, 7, 20)), size, rng)
    if rng.random() < 0.3:
        walls[0, 0] = walls[-1, -1] = True
    return walls, rng.choice((1, 2, 5, 100)), actions
