from ctypes import c_int64, c_void_p

import torch
import torch.nn as nn
import whet_native

CPP = r"""
#include <bit>
#include <cmath>
#include <cstdint>

static inline float exp_(float x) {
  const float n = (x * 1.44269504f + 12582912.0f) - 12582912.0f;
  const float r = (x - n * 0.693359375f) + n * 2.12194440e-4f;
  float p = 1.9875691500e-4f;
  p = p * r + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  const float y = p * r * r + r + 1.0f;
  const float scaled = y * std::bit_cast<float>((static_cast<int32_t>(n) + 127) << 23);
  return x < -87.0f ? 0.0f : x > 88.0f ? INFINITY : scaled;
}

extern "C" void bias_gelu(const float *x, const float *bias, float *out, int64_t rows, int64_t width) {
#pragma omp parallel for
  for (int64_t row = 0; row < rows; row++) {
    const float *a = x + row * width;
    float *b = out + row * width;
#pragma omp simd
    for (int64_t i = 0; i < width; i++) {
      const float y = a[i] + bias[i];
      const float inner = 0.7978845608028654f * (y + 0.044715f * y * y * y);
      b[i] = y / (1.0f + exp_(-2.0f * inner));  // (1 + tanh z) / 2 is the logistic function of 2 z
    }
  }
}
"""
KERNEL = whet_native.load(CPP, flags=(*whet_native.FLAGS, "-std=c++20")).bias_gelu
KERNEL.argtypes, KERNEL.restype = [c_void_p] * 3 + [c_int64] * 2, None


class ModelNew(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.bias = nn.Parameter(0.1 * torch.randn(width))

    def forward(self, x):
        x = x.contiguous()
        out = torch.empty_like(x)
        KERNEL(x.data_ptr(), self.bias.data_ptr(), out.data_ptr(), x.numel() // x.shape[-1], x.shape[-1])
        return out
