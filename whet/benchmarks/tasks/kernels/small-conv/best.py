from ctypes import c_int64, c_void_p

import torch
import torch.nn as nn
import whet_native

CPP = r"""
#include <cmath>
#include <cstdint>

extern "C" void small_conv(const float *x, const float *weight, const float *bias, float *out, int64_t batch,
                           int64_t filters, int64_t height, int64_t width) {
  const int64_t rows = height - 4, columns = width - 4;
#pragma omp parallel for
  for (int64_t n = 0; n < batch; n++) {
    for (int64_t f = 0; f < filters; f++) {
      const float *w = weight + f * 25;
      float *b = out + (n * filters + f) * (rows / 2) * (columns / 2);
      for (int64_t row = 0; row + 1 < rows; row += 2) {
        for (int64_t start = 0; start < columns; start += 32) {
          const int64_t count = columns - start < 32 ? columns - start : 32;
          float sums[2][32] = {};
          for (int64_t r = 0; r < 2; r++) {
            for (int64_t i = 0; i < 5; i++) {
              const float *line = x + (n * height + row + r + i) * width + start;
              for (int64_t j = 0; j < 5; j++) {
                const float factor = w[5 * i + j];
#pragma omp simd
                for (int64_t c = 0; c < count; c++) sums[r][c] += factor * line[c + j];
              }
            }
          }
          for (int64_t c = 0; c + 1 < count; c += 2) {
            const float upper = sums[0][c] > sums[0][c + 1] ? sums[0][c] : sums[0][c + 1];
            const float lower = sums[1][c] > sums[1][c + 1] ? sums[1][c] : sums[1][c + 1];
            const float y = (upper > lower ? upper : lower) + bias[f];
            b[row / 2 * (columns / 2) + (start + c) / 2] = y < 0.0f ? 0.0f : y;
          }
        }
      }
    }
  }
}
"""
KERNEL = whet_native.load(CPP).small_conv
KERNEL.argtypes, KERNEL.restype = [c_void_p] * 4 + [c_int64] * 4, None


class ModelNew(nn.Module):
    def __init__(self, filters):
        super().__init__()
        self.weight = nn.Parameter(0.2 * torch.randn(filters, 1, 5, 5))
        self.bias = nn.Parameter(0.1 * torch.randn(filters))

    def forward(self, x):
        x = x.contiguous()
        batch, _, height, width = x.shape
        filters = self.weight.shape[0]
        out = x.new_empty(batch, filters, (height - 4) // 2, (width - 4) // 2)
        parameters = (self.weight.data_ptr(), self.bias.data_ptr())
        KERNEL(x.data_ptr(), *parameters, out.data_ptr(), batch, filters, height, width)
        return out
