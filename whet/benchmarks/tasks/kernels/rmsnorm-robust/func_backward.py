import torch
import torch.nn as nn


def forward_fn(x, weight, epsilon):
    return x / torch.sqrt((x * x).mean(dim=-1, keepdim=True) + epsilon) * weight


class AutogradFunction(torch.autograd.Function):
    backward_fn = None

    @staticmethod
    def forward(ctx, x, weight, epsilon):
        factor = torch.rsqrt((x * x).mean(dim=-1, keepdim=True) + epsilon)
        ctx.save_for_backward(x, weight)
        ctx.epsilon = epsilon
        return x * factor * weight

    @staticmethod
    def backward(ctx, gradient):
        return (*AutogradFunction.backward_fn(gradient, *ctx.saved_tensors, ctx.epsilon), None)


class Model(nn.Module):
    def __init__(self, width=256, epsilon=1e-5):
        super().__init__()
        self.epsilon = epsilon
        self.weight = nn.Parameter(1.0 + 0.1 * torch.randn(width))

    def forward(self, x, fn=forward_fn):
        return fn(x, self.weight, self.epsilon)


def get_inputs(rows=64, width=256):
    return [torch.randn(rows, width)]


input_names = ["x"]
