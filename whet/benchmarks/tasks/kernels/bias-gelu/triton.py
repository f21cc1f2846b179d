import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def bias_gelu(x, bias, out, count, width, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = i < count
    y = tl.load(x + i, mask=inside, other=0.0) + tl.load(bias + i % width, mask=inside, other=0.0)
    inner = 0.7978845608028654 * (y + 0.044715 * y * y * y)
    tl.store(out + i, y / (1.0 + tl.exp(-2.0 * inner)), mask=inside)


class ModelNew(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.bias = nn.Parameter(0.1 * torch.randn(width))

    def forward(self, x):
        x = x.contiguous()
        out = torch.empty_like(x)
        bias_gelu[(triton.cdiv(x.numel(), 1024),)](x, self.bias, out, x.numel(), x.shape[-1], BLOCK=1024)
        return out
