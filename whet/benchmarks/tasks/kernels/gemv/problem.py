import torch
import torch.nn as nn

ROWS = 65536
COLUMNS = 1024
ALPHA = 1.5
BETA = -0.5


class Model(nn.Module):
    def __init__(self, alpha, beta):
        super().__init__()
        self.alpha = alpha
        self.beta = beta

    def forward(self, a, x, y):
        return self.alpha * (a * x).sum(dim=1) + self.beta * y


def get_inputs():
    return [torch.randn(ROWS, COLUMNS), torch.randn(COLUMNS), torch.randn(ROWS)]


def get_init_inputs():
    return [ALPHA, BETA]
