from ctypes import c_int64, c_void_p

import torch
import torch.nn as nn
import whet_native

CPP = r"""
#include <cmath>
#include <cstdint>

extern "C" void column_energy(const float *x, float *out, int64_t rows, int64_t columns) {
  constexpr int64_t PART = 64;  // rows whose sum stays in one float: many small sums err less than one long one
#pragma omp parallel for
  for (int64_t start = 0; start < columns; start += 64) {
    const int64_t width = columns - start < 64 ? columns - start : 64;
    float total[64] = {};
    for (int64_t first = 0; first < rows; first += PART) {
      const int64_t last = first + PART < rows ? first + PART : rows;
      float part[64] = {};
      for (int64_t row = first; row < last; row++) {
        const float *a = x + row * columns + start;
        if (width == 64) {
#pragma omp simd
          for (int i = 0; i < 64; i++) part[i] += a[i] * a[i];
        } else {
          for (int64_t i = 0; i < width; i++) part[i] += a[i] * a[i];
        }
      }
      for (int i = 0; i < 64; i++) total[i] += part[i];
    }
    for (int64_t i = 0; i < width; i++) out[start + i] = total[i];
  }
}
"""
KERNEL = whet_native.load(CPP).column_energy
KERNEL.argtypes, KERNEL.restype = [c_void_p] * 2 + [c_int64] * 2, None


class ModelNew(nn.Module):
    def forward(self, x):
        x = x.contiguous()
        out = x.new_empty(x.shape[1])
        KERNEL(x.data_ptr(), out.data_ptr(), *x.shape)
        return out
