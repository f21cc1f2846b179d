import torch
import torch.nn as nn

BATCH = 2
CHANNELS = 64
GROUPS = 16
SIDE = 28


class Model(nn.Module):
    def __init__(self, channels, groups):
        super().__init__()
        self.groups = groups
        self.weight = nn.Parameter(torch.randn(channels, channels // groups, 3, 3) * 0.2)
        self.bias = nn.Parameter(torch.randn(channels))

    def forward(self, x):
        parts = []
        for part, weight, bias in zip(
            x.chunk(self.groups, dim=1), self.weight.chunk(self.groups), self.bias.chunk(self.groups), strict=True
        ):
            columns = nn.functional.unfold(part, 3, padding=1)
            y = weight.flatten(1) @ columns + bias[:, None]
            parts.append(y.view(len(x), -1, *x.shape[2:]))
        return torch.cat(parts, dim=1)


def get_inputs():
    return [torch.randn(BATCH, CHANNELS, SIDE, SIDE)]


def get_init_inputs():
    return [CHANNELS, GROUPS]
