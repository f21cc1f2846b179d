from ctypes import c_double, c_int64, c_void_p

import torch
import whet_native

CPP = r"""
#include <cmath>
#include <cstdint>

extern "C" void rmsnorm(const float *x, const float *weight, float *out, int64_t rows, int64_t width, double epsilon) {
#pragma omp parallel for
  for (int64_t row = 0; row < rows; row++) {
    const float *a = x + row * width;
    float *b = out + row * width;
    float squares = 0.0f;
#pragma omp simd reduction(+ : squares)
    for (int64_t i = 0; i < width; i++) squares += a[i] * a[i];
    const float factor = 1.0f / std::sqrt(squares / static_cast<float>(width) + static_cast<float>(epsilon));
#pragma omp simd
    for (int64_t i = 0; i < width; i++) b[i] = a[i] * factor * weight[i];
  }
}
"""
KERNEL = whet_native.load(CPP).rmsnorm
KERNEL.argtypes, KERNEL.restype = [c_void_p] * 3 + [c_int64] * 2 + [c_double], None


def forward_fn(x, weight, epsilon):
    x = x.contiguous()
    out = torch.empty_like(x)
    KERNEL(x.data_ptr(), weight.data_ptr(), out.data_ptr(), x.numel() // x.shape[-1], x.shape[-1], epsilon)
    return out
