import torch
import torch.nn as nn

NODES = 1024
EDGES = 12288
WIDTH = 64


class Model(nn.Module):
    def forward(self, sources, targets, weights, features):
        messages = weights.unsqueeze(1) * features[sources]
        return torch.zeros_like(features).index_add(0, targets, messages)


def get_inputs():
    sources = torch.randint(0, NODES, (EDGES,))
    targets = torch.sort(torch.randint(0, NODES, (EDGES,))).values
    return [sources, targets, torch.rand(EDGES), torch.randn(NODES, WIDTH)]


def get_init_inputs():
    return []
