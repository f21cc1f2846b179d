import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, layers, width, outputs):
        super().__init__()
        apart = [nn.Linear(width, outputs) for _ in range(layers)]
        self.shape = (layers, outputs)
        self.weight = nn.Parameter(torch.cat([layer.weight.detach() for layer in apart]))
        self.bias = nn.Parameter(torch.cat([layer.bias.detach() for layer in apart]))

    def forward(self, x):
        return nn.functional.linear(x, self.weight, self.bias).tanh_().view(-1, *self.shape)
