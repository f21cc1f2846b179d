"""Steps many small worlds at once, as for learning by trial: each a walker on a grid with walls, who looks for the way out."""

import numpy as np


def run_worlds(walls, energy, actions):
    rows, columns = walls.shape
    steps, count = actions.shape
    wide = columns + 2
    blocked = np.ones((rows + 2, wide), dtype=bool)  # a wall around spares the tests for the edge
    blocked[1:-1, 1:-1] = walls
    blocked = blocked.ravel()
    moves = np.array([0, -wide, wide, -1, 1])
    start, goal = wide + 1, rows * wide + columns
    offsets = moves[actions]
    places = np.full(count, start)
    left = np.full(count, energy, dtype=np.int64)
    rewards = np.zeros(count, dtype=np.int64)
    ended = np.zeros(count, dtype=np.int64)
    for offset in offsets:
        wanted = places + offset
        stopped = blocked[wanted]
        places = np.where(stopped, places, wanted)
        left -= 1
        there = places == goal
        over = there | (left <= 0)
        rewards -= stopped
        if over.any():
            rewards += 25 * there - 5 * over
            ended += over
            places[over] = start
            left[over] = energy
    return rewards, ended, np.stack([places // wide - 1, places % wide - 1, left], axis=1)
