import torch
import torch.nn as nn

LENGTH = 2**24
ALPHA = 0.75


class Model(nn.Module):
    def __init__(self, alpha):
        super().__init__()
        self.alpha = alpha

    def forward(self, x, y):
        return self.alpha * x + y


def get_inputs():
    return [torch.randn(LENGTH), torch.randn(LENGTH)]


def get_init_inputs():
    return [ALPHA]
