import torch
import torch.nn as nn

BATCH = 32
LAYERS = 24
WIDTH = 48
OUTPUTS = 16


class Model(nn.Module):
    def __init__(self, layers, width, outputs):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(width, outputs) for _ in range(layers))

    def forward(self, x):
        return torch.stack([torch.tanh(layer(x)) for layer in self.layers], dim=1)


def get_inputs():
    return [torch.randn(BATCH, WIDTH)]


def get_init_inputs():
    return [LAYERS, WIDTH, OUTPUTS]
