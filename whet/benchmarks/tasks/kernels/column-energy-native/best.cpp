#include <cstdint>

extern "C" void column_energy(const float *x, float *out, int64_t rows, int64_t columns) {
  for (int64_t column = 0; column < columns; column++) out[column] = 0.0f;
  for (int64_t row = 0; row < rows; row++) {
    const float *a = x + row * columns;
    for (int64_t column = 0; column < columns; column++) out[column] += a[column] * a[column];
  }
}
