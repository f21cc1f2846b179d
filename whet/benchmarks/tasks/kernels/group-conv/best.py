import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, channels, groups):
        super().__init__()
        self.groups = groups
        self.weight = nn.Parameter(torch.randn(channels, channels // groups, 3, 3) * 0.2)
        self.bias = nn.Parameter(torch.randn(channels))

    def forward(self, x):
        return nn.functional.conv2d(x, self.weight, self.bias, padding=1, groups=self.groups)
