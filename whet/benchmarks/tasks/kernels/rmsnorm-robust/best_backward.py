from ctypes import c_double, c_int64, c_void_p

import torch
import whet_native

CPP = r"""
#include <cmath>
#include <cstdint>
#include <vector>

extern "C" void rmsnorm_backward(const float *gradient, const float *x, const float *weight, float *to_x, float *to_weight,
                                 int64_t rows, int64_t width, double epsilon) {
  // Terms cancel in both gradients: what is left of them needs the bits of a double.
  std::vector<double> sums(width, 0.0);
  for (int64_t row = 0; row < rows; row++) {
    const float *g = gradient + row * width, *a = x + row * width;
    float *out = to_x + row * width;
    double squares = 0.0, along = 0.0;
#pragma omp simd reduction(+ : squares, along)
    for (int64_t i = 0; i < width; i++) {
      squares += static_cast<double>(a[i]) * a[i];
      along += static_cast<double>(g[i]) * weight[i] * a[i];
    }
    const double f = 1.0 / std::sqrt(squares / static_cast<double>(width) + epsilon);
    const double back = along * f * f * f / static_cast<double>(width);
#pragma omp simd
    for (int64_t i = 0; i < width; i++) {
      out[i] = static_cast<float>(static_cast<double>(g[i]) * weight[i] * f - a[i] * back);
      sums[i] += static_cast<double>(g[i]) * a[i] * f;
    }
  }
  for (int64_t i = 0; i < width; i++) to_weight[i] = static_cast<float>(sums[i]);
}
"""
KERNEL = whet_native.load(CPP).rmsnorm_backward
KERNEL.argtypes, KERNEL.restype = [c_void_p] * 5 + [c_int64] * 2 + [c_double], None


def backward_fn(gradient, x, weight, epsilon):
    gradient, x = gradient.contiguous(), x.contiguous()
    to_x, to_weight = torch.empty_like(x), torch.empty_like(weight)
    rows, width = x.numel() // x.shape[-1], x.shape[-1]
    given = (gradient, x, weight, to_x, to_weight)
    KERNEL(*(one.data_ptr() for one in given), rows, width, epsilon)
    return to_x, to_weight
