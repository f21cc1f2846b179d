import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def int8_gemv(weight, scale, x, out, inputs, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    total = tl.zeros((BLOCK,), dtype=tl.float32)
    for start in range(0, inputs, BLOCK):
        i = start + tl.arange(0, BLOCK)
        inside = i < inputs
        w = tl.load(weight + row * inputs + i, mask=inside, other=0).to(tl.float32)
        total += w * tl.load(x + i, mask=inside, other=0.0)
    tl.store(out + row, tl.sum(total, axis=0) * tl.load(scale + row))


class ModelNew(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.register_buffer("weight", torch.randint(-127, 128, (outputs, inputs), dtype=torch.int8))
        self.register_buffer("scale", 0.001 + 0.001 * torch.rand(outputs))

    def forward(self, x):
        x = x.contiguous()
        outputs, inputs = self.weight.shape
        out = x.new_empty(outputs)
        int8_gemv[(outputs,)](self.weight, self.scale, x, out, inputs, BLOCK=1024)
        return out
