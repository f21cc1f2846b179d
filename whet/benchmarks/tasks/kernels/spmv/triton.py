import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def spmv(starts, columns, values, x, out, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    first, last = tl.load(starts + row), tl.load(starts + row + 1)
    total = tl.zeros((BLOCK,), dtype=tl.float32)
    for start in range(first, last, BLOCK):
        i = start + tl.arange(0, BLOCK)
        inside = i < last
        column = tl.load(columns + i, mask=inside, other=0)
        total += tl.load(values + i, mask=inside, other=0.0) * tl.load(x + column, mask=inside, other=0.0)
    tl.store(out + row, tl.sum(total, axis=0))


class ModelNew(nn.Module):
    def forward(self, rows, columns, values, x):
        count = x.numel()  # the matrix is square
        starts = torch.searchsorted(rows, torch.arange(count + 1, device=rows.device))
        out = x.new_empty(count)
        spmv[(count,)](starts, columns.contiguous(), values.contiguous(), x.contiguous(), out, BLOCK=32, num_warps=1)
        return out
