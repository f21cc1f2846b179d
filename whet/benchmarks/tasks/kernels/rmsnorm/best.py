from ctypes import c_int64, c_void_p

import torch
import torch.nn as nn
import whet_native

CPP = r"""
#include <cmath>
#include <cstdint>

extern "C" void rmsnorm(const float *x, const float *weight, float *out, int64_t rows, int64_t width) {
#pragma omp parallel for
  for (int64_t row = 0; row < rows; row++) {
    const float *a = x + row * width;
    float *b = out + row * width;
    float squares = 0.0f;
#pragma omp simd reduction(+ : squares)
    for (int64_t i = 0; i < width; i++) squares += a[i] * a[i];
    const float factor = 1.0f / std::sqrt(squares / static_cast<float>(width) + 1e-6f);
#pragma omp simd
    for (int64_t i = 0; i < width; i++) b[i] = a[i] * factor * weight[i];
  }
}
"""
KERNEL = whet_native.load(CPP).rmsnorm
KERNEL.argtypes, KERNEL.restype = [c_void_p] * 3 + [c_int64] * 2, None


class ModelNew(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(1.0 + 0.1 * torch.randn(width))

    def forward(self, x):
        x = x.contiguous()
        out = torch.empty_like(x)
        KERNEL(x.data_ptr(), self.weight.data_ptr(), out.data_ptr(), x.numel() // x.shape[-1], x.shape[-1])
        return out
