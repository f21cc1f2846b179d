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

extern "C" void causal_conv(const float *x, const float *weight, const float *bias, float *out, int64_t rows,
                            int64_t channels, int64_t steps, int64_t taps) {
#pragma omp parallel for
  for (int64_t row = 0; row < rows; row++) {
    const float *a = x + row * steps;
    const float *w = weight + row % channels * taps;
    float *b = out + row * steps;
    for (int64_t i = 0; i < steps; i++) b[i] = bias[row % channels];
    for (int64_t k = 0; k < taps; k++) {
      const int64_t late = taps - 1 - k;
      const float factor = w[k];
#pragma omp simd
      for (int64_t i = late; i < steps; i++) b[i] += factor * a[i - late];
    }
#pragma omp simd
    for (int64_t i = 0; i < steps; i++) b[i] = b[i] / (1.0f + exp_(-b[i]));
  }
}
"""
KERNEL = whet_native.load(CPP, flags=(*whet_native.FLAGS, "-std=c++20")).causal_conv
KERNEL.argtypes, KERNEL.restype = [c_void_p] * 4 + [c_int64] * 4, None


class ModelNew(nn.Module):
    def __init__(self, channels, taps):
        super().__init__()
        self.weight = nn.Parameter(0.4 * torch.randn(channels, 1, taps))
        self.bias = nn.Parameter(0.1 * torch.randn(channels))

    def forward(self, x):
        x = x.contiguous()
        out = torch.empty_like(x)
        batch, channels, steps = x.shape
        parameters = (self.weight.data_ptr(), self.bias.data_ptr())
        KERNEL(x.data_ptr(), *parameters, out.data_ptr(), batch * channels, channels, steps, self.weight.shape[-1])
        return out
