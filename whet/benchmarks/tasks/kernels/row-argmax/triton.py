import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def row_argmax(x, out, words, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    i = tl.arange(0, BLOCK)
    a = tl.load(x + row * words + i, mask=i < words, other=float("-inf"))
    tl.store(out + row, tl.argmax(a, axis=0).to(tl.int64))


class ModelNew(nn.Module):
    def forward(self, x):
        x = x.contiguous()
        rows, words = x.shape
        out = torch.empty(rows, dtype=torch.int64, device=x.device)
        row_argmax[(rows,)](x, out, words, BLOCK=triton.next_power_of_2(words), num_warps=8)
        return out
