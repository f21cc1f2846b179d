import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def causal_conv(x, weight, bias, out, channels, steps, TAPS: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    i = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    y = tl.zeros((BLOCK,), dtype=tl.float32) + tl.load(bias + row % channels)
    for k in tl.static_range(TAPS):
        place = i - (TAPS - 1 - k)
        value = tl.load(x + row * steps + place, mask=(place >= 0) & (place < steps), other=0.0)
        y += value * tl.load(weight + row % channels * TAPS + k)
    tl.store(out + row * steps + i, y / (1.0 + tl.exp(-y)), mask=i < steps)


class ModelNew(nn.Module):
    def __init__(self, channels, taps):
        super().__init__()
        self.weight = nn.Parameter(0.4 * torch.randn(channels, 1, taps))
        self.bias = nn.Parameter(0.1 * torch.randn(channels))

    def forward(self, x):
        x = x.contiguous()
        out = torch.empty_like(x)
        batch, channels, steps = x.shape
        grid = (batch * channels, triton.cdiv(steps, 512))
        causal_conv[grid](x, self.weight, self.bias, out, channels, steps, TAPS=self.weight.shape[-1], BLOCK=512)
        return out
