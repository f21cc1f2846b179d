#include <cstdint>
#include <vector>

constexpr int LANES = 32;

extern "C" void int4_gemv(const uint8_t *weight, const float *scale, const float *x, float *out, int64_t outputs,
                          int64_t pairs) {
  std::vector<float> apart(2 * pairs);  // what meets lower halves, then what meets upper ones
  float *low = apart.data(), *high = low + pairs;
  for (int64_t i = 0; i < pairs; i++) low[i] = x[2 * i], high[i] = x[2 * i + 1];
  for (int64_t row = 0; row < outputs; row++) {
    const uint8_t *w = weight + row * pairs;
    float sums[LANES] = {};  // sums of their own, so that they can be made side by side
    int64_t i = 0;
    for (; i + LANES <= pairs; i += LANES)
      for (int k = 0; k < LANES; k++)
        sums[k] += static_cast<float>((w[i + k] & 15) - 8) * low[i + k] +
                   static_cast<float>((w[i + k] >> 4) - 8) * high[i + k];
    float sum = 0.0f;
    for (int k = 0; k < LANES; k++) sum += sums[k];
    for (; i < pairs; i++)
      sum += static_cast<float>((w[i] & 15) - 8) * low[i] + static_cast<float>((w[i] >> 4) - 8) * high[i];
    out[row] = sum * scale[row];
  }
}
