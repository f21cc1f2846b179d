#include <cmath>
#include <cstdint>
#include <cstring>

constexpr int LANES = 16;
constexpr float LEAST = -3.0e38f;

// The exponential of numbers that are not above zero: a power of two, times a polynomial for what is left.
static inline float exp_(float whole) {
  const bool far = whole < -87.0f;  // below the powers of two that a float has in full: the square of half of it
  const float x = far ? 0.5f * (whole < -174.0f ? -174.0f : whole) : whole;
  const float n = (x * 1.44269504f + 12582912.0f) - 12582912.0f;
  const float r = (x - n * 0.693359375f) + n * 2.12194440e-4f;
  float p = 1.9875691500e-4f;
  p = p * r + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  const int32_t bits = (static_cast<int32_t>(n) + 127) * (1 << 23);
  float power;
  std::memcpy(&power, &bits, sizeof power);
  const float e = (p * r * r + r + 1.0f) * power;
  return far ? e * e : e;
}

// First pass: each lane's greatest value so far and its sum of exponentials relative to that; second pass: the outputs.
extern "C" void softmax(const float *x, float *out, int64_t rows, int64_t columns) {
  for (int64_t row = 0; row < rows; row++, x += columns, out += columns) {
    float most[LANES], sums[LANES];
    for (int k = 0; k < LANES; k++) most[k] = LEAST, sums[k] = 0.0f;
    int64_t i = 0;
    for (; i + LANES <= columns; i += LANES) {
      for (int k = 0; k < LANES; k++) {
        const float next = x[i + k] > most[k] ? x[i + k] : most[k];
        const float nearer = exp_(-std::fabs(x[i + k] - most[k]));  // of the two exponentials the other one is 1
        sums[k] = x[i + k] > most[k] ? sums[k] * nearer + 1.0f : sums[k] + nearer;
        most[k] = next;
      }
    }
    float top = most[0], sum = 0.0f;
    for (int k = 1; k < LANES; k++) top = most[k] > top ? most[k] : top;
    for (int64_t rest = i; rest < columns; rest++) top = x[rest] > top ? x[rest] : top;
    for (int k = 0; k < LANES; k++) sum += sums[k] * exp_(most[k] - top);
    for (; i < columns; i++) sum += exp_(x[i] - top);
    const float part = 1.0f / sum;
    for (i = 0; i < columns; i++) out[i] = exp_(x[i] - top) * part;
  }
}
