import torch
import torch.nn as nn

ROWS = 1024
COLUMNS = 512


class Model(nn.Module):
    def forward(self, x):
        return (x * x).sum(dim=0)


def get_inputs():
    return [torch.randn(ROWS, COLUMNS)]


def get_init_inputs():
    return []
