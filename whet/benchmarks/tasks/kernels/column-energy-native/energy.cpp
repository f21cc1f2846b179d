#include <cstdint>

extern "C" void column_energy(const float *x, float *out, int64_t rows, int64_t columns) {
  for (int64_t column = 0; column < columns; column++) {
    float sum = 0.0f;
    for (int64_t row = 0; row < rows; row++) sum += x[row * columns + column] * x[row * columns + column];
    out[column] = sum;
  }
}
