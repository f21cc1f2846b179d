import torch
import torch.nn as nn

ROWS = 4096
COLUMNS = 1024
ITERATIONS = 8
TINY = 1e-30


class Model(nn.Module):
    def __init__(self, iterations):
        super().__init__()
        self.iterations = iterations

    def times(self, hold, x):
        around = nn.functional.pad(x, (1, 1, 1, 1))
        around = around[:-2, 1:-1] + around[2:, 1:-1] + around[1:-1, :-2] + around[1:-1, 2:]
        return (5.0 + hold * hold) * x - around

    def forward(self, hold, b):
        x, residual, direction = torch.zeros_like(b), b, b
        square = (residual * residual).sum()
        for _ in range(self.iterations):
            product = self.times(hold, direction)
            step = square / ((direction * product).sum() + TINY)
            x = x + step * direction
            residual = residual - step * product
            last, square = square, (residual * residual).sum()
            direction = residual + square / (last + TINY) * direction
        return x


def get_inputs():
    return [torch.randn(ROWS, COLUMNS), torch.randn(ROWS, COLUMNS)]


def get_init_inputs():
    return [ITERATIONS]
