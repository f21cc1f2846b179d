from ctypes import c_int64, c_void_p

import torch
import torch.nn as nn
import whet_native

CPP = r"""
#include <cmath>
#include <cstdint>

extern "C" void depthwise(const float *x, const float *weight, const float *scale, const float *shift, float *out,
                          int64_t planes, int64_t channels, int64_t height, int64_t width) {
#pragma omp parallel for
  for (int64_t plane = 0; plane < planes; plane++) {
    const float *a = x + plane * height * width;
    const float *w = weight + plane % channels * 9;
    const float factor = scale[plane % channels], offset = shift[plane % channels];
    float *b = out + plane * height * width;
    for (int64_t row = 0; row < height; row++) {
      float *sum = b + row * width;
      for (int64_t i = 0; i < width; i++) sum[i] = 0.0f;
      for (int64_t k = 0; k < 3; k++) {
        const int64_t from = row + k - 1;
        if (from < 0 || from >= height) continue;
        const float *line = a + from * width;
        const float left = w[3 * k], middle = w[3 * k + 1], right = w[3 * k + 2];
        sum[0] += middle * line[0] + (width > 1 ? right * line[1] : 0.0f);
#pragma omp simd
        for (int64_t i = 1; i < width - 1; i++) sum[i] += left * line[i - 1] + middle * line[i] + right * line[i + 1];
        if (width > 1) sum[width - 1] += left * line[width - 2] + middle * line[width - 1];
      }
#pragma omp simd
      for (int64_t i = 0; i < width; i++) {
        const float y = sum[i] * factor + offset;
        sum[i] = y < 0.0f ? 0.0f : y > 6.0f ? 6.0f : y;
      }
    }
  }
}
"""
KERNEL = whet_native.load(CPP).depthwise
KERNEL.argtypes, KERNEL.restype = [c_void_p] * 5 + [c_int64] * 4, None


class ModelNew(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.weight = nn.Parameter(0.3 * torch.randn(channels, 1, 3, 3))
        self.scale = nn.Parameter(1.0 + 0.1 * torch.randn(channels))
        self.shift = nn.Parameter(0.1 * torch.randn(channels))

    def forward(self, x):
        x = x.contiguous()
        out = torch.empty_like(x)
        batch, channels, height, width = x.shape
        parameters = (self.weight.data_ptr(), self.scale.data_ptr(), self.shift.data_ptr())
        KERNEL(x.data_ptr(), *parameters, out.data_ptr(), batch * channels, channels, height, width)
        return out
