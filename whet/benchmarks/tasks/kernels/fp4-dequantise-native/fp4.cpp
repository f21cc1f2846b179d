#include <cmath>
#include <cstdint>

// A sign, two bits of exponent and one of mantissa: 0, 0.5, 1, 1.5, 2, 3, 4 and 6, and their negatives.
static float value(int code) {
  const int exponent = code >> 1 & 3, mantissa = code & 1;
  const float size = exponent == 0 ? 0.5f * mantissa : std::ldexp(1.0f + 0.5f * mantissa, exponent - 1);
  return code & 8 ? -size : size;
}

// Blocks of 32 values, two a byte, the lower half first; a block shares a power of two, whose exponent is stored plus 127.
extern "C" void fp4_dequantise(const uint8_t *codes, const uint8_t *exponents, float *out, int64_t blocks) {
  for (int64_t i = 0; i < 32 * blocks; i++) {
    const uint8_t byte = codes[i / 2];
    const int code = i % 2 == 0 ? byte & 15 : byte >> 4;
    out[i] = value(code) * std::pow(2.0f, static_cast<float>(exponents[i / 32] - 127));
  }
}
