from ctypes import c_int64, c_void_p

import torch
import torch.nn as nn
import whet_native

CPP = r"""
#include <cmath>
#include <cstdint>

extern "C" void row_argmax(const float *x, int64_t *out, int64_t rows, int64_t words) {
#pragma omp parallel for
  for (int64_t row = 0; row < rows; row++) {
    const float *a = x + row * words;
    float most = -INFINITY;
    int unordered = 0;
#pragma omp simd reduction(max : most) reduction(| : unordered)
    for (int64_t i = 0; i < words; i++) {
      most = a[i] > most ? a[i] : most;
      unordered |= a[i] != a[i];
    }
    int64_t found = 0;
    while (found + 1 < words && !(unordered ? a[found] != a[found] : a[found] == most)) found++;
    out[row] = found;
  }
}
"""
KERNEL = whet_native.load(CPP).row_argmax
KERNEL.argtypes, KERNEL.restype = [c_void_p] * 2 + [c_int64] * 2, None


class ModelNew(nn.Module):
    def forward(self, x):
        x = x.contiguous()
        out = torch.empty(x.shape[0], dtype=torch.int64)
        KERNEL(x.data_ptr(), out.data_ptr(), *x.shape)
        return out
