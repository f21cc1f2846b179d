import torch
import torch.nn as nn

ROWS = 4096
INNER = 4096
COLUMNS = 4096
ALPHA = 1.5
BETA = -0.5


class Model(nn.Module):
    def __init__(self, alpha, beta):
        super().__init__()
        self.alpha = alpha
        self.beta = beta

    def forward(self, a, b, c):
        return self.alpha * (a @ b) + self.beta * c


def get_inputs():
    return [torch.randn(ROWS, INNER), torch.randn(INNER, COLUMNS), torch.randn(ROWS, COLUMNS)]


def get_init_inputs():
    return [ALPHA, BETA]
