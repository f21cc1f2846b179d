#include <cstdint>

extern "C" void int8_gemv(const int8_t *weight, const float *scale, const float *x, float *out, int64_t outputs,
                          int64_t inputs) {
  for (int64_t row = 0; row < outputs; row++) {
    const int8_t *w = weight + row * inputs;
    float sums[64] = {};  // sums of their own, so that they can be made side by side
    int64_t i = 0;
    for (; i + 64 <= inputs; i += 64)
      for (int k = 0; k < 64; k++) sums[k] += static_cast<float>(w[i + k]) * x[i + k];
    float sum = 0.0f;
    for (int k = 0; k < 64; k++) sum += sums[k];
    for (; i < inputs; i++) sum += static_cast<float>(w[i]) * x[i];
    out[row] = sum * scale[row];
  }
}
