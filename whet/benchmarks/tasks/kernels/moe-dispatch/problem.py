import torch
import torch.nn as nn

TOKENS = 512
EXPERTS = 16
CHOSEN = 2
WIDTH = 64
HIDDEN = 128


class Model(nn.Module):
    def __init__(self, experts, chosen, width, hidden):
        super().__init__()
        self.chosen = chosen
        self.up = nn.Parameter(torch.randn(experts, width, hidden) * width**-0.5)
        self.down = nn.Parameter(torch.randn(experts, hidden, width) * hidden**-0.5)

    def forward(self, x, logits):
        best, experts = torch.topk(logits, self.chosen, dim=-1)
        shares = torch.softmax(best, dim=-1)
        out = torch.zeros_like(x)
        for expert in range(len(self.up)):
            y = torch.relu(x @ self.up[expert]) @ self.down[expert]
            share = (shares * (experts == expert)).sum(dim=-1, keepdim=True)
            out = out + share * y
        return out


def get_inputs():
    return [torch.randn(TOKENS, WIDTH), torch.randn(TOKENS, EXPERTS)]


def get_init_inputs():
    return [EXPERTS, CHOSEN, WIDTH, HIDDEN]
