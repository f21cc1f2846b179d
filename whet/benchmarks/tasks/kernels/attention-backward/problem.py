import torch
import torch.nn as nn

BATCH = 2
HEADS = 4
TOKENS = 96
WIDTH = 32


class Model(nn.Module):
    def forward(self, q, k, v):
        scores = q @ k.transpose(-2, -1) * q.shape[-1] ** -0.5
        return torch.softmax(scores, dim=-1) @ v


def get_inputs():
    return [torch.randn(BATCH, HEADS, TOKENS, WIDTH) for _ in range(3)]


def get_init_inputs():
    return []
