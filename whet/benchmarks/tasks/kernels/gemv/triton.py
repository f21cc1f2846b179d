import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def gemv(a, x, y, out, alpha, beta, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), dtype=tl.float32)
    for start in range(0, columns, BLOCK):
        inside = start + i < columns
        part = tl.load(a + row.to(tl.int64) * columns + start + i, mask=inside, other=0.0)
        total += part * tl.load(x + start + i, mask=inside, other=0.0)
    tl.store(out + row, alpha * tl.sum(total, axis=0) + beta * tl.load(y + row))


class ModelNew(nn.Module):
    def __init__(self, alpha, beta):
        super().__init__()
        self.alpha = alpha
        self.beta = beta

    def forward(self, a, x, y):
        a, x, y = a.contiguous(), x.contiguous(), y.contiguous()
        rows, columns = a.shape
        out = torch.empty_like(y)
        gemv[(rows,)](a, x, y, out, self.alpha, self.beta, columns, BLOCK=1024)
        return out
