#include <cstdint>

extern "C" void gemv(double alpha, const double *a, const double *x, double beta, const double *y, double *out,
                     int64_t rows, int64_t columns) {
  int64_t row = 0;
  for (; row + 2 <= rows; row += 2) {  // two rows at a time: each element of x is read half as often
    const double *one = a + row * columns, *other = one + columns;
    double sums[2][8] = {};  // sums of their own, so that they can be made side by side
    int64_t i = 0;
    for (; i + 8 <= columns; i += 8) {
      for (int k = 0; k < 8; k++) sums[0][k] += one[i + k] * x[i + k];
      for (int k = 0; k < 8; k++) sums[1][k] += other[i + k] * x[i + k];
    }
    double first = 0.0, second = 0.0;
    for (int k = 0; k < 8; k++) first += sums[0][k], second += sums[1][k];
    for (; i < columns; i++) first += one[i] * x[i], second += other[i] * x[i];
    out[row] = alpha * first + beta * y[row];
    out[row + 1] = alpha * second + beta * y[row + 1];
  }
  if (row < rows) {
    const double *last = a + row * columns;
    double sum = 0.0;
    for (int64_t i = 0; i < columns; i++) sum += last[i] * x[i];
    out[row] = alpha * sum + beta * y[row];
  }
}
