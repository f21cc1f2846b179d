import torch
import torch.nn as nn

TOKENS = 384
WIDTH = 768


class Model(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(1.0 + 0.1 * torch.randn(width))
        self.bias = nn.Parameter(0.1 * torch.randn(width))

    def forward(self, x, residual):
        total = x + residual
        mean = total.mean(dim=-1, keepdim=True)
        variance = (total - mean).pow(2).mean(dim=-1, keepdim=True)
        return (total - mean) * torch.rsqrt(variance + 1e-5) * self.weight + self.bias


def get_inputs():
    return [torch.randn(TOKENS, WIDTH), torch.randn(TOKENS, WIDTH)]


def get_init_inputs():
    return [WIDTH]
