#include <cstdint>

extern "C" void axpy(double alpha, const double *__restrict x, double *__restrict y, int64_t n) {
  for (int64_t i = 0; i < n; i++) y[i] += alpha * x[i];
}
