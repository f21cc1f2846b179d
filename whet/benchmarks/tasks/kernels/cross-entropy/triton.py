import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def cross_entropy(logits, targets, loss, words, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    i = tl.arange(0, BLOCK)
    x = tl.load(logits + row * words + i, mask=i < words, other=float("-inf"))
    most = tl.max(x, axis=0)
    sum = tl.sum(tl.exp(x - most), axis=0)
    picked = tl.load(logits + row * words + tl.load(targets + row))
    tl.store(loss + row, tl.log(sum) - (picked - most))


class ModelNew(nn.Module):
    def forward(self, logits, targets):
        logits, targets = logits.contiguous(), targets.contiguous()
        rows, words = logits.shape
        loss = logits.new_empty(rows)
        cross_entropy[(rows,)](logits, targets, loss, words, BLOCK=triton.next_power_of_2(words), num_warps=8)
        return loss
