import torch
import torch.nn as nn

ROWS = 4096
ENTRIES = 65536


class Model(nn.Module):
    def forward(self, rows, columns, values, x):
        out = torch.zeros(ROWS, device=x.device)
        return out.index_add(0, rows, values * x[columns])


def get_inputs():
    rows = torch.sort(torch.randint(0, ROWS, (ENTRIES,))).values
    columns = torch.randint(0, ROWS, (ENTRIES,))
    return [rows, columns, torch.randn(ENTRIES), torch.randn(ROWS)]


def get_init_inputs():
    return []
