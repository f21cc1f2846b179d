import torch
import torch.nn as nn
import triton
import triton.language as tl

TINY = tl.constexpr(1e-30)


@triton.jit
def square(r, dots, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    own = tl.load(r + i, mask=i < n, other=0.0)
    tl.atomic_add(dots, tl.sum(own * own, axis=0).to(tl.float64))


@triton.jit
def times(hold, p, q, dots, rows, columns, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = i < rows * columns
    row, column = i // columns, i % columns
    around = tl.load(p + i - columns, mask=inside & (row > 0), other=0.0)
    around += tl.load(p + i + columns, mask=inside & (row < rows - 1), other=0.0)
    around += tl.load(p + i - 1, mask=inside & (column > 0), other=0.0)
    around += tl.load(p + i + 1, mask=inside & (column < columns - 1), other=0.0)
    own, held = tl.load(p + i, mask=inside, other=0.0), tl.load(hold + i, mask=inside, other=0.0)
    product = (5.0 + held * held) * own - around
    tl.store(q + i, product, mask=inside)
    tl.atomic_add(dots + 1, tl.sum(own * product, axis=0).to(tl.float64))


@triton.jit
def step(x, r, p, q, dots, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = i < n
    length = (tl.load(dots) / (tl.load(dots + 1) + TINY)).to(tl.float32)
    tl.store(x + i, tl.load(x + i, mask=inside) + length * tl.load(p + i, mask=inside), mask=inside)
    left = tl.load(r + i, mask=inside, other=0.0) - length * tl.load(q + i, mask=inside, other=0.0)
    tl.store(r + i, left, mask=inside)
    tl.atomic_add(dots + 2, tl.sum(left * left, axis=0).to(tl.float64))


@triton.jit
def turn(r, p, dots, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = i < n
    share = (tl.load(dots + 2) / (tl.load(dots) + TINY)).to(tl.float32)
    tl.store(p + i, tl.load(r + i, mask=inside) + share * tl.load(p + i, mask=inside), mask=inside)


class ModelNew(nn.Module):
    def __init__(self, iterations):
        super().__init__()
        self.iterations = iterations

    def forward(self, hold, b):
        hold, r, p = hold.contiguous(), b.clone(), b.clone()
        x, q = torch.zeros_like(r), torch.empty_like(r)
        # The square of the residual before an iteration, its curvature, the square after it, which is the next one's.
        # In float64: the order in which blocks add to them differs from launch to launch.
        dots = torch.zeros(2 * self.iterations + 1, device=b.device, dtype=torch.float64)
        n, grid = r.numel(), (triton.cdiv(r.numel(), 1024),)
        square[grid](r, dots, n, BLOCK=1024)
        for iteration in range(self.iterations):
            own = dots[2 * iteration :]
            times[grid](hold, p, q, own, *r.shape, BLOCK=1024)
            step[grid](x, r, p, q, own, n, BLOCK=1024)
            turn[grid](r, p, own, n, BLOCK=1024)
        return x
