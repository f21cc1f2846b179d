import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def rmsnorm(x, weight, out, rows, width, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    inside = i < width
    w = tl.load(weight + i, mask=inside, other=0.0)
    for row in range(rows):
        a = tl.load(x + row * width + i, mask=inside, other=0.0)
        factor = tl.rsqrt(tl.sum(a * a, axis=0) / width + 1e-6)
        tl.store(out + row * width + i, a * factor * w, mask=inside)


class ModelNew(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(1.0 + 0.1 * torch.randn(width))

    def forward(self, x):
        x = x.contiguous()
        out = torch.empty_like(x)
        rows, width = x.numel() // x.shape[-1], x.shape[-1]
        rmsnorm[(1,)](x, self.weight, out, rows, width, BLOCK=triton.next_power_of_2(width), num_warps=1)
        return out
