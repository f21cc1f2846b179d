import torch
import torch.nn as nn

HEADS = 8
TOKENS = 1024
WIDTH = 64


class Model(nn.Module):
    def forward(self, q, keys, key_scales, values, value_scales):
        k = keys.to(q.dtype) * key_scales.unsqueeze(-1)
        v = values.to(q.dtype) * value_scales.unsqueeze(-1)
        scores = (q.unsqueeze(1) * k).sum(dim=-1) * q.shape[-1] ** -0.5
        weights = torch.softmax(scores, dim=-1)
        return (weights.unsqueeze(-1) * v).sum(dim=1)


def get_inputs():
    keys = torch.randint(-127, 128, (HEADS, TOKENS, WIDTH), dtype=torch.int8)
    values = torch.randint(-127, 128, (HEADS, TOKENS, WIDTH), dtype=torch.int8)
    scales = torch.rand(2, HEADS, TOKENS) * 0.01 + 0.01
    return [torch.randn(HEADS, WIDTH), keys, scales[0].clone(), values, scales[1].clone()]


def get_init_inputs():
    return []
