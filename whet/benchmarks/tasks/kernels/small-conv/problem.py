import torch
import torch.nn as nn

BATCH = 32
SIDE = 28
FILTERS = 6


class Model(nn.Module):
    def __init__(self, filters):
        super().__init__()
        self.weight = nn.Parameter(0.2 * torch.randn(filters, 1, 5, 5))
        self.bias = nn.Parameter(0.1 * torch.randn(filters))

    def forward(self, x):
        y = torch.relu(nn.functional.conv2d(x, self.weight, self.bias))
        return nn.functional.max_pool2d(y, 2)


def get_inputs():
    return [torch.randn(BATCH, 1, SIDE, SIDE)]


def get_init_inputs():
    return [FILTERS]
