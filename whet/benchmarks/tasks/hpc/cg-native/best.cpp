#include <algorithm>
#include <cstdint>
#include <vector>

namespace {

// Four sums: an addition does not wait for the last one.
double squares(const double *a, int64_t n) {
  double sums[4] = {};
  int64_t i = 0;
  for (; i + 4 <= n; i += 4) {
    for (int k = 0; k < 4; k++) sums[k] += a[i + k] * a[i + k];
  }
  for (; i < n; i++) sums[0] += a[i] * a[i];
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

}  // namespace

extern "C" void cg(const int64_t *starts, const int32_t *columns, const double *values, const double *b, double *x,
                   int64_t n, int64_t entries, int64_t iterations) {
  std::vector<double> memory(3 * n);
  double *__restrict residual = memory.data(), *__restrict direction = residual + n, *__restrict product = direction + n;
  std::copy(b, b + n, residual);
  std::copy(b, b + n, direction);
  std::fill(x, x + n, 0.0);
  double square = squares(residual, n);
  for (int64_t iteration = 0; iteration < iterations && square > 0.0; iteration++) {
    double curvature = 0.0;
    for (int64_t row = 0; row < n; row++) {
      double sum = 0.0;
      for (int64_t i = starts[row]; i < starts[row + 1]; i++) sum += values[i] * direction[columns[i]];
      product[row] = sum;
      curvature += sum * direction[row];
    }
    const double step = square / curvature, last = square;
    for (int64_t i = 0; i < n; i++) {
      x[i] += step * direction[i];
      residual[i] -= step * product[i];
    }
    square = squares(residual, n);
    const double share = square / last;
    for (int64_t i = 0; i < n; i++) direction[i] = residual[i] + share * direction[i];
  }
}
