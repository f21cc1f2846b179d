import torch
import torch.nn as nn

ROWS = 16384
COLUMNS = 1024
SWEEPS = 8


class Model(nn.Module):
    def __init__(self, sweeps):
        super().__init__()
        self.sweeps = sweeps

    def forward(self, grid, source):
        for _ in range(self.sweeps):
            around = grid[:-2, 1:-1] + grid[2:, 1:-1] + grid[1:-1, :-2] + grid[1:-1, 2:]
            new = grid.clone()
            new[1:-1, 1:-1] = 0.25 * around + source[1:-1, 1:-1]
            grid = new
        return grid


def get_inputs():
    return [torch.randn(ROWS, COLUMNS), torch.randn(ROWS, COLUMNS)]


def get_init_inputs():
    return [SWEEPS]
