#include <cstdint>

// Two weights a byte, the lower half first; each is a whole number from -8 to 7.
extern "C" void int4_gemv(const uint8_t *weight, const float *scale, const float *x, float *out, int64_t outputs,
                          int64_t pairs) {
  for (int64_t row = 0; row < outputs; row++) {
    float sum = 0.0f;
    for (int64_t i = 0; i < 2 * pairs; i++) {
      const uint8_t byte = weight[row * pairs + i / 2];
      const int code = i % 2 == 0 ? byte & 15 : byte >> 4;
      sum += scale[row] * static_cast<float>(code - 8) * x[i];
    }
    out[row] = sum;
  }
}
