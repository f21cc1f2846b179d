import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def rmsnorm(x, weight, out, width, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    i = tl.arange(0, BLOCK)
    inside = i < width
    a = tl.load(x + row * width + i, mask=inside, other=0.0)
    factor = tl.rsqrt(tl.sum(a * a, axis=0) / width + 1e-6)
    w = tl.load(weight + i, mask=inside, other=0.0)
    tl.store(out + row * width + i, a * factor * w, mask=inside)


class ModelNew(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(1.0 + 0.1 * torch.randn(width))

    def forward(self, x):
        x = x.contiguous()
        out = torch.empty_like(x)
        rows, width = x.numel() // x.shape[-1], x.shape[-1]
        rmsnorm[(rows,)](x, self.weight, out, width, BLOCK=triton.next_power_of_2(width))
        return out
