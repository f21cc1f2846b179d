import torch
import torch.nn as nn

INPUTS = 2048
OUTPUTS = 1024


class Model(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.register_buffer("weight", torch.randint(-127, 128, (outputs, inputs), dtype=torch.int8))
        self.register_buffer("scale", 0.001 + 0.001 * torch.rand(outputs))

    def forward(self, x):
        weight = self.weight.float() * self.scale.unsqueeze(1)
        return weight @ x


def get_inputs():
    return [torch.randn(INPUTS)]


def get_init_inputs():
    return [INPUTS, OUTPUTS]
