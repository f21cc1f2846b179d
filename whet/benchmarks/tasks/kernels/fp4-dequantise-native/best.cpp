#include <cmath>
#include <cstdint>

static const float VALUES[16] = {0.0f, 0.5f, 1.0f, 1.5f, 2.0f, 3.0f, 4.0f, 6.0f,
                                 -0.0f, -0.5f, -1.0f, -1.5f, -2.0f, -3.0f, -4.0f, -6.0f};

extern "C" void fp4_dequantise(const uint8_t *codes, const uint8_t *exponents, float *out, int64_t blocks) {
  for (int64_t block = 0; block < blocks; block++) {
    const float scale = std::ldexp(1.0f, exponents[block] - 127);
    float values[16];
    for (int code = 0; code < 16; code++) values[code] = VALUES[code] * scale;
    const uint8_t *from = codes + 16 * block;
    float *to = out + 32 * block;
    for (int i = 0; i < 16; i++) {
      to[2 * i] = values[from[i] & 15];
      to[2 * i + 1] = values[from[i] >> 4];
    }
  }
}
