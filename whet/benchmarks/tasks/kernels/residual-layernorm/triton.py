import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def layernorm(x, residual, weight, bias, out, width, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    i = tl.arange(0, BLOCK)
    inside = i < width
    total = tl.load(x + row * width + i, mask=inside, other=0.0) + tl.load(
        residual + row * width + i, mask=inside, other=0.0
    )
    mean = tl.sum(total, axis=0) / width
    centred = tl.where(inside, total - mean, 0.0)
    factor = tl.rsqrt(tl.sum(centred * centred, axis=0) / width + 1e-5)
    w = tl.load(weight + i, mask=inside, other=0.0)
    b = tl.load(bias + i, mask=inside, other=0.0)
    tl.store(out + row * width + i, centred * factor * w + b, mask=inside)


class ModelNew(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(1.0 + 0.1 * torch.randn(width))
        self.bias = nn.Parameter(0.1 * torch.randn(width))

    def forward(self, x, residual):
        x, residual = x.contiguous(), residual.contiguous()
        out = torch.empty_like(x)
        rows, width = x.numel() // x.shape[-1], x.shape[-1]
        layernorm[(rows,)](x, residual, self.weight, self.bias, out, width, BLOCK=triton.next_power_of_2(width))
        return out
