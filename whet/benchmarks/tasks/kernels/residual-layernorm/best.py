from ctypes import c_int64, c_void_p

import torch
import torch.nn as nn
import whet_native

CPP = r"""
#include <cmath>
#include <cstdint>

extern "C" void layernorm(const float *x, const float *residual, const float *weight, const float *bias, float *out,
                          int64_t rows, int64_t width) {
#pragma omp parallel for
  for (int64_t row = 0; row < rows; row++) {
    const float *a = x + row * width, *b = residual + row * width;
    float *c = out + row * width;
    float sum = 0.0f;
#pragma omp simd reduction(+ : sum)
    for (int64_t i = 0; i < width; i++) {
      c[i] = a[i] + b[i];
      sum += c[i];
    }
    const float mean = sum / static_cast<float>(width);
    float squares = 0.0f;
#pragma omp simd reduction(+ : squares)
    for (int64_t i = 0; i < width; i++) squares += (c[i] - mean) * (c[i] - mean);
    const float factor = 1.0f / std::sqrt(squares / static_cast<float>(width) + 1e-5f);
#pragma omp simd
    for (int64_t i = 0; i < width; i++) c[i] = (c[i] - mean) * factor * weight[i] + bias[i];
  }
}
"""
KERNEL = whet_native.load(CPP).layernorm
KERNEL.argtypes, KERNEL.restype = [c_void_p] * 5 + [c_int64] * 2, None


class ModelNew(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(1.0 + 0.1 * torch.randn(width))
        self.bias = nn.Parameter(0.1 * torch.randn(width))

    def forward(self, x, residual):
        x, residual = x.contiguous(), residual.contiguous()
        out = torch.empty_like(x)
        rows, width = x.numel() // x.shape[-1], x.shape[-1]
        KERNEL(
            x.data_ptr(), residual.data_ptr(), self.weight.data_ptr(), self.bias.data_ptr(), out.data_ptr(), rows, width
        )
        return out
