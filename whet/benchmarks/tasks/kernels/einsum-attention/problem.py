import torch
import torch.nn as nn

BATCH = 2
HEADS = 4
TOKENS = 160
WIDTH = 32


class Model(nn.Module):
    def forward(self, q, k, v):
        scores = torch.einsum("bhqd,bhkd->bhqk", q, k) * q.shape[-1] ** -0.5
        most = scores.amax(dim=-1)
        weights = torch.exp(scores - torch.einsum("bhq,k->bhqk", most, torch.ones_like(scores[0, 0, 0])))
        total = torch.einsum("bhqk->bhq", weights)
        sums = torch.einsum("bhqk,bhkd->bhqd", weights, v)
        return torch.einsum("bhqd,bhq->bhqd", sums, 1.0 / total)


def get_inputs():
    q, k, v = (torch.randn(BATCH, HEADS, TOKENS, WIDTH) for _ in range(3))
    q[:, ::2] *= 40.0  # exponentials of such scores overflow where the greatest is not taken off
    return [q, k, v]


def get_init_inputs():
    return []
