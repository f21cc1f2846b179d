#include <algorithm>
#include <cmath>
#include <cstdint>

extern "C" void softmax(const float *x, float *out, int64_t rows, int64_t columns) {
  for (int64_t row = 0; row < rows; row++) {
    float most = -INFINITY;
    for (int64_t i = 0; i < columns; i++) most = std::max(most, x[row * columns + i]);
    float sum = 0.0f;
    for (int64_t i = 0; i < columns; i++) sum += std::exp(x[row * columns + i] - most);
    for (int64_t i = 0; i < columns; i++) out[row * columns + i] = std::exp(x[row * columns + i] - most) / sum;
  }
}
