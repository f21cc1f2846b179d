from ctypes import c_int64, c_void_p

import torch.nn as nn
import whet_native

CPP = r"""
#include <cstdint>

extern "C" void jacobi(const float *from, const float *source, float *to, int64_t rows, int64_t columns) {
#pragma omp parallel for
  for (int64_t row = 1; row < rows - 1; row++) {
    const float *here = from + row * columns, *given = source + row * columns;
    const float *above = here - columns, *below = here + columns;
    float *out = to + row * columns;
#pragma omp simd
    for (int64_t i = 1; i < columns - 1; i++) {
      out[i] = 0.25f * (above[i] + below[i] + here[i - 1] + here[i + 1]) + given[i];
    }
  }
}
"""
KERNEL = whet_native.load(CPP).jacobi
KERNEL.argtypes, KERNEL.restype = [c_void_p] * 3 + [c_int64] * 2, None


class ModelNew(nn.Module):
    def __init__(self, sweeps):
        super().__init__()
        self.sweeps = sweeps

    def forward(self, grid, source):
        grid, source = grid.contiguous(), source.contiguous()
        new, spare = grid.clone(), grid.clone()
        for _ in range(self.sweeps):
            KERNEL(grid.data_ptr(), source.data_ptr(), new.data_ptr(), *grid.shape)
            grid, new, spare = new, spare, new
        return grid
