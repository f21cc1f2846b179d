from ctypes import c_int64, c_void_p

import torch
import torch.nn as nn
import whet_native

CPP = r"""
#include <cstdint>

extern "C" void look_up(const int64_t *codes, const float *dots, const float *scales, float *out, int64_t outputs,
                        int64_t parts, int64_t words) {
  for (int64_t row = 0; row < outputs; row++) {
    const int64_t *code = codes + row * parts;
    float sums[4] = {};
    int64_t i = 0;
    for (; i + 4 <= parts; i += 4)
      for (int64_t k = 0; k < 4; k++) sums[k] += dots[(i + k) * words + code[i + k]];
    for (; i < parts; i++) sums[0] += dots[i * words + code[i]];
    out[row] = (sums[0] + sums[1] + (sums[2] + sums[3])) * scales[row];
  }
}
"""
KERNEL = whet_native.load(CPP).look_up
KERNEL.argtypes, KERNEL.restype = [c_void_p] * 4 + [c_int64] * 3, None


class ModelNew(nn.Module):
    def forward(self, codes, codebook, scales, x):
        codes, scales = codes.contiguous(), scales.contiguous()
        words, length = codebook.shape
        dots = x.view(-1, length) @ codebook.T
        out = torch.empty_like(scales)
        pointers = [one.data_ptr() for one in (codes, dots, scales, out)]
        KERNEL(*pointers, *codes.shape, words)
        return out
