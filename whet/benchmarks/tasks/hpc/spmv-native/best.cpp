#include <cstdint>

extern "C" void spmv(const int64_t *starts, const int32_t *columns, const double *values, const double *x, double *y,
                     int64_t rows, int64_t width, int64_t entries) {
  int64_t i = rows > 0 ? starts[0] : 0;
  for (int64_t row = 0; row < rows; row++) {
    const int64_t end = starts[row + 1];
    double one = 0.0, other = 0.0;  // two sums: the addition of one does not wait for the other's
    for (; i + 2 <= end; i += 2) {
      one += values[i] * x[columns[i]];
      other += values[i + 1] * x[columns[i + 1]];
    }
    if (i < end) {
      one += values[i] * x[columns[i]];
      i++;
    }
    y[row] = one + other;
  }
}
