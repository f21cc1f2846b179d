import torch
import torch.nn as nn

OUTPUTS = 512
PARTS = 128
WORDS = 256
LENGTH = 4


class Model(nn.Module):
    def forward(self, codes, codebook, scales, x):
        weight = codebook[codes].flatten(1) * scales.unsqueeze(1)
        return weight @ x


def get_inputs():
    codes = torch.randint(0, WORDS, (OUTPUTS, PARTS))
    scales = torch.rand(OUTPUTS) + 0.5
    return [codes, torch.randn(WORDS, LENGTH), scales, torch.randn(PARTS * LENGTH)]


def get_init_inputs():
    return []
