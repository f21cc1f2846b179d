#include <cstdint>
#include <vector>

constexpr int BYTES = 16;  // of a group of 64 weights
constexpr int PLANES = 4;  // weights of a byte

extern "C" void int2_gemv(const uint8_t *weight, const float *scale, const float *x, float *out, int64_t outputs,
                          int64_t groups) {
  std::vector<float> apart(PLANES * BYTES * groups);  // a group's inputs by their place in a byte
  for (int64_t group = 0; group < groups; group++)
    for (int plane = 0; plane < PLANES; plane++)
      for (int k = 0; k < BYTES; k++)
        apart[(group * PLANES + plane) * BYTES + k] = x[(group * BYTES + k) * PLANES + plane];
  for (int64_t row = 0; row < outputs; row++) {
    const uint8_t *w = weight + row * groups * BYTES;
    const float *planes = apart.data();
    float sums[BYTES] = {};  // sums of their own, so that they can be made side by side
    for (int64_t group = 0; group < groups; group++, w += BYTES, planes += PLANES * BYTES) {
      const float factor = scale[row * groups + group];
      for (int k = 0; k < BYTES; k++) {
        const float part = static_cast<float>((w[k] & 3) - 2) * planes[k] +
                           static_cast<float>((w[k] >> 2 & 3) - 2) * planes[BYTES + k] +
                           static_cast<float>((w[k] >> 4 & 3) - 2) * planes[2 * BYTES + k] +
                           static_cast<float>((w[k] >> 6) - 2) * planes[3 * BYTES + k];
        sums[k] += factor * part;
      }
    }
    float sum = 0.0f;
    for (int k = 0; k < BYTES; k++) sum += sums[k];
    out[row] = sum;
  }
}
