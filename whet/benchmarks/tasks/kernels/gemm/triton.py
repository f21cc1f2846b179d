import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def gemm(a, b, c, out, alpha, beta, rows, inner, columns, HIGH: tl.constexpr, WIDE: tl.constexpr, DEEP: tl.constexpr):
    row = tl.program_id(0) * HIGH + tl.arange(0, HIGH)
    column = tl.program_id(1) * WIDE + tl.arange(0, WIDE)
    k = tl.arange(0, DEEP)
    total = tl.zeros((HIGH, WIDE), dtype=tl.float32)
    for start in range(0, inner, DEEP):
        deep = start + k
        left = (row < rows)[:, None] & (deep < inner)[None, :]
        right = (deep < inner)[:, None] & (column < columns)[None, :]
        one = tl.load(a + row[:, None] * inner + deep[None, :], mask=left, other=0.0)
        other = tl.load(b + deep[:, None] * columns + column[None, :], mask=right, other=0.0)
        total += tl.dot(one, other, input_precision="ieee")
    at = row[:, None] * columns + column[None, :]
    inside = (row < rows)[:, None] & (column < columns)[None, :]
    tl.store(out + at, alpha * total + beta * tl.load(c + at, mask=inside, other=0.0), mask=inside)


class ModelNew(nn.Module):
    def __init__(self, alpha, beta):
        super().__init__()
        self.alpha = alpha
        self.beta = beta

    def forward(self, a, b, c):
        a, b, c = a.contiguous(), b.contiguous(), c.contiguous()
        (rows, inner), columns = a.shape, b.shape[1]
        out = torch.empty_like(c)
        grid = (triton.cdiv(rows, 64), triton.cdiv(columns, 64))
        gemm[grid](a, b, c, out, self.alpha, self.beta, rows, inner, columns, HIGH=64, WIDE=64, DEEP=32)
        return out
