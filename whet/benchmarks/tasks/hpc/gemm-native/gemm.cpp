// Product of two dense matrices, all stored row by row: c = a b.
#include <cstdint>

extern "C" void gemm(const double *a, const double *b, double *c, int64_t rows, int64_t inner, int64_t columns) {
  for (int64_t i = 0; i < rows; i++) {
    for (int64_t j = 0; j < columns; j++) {
      double sum = 0.0;
      for (int64_t k = 0; k < inner; k++) sum += a[i * inner + k] * b[k * columns + j];
      c[i * columns + j] = sum;
    }
  }
}
