import torch
import torch.nn as nn

BATCH = 2
CHANNELS = 256
STEPS = 512
TAPS = 4


class Model(nn.Module):
    def __init__(self, channels, taps):
        super().__init__()
        self.weight = nn.Parameter(0.4 * torch.randn(channels, 1, taps))
        self.bias = nn.Parameter(0.1 * torch.randn(channels))

    def forward(self, x):
        taps = self.weight.shape[-1]
        y = nn.functional.conv1d(x, self.weight, self.bias, padding=taps - 1, groups=x.shape[1])
        y = y[..., : x.shape[-1]]
        return y * torch.sigmoid(y)


def get_inputs():
    return [torch.randn(BATCH, CHANNELS, STEPS)]


def get_init_inputs():
    return [CHANNELS, TAPS]
