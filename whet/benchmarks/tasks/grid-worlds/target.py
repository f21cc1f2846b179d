"""Steps many small worlds at once, as for learning by trial: each a walker on a grid with walls, who looks for the way out."""

import numpy as np

MOVES = ((0, 0), (-1, 0), (1, 0), (0, -1), (0, 1))


class World:
    """One walker, who starts in the corner at the top left and wants to get to that at the bottom right."""

    def __init__(self, walls, energy):
        self.walls = walls
        self.full = energy
        self.reset()

    def reset(self):
        self.row = 0
        self.column = 0
        self.energy = self.full

    def free(self, row, column):
        if row < 0 or row >= self.walls.shape[0]:
            return False
        if column < 0 or column >= self.walls.shape[1]:
            return False
        return not self.walls[row, column]

    def step(self, action):
        """Makes one move and returns its reward and whether that ended the walk, after which a new one starts."""
        down, right = MOVES[action]
        if self.free(self.row + down, self.column + right):
            self.row = self.row + down
            self.column = self.column + right
            reward = 0
        else:
            reward = -1
        self.energy = self.energy - 1
        if self.row == self.walls.shape[0] - 1 and self.column == self.walls.shape[1] - 1:
            reward = reward + 20
            self.reset()
            return reward, True
        if self.energy <= 0:
            reward = reward - 5
            self.reset()
            return reward, True
        return reward, False


def run_worlds(walls, energy, actions):
    """Runs all worlds by the same walls.

    Args:
        walls: array of booleans by row and column.
        energy: steps that a walk may have.
        actions: array of whole numbers from 0 to 4 by step and world: stay, up, down, left, right.

    Returns:
        By world the sum of rewards and the number of walks that ended, as arrays, and an array of rows, columns and energies
        at the end.
    """
    steps, count = actions.shape
    worlds = [World(walls, energy) for _ in range(count)]
    rewards = np.zeros(count, dtype=np.int64)
    ended = np.zeros(count, dtype=np.int64)
    for step in range(steps):
        for number, world in enumerate(worlds):
            reward, over = world.step(int(actions[step, number]))
            rewards[number] += reward
            if over:
                ended[number] += 1
    states = [[world.row, world.column, world.energy] for world in worlds]
    return rewards, ended, np.array(states, dtype=np.int64).reshape(count, 3)
