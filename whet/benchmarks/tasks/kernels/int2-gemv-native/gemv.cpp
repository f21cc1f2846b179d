#include <cstdint>

constexpr int64_t GROUP = 64;  // weights that share a scale

// Four weights a byte, the lowest bits first; each is a whole number from -2 to 1.
extern "C" void int2_gemv(const uint8_t *weight, const float *scale, const float *x, float *out, int64_t outputs,
                          int64_t groups) {
  const int64_t inputs = GROUP * groups;
  for (int64_t row = 0; row < outputs; row++) {
    float sum = 0.0f;
    for (int64_t i = 0; i < inputs; i++) {
      const uint8_t byte = weight[(row * inputs + i) / 4];
      const int code = byte >> 2 * (i % 4) & 3;
      sum += scale[row * groups + i / GROUP] * static_cast<float>(code - 2) * x[i];
    }
    out[row] = sum;
  }
}
