import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def short_attention(q, k, v, out, scale, TOKENS: tl.constexpr, WIDTH: tl.constexpr):
    base = tl.program_id(0).to(tl.int64) * TOKENS * WIDTH
    i, d = tl.arange(0, TOKENS), tl.arange(0, WIDTH)
    place = base + i[:, None] * WIDTH + d[None, :]
    queries, values = tl.load(q + place), tl.load(v + place)
    turned = tl.load(k + base + i[None, :] * WIDTH + d[:, None])
    scores = tl.dot(queries, turned, input_precision="tf32") * scale
    scores = tl.where(i[None, :] <= i[:, None], scores, float("-inf"))
    e = tl.exp(scores - tl.max(scores, axis=1)[:, None])
    p = e / tl.sum(e, axis=1)[:, None]
    tl.store(out + place, tl.dot(p, values, input_precision="tf32"))


class ModelNew(nn.Module):
    def forward(self, q, k, v):
        q, k, v = q.contiguous(), k.contiguous(), v.contiguous()
        out = torch.empty_like(q)
        heads, tokens, width = q.shape
        short_attention[(heads,)](q, k, v, out, width**-0.5, TOKENS=tokens, WIDTH=width)
        return out
