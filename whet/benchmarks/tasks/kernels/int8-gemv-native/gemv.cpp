#include <cstdint>

extern "C" void int8_gemv(const int8_t *weight, const float *scale, const float *x, float *out, int64_t outputs,
                          int64_t inputs) {
  for (int64_t row = 0; row < outputs; row++) {
    float sum = 0.0f;
    for (int64_t i = 0; i < inputs; i++) sum += scale[row] * weight[row * inputs + i] * x[i];
    out[row] = sum;
  }
}
