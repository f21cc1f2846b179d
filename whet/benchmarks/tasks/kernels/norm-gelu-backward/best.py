import torch
import torch.nn as nn

EPSILON = 1e-5


class NormGelu(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight, bias):
        y, mean, factor = torch.native_layer_norm(x, x.shape[-1:], weight, bias, EPSILON)
        ctx.save_for_backward(x, weight, bias, mean, factor)
        return nn.functional.gelu(y, approximate="tanh")

    @staticmethod
    def backward(ctx, grad):
        x, weight, bias, mean, factor = ctx.saved_tensors
        y = torch.native_layer_norm(x, x.shape[-1:], weight, bias, EPSILON)[0]
        grad = torch.ops.aten.gelu_backward(grad.contiguous(), y, approximate="tanh")
        return torch.ops.aten.native_layer_norm_backward(
            grad, x, x.shape[-1:], mean, factor, weight, bias, [True, True, True]
        )


class ModelNew(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(1.0 + 0.1 * torch.randn(width))
        self.bias = nn.Parameter(0.1 * torch.randn(width))

    def forward(self, x):
        return NormGelu.apply(x, self.weight, self.bias)
