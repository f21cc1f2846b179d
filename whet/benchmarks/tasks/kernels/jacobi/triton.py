import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def jacobi(grid, source, out, rows, columns, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = i < rows * columns
    row, column = i // columns, i % columns
    inner = inside & (row > 0) & (row < rows - 1) & (column > 0) & (column < columns - 1)
    above = tl.load(grid + i - columns, mask=inner, other=0.0)
    below = tl.load(grid + i + columns, mask=inner, other=0.0)
    left = tl.load(grid + i - 1, mask=inner, other=0.0)
    right = tl.load(grid + i + 1, mask=inner, other=0.0)
    mean = 0.25 * (above + below + left + right) + tl.load(source + i, mask=inner, other=0.0)
    tl.store(out + i, tl.where(inner, mean, tl.load(grid + i, mask=inside, other=0.0)), mask=inside)


class ModelNew(nn.Module):
    def __init__(self, sweeps):
        super().__init__()
        self.sweeps = sweeps

    def forward(self, grid, source):
        grid, source = grid.contiguous(), source.contiguous()
        new, spare = torch.empty_like(grid), torch.empty_like(grid)
        for _ in range(self.sweeps):
            jacobi[(triton.cdiv(grid.numel(), 1024),)](grid, source, new, *grid.shape, BLOCK=1024)
            grid, new, spare = new, spare, new
        return grid
