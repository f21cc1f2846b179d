import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, alpha, beta):
        super().__init__()
        self.alpha = alpha
        self.beta = beta

    def forward(self, a, b, c):
        return torch.addmm(c, a, b, beta=self.beta, alpha=self.alpha)
