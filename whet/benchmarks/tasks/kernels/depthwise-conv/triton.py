import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def depthwise(x, weight, scale, shift, out, channels, height, width, BLOCK: tl.constexpr):
    plane = tl.program_id(0).to(tl.int64)
    channel = plane % channels
    i = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    row, column = i // width, i % width
    total = tl.zeros((BLOCK,), dtype=tl.float32)
    for k in tl.static_range(9):
        r, c = row + k // 3 - 1, column + k % 3 - 1
        inside = (r >= 0) & (r < height) & (c >= 0) & (c < width)
        value = tl.load(x + plane * height * width + r * width + c, mask=inside, other=0.0)
        total += value * tl.load(weight + channel * 9 + k)
    y = total * tl.load(scale + channel) + tl.load(shift + channel)
    y = tl.minimum(tl.maximum(y, 0.0), 6.0)
    tl.store(out + plane * height * width + i, y, mask=i < height * width)


class ModelNew(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.weight = nn.Parameter(0.3 * torch.randn(channels, 1, 3, 3))
        self.scale = nn.Parameter(1.0 + 0.1 * torch.randn(channels))
        self.shift = nn.Parameter(0.1 * torch.randn(channels))

    def forward(self, x):
        x = x.contiguous()
        out = torch.empty_like(x)
        batch, channels, height, width = x.shape
        grid = (batch * channels, triton.cdiv(height * width, 512))
        depthwise[grid](x, self.weight, self.scale, self.shift, out, channels, height, width, BLOCK=512)
        return out
