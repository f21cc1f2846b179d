// Dense matrix times vector: out = alpha * a x + beta * y, the matrix stored row by row.
#include <cstdint>

extern "C" void gemv(double alpha, const double *a, const double *x, double beta, const double *y, double *out,
                     int64_t rows, int64_t columns) {
  for (int64_t row = 0; row < rows; row++) out[row] = beta * y[row];
  for (int64_t column = 0; column < columns; column++) {
    for (int64_t row = 0; row < rows; row++) out[row] += alpha * a[row * columns + column] * x[column];
  }
}
