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

extern "C" void cross_entropy(const float *logits, const int64_t *targets, float *loss, int64_t rows, int64_t words) {
#pragma omp parallel for
  for (int64_t row = 0; row < rows; row++) {
    const float *a = logits + row * words;
    float most = -INFINITY;
#pragma omp simd reduction(max : most)
    for (int64_t i = 0; i < words; i++) most = a[i] > most ? a[i] : most;
    float sum = 0.0f;
#pragma omp simd reduction(+ : sum)
    for (int64_t i = 0; i < words; i++) sum += exp_(a[i] - most);
    loss[row] = std::log(sum) - (a[targets[row]] - most);
  }
}
"""
KERNEL = whet_native.load(CPP, flags=(*whet_native.FLAGS, "-std=c++20")).cross_entropy
KERNEL.argtypes, KERNEL.restype = [c_void_p] * 3 + [c_int64] * 2, None


class ModelNew(nn.Module):
    def forward(self, logits, targets):
        logits, targets = logits.contiguous(), targets.contiguous()
        loss = logits.new_empty(logits.shape[0])
        KERNEL(logits.data_ptr(), targets.data_ptr(), loss.data_ptr(), *logits.shape)
        return loss
